package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const reactChatName = "react-chat"

func reactChatFormat() Format {
	return Format{
		Name:      reactChatName,
		Title:     "OpenAI chats whose texts follow the ReAct protocol: Thought, Action, Observation (FireAct)",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseReactChat,
		New: func(o Options) Decoder {
			return &reactChat{react{chat: chat{acts: acts{opts: o}, list: "messages"}}}
		},
		Doc: Doc{
			Fields: "messages (or the record is the list of messages itself): an assistant's text is \"Thought: ...\" and\n" +
				"\"Action: name[...]\", a user's after it \"Observation: ...\". System and user messages before the first\n" +
				"answer are the task. What the grader says goes to meta as reward. Beside messages: id and the other\n" +
				"members that openai-chat reads.",
			Pairing: "An action and the observation after it are a turn; the action is the text after its label. A finish is\n" +
				"answered by the grader (\"Episode finished, reward = ...\"), not by the environment: it is unanswered, and\n" +
				"the grader's words are counted apart. A text without a label that a user answers is dialogue.",
			State:    "none",
			Domain:   "search, where every action is search, lookup or finish; else by the tools, as in openai-chat",
			ID:       "as in openai-chat: published sets have none, so a run goes by its content",
			Stripped: "thoughts, and texts before a label, unless they are to be kept",
			Sample: `{"messages":[{"role":"user","content":"Which seat is free?"},{"role":"assistant","content":"Thought: I look.\nAction: search[free seat]"},` +
				`{"role":"user","content":"Observation: Seat 4A is free ..."}]}`,
		},
	}
}

func recogniseReactChat(v jsonscan.Value) (why string, marks int) {
	messages := v
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object:
		messages = v.Get("messages")
	default:
		return "a record is " + article(v.Kind()) + ", want an object or an array of messages", 0
	}
	switch {
	case messages.Kind() != jsonscan.Array:
		return "no list of messages", 0
	case messages.At(0).Get("role").Kind() != jsonscan.String:
		return "the first message has no role", 0
	case !reactProtocol(messages):
		return "texts do not follow the ReAct protocol", 1
	}
	return "", 5
}

// textProtocol refuses chats in which actions are written into texts: formats of their own read those.
func textProtocol(messages jsonscan.Value) string {
	switch {
	case reactProtocol(messages):
		return "texts follow the ReAct protocol (Thought, Action, Observation)"
	case miniProtocol(messages):
		return "texts follow mini-swe-agent's protocol (a fenced command, then <returncode>)"
	}
	return ""
}

// reactProtocol looks at the first text of the agent and what answers it.
func reactProtocol(messages jsonscan.Value) bool {
	said := ""
	for m := range messages.Elems() {
		text, _ := m.Get("content").Plain() // undecoded: what is looked for has no escapes
		switch chatRole(m.Get("role")) {
		case roleAgent:
			if m.Get("tool_calls").Present() || m.Get("function_call").Present() {
				return false
			}
			said = string(text)
		case roleUser:
			if said != "" {
				return strings.Contains(said, "Action:") && strings.HasPrefix(string(text), "Observation")
			}
		}
	}
	return false
}

// reactChat decodes chats in the ReAct protocol.
type reactChat struct{ react }

func (r *reactChat) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, r.record)
}

func (r *reactChat) record(v jsonscan.Value, out *Decoded) error {
	c := chatRecord{messages: v}
	if v.Kind() == jsonscan.Object {
		c = readChatRecord(v, out)
	}
	if v.Kind() != jsonscan.Array && c.messages.Kind() == jsonscan.Invalid {
		why, _ := recogniseReactChat(v)
		return wrongFormat(reactChatName, why)
	}
	if c.source.v.Kind() != jsonscan.String {
		c.name = reactChatName
	}
	r.start()
	if _, err := r.open(&c, out); err != nil {
		return err
	}
	if err := r.messages(c.messages); err != nil {
		return err
	}
	r.close()
	if r.t.Meta == "" {
		r.t.Meta = out.object(member{"reward", r.reward, r.reward != ""})
	}
	out.finish(r.t, r.opts)
	return nil
}
