package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const reactLogName = "react-log"

func reactLogFormat() Format {
	return Format{
		Name:      reactLogName,
		Title:     "text logs of ReAct runs: Thought 1, Action 1, Observation 1 (Reflexion)",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseReactLog,
		New:       func(o Options) Decoder { return &reactLog{react: newReact(o)} },
		Text:      true,
		Doc: Doc{
			Fields: "Plain text. A run begins with \"Question: \", which is the task, and goes on with numbered lines. Lines of\n" +
				"dashes (\"BEGIN CORRECT AGENTS\") tell how the runs below them ended: that goes to meta as outcome, and the\n" +
				"answer below a run (\"Correct answer: ...\") as reference_answer.",
			Pairing: "As in react-alpaca. An observation goes on until the next label, question or line of dashes; a label has\n" +
				"a number. What the grader says (\"Answer is CORRECT\") answers nothing. A file is\n" +
				"one record with a trajectory for each run.",
			State:    "none",
			Domain:   "as in react-chat",
			ID:       "none: a run goes by its content",
			Stripped: "thoughts, unless they are to be kept, and reflections on earlier tries, which stand behind the question",
			Sample: "------------- BEGIN CORRECT AGENTS -------------\nQuestion: Which seat is free?\nThought 1: I look.\n" +
				"Action 1: Search[free seat]\nObservation 1: Seat 4A is free.\n",
		},
	}
}

// recogniseReactLog takes a text by its first run. v is a string where the file is no JSON.
func recogniseReactLog(v jsonscan.Value) (why string, marks int) {
	raw, _ := v.Plain() // undecoded: a line break is \n there
	text := string(raw)
	begins := func(label string) bool {
		return strings.HasPrefix(text, label) || strings.Contains(text, `\n`+label)
	}
	switch {
	case v.Kind() != jsonscan.String:
		return "a record is " + article(v.Kind()) + ", want a text", 0
	case !begins("Question: "):
		return "no line begins with Question:", 0
	case !begins("Thought 1:") || !begins("Action 1:"):
		return "no Thought 1 and Action 1", 1
	}
	return "", 5
}

// reactLog decodes text logs: one trajectory a run.
type reactLog struct {
	react
	outcome string // of the runs below the last line of dashes
}

const (
	questionLabel  = "Question: "
	goldLabel      = "Correct answer: "
	sectionBegin   = "------------- BEGIN "
	reflectionText = "You have attempted to answer following question before and failed."
)

func (r *reactLog) Decode(raw []byte, out *Decoded) error {
	out.reset()
	text := out.text(raw)
	r.outcome = ""
	at, from := 0, -1 // of the line and of the run
	for line := range strings.Lines(text) {
		section := strings.HasPrefix(line, sectionBegin)
		if section || strings.HasPrefix(line, questionLabel) {
			if from >= 0 {
				r.run(text[from:at], out)
			}
			if from = at; section {
				r.outcome, from = outcome(line), -1
			}
		}
		at += len(line)
	}
	if from >= 0 {
		r.run(text[from:], out)
	}
	if len(out.Trajectories) == 0 {
		out.reset()
		return wrongFormat(reactLogName, "no line begins with Question:")
	}
	return nil
}

// outcome returns the word of a line of dashes: correct, incorrect, halted.
func outcome(line string) string {
	word, _, _ := strings.Cut(line[len(sectionBegin):], " ")
	switch word {
	case "CORRECT":
		return "correct"
	case "INCORRECT":
		return "incorrect"
	case "HALTED":
		return "halted"
	}
	return ""
}

// run decodes one run, from its question on.
func (r *reactLog) run(text string, out *Decoded) {
	text = strings.TrimRight(text, blanks)
	gold := ""
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && strings.HasPrefix(text[i+1:], goldLabel) {
		text, gold = text[:i], text[i+1+len(goldLabel):] // below each run
	}
	task, steps := text, ""
	for _, label := range [...]string{"\nThought 1:", "\nAction 1:"} {
		if i := strings.Index(text, label); i >= 0 {
			task, steps = text[:i], text[i+1:]
			break
		}
	}
	r.start()
	r.begin(out.trajectory(reactLogName, ""), out)
	task = strings.TrimPrefix(task, questionLabel)
	if i := strings.Index(task, reflectionText); i >= 0 {
		r.think.add(task[i:]) // on earlier tries: it stands with the first thought
		task = task[:i]
	}
	if task = strings.TrimRight(task, blanks); task != "" {
		r.instruct(task)
	}
	r.whole(steps, true)
	r.close()
	r.t.Meta = out.object(member{name: "outcome", text: r.outcome}, member{name: metaAnswer, text: gold})
	out.finish(r.t, r.opts)
}
