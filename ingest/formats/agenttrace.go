package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const agentTraceName = "agent-trace"

func agentTraceFormat() Format {
	return Format{
		Name:      agentTraceName,
		Title:     "rows of agent-trace data sets: a session's events in traces or trace, a rendering in messages",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseAgentTrace,
		New: func(o Options) Decoder {
			return &agentTrace{session: session{acts: acts{opts: o}}, codex: codex{acts: acts{opts: o, paired: true}}, chat: chat{acts: acts{opts: o}, list: "messages"}}
		},
		Doc: Doc{
			Fields: "traces (a list of events) or trace (such a list, or JSON text that holds one), session_id, harness, and in\n" +
				"newer rows messages, tools and metadata. Events of Claude Code are read as claude-code reads them, and\n" +
				"the messages, which were made from them, are passed over. Of other harnesses the messages are read,\n" +
				"as openai-chat reads them; without them lines of Codex as codex reads them.",
			Pairing:  "as in claude-code or openai-chat: a row is one session, never the log and its rendering",
			State:    "none",
			Domain:   "as in claude-code or openai-chat",
			ID:       "session_id. The sidechains and branches of a session append #2, #3.",
			Stripped: "as in claude-code or openai-chat",
			Sample: `{"harness":"claude_code","session_id":"s1","traces":[` +
				`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","message":{"role":"user","content":"Which files are there?"}},` +
				`{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}},` +
				`{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}]}`,
		},
	}
}

func recogniseAgentTrace(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"harness", "session_id", "file_name", "file_path"} {
		if v.Get(name).Kind() == jsonscan.String {
			marks++
		}
	}
	switch traces, trace := v.Get("traces"), v.Get("trace"); {
	case !traces.Present() && !trace.Present():
		return "neither traces nor trace", marks / 2
	case traces.Present() && traces.Kind() != jsonscan.Array:
		return "traces is " + article(traces.Kind()) + ", want an array", marks
	case marks < 2:
		return "not two of harness, session_id, file_name and file_path", marks + 1
	}
	return "", marks + 2
}

// agentTrace decodes rows of agent-trace data sets.
type agentTrace struct {
	session session
	codex   codex
	chat    chat
}

func (a *agentTrace) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *agentTrace) record(v jsonscan.Value, out *Decoded) error {
	events := v.Get("traces")
	if !events.Present() {
		events = v.Get("trace")
	}
	if v.Kind() != jsonscan.Object || !events.Present() {
		why, _ := recogniseAgentTrace(v)
		return wrongFormat(agentTraceName, why)
	}
	a.session.forget()
	list, err := events, error(nil)
	if events.Kind() == jsonscan.String {
		list, err = a.inner(events, out)
	}
	switch {
	case ofClaudeCode(list):
		a.session.take(list, out)
		out.lostInside(list != events, events)
		a.session.play(agentTraceName, out.id(v.Get("session_id")))
		return nil
	case v.Get("messages").Kind() == jsonscan.Array:
		r := readChatRecord(v, out)
		r.name = agentTraceName
		return a.chat.read(&r, out)
	case ofCodex(list):
		a.codex.readList(list, agentTraceName, out.id(v.Get("session_id")), out)
		out.lostInside(list != events, events)
		return nil
	case err != nil:
		return err
	}
	return wrongFormat(agentTraceName, "the events are neither Claude Code's nor Codex's, and there are no messages")
}

// lostInside gives what was lost inside a string the place of the string: places in it are none in the record.
func (d *Decoded) lostInside(quoted bool, text jsonscan.Value) {
	for i := range d.Lost {
		if quoted {
			d.Lost[i].Offset, d.Lost[i].Bytes = int64(text.Offset()), int64(len(text.Raw()))
		}
	}
}

// ofCodex tells whether one of the events is a line of a rollout.
func ofCodex(events jsonscan.Value) bool {
	for e := range events.Elems() {
		if why, _ := recogniseCodex(e); why == "" && e.Kind() == jsonscan.Object {
			return true
		}
	}
	return false
}

// inner reads a list of events that stands in a string.
func (a *agentTrace) inner(text jsonscan.Value, out *Decoded) (jsonscan.Value, error) {
	b := text.AppendString(out.arena.Open())
	out.arena.Close(b) // the texts of the events may lie there
	doc := &a.session.doc
	doc.NonFinite = true
	v, err := doc.Parse(b)
	if err != nil {
		return jsonscan.Value{}, reject(turnmill.ReasonBadJSON, "the text of trace: %w", err)
	}
	out.noteInner(doc.Repairs())
	return v, nil
}

// ofClaudeCode tells whether one of the events is Claude Code's.
func ofClaudeCode(events jsonscan.Value) bool {
	for e := range events.Elems() {
		if why, _ := recogniseClaudeCode(e); why == "" && e.Kind() == jsonscan.Object {
			return true
		}
	}
	return false
}
