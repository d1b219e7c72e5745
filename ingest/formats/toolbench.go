package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const toolBenchName = "toolbench"

func toolBenchFormat() Format {
	return Format{
		Name:      toolBenchName,
		Title:     "answers of ToolBench: a search tree and the chain of HTTP API calls that it answered with",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseToolBench,
		New: func(o Options) Decoder {
			return &toolBench{chat{acts: acts{opts: o}, list: "answer_generation.train_messages[last]"}}
		},
		Doc: Doc{
			Fields: "answer_generation: the last list of train_messages is the chain, read as openai-chat reads messages with\n" +
				"function_call; function holds the tools. finish_type and win go to meta. The tree is passed over: its\n" +
				"paths share their beginnings. A search that found no answer (valid_data false) has no chain, so no turn.",
			Pairing: "A function_call and the function message after it, by order. Finish has no observation, so it is no turn,\n" +
				"whether it answers or gives up. What the search says under the user's role in the middle of a chain\n" +
				"answers nothing. A text between a result and the next call is a thought.",
			State:  "none",
			Domain: "mcp",
			ID:     "none: a run goes by its content",
			Stripped: "texts beside calls, unless thoughts are to be kept. Observations that the benchmark cut after 1,024\n" +
				"characters stay, with its mark, and are counted.",
			Sample: `{"win":true,"tree":{},"answer_generation":{"valid_data":true,"finish_type":"give_answer","function":[{"name":"seats_for_demo"}],"train_messages":[[` +
				`{"role":"system","content":"Use functions."},{"role":"user","content":"Which seats are free?"},` +
				`{"role":"assistant","content":null,"function_call":{"name":"seats_for_demo","arguments":"{}"}},` +
				`{"role":"function","name":"seats_for_demo","content":"{\"error\": \"\", \"response\": \"['4A']\"}"}]]}}`,
		},
	}
}

func recogniseToolBench(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"win", "tree", "forward_args", "compare_candidates"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	answer := v.Get("answer_generation")
	switch {
	case answer.Kind() == jsonscan.Object && (answer.Get("train_messages").Kind() == jsonscan.Array || marks > 1):
		return "", marks + 3
	case v.Get("tree").Get("tree").Get("node_type").Kind() == jsonscan.String:
		return "", marks + 2 // the head ends inside the tree
	}
	return "no answer_generation with train_messages", marks
}

// toolBench decodes answers of ToolBench. The messages of the chain are a chat's.
type toolBench struct{ chat }

func (t *toolBench) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, t.record)
}

func (t *toolBench) record(v jsonscan.Value, out *Decoded) error {
	answer := v.Get("answer_generation")
	if answer.Kind() != jsonscan.Object {
		why, _ := recogniseToolBench(v)
		return wrongFormat(toolBenchName, why)
	}
	chains := answer.Get("train_messages")
	if chains.Present() && chains.Kind() != jsonscan.Array {
		return badField("answer_generation.train_messages", "an array", chains)
	}
	messages := chains.At(chains.Len() - 1)
	if messages.Kind() == jsonscan.Invalid { // the search found no answer: a run without turns
		t.begin(out.trajectory(toolBenchName, ""), out)
		t.instruct(answer.Get("query").Str(&out.arena))
	} else if _, err := t.open(&chatRecord{name: toolBenchName, messages: messages}, out); err != nil {
		return err
	}
	if _, err := t.declare("answer_generation.function", answer.Get("function")); err != nil {
		return err
	}
	i := 0
	for m := range messages.Elems() {
		if err := t.message(m, i); err != nil {
			return err
		}
		i++
	}
	t.finish()
	win := member{}
	if k := v.Get("win").Kind(); k == jsonscan.True || k == jsonscan.False {
		win = member{"win", v.Get("win").RawStr(), true}
	}
	t.t.Meta = out.object(win, member{name: "finish_type", text: answer.Get("finish_type").Str(&out.arena)})
	t.t.Observed = turnmill.ObservedTrue
	t.t.Domain = turnmill.DomainMCP
	out.finish(t.t, t.opts)
	return nil
}

func (t *toolBench) message(v jsonscan.Value, i int) error {
	switch chatRole(v.Get("role")) {
	case roleUser:
		if t.started { // the search speaks of its other branches
			t.out.note(turnmill.NoteUnsolicited)
			return nil
		}
	case roleTool:
		if cutByToolBench(v.Get("content").Str(&t.out.arena)) {
			t.out.note(turnmill.NoteCutObservation)
		}
	}
	return t.chat.message(v, i)
}

// cutByToolBench tells an observation of which the benchmark kept the first 1,024 characters.
func cutByToolBench(text string) bool { return len(text) > 1024 && strings.HasSuffix(text, "...") }
