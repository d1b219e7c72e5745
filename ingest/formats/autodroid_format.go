package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const autoDroidName = "autodroid-utg"

func autoDroidFormat() Format {
	return Format{
		Name:      autoDroidName,
		Title:     "walks of AutoDroid through an app, in YAML: utg.yaml, screens and the elements chosen on them",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseAutoDroid,
		New:       func(o Options) Decoder { return &autoDroid{acts: acts{opts: o}} },
		Text:      true,
		Doc: Doc{
			Fields: "YAML: records, each with State (the screen, lines of elements as the source writes them), Choice (the id of\n" +
				"the element that was acted on) and Input (what was typed; the word null is none). task_name is the task;\n" +
				"step_num, which is often not the number of records, goes to meta. An action is a call with the id and the\n" +
				"element itself: tap, with an Input input, and back where the element is the go-back button that AutoDroid\n" +
				"adds to each screen for the back key:\n" +
				`{"name":"input","arguments":{"id":3,"element":"<input id=3>Title</input>","text":"Milk"}}`,
			Pairing: "The State of the next record answers a Choice. Choice -1 ends the walk; records behind it are another\n" +
				"trajectory, and so is each further document of the file. The last Choice of a walk without an end is\n" +
				"unanswered. Where the file is damaged the records that can be read are; a record that is lost breaks no\n" +
				"walk, but the action before it is unanswered.",
			State:    "State of the record",
			Domain:   "android",
			ID:       "none: a walk goes by its content",
			Stripped: "state_str and new_state_str, hashes of screens",
			Sample: "records:\n- Choice: 1\n  Input: 'null'\n  State: |-\n    <p id=0>Notes</p>\n    <button id=1 text='New'></button>\n" +
				"  state_str: a1\n- Choice: -1\n  Input: 'null'\n  State: <input id=0>Title</input>\n  state_str: b2\nstep_num: 2\ntask_name: write a note\n",
		},
	}
}

// recogniseAutoDroid takes a text by the keys that begin its lines.
func recogniseAutoDroid(v jsonscan.Value) (why string, marks int) {
	raw, _ := v.Plain() // undecoded: a line break is \n there
	text := string(raw)
	for _, key := range [...]string{"Choice:", "State:", "Input:", "state_str:"} {
		if strings.Contains(text, ` `+key) || strings.Contains(text, `\n`+key) || strings.HasPrefix(text, key) {
			marks++
		}
	}
	switch {
	case v.Kind() != jsonscan.String:
		return "a record is " + article(v.Kind()) + ", want a text", 0
	case !strings.HasPrefix(text, "records:") && !strings.Contains(text, `\nrecords:`) && !strings.HasPrefix(text, "- "):
		return "no line begins with records:", min(marks, 1)
	case marks < 3:
		return "no records with Choice, Input and State", 1
	}
	return "", marks + 1
}
