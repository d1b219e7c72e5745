package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const m3aName = "m3a"

func m3aFormat() Format {
	return Format{
		Name:      m3aName,
		Title:     "history.json of AndroidWorld's M3A agent: a list of steps, a whole file is one run",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseM3A,
		New:       func(o Options) Decoder { return &m3a{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "task_goal (the task), ui_description (the elements before the action), summary_prompt (which lists those\n" +
				"after it), action_output (\"Reason: ... Action: {...}\", or \"Thought: ... Action: click(...)\"). A screen is\n" +
				"the source's own element lines, which look like JSON and are not: True and False are Python's, and a text\n" +
				"may hold raw line feeds. An action of either spelling is written as a call; other words stay as they are.",
			Pairing: "What answers an action is the list after it. Where the next step's list differs from that in nothing\n" +
				"but the clock, the battery and the bars of a signal, the screen was still settling, and the next\n" +
				"step's list is taken, so that it is the next state too; else both are kept. A step without a\n" +
				"summary_prompt ran nothing (the reply could not be read, or the agent said that it was done):\n" +
				"unanswered. A file whose task_goal changes goes on with another trajectory.",
			State:    "ui_description of the step",
			Domain:   "android",
			ID:       "none: a run goes by its content",
			Stripped: "the agent's reason, unless thoughts are to be kept; action_prompt, summary, boxes, result (always false)",
			Sample: `[{"task_goal":"Go home.","result":false,"action_prompt":"p","action_output":"Reason: One step.\nAction: {\"action_type\": \"navigate_home\"}",` +
				`"action_reason":"One step.","summary_prompt":"Here is the list for the after screenshot:\nUI element 0: {\"index\": 0, \"text\": \"Phone\", \"is_clickable\": True}\n\n` +
				`This is the action you picked: {\"action_type\": \"navigate_home\"}","summary":"Home.",` +
				`"ui_description":[{"ui_description":"UI element 0: {\"index\": 0, \"text\": \"Settings\", \"is_clickable\": False}","ui_bbox":[0,80,0,20]}]}]`,
		},
	}
}

// recogniseM3A takes a step, or a list that begins with one. A step that the end of a head cuts may lack all
// that follows its long prompt.
func recogniseM3A(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	for _, name := range [...]string{"action_output", "action_reason", "summary_prompt", "ui_description"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	switch {
	case v.Kind() != jsonscan.Object:
		return "no step of a run", 0
	case v.Get("task_goal").Kind() != jsonscan.String:
		return "a step without a task_goal", marks / 2
	case v.Get("action_prompt").Kind() == jsonscan.Invalid && marks < 2:
		return "task_goal without an action_prompt", marks
	}
	return "", marks + 3
}
