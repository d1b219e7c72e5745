package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const reactAlpacaName = "react-alpaca"

func reactAlpacaFormat() Format {
	return Format{
		Name:      reactAlpacaName,
		Title:     "Alpaca rows whose output is a whole run in the ReAct protocol (FireAct)",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseReactAlpaca,
		New:       func(o Options) Decoder { return &reactAlpaca{newReact(o)} },
		Doc: Doc{
			Fields: "instruction, and input where it has a text, are the task; output is split at the lines that begin with\n" +
				"\"Thought:\", \"Action:\" or \"Observation:\". What the grader says goes to meta as reward. id is kept.",
			Pairing:  "As in react-chat. An observation ends at the next label; line breaks at its end belong to the log.",
			State:    "none",
			Domain:   "as in react-chat",
			ID:       "id, which published sets do not have: by content",
			Stripped: "thoughts, unless they are to be kept; what stands before the first label, counted as one",
			Sample:   `{"instruction":"Which seat is free?","input":"","output":"Thought: I look.\nAction: search[free seat]\nObservation: Seat 4A is free ...\n"}`,
		},
	}
}

func newReact(o Options) react { return react{chat: chat{acts: acts{opts: o}, list: "traj"}} }

func recogniseReactAlpaca(v jsonscan.Value) (why string, marks int) {
	output := v.Get("output")
	switch {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case v.Get("instruction").Kind() != jsonscan.String || output.Kind() != jsonscan.String:
		return "not both of instruction and output, as texts", 0
	case !reactText(output):
		return "output does not follow the ReAct protocol", 2
	}
	return "", 5
}

// reactText tells whether a text has an action and an observation at the starts of lines.
func reactText(v jsonscan.Value) bool {
	raw, _ := v.Plain() // undecoded: a line break is \n there
	text := string(raw)
	begins := func(label string) bool {
		return strings.HasPrefix(text, label) || strings.Contains(text, `\n`+label)
	}
	return begins("Action") && begins("Observation")
}

// reactAlpaca decodes Alpaca rows in the ReAct protocol.
type reactAlpaca struct{ react }

func (r *reactAlpaca) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, r.record)
}

func (r *reactAlpaca) record(v jsonscan.Value, out *Decoded) error {
	if v.Get("output").Kind() == jsonscan.Invalid {
		why, _ := recogniseReactAlpaca(v)
		return wrongFormat(reactAlpacaName, why)
	}
	f := fields{out: out}
	instruction, input, output := f.text("instruction", v.Get("instruction")), f.text("input", v.Get("input")), f.text("output", v.Get("output"))
	if f.err != nil {
		return f.err
	}
	r.start()
	r.begin(out.trajectory(reactAlpacaName, out.id(v.Get("id"))), out)
	for _, s := range [...]string{instruction, input} {
		if s != "" {
			r.instruct(s)
		}
	}
	r.whole(output, false)
	r.close()
	r.t.Meta = out.object(member{"reward", r.reward, r.reward != ""})
	out.finish(r.t, r.opts)
	return nil
}

// whole plays a run that is one text.
func (r *react) whole(text string, numbered bool) {
	switch before := r.play(text, numbered, false); {
	case strings.Trim(before, blanks) == "":
	case len(before) == len(text): // no label at all: a word that nothing answers
		r.out.note(turnmill.NoteUnansweredAction)
	default:
		r.out.note(turnmill.NoteThoughtStripped)
	}
}
