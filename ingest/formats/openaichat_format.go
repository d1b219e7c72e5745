package formats

import (
	"fmt"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const chatName = "openai-chat"

func openAIChatFormat() Format {
	return Format{
		Name:      chatName,
		Title:     "chats in the form of OpenAI's API: messages with tool calls and results",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseChat,
		New:       newChat,
		Doc: Doc{
			Fields: "messages (or the record is the list of messages itself): role (system, developer, user, assistant,\n" +
				"tool, function), content (text, null, or a list of parts), tool_calls (OpenAI's form or {id, name,\n" +
				"arguments}), function_call, tool_call_id. Beside messages: tools, else functions, else\n" +
				"available_tools; domain; task_id, else instance_id; agent, else model; source; metadata.\n" +
				"System and user messages before the first answer are the task.",
			Pairing: "A message with calls and the results that follow it are one turn: calls joined by a line feed in\n" +
				"their order, results in the same order. Results go by id within the turn, repeated and missing ids by\n" +
				"order. A text that a user answers is a turn of dialogue. Messages of the agent with nothing between\n" +
				"them are one. Calls without a result and texts without a reply are counted and left out; so are\n" +
				"results without a call, messages that answer nothing, and messages without any text or call.",
			State: "none",
			Domain: "domain, when it is one of the seven; else swe where a tool that edits files is declared or called,\n" +
				"search where every called tool searches or opens pages, terminal where every one runs shell commands,\n" +
				"mcp for other calls, unknown without a call",
			ID: "id, else conversation_id, trajectory_id, session_id, uuid",
			Stripped: "reasoning_content, reasoning, <think> blocks, reasoning parts, and texts beside calls, unless thoughts\n" +
				"are to be kept; images, audio and files",
			Sample: `{"id":"c1","messages":[{"role":"user","content":"Which files are there?"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},` +
				`{"role":"tool","tool_call_id":"t1","content":"a.txt"}],` +
				`"tools":[{"type":"function","function":{"name":"bash"}}]}`,
		},
	}
}

func recogniseChat(v jsonscan.Value) (why string, marks int) {
	messages := v
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object:
		messages = v.Get("messages")
		if why, marks := foreignRow(v); why != "" {
			return why, marks
		}
	default:
		return "a record is " + article(v.Kind()) + ", want an object or an array of messages", 0
	}
	first := messages.At(0)
	if first.Kind() == jsonscan.Invalid {
		return "messages is empty", 1
	}
	if v.Kind() == jsonscan.Array && first.Get("role").Kind() == jsonscan.Invalid {
		return "a list whose first item is no message", 1
	}
	i, last := 0, messages.Len()-1
	for m := range messages.Elems() {
		if why, marks := recogniseMessage("messages", m, i, i == last); why != "" {
			return why, marks
		}
		i++
	}
	if why := textProtocol(messages); why != "" {
		return why, 4
	}
	return "", 5
}

// foreignRow refuses objects that bear the marks of another format, whether or not they have messages.
func foreignRow(v jsonscan.Value) (why string, marks int) {
	has := func(names ...string) bool {
		for _, name := range names {
			if v.Get(name).Kind() == jsonscan.Invalid {
				return false
			}
		}
		return true
	}
	switch messages := v.Get("messages"); {
	case messages.Kind() == jsonscan.Array:
	case messages.Kind() != jsonscan.Invalid:
		return "messages is " + article(messages.Kind()) + ", want an array", 1
	case has("conversations"):
		return "conversations instead of messages (ShareGPT)", 1
	case has("traces"):
		return "traces instead of messages (rows of agent traces)", 1
	default:
		return "no messages", 0
	}
	switch {
	case has("task_id", "category", "response") && (has("Question") || has("question")):
		return "a LiveMCPBench run: its results are printed envelopes", 4
	case has("task_name", "prompt", "output"):
		return "a step of NNetNav: the action that ran stands in the next record", 4
	}
	return "", 0
}

// recogniseMessage asks of a message what decoding will. The last one may be cut before its role.
func recogniseMessage(list string, m jsonscan.Value, i int, last bool) (why string, marks int) {
	role := m.Get("role")
	switch {
	case m.Kind() != jsonscan.Object:
		return fmt.Sprintf("%s[%d] is %s, want an object", list, i, article(m.Kind())), 0
	case role.Kind() == jsonscan.Invalid && last && i > 0:
		return "", 3
	case role.Kind() == jsonscan.Invalid:
		return fmt.Sprintf("%s[%d] has no role", list, i), 1
	case chatRole(role) == roleNone:
		return fmt.Sprintf("%s[%d] has a role that is none of a chat's", list, i), 2
	}
	if why := alienPart(m.Get("content")); why != "" {
		return fmt.Sprintf("%s[%d]: %s", list, i, why), 3
	}
	return "", 3
}
