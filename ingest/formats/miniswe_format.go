package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const miniSWEName = "mini-swe-agent"

func miniSWEFormat() Format {
	return Format{
		Name:      miniSWEName,
		Title:     "runs of mini-swe-agent, 1 and 2: a fenced command or calls of bash, and their output",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseMiniSWE,
		New:       func(o Options) Decoder { return &miniSWE{chat: chat{acts: acts{opts: o}, list: "messages"}} },
		Doc: Doc{
			Fields: "messages (or the record is the list of messages itself): role (system, user, assistant, tool, exit),\n" +
				"content, tool_calls, extra {raw_output, returncode}. System and user messages before the first answer\n" +
				"are the task. info: exit_status and mini_version go to meta, config.model.model_name is the agent.",
			Pairing: "A text with one fenced command is an action, the user's message after it the observation. The block\n" +
				"tagged mswea_bash_command counts, else that tagged bash, else any; a text with none or several ran\n" +
				"nothing, and what the harness replied answers nothing. Calls and tool messages go by tool_call_id. The\n" +
				"output is extra.raw_output, else the message without its <returncode> and <output>; the codes stand in\n" +
				"meta.returncodes, one for each result, null where none was given. What follows the submission, the\n" +
				"patch or \"\", is its observation. A command that the person refused is unanswered.",
			State:    "none",
			Domain:   "swe",
			ID:       "none: a run goes by its content. instance_id is the task_id.",
			Stripped: "texts beside the command, <think> blocks and reasoning, unless thoughts are to be kept",
			Sample: `{"info":{"mini_version":"1.9.0"},"messages":[{"role":"system","content":"Answer with one command."},{"role":"user","content":"Fix the bug."},` +
				`{"role":"assistant","content":"Look first.\n\n` + "```mswea_bash_command\\nls\\n```" + `"},` +
				`{"role":"user","content":"<returncode>0</returncode>\n<output>\nmain.py\n</output>"}]}`,
		},
	}
}

func recogniseMiniSWE(v jsonscan.Value) (why string, marks int) {
	messages := v
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object:
		messages = v.Get("messages")
		if messages.Kind() != jsonscan.Array {
			return "no list of messages", 0
		}
		marks = miniMarks(v)
	default:
		return "a record is " + article(v.Kind()) + ", want an object or an array of messages", 0
	}
	first := messages.At(0)
	switch {
	case first.Kind() != jsonscan.Object || first.Get("role").Kind() != jsonscan.String:
		return "the first message has no role", marks
	case marks > 0 || miniProtocol(messages):
		return "", marks + 6
	}
	return "neither info of the harness nor a fenced command that <returncode> answers", 1
}

// miniMarks counts what only this harness writes beside the messages.
func miniMarks(v jsonscan.Value) (marks int) {
	info := v.Get("info")
	if info.Get("mini_version").Present() {
		marks++
	}
	if info.Get("model_stats").Kind() == jsonscan.Object && info.Get("exit_status").Kind() != jsonscan.Invalid {
		marks++
	}
	if name, _ := v.Get("trajectory_format").Plain(); strings.HasPrefix(string(name), miniSWEName) {
		marks++
	}
	return marks
}

// miniProtocol tells whether a fenced command is answered by a <returncode>.
func miniProtocol(messages jsonscan.Value) bool {
	fenced := false
	for m := range messages.Elems() {
		text, _ := m.Get("content").Plain() // undecoded: what is looked for has no escapes
		switch chatRole(m.Get("role")) {
		case roleAgent:
			fenced = strings.Contains(string(text), fence)
		case roleUser:
			if fenced && strings.HasPrefix(string(text), codeOpen) {
				return true
			}
		}
	}
	return false
}
