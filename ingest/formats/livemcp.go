package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const liveMCPName = "livemcpbench"

func liveMCPFormat() Format {
	return Format{
		Name:      liveMCPName,
		Title:     "runs of LiveMCPBench: route and execute-tool, results printed by Python",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseLiveMCP,
		New:       func(o Options) Decoder { return &liveMCP{chat: chat{acts: acts{opts: o}, list: "messages"}} },
		Doc: Doc{
			Fields: "messages: those of an OpenAI chat, read as openai-chat reads them. category and reward go to meta, and so\n" +
				"does each result's isError, the innermost, as is_error in the order of the results, null where a result\n" +
				"has none; answers goes to meta as reference_answer. Question, Annotator Metadata (the gold steps),\n" +
				"judge and response are passed over.",
			Pairing: "As in openai-chat. An observation is the innermost text of a result: the print of an MCP result is undone,\n" +
				"and where its text is a JSON result again, that one is opened too; several texts are joined by line\n" +
				"feeds. A result that was cut at 10,000 characters stays as far as it goes, and is counted.",
			State:  "none",
			Domain: "mcp",
			ID:     "none: task_id says which task was tried, not by whom, so a run goes by its content. task_id is the task_id.",
			Stripped: "texts beside calls, unless thoughts are to be kept; the envelopes of results, structuredContent and _meta\n" +
				"with them; blocks that are no text",
			Sample: `{"task_id":"t1","Question":"Which seats are free?","category":"work","response":"4A.","messages":[{"role":"user","content":"Which seats are free?"},` +
				`{"role":"assistant","content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"execute-tool","arguments":"{\"server_name\": \"seats\", \"tool_name\": \"list\", \"params\": {}}"}}]},` +
				`{"role":"tool","tool_call_id":"toolu_1","content":"meta=None content=[TextContent(type='text', text='4A', annotations=None)] isError=False"}]}`,
		},
	}
}

func recogniseLiveMCP(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"task_id", "category", "response"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	switch {
	case v.Get("messages").Kind() != jsonscan.Array:
		return "no list of messages", marks / 2
	case marks < 3:
		return "not all of task_id, category and response", marks
	case !v.Get("Question").Present() && !v.Get("question").Present():
		return "no question", marks
	}
	return "", marks + 3
}

// liveMCP decodes runs of LiveMCPBench. The messages are a chat's.
type liveMCP struct {
	chat
	inner  innerJSON
	failed []string // the flags of the results, in their order
}

func (l *liveMCP) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, l.record)
}

func (l *liveMCP) record(v jsonscan.Value, out *Decoded) error {
	messages := v.Get("messages")
	if messages.Kind() == jsonscan.Invalid {
		why, _ := recogniseLiveMCP(v)
		return wrongFormat(liveMCPName, why)
	}
	if _, err := l.open(&chatRecord{name: liveMCPName, messages: messages}, out); err != nil {
		return err
	}
	l.failed = l.failed[:0]
	i := 0
	for m := range messages.Elems() {
		if err := l.message(m, i); err != nil {
			return err
		}
		i++
	}
	l.finish()
	l.t.TaskID = out.id(v.Get("task_id"))
	l.t.Meta = out.object(
		member{name: "category", text: v.Get("category").Str(&out.arena)},
		number("reward", v.Get("reward")),
		out.listed("is_error", l.failed),
		member{name: metaAnswer, text: v.Get("answers").Str(&out.arena)})
	l.t.Observed = turnmill.ObservedTrue
	l.t.Domain = turnmill.DomainMCP
	out.finish(l.t, l.opts)
	return nil
}

func (l *liveMCP) message(m jsonscan.Value, i int) error {
	content := m.Get("content")
	if chatRole(m.Get("role")) != roleTool || content.Kind() != jsonscan.String {
		return l.chat.message(m, i)
	}
	r := result{id: l.out.id(m.Get("tool_call_id")), text: content.Str(&l.out.arena)}
	failed := "null"
	if p, ok := l.out.printedResult(r.text); ok {
		if p.cut {
			l.out.note(turnmill.NoteCutObservation)
		}
		l.out.Notes[turnmill.NoteNonTextPart] += int64(p.others)
		r.text, r.mute = p.text, (p.others > 0 || p.cut) && p.text == ""
		if p.failed != "" {
			failed = p.failed
		}
		if text, flag, ok := l.jsonResult(p.text, p.cut); ok {
			r.text, failed = text, flag
		}
	}
	if len(l.calls) > 0 && !r.mute {
		l.failed = append(l.failed, failed)
	}
	l.answer(r)
	return nil
}

// jsonResult opens an MCP result in JSON, {"content": [{"type", "text"}], "isError"}, cut or not.
func (l *liveMCP) jsonResult(text string, cut bool) (inside, failed string, ok bool) {
	if len(text) == 0 || text[0] != '{' {
		return "", "", false
	}
	v, err := l.inner.parse(l.out, text)
	if err != nil && cut {
		v, err = l.inner.parse(l.out, string(closePrefix(nil, []byte(text))))
	}
	content, flag := v.Get("content"), v.Get("isError")
	if err != nil || content.At(0).Get("type").Kind() != jsonscan.String || !cut && flag.Kind() != jsonscan.True && flag.Kind() != jsonscan.False {
		return "", "", false
	}
	l.out.pieces = l.out.pieces[:0]
	for block := range content.Elems() {
		if block.Get("type").Is("text") {
			l.out.pieces = append(l.out.pieces, block.Get("text").Str(&l.out.arena))
		} else {
			l.out.note(turnmill.NoteNonTextPart)
		}
	}
	failed = "null"
	if flag.Kind() == jsonscan.True || flag.Kind() == jsonscan.False {
		failed = l.out.arena.Copy(flag.RawStr())
	}
	return l.out.join(l.out.pieces, "\n"), failed, true
}
