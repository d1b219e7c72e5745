package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const agentInstructName = "agentinstruct"

func agentInstructFormat() Format {
	return Format{
		Name:      agentInstructName,
		Title:     "chats whose agent writes actions into its texts, as AgentInstruct and ETO publish them: Act, Action",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseAgentInstruct,
		New:       func(o Options) Decoder { return &agentInstruct{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "conversations: from and value (human, gpt), or role and content. A text of the agent is \"Think: ...\" and\n" +
				"\"Act: bash\" with a fence, or \"Thought: ...\" and \"Action: ...\", in any case of letters. The action is the\n" +
				"code in the fence, else the text behind the label. What the user says before the first action is the\n" +
				"task; where a page of WebShop stands there it is the first state too.",
			Pairing: "The user's text after an action answers it; the labels \"The output of the OS:\" and \"Observation:\" before\n" +
				"it are taken off. An answer, or the end (Act: finish, Act: answer(...), Action: Answer, Final Answer), is\n" +
				"answered by no one, and what follows it answers nothing. Where a new problem follows, the turns so far\n" +
				"were a worked example: a demonstration. A text without an action that the user answers is dialogue.",
			State:    "the page before the action, in WebShop's runs",
			Domain:   "web where a page of WebShop is seen; else by tools: terminal where every action is a shell's, unknown for SQL and for words",
			ID:       "id, which is the task_id too",
			Stripped: "thoughts, unless they are to be kept; loss",
			Sample: `{"id":"os_7","conversations":[{"from":"human","loss":null,"value":"Which files are there?"},` +
				`{"from":"gpt","loss":true,"value":"Think: I list them.\n\nAct: bash\n\n` + "```bash\\nls\\n```" + `"},` +
				`{"from":"human","loss":null,"value":"The output of the OS:\na.txt"},{"from":"gpt","loss":true,"value":"Think: One.\n\nAct: answer(a.txt)"}]}`,
		},
	}
}

// recogniseAgentInstruct asks whether a text of the agent has an action that a user answers.
func recogniseAgentInstruct(v jsonscan.Value) (why string, marks int) {
	list := v.Get("conversations")
	if v.Kind() != jsonscan.Object || list.Kind() != jsonscan.Array {
		return "no list of messages in conversations", 0
	}
	if list.At(0).Kind() == jsonscan.Invalid {
		return "conversations is empty", 1
	}
	acted, answered := false, false
	for m := range list.Elems() {
		who, content := instructMessage(m)
		text, _ := content.Plain() // undecoded: a line break is \n there
		switch said := string(text); {
		case m.Kind() != jsonscan.Object || who == roleTool || m.Get("from").Is("function_call") || m.Get("tool_calls").Present():
			return "a chat with calls or results of its own", 1
		case who == roleAgent && strings.Contains(said, "<execute>"):
			return "texts hold code to execute (CodeAct); the adp form of the same runs is read", 2
		case who == roleAgent:
			acted = acted || holdsAction(said)
		case who == roleUser && acted:
			answered = true
		}
	}
	switch {
	case !acted:
		return "no text of the agent has a line with Act: or Action:", 1
	case !answered:
		return "no action is answered", 2
	}
	return "", 4
}

// holdsAction looks for a label in a text as it stands in JSON.
func holdsAction(text string) bool {
	for _, label := range [...]string{"Act:", "Action:", "ACTION:"} {
		if strings.HasPrefix(text, label) || strings.Contains(text, `\n`+label) || strings.Contains(text, `\n `+label) {
			return true
		}
	}
	return strings.Contains(text, " ACTION:")
}

// instructMessage returns who speaks in a message, and the text.
func instructMessage(m jsonscan.Value) (role, jsonscan.Value) {
	if from := m.Get("from"); from.Present() {
		return shareRole(from), m.Get("value")
	}
	return chatRole(m.Get("role")), m.Get("content")
}
