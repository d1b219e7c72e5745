package formats

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const typedContentName = "llama-factory-v1"

func typedContentFormat() Format {
	return Format{
		Name:      typedContentName,
		Title:     "LLaMA-Factory's typed content: messages whose parts are text, reasoning and tool_call",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseTypedContent,
		New:       func(o Options) Decoder { return &typedContent{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "messages: {role, content}; content is a list of {type, value}. The value of a tool_call is JSON, {\"name\",\n" +
				"\"arguments\"}. tools, a string, is the action space as it stands, whatever its schemas' dialect. Messages\n" +
				"before the first answer are the task. id, when there is one, is kept.",
			Pairing: "The tool_call parts of a message and the tool message after it are a turn. The tool message's text is a\n" +
				"JSON list with one entry a call, matched by order: a bare result, or {tool_call_id, name, content}, of\n" +
				"which content is the result. Where the list is no list or has another length, its text answers all\n" +
				"calls together. Calls without an answer at the end are counted.",
			State:    "none",
			Domain:   "by the tools, as in openai-chat",
			ID:       "id, which published sets do not have: by content. observed is not set: nothing in a record says it.",
			Stripped: "reasoning parts, and texts beside calls, unless thoughts are to be kept; loss_weight",
			Sample: `{"messages":[{"role":"user","content":[{"type":"text","value":"Which seats are free?"}]},` +
				`{"role":"assistant","content":[{"type":"reasoning","value":"Ask."},{"type":"tool_call","value":"{\"name\": \"list_seats\", \"arguments\": {}}"}]},` +
				`{"role":"tool","content":[{"type":"text","value":"[{\"seats\": [\"4A\"]}]"}]}],"tools":"[{\"name\": \"list_seats\"}]"}`,
		},
	}
}

func recogniseTypedContent(v jsonscan.Value) (why string, marks int) {
	list := v.Get("messages")
	switch {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case list.Kind() != jsonscan.Array:
		return "no list of messages", 0
	}
	i, typed := 0, 0
	for m := range list.Elems() {
		content := m.Get("content")
		for p := range content.Elems() {
			if kind, _ := part(p); kind == partTyped {
				typed++
			}
		}
		if content.Present() && content.Kind() != jsonscan.Array {
			return fmt.Sprintf("messages[%d] has no list of parts as content", i), 0
		}
		if role := m.Get("role"); role.Present() && chatRole(role) == roleNone {
			return fmt.Sprintf("messages[%d] has a role that is none of a chat's", i), min(typed, 1)
		}
		i++
	}
	if typed == 0 {
		return "no content part has a type and a value", 0
	}
	return "", 6
}

// typedContent decodes LLaMA-Factory's typed content.
type typedContent struct {
	acts
	inner  innerJSON
	pieces []string // of a text in the making
}

func (c *typedContent) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, c.record)
}

func (c *typedContent) record(v jsonscan.Value, out *Decoded) error {
	list := v.Get("messages")
	switch {
	case list.Kind() == jsonscan.Invalid:
		why, _ := recogniseTypedContent(v)
		return wrongFormat(typedContentName, why)
	case list.Kind() != jsonscan.Array:
		return badField("messages", "an array", list)
	case list.At(0).Kind() == jsonscan.Invalid:
		return reject(turnmill.ReasonEmptyMessages, "messages is empty")
	}
	c.begin(out.trajectory(typedContentName, out.id(v.Get("id"))), out)
	declared, err := c.declare("tools", v.Get("tools"))
	if err != nil {
		return err
	}
	i := 0
	for m := range list.Elems() {
		if err := c.message(m, i); err != nil {
			return err
		}
		i++
	}
	c.finish()
	c.t.Domain = domainOf(c.kinds, declared)
	out.finish(c.t, c.opts)
	return nil
}

func (c *typedContent) message(m jsonscan.Value, i int) error {
	who, content := chatRole(m.Get("role")), m.Get("content")
	switch {
	case who == roleNone:
		return reject(turnmill.ReasonBadMessage, "messages[%d]: no role of a chat (system, user, assistant, tool)", i)
	case content.Kind() != jsonscan.Array:
		return inside("messages", i, badField("content", "a list of parts", content))
	case who == roleAgent:
		c.agent()
	}
	if who == roleAgent {
		if err := c.fromAgent(content); err != nil {
			return inside("messages", i, err)
		}
		return nil
	}
	text, err := c.texts(content)
	if err != nil {
		return inside("messages", i, err)
	}
	switch who {
	case roleSystem:
		c.instruct(text)
	case roleUser:
		c.person(words{text: text})
	case roleTool:
		c.answers(text)
	}
	return nil
}

// fromAgent takes the parts of a message of the agent.
func (c *typedContent) fromAgent(content jsonscan.Value) error {
	n, calls := c.think.n, len(c.calls)
	i, said := 0, false
	for p := range content.Elems() {
		kind, value := p.Get("type"), p.Get("value")
		if value.Kind() != jsonscan.String && (kind.Is("text") || kind.Is("reasoning") || kind.Is("tool_call")) {
			return inside("content", i, badField("value", "a string", value))
		}
		switch {
		case kind.Is("reasoning"):
			c.think.add(value.Str(&c.out.arena))
		case kind.Is("tool_call"):
			c.inner.calls(&c.acts, value)
		case kind.Is("text"):
			said = c.say(c.out.withoutThinking(value.Str(&c.out.arena), &c.think)) || said
		default:
			c.out.note(turnmill.NoteNonTextPart)
		}
		i++
	}
	if !said && len(c.calls) == calls && c.think.n == n {
		c.out.note(turnmill.NoteEmptiedMessage)
	}
	return nil
}

// texts joins the texts of a message of others by line feeds. A call there is nobody's.
func (c *typedContent) texts(content jsonscan.Value) (string, error) {
	c.pieces = c.pieces[:0]
	i := 0
	for p := range content.Elems() {
		kind, value := p.Get("type"), p.Get("value")
		switch {
		case kind.Is("text") && value.Kind() != jsonscan.String:
			return "", inside("content", i, badField("value", "a string", value))
		case kind.Is("text"):
			c.pieces = append(c.pieces, value.Str(&c.out.arena))
		case kind.Is("reasoning"):
			c.aside.add(value.Str(&c.out.arena))
		default:
			c.out.note(turnmill.NoteNonTextPart)
		}
		i++
	}
	return c.out.join(c.pieces, "\n"), nil
}

// answers takes the text of a tool message: a list with one entry a call, or an answer to all of them.
func (c *typedContent) answers(text string) {
	list, err := c.inner.parse(c.out, text)
	if err != nil || list.Kind() != jsonscan.Array || list.Len() != len(c.calls)-len(c.results) {
		c.shared = len(c.results) == 0 && len(c.calls) > 1
		c.answer(result{text: text})
		return
	}
	for entry := range list.Elems() {
		c.answer(result{text: c.entry(entry)})
	}
}

// entry returns the text of a result, without the envelope {tool_call_id, name, content}.
func (c *typedContent) entry(v jsonscan.Value) string {
	if content := v.Get("content"); content.Kind() != jsonscan.Invalid && v.Len() <= 3 && (v.Get("name").Present() || v.Get("tool_call_id").Present()) {
		v = content
	}
	if v.Kind() == jsonscan.String {
		return v.Str(&c.out.arena)
	}
	return c.out.arena.Close(c.out.appendVerbatim(c.out.arena.Open(), v))
}
