package formats

import (
	"bytes"
	"fmt"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const hfRowsName = "hf-rows"

var hfRowsShape = apiShape{name: hfRowsName, lists: []string{"conversations", "prompt", "completion"}, system: []string{"system"}, why: recogniseHFRows}

func hfRowsFormat() Format {
	return Format{
		Name:      hfRowsName,
		Title:     "chat rows of Hugging Face data sets: conversations with roles, or prompt and completion",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseHFRows,
		New:       func(o Options) Decoder { return &api{talk: talk{acts: acts{opts: o}}, shape: &hfRowsShape} },
		Doc: Doc{
			Fields: "conversations, a list of messages with role and content, or prompt and completion, both such lists, the\n" +
				"completion going on where the prompt ends. Messages as in openai-chat: tool_calls, tool_call_id,\n" +
				"reasoning_content. system and what is said before the first answer are the task; tools (a list, or\n" +
				"JSON in a string) the action space. Rows with messages are openai-chat's, those with from and value\n" +
				"are ShareGPT's.",
			Pairing:  "as in openai-chat: calls and the results that follow, by id, without ids by order",
			State:    "none",
			Domain:   "as in openai-chat",
			ID:       "as in openai-chat: id, else conversation_id, trajectory_id, session_id, uuid",
			Stripped: "as in openai-chat",
			Sample: `{"prompt":[{"role":"user","content":"Which files are there?"}],"completion":[` +
				`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"bash","arguments":{"command":"ls"}}}]},` +
				`{"role":"tool","name":"bash","content":"a.txt"}],"tools":[{"type":"function","function":{"name":"bash"}}]}`,
		},
	}
}

func recogniseHFRows(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	name, list := "conversations", v.Get("conversations")
	if completion := v.Get("completion"); list.Kind() == jsonscan.Invalid && completion.Present() {
		name, list = "prompt", v.Get("prompt")
		if list.Kind() == jsonscan.String || completion.Kind() == jsonscan.String {
			return "prompt and completion are texts, in which calls and results cannot be told apart", 3
		}
	}
	switch {
	case list.Kind() == jsonscan.Invalid:
		return "neither conversations nor prompt and completion", 0
	case v.Get("messages").Kind() == jsonscan.Array:
		return "messages beside " + name + ": a row of openai-chat", 1
	case list.Kind() != jsonscan.Array:
		return name + " is " + article(list.Kind()) + ", want an array", 1
	case list.At(0).Kind() == jsonscan.Invalid:
		return name + " is empty", 1
	}
	i, last := 0, list.Len()-1
	for m := range list.Elems() {
		if m.Get("from").Present() {
			return fmt.Sprintf("%s[%d] has from instead of role (ShareGPT)", name, i), 1
		}
		if why, _ := recogniseMessage(name, m, i, i == last); why != "" {
			return why, 1
		}
		i++
	}
	if why := textProtocol(list); why != "" {
		return why, 3
	}
	if actsInText(list) {
		return "texts hold actions and results in a protocol of their own (AgentInstruct, CodeAct)", 3
	}
	return "", 4
}

// actsInText tells chats without calls in which the agent writes what it does into its texts.
func actsInText(list jsonscan.Value) bool {
	for m := range list.Elems() {
		if chatRole(m.Get("role")) != roleAgent {
			continue
		}
		if m.Get("tool_calls").Present() || m.Get("function_call").Present() {
			return false
		}
		text, _ := m.Get("content").Plain() // undecoded: what is looked for has no escapes
		if bytes.Contains(text, []byte("Act: ")) || bytes.Contains(text, []byte("<execute>")) ||
			bytes.Contains(text, []byte("Thought:")) && bytes.Contains(text, []byte("Action:")) {
			return true
		}
	}
	return false
}
