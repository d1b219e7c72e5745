package formats

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const shareGPTName = "sharegpt"

func shareGPTFormat() Format {
	return Format{
		Name:      shareGPTName,
		Title:     "ShareGPT chats with tool calls, as LLaMA-Factory reads them: function_call, observation",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseShareGPT,
		New:       func(o Options) Decoder { return &shareGPT{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "conversations: {from, value}; from is human (user), gpt (assistant), function_call, observation (tool) or\n" +
				"system. value is a text; that of a function_call is JSON, {\"name\", \"arguments\"} or a list of them.\n" +
				"tools, a string, is the action space as it stands; system stands before the first message. Messages\n" +
				"before the first answer are the task. id, when there is one, is kept.",
			Pairing: "A function_call and the observation after it are a turn. A list of calls that one observation follows\n" +
				"shares it. A text that a human answers is a turn of dialogue. A value that is no call is the action as\n" +
				"it stands, counted.",
			State:    "none",
			Domain:   "by the tools, as in openai-chat",
			ID:       "id, which published sets do not have: by content. observed is not set: most such sets, glaive's among\nthem, have observations that a model wrote, and nothing in a record says so.",
			Stripped: "<think> blocks, and texts beside calls, unless thoughts are to be kept",
			Sample: `{"conversations":[{"from":"human","value":"Which seats are free?"},{"from":"function_call","value":"{\"name\": \"list_seats\", \"arguments\": {}}"},` +
				`{"from":"observation","value":"{\"seats\": [\"4A\"]}"}],"tools":"[{\"name\": \"list_seats\"}]"}`,
		},
	}
}

func recogniseShareGPT(v jsonscan.Value) (why string, marks int) {
	list := v.Get("conversations")
	switch {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case list.Kind() != jsonscan.Array:
		return "no list of messages in conversations", 0
	case list.At(0).Kind() == jsonscan.Invalid:
		return "conversations is empty", 1
	}
	if v.Get("tools").Kind() == jsonscan.String {
		marks++
	}
	i, last := 0, list.Len()-1
	for m := range list.Elems() {
		from := m.Get("from")
		switch {
		case shareRole(from) == roleNone && (i < last || i == 0 || from.Present()):
			return fmt.Sprintf("conversations[%d] has no from of such a chat", i), 2
		case from.Is("function_call"), shareRole(from) == roleTool:
			marks = max(marks, 1)
		}
		i++
	}
	if marks == 0 {
		return "a ShareGPT chat without tools: no function_call, no observation", 3
	}
	return "", marks + 4
}

func shareRole(v jsonscan.Value) role {
	switch {
	case v.Is("human"), v.Is("user"):
		return roleUser
	case v.Is("gpt"), v.Is("assistant"), v.Is("function_call"):
		return roleAgent
	case v.Is("observation"), v.Is("tool"):
		return roleTool
	case v.Is("system"):
		return roleSystem
	}
	return roleNone
}

// shareGPT decodes ShareGPT chats with tool calls.
type shareGPT struct {
	acts
	inner innerJSON
}

func (g *shareGPT) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, g.record)
}

func (g *shareGPT) record(v jsonscan.Value, out *Decoded) error {
	list := v.Get("conversations")
	switch {
	case list.Kind() == jsonscan.Invalid:
		why, _ := recogniseShareGPT(v)
		return wrongFormat(shareGPTName, why)
	case list.Kind() != jsonscan.Array:
		return badField("conversations", "an array", list)
	case list.At(0).Kind() == jsonscan.Invalid:
		return reject(turnmill.ReasonEmptyMessages, "conversations is empty")
	}
	g.begin(out.trajectory(shareGPTName, out.id(v.Get("id"))), out)
	declared, err := g.declare("tools", v.Get("tools"))
	if err != nil {
		return err
	}
	if s := v.Get("system").Str(&out.arena); s != "" {
		g.instruct(s)
	}
	i := 0
	for m := range list.Elems() {
		if err := g.message(m, i); err != nil {
			return err
		}
		i++
	}
	g.finish()
	g.t.Domain = domainOf(g.kinds, declared)
	out.finish(g.t, g.opts)
	return nil
}

func (g *shareGPT) message(m jsonscan.Value, i int) error {
	from, value := m.Get("from"), m.Get("value")
	if value.Present() && value.Kind() != jsonscan.String {
		return inside("conversations", i, badField("value", "a string", value))
	}
	text := value.Str(&g.out.arena)
	switch shareRole(from) {
	case roleSystem:
		g.instruct(text)
	case roleUser:
		g.person(words{text: text})
	case roleTool:
		g.shared = len(g.results) == 0 && len(g.calls) > 1
		g.answer(result{text: text})
	case roleAgent:
		g.agent()
		if from.Is("function_call") {
			g.inner.calls(&g.acts, value)
			return nil
		}
		n := g.think.n
		if !g.say(g.out.withoutThinking(text, &g.think)) && g.think.n == n {
			g.out.note(turnmill.NoteEmptiedMessage)
		}
	default:
		return reject(turnmill.ReasonBadMessage, "conversations[%d]: no from of such a chat (human, gpt, function_call, observation, system)", i)
	}
	return nil
}
