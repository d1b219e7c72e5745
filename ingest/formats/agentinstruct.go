package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// agentInstruct decodes chats in which the agent writes its actions into its texts:
//
//	Think: I list them.        Thought: I look for it.     reasoning
//	Act: bash                  Action: search[mug]         the action: the code in the fence, or the text
//	```bash ls ```
//	The output of the OS: ...  (the user's next text)      what answered it
type agentInstruct struct {
	acts
	page   string // the last page of WebShop
	closed bool   // the agent has given its answer
}

func (a *agentInstruct) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *agentInstruct) record(v jsonscan.Value, out *Decoded) error {
	list := v.Get("conversations")
	switch {
	case v.Kind() != jsonscan.Object || list.Kind() == jsonscan.Invalid:
		return wrongFormat(agentInstructName, "no list of messages in conversations")
	case list.Kind() != jsonscan.Array:
		return badField("conversations", "an array", list)
	case list.At(0).Kind() == jsonscan.Invalid:
		return reject(turnmill.ReasonEmptyMessages, "conversations is empty")
	}
	a.begin(out.trajectory(agentInstructName, out.id(v.Get("id"))), out)
	a.t.TaskID, a.t.Observed = a.t.ID, turnmill.ObservedTrue
	a.page, a.closed = "", false
	i := 0
	for m := range list.Elems() {
		if err := a.message(m, i); err != nil {
			return err
		}
		i++
	}
	a.finish()
	if a.t.Domain = domainOf(a.kinds, 0); a.page != "" {
		a.t.Domain = turnmill.DomainWeb
	}
	out.finish(a.t, a.opts)
	return nil
}

func (a *agentInstruct) message(m jsonscan.Value, i int) error {
	who, content := instructMessage(m)
	if m.Kind() != jsonscan.Object || content.Present() && content.Kind() != jsonscan.String {
		return reject(turnmill.ReasonBadMessage, "conversations[%d] is not a speaker and a text", i)
	}
	text := content.Str(&a.out.arena)
	switch who {
	case roleSystem:
		a.instruct(text)
	case roleUser:
		a.user(text)
	case roleAgent:
		a.said(text)
	default:
		return reject(turnmill.ReasonBadMessage, "conversations[%d] is said by neither a human nor the model", i)
	}
	return nil
}

// user takes a text of the user: by its place the task, an answer of the environment, or words.
func (a *agentInstruct) user(text string) {
	page := pageText(text)
	switch {
	case a.closed && strings.HasPrefix(text, newProblem):
		a.demonstrated()
		a.closed = false
		a.task = append(a.task, text)
	case a.closed:
		a.out.note(turnmill.NoteUnsolicited)
	case len(a.calls) > 0 && len(a.results) == 0:
		a.answer(result{text: withoutLabel(text)})
	default:
		a.person(words{text: text})
	}
	if page {
		a.page = withoutLabel(text)
	}
}

// withoutLabel takes off what the harness writes before an answer.
func withoutLabel(text string) string {
	for _, label := range [...]string{"The output of the OS:", "Observation:"} {
		if rest, ok := strings.CutPrefix(text, label); ok {
			return strings.TrimPrefix(strings.TrimPrefix(rest, " "), "\n")
		}
	}
	return text
}

// said takes a text of the agent.
func (a *agentInstruct) said(text string) {
	a.agent()
	if len(a.calls) > 0 {
		a.end() // two actions with nothing between them: the first one has no answer
	}
	a.state, a.closed = a.page, false
	n := a.think.n
	text = a.out.withoutThinking(text, &a.think)
	thought, action, shell, ok := splitAct(text)
	if !ok {
		if thought, answer, ok := cutAnswer(text); ok {
			a.think.add(thought)
			text, a.closed = answer, true
		}
		if !a.say(text) && a.think.n == n {
			a.out.note(turnmill.NoteEmptiedMessage)
		}
		return
	}
	a.think.add(thought)
	if action == "" {
		a.out.note(turnmill.NoteEmptiedMessage)
		return
	}
	head, code, fenced := cutFence(action)
	switch {
	case closing(head):
		a.closed = true
		a.say(action)
	case shell && fenced:
		a.call(call{name: "bash", text: code, answer: -1})
	case fenced:
		a.calls = append(a.calls, call{text: code, answer: -1}) // no tool has been called: its name says nothing of the domain
	default:
		k := call{name: nameBefore(action, '['), text: action, answer: -1}
		if k.name == "" {
			k.name = nameBefore(action, '(')
		}
		if k.name == "" {
			a.calls = append(a.calls, k)
			break
		}
		a.call(k)
	}
}

// closing tells an action that gives the agent's answer, or ends the run.
func closing(head string) bool {
	head, _, _ = strings.Cut(strings.ToLower(strings.Trim(head, blanks)), "\n")
	for _, word := range [...]string{"answer", "finish"} {
		if rest, ok := strings.CutPrefix(head, word); ok && (rest == "" || strings.ContainsAny(rest[:1], "([ \t\r")) {
			return true
		}
	}
	return false
}

// cutAnswer cuts a text before the line that gives the answer.
func cutAnswer(text string) (thought, answer string, ok bool) {
	const label = "Final Answer:"
	if strings.HasPrefix(text, label) {
		return "", text, true
	}
	i := strings.LastIndex(text, "\n"+label)
	if i < 0 {
		return "", "", false
	}
	return withoutThoughtLabel(text[:i]), text[i+1:], true
}

// withoutThoughtLabel takes the label off a thought.
func withoutThoughtLabel(thought string) string {
	thought = strings.Trim(thought, blanks)
	for _, label := range [...]string{"Think:", "Thought:", "THOUGHT:"} {
		thought = strings.TrimPrefix(thought, label)
	}
	return thought
}

// splitAct splits a text at its label: the first Act:, or the last Action:. Labels begin a line.
func splitAct(text string) (thought, action string, shell, ok bool) {
	at, size := -1, 0
	for from := 0; from < len(text) && !shell; {
		line := firstLine(text[from:])
		bare := strings.TrimLeft(line, " ")
		for _, label := range [...]string{"Act:", "Action:", "ACTION:"} {
			if strings.HasPrefix(bare, label) {
				at, size, shell = from+len(line)-len(bare), len(label), label == "Act:"
			}
		}
		from += len(line) + 1
	}
	if at < 0 {
		if at, size = strings.LastIndex(text, " ACTION:"), len(" ACTION:"); at < 0 {
			return "", "", false, false
		}
	}
	return withoutThoughtLabel(text[:at]), strings.Trim(text[at+size:], blanks), shell, true
}

// cutFence returns what stands before the first fence of a text, and the code inside it.
func cutFence(text string) (head, code string, ok bool) {
	const fence = "```"
	head, code, ok = strings.Cut(text, fence)
	if !ok {
		return text, "", false
	}
	if _, code, ok = strings.Cut(code, "\n"); !ok { // the fence's own line names the language
		return text, "", false
	}
	code, _, _ = cutLast(code, fence)
	return head, strings.TrimRight(code, "\r\n"), true
}

// newProblem begins the text that ends the worked example of AgentInstruct's shell runs.
const newProblem = "Now, I will start a new problem"
