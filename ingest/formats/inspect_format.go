package formats

import (
	"bytes"
	"errors"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const inspectName = "inspect"

func inspectFormat() Format {
	return Format{
		Name:      inspectName,
		Title:     "logs of Inspect in JSON: a log holds a trajectory for each sample and epoch; or samples by themselves",
		Layouts:   []frame.Layout{frame.Values, frame.Lines, frame.Array},
		Recognise: recogniseInspect,
		New:       func(o Options) Decoder { return &inspect{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "eval (run_id, task, model) and samples: id, epoch, uuid, messages, events, attachments, output, error,\n" +
				"limit. Messages: role, content (a text or parts: text, reasoning, tool_use), tool_calls (id, function,\n" +
				"arguments), tool_call_id, error. A text that is attachment://HASH stands in attachments. System messages\n" +
				"and the user's before the first answer are the task; the tools of the first request to the model, in\n" +
				"events, the action space. The model is the agent, the sample's id the task_id; task, epoch, limit and\n" +
				"error go to meta.",
			Pairing: "A message with calls and the results that follow it are one turn, by tool_call_id. The message of a\n" +
				"result's error is the observation. A call that was not approved is unanswered. A submit whose result is\n" +
				"what was submitted ran nothing. A call that the model's provider ran is answered in the same message. A\n" +
				"text that a user's message answers is dialogue. A broken sample is rejected by itself.",
			State:    "none",
			Domain:   "by the tools, as in openai-chat",
			ID:       "uuid of the sample, else run_id/id/epoch, else by content",
			Stripped: "reasoning parts, <think> blocks, texts beside calls, unless thoughts are to be kept; images; scores, store",
			Sample: `{"version":2,"status":"success","eval":{"run_id":"r1","task":"files","model":"m-1"},"samples":[{"id":1,"epoch":1,"input":"Which files are there?",` +
				`"target":"a.txt","messages":[{"role":"user","content":"Which files are there?","source":"input"},` +
				`{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":"bash","arguments":{"cmd":"ls"},"type":"function"}]},` +
				`{"role":"tool","content":"a.txt","tool_call_id":"c1","function":"bash"}],"scores":{}}]}`,
		},
	}
}

// recogniseInspect takes a log or a sample.
func recogniseInspect(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	eval := v.Get("eval")
	if eval.Kind() == jsonscan.Object && eval.Get("task").Present() && (eval.Get("run_id").Present() || eval.Get("model").Present()) &&
		(v.Get("version").Kind() == jsonscan.Number || v.Get("samples").Kind() == jsonscan.Array) {
		return "", 7
	}
	for _, name := range [...]string{"input", "target", "scores", "output", "store", "model_usage", "attachments"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	switch {
	case v.Get("epoch").Kind() != jsonscan.Number || !v.Get("id").Present():
		return "neither eval nor a sample with id and epoch", marks / 2
	case marks < 3 || v.Get("messages").Kind() != jsonscan.Array && v.Get("input").Kind() == jsonscan.Invalid:
		return "id and epoch without messages, input and target", marks
	}
	return "", marks + 3
}

// zipError is the error for a file that is a zip archive, which logs of Inspect are unless they are written in
// JSON; nil for other files.
func zipError(head []byte) error {
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return nil
	}
	e := &turnmill.RecordError{Step: "detect", Reason: turnmill.ReasonUnknownFormat, Err: errors.New("a zip archive"), Hint: "unpacking it"}
	if bytes.Contains(head, []byte("_journal/")) || bytes.Contains(head, []byte("samples/")) && bytes.Contains(head, []byte("_epoch_")) {
		e.Err = errors.New("a log of Inspect as an archive (.eval), of which only the form in JSON is read")
		e.Hint = "inspect log convert --to json --output-dir DIR FILE, or unzip FILE and give its samples folder"
	}
	return e
}
