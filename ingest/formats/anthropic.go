package formats

import (
	"fmt"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const anthropicName = "anthropic"

var anthropicShape = apiShape{name: anthropicName, lists: []string{"messages"}, system: []string{"system"}, why: recogniseAnthropic}

func anthropicFormat() Format {
	return Format{
		Name:      anthropicName,
		Title:     "messages of Anthropic's API: content blocks with tool_use and tool_result",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseAnthropic,
		New:       func(o Options) Decoder { return &api{talk: talk{acts: acts{opts: o}}, shape: &anthropicShape} },
		Doc: Doc{
			Fields: "messages (or the record is the list of messages itself): role (user, assistant), content (a text, or\n" +
				"blocks: text, thinking, tool_use with id, name and input, tool_result with tool_use_id and content, and\n" +
				"the blocks of tools that the server runs). system (a text or blocks) and what the user says first are\n" +
				"the task; tools the action space. Beside messages as in openai-chat.",
			Pairing: "A message with tool_use and the tool_result blocks that follow are one turn, by id and by order where\n" +
				"ids repeat. A text of the user beside results answers nothing. A server's tool is answered in the same\n" +
				"message. Else as in openai-chat: a text that the user answers is a turn of dialogue, what is unanswered\n" +
				"is counted.",
			State:    "none",
			Domain:   "as in openai-chat",
			ID:       "as in openai-chat: id, else conversation_id, trajectory_id, session_id, uuid",
			Stripped: "thinking and redacted_thinking blocks, <think> blocks, texts beside calls, unless thoughts are to be\nkept; images and documents",
			Sample: `{"id":"c1","system":"You help.","messages":[{"role":"user","content":"Which files are there?"},` +
				`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"bash","input":{"command":"ls"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a.txt"}]}]}],` +
				`"tools":[{"name":"bash","input_schema":{"type":"object"}}]}`,
		},
	}
}

// recogniseAnthropic takes all conversations that this API allows, plain ones too, so that in a file with
// blocks in some records it recognises more than openai-chat does. Between equals that format wins.
func recogniseAnthropic(v jsonscan.Value) (why string, marks int) {
	messages := v
	if v.Kind() == jsonscan.Object {
		messages = v.Get("messages")
		if why, _ := foreignRow(v); why != "" {
			return why, 0 // openai-chat says it too
		}
	}
	first := messages.At(0)
	if messages.Kind() != jsonscan.Array || first.Kind() == jsonscan.Invalid || first.Get("role").Kind() == jsonscan.Invalid {
		return "no messages with roles", 0
	}
	i, last := 0, messages.Len()-1
	for m := range messages.Elems() {
		if why := anthropicMessage(m, i == last); why != "" {
			return fmt.Sprintf("messages[%d] %s", i, why), 1
		}
		i++
	}
	if why := textProtocol(messages); why != "" {
		return why, 1
	}
	return "", 4
}

func anthropicMessage(m jsonscan.Value, last bool) string {
	role := m.Get("role")
	switch {
	case role.Kind() == jsonscan.Invalid && last:
		return ""
	case !role.Is("user") && !role.Is("assistant") && !role.Is("system"):
		return "has a role that is neither user nor assistant"
	case m.Get("tool_calls").Present() || m.Get("function_call").Present() || m.Get("parts").Present():
		return "has calls beside its content"
	}
	for p := range m.Get("content").Elems() {
		switch k, _ := part(p); {
		case k == partTyped || k == partBroken:
			return "has a part of another shape"
		case p.Get("type").Is("tool-call"), p.Get("type").Is("tool-result"), p.Get("type").Is("tool_call"):
			return "has a part of another shape"
		}
	}
	return ""
}
