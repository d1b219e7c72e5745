package formats

import (
	"bytes"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const nnetnavName = "nnetnav"

func nnetnavFormat() Format {
	return Format{
		Name:      nnetnavName,
		Title:     "NNetNav's prompts: one record a step of a run on the web, runs one after another",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseNNetNav,
		New:       func(o Options) Decoder { return &nnetnav{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "id, which all steps of a run share, and messages: system (the rules), user (OBSERVATION, URL, OBJECTIVE,\n" +
				"PREVIOUS ACTIONS), assistant (reasoning, and the proposed action in a fence). dataset is the source.\n" +
				"Rules and objective are the task. prompt and output repeat the messages.",
			Pairing: "What ran between two pages is the last of the PREVIOUS ACTIONS of the later one, without the\n" +
				"description of its element; what the agent proposed is often something else. Where that entry says that\n" +
				"no element matched, the proposed action is what was tried. Where it says that the reply could not be\n" +
				"read nothing ran: no turn. The last action of a run is unanswered. A run breaks where the history does\n" +
				"not go on by one entry; what follows is a trajectory of its own.",
			State:    "the page before the action",
			Domain:   "web",
			ID:       "id; where a run breaks, #2, #3 are appended. It is the task_id too.",
			Stripped: "the assistant's reasoning, unless thoughts are to be kept; URL and element descriptions",
			Sample: `[{"dataset":"demo","id":"w1","messages":[{"role":"system","content":"You browse."},` +
				`{"role":"user","content":"OBSERVATION:\n[1] link 'Help'\nURL: http://a\nOBJECTIVE: Find help.\nPREVIOUS ACTIONS:\n1: None"},` +
				`{"role":"assistant","content":"I click. ` + "```click [1]```" + `"}],"task_name":"w1","prompt":"p","output":"o"},` +
				`{"dataset":"demo","id":"w1","messages":[{"role":"system","content":"You browse."},` +
				`{"role":"user","content":"OBSERVATION:\n[2] heading 'Help'\nURL: http://a/h\nOBJECTIVE: Find help.\nPREVIOUS ACTIONS:\n1: None\n2: click [1] where [1] is link 'Help'"},` +
				`{"role":"assistant","content":"Done. ` + "```stop [yes]```" + `"}],"task_name":"w1","prompt":"p","output":"o"}]`,
		},
	}
}

// recogniseNNetNav takes a step, or a list that begins with one.
func recogniseNNetNav(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	for _, name := range [...]string{"task_name", "prompt", "output", "dataset"} {
		if v.Get(name).Kind() == jsonscan.String {
			marks++
		}
	}
	user := v.Get("messages").At(1)
	text, _ := user.Get("content").Plain()
	switch {
	case v.Kind() != jsonscan.Object:
		return "no step of a run", 0
	case user.Kind() == jsonscan.Invalid:
		return "no messages of system and user", 0
	case !bytes.HasPrefix(text, []byte("OBSERVATION:")):
		return "the user's message does not begin with OBSERVATION:", marks / 2
	}
	return "", marks + 3
}
