package formats

import (
	"bytes"
	"errors"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// barren is a published form that holds no text of an environment, or not the text after an action. Its
// records are recognised so that a file of them is refused by name, and so that no format that shares their
// shape takes them.
type barren struct {
	name, why string
	is        func(v jsonscan.Value) bool
}

// barrens are told by content, as formats are. docs/formats.md lists them.
var barrens = [...]barren{
	{"AgentNetBench tasks", "screenshots alone; the words beside them are a model's about its own picture, and the set is a benchmark", isAgentNetBench},
	{"renderings of the Agent Data Protocol for AgentLab", "the page after the action is not in the record; the standard form of the same runs has it", isAgentLab},
	{"OmniAct tasks", "one screenshot and one script; nothing shows what the script did", isOmniAct},
	{"prompts of OpenCUA's annotation", "screenshots by name and code; nothing shows what the code did", isOpenCUAPrompt},
	{"Synatra prompts", "one page and one action; nothing shows what the action did", isSynatra},
}

// loneParts are parts of runs that no key and no folder leads back to.
var loneParts = [...]barren{
	{"screens of AndroidWorld (ui_element.txt)", "nothing in them says which run they are of, and no file beside them what was done", isUIElements},
}

func isAgentNetBench(v jsonscan.Value) bool {
	step := v.Get("steps").At(0)
	return v.Get("high_level_task_description").Present() &&
		(step.Get("inner_monologue").Present() || step.Get("ground_truth_actions").Present() || step.Get("image").Present())
}

func isAgentLab(v jsonscan.Value) bool {
	text, _ := v.Get("conversations").At(0).Get("content").Plain()
	return bytes.HasPrefix(text, []byte("# Goal")) && bytes.Contains(text, []byte("# Current page Accessibility Tree"))
}

func isOmniAct(v jsonscan.Value) bool {
	text, _ := v.Get("task").Plain()
	return v.Get("image").Present() && v.Get("ocr").Present() && bytes.Contains(text, []byte("Output Script:"))
}

func isOpenCUAPrompt(v jsonscan.Value) bool {
	step := v.Get("traj").At(0)
	return v.Get("instruction").Present() && step.Get("image").Present() && step.Get("value").Get("code").Present()
}

func isSynatra(v jsonscan.Value) bool {
	text, _ := v.Get("prompt").Plain()
	return v.Get("response").Present() && bytes.Contains(text, []byte("# observation of the current web page"))
}

// isUIElements knows texts whose lines are Python's prints of elements.
func isUIElements(v jsonscan.Value) bool {
	line, _, _ := bytes.Cut(v.Raw(), []byte(`\n`))
	return v.Kind() == jsonscan.String && bytes.HasPrefix(line, []byte(`"UIElement(text=`)) && bytes.Contains(line, []byte("bbox"))
}

// barrenForm returns the refusal that a record, or a text, falls under, or nil.
func barrenForm(v jsonscan.Value) *barren {
	if v.Kind() == jsonscan.String {
		for i := range loneParts {
			if loneParts[i].is(v) {
				return &loneParts[i]
			}
		}
	}
	if v.Kind() != jsonscan.Object {
		return nil
	}
	for i := range barrens {
		if barrens[i].is(v) {
			return &barrens[i]
		}
	}
	return nil
}

// barrenError is the error for a file of such records.
func barrenError(r *barren) error {
	reason := turnmill.ReasonUnknownFormat
	for i := range loneParts {
		if r == &loneParts[i] {
			reason = turnmill.ReasonMissingPart
		}
	}
	return &turnmill.RecordError{
		Step:   "detect",
		Reason: reason,
		Err:    errors.New(r.name + ", which are no trajectories: " + r.why),
		Hint:   "leaving the file out",
	}
}
