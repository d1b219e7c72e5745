package formats

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// worldBench decodes rows of AgentWorldBench. A row is one turn to predict and what came before it, the roles
// swapped: prompts are what the agent did, responses what the environment answered.
//
//	prompt[i]     ### Turn 3                       response[i]   **Environment Observation:**
//	              **Task Instruction:**  TEXT                    TEXT
//	              **Current State:**  TEXT
//	              **Action:**  TEXT, JSON and code in a fence
type worldBench struct {
	opts     Options
	out      *Decoded
	prompts  []string
	answers  []string
	headings []int
	names    []string
	task     []string
	inner    innerJSON
}

func (w *worldBench) Decode(raw []byte, out *Decoded) error { return out.decode(raw, w.record) }

func (w *worldBench) record(v jsonscan.Value, out *Decoded) error {
	at, total, err := w.open(v, out)
	if err != nil {
		return err
	}
	if len(w.prompts) == 0 {
		return reject(turnmill.ReasonEmptyMessages, "prompt is empty")
	}
	if current := v.Get("current_prompt").Str(&out.arena); current != "" && at >= 1 && at <= len(w.prompts) {
		w.prompts[at-1] = current // without the words to the model behind it
	}
	t := out.trajectory(worldBenchName, "")
	id := out.id(v.Get("id"))
	t.ID, t.TaskID = w.rowID(id, at), id
	w.turns(t)
	t.System.TaskDescription = out.join(w.task, "\n\n")
	t.Observed = turnmill.ObservedTrue
	t.Domain = w.domain(v.Get("task"))
	t.Meta = out.object(member{"benchmark", "true", true}, whole("turn_idx", at), whole("total_turns", total))
	out.finish(t, w.opts)
	return nil
}

// whole is a member for a number above zero.
func whole(name string, n int) member {
	if n <= 0 {
		return member{}
	}
	return member{name, strconv.Itoa(n), true}
}

// domain reads the last part of a task's name.
func (w *worldBench) domain(v jsonscan.Value) turnmill.Domain {
	name := v.Str(&w.out.arena)
	name = name[strings.LastIndexByte(name, '/')+1:]
	domains := turnmill.Domains()
	if i := slices.Index(domains, turnmill.Domain(name)); i >= 0 {
		return domains[i] // which outlives the record
	}
	return turnmill.DomainUnknown
}

// rowID is the id of a row: those of one run share theirs, and differ by the turn.
func (w *worldBench) rowID(id string, at int) string {
	if id == "" {
		return ""
	}
	b := append(append(w.out.arena.Open(), id...), '/')
	return w.out.arena.Close(strconv.AppendInt(b, int64(at), 10))
}

// lists reads prompt and response: lists of texts, one text each, or messages in prompt.
func (w *worldBench) lists(v jsonscan.Value) error {
	prompt, response := v.Get("prompt"), v.Get("response")
	if prompt.At(0).Kind() == jsonscan.Object {
		if err := w.messages(prompt); err != nil {
			return err
		}
		for len(w.prompts) > len(w.answers) && response.Present() { // the answer to predict stands apart
			last := response
			if response.Kind() == jsonscan.Array {
				last = response.At(response.Len() - 1)
			}
			if inner := last.Get("content"); inner.Present() {
				last = inner
			}
			if last.Kind() != jsonscan.String {
				return badField("response", "a text", last)
			}
			w.answers = append(w.answers, last.Str(&w.out.arena))
		}
		return nil
	}
	var err error
	if w.prompts, err = w.list("prompt", prompt, w.prompts); err == nil {
		w.answers, err = w.list("response", response, w.answers)
	}
	return err
}

func (w *worldBench) list(name string, v jsonscan.Value, to []string) ([]string, error) {
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return to, nil
	case jsonscan.String:
		return append(to, v.Str(&w.out.arena)), nil
	case jsonscan.Array:
	default:
		return to, badField(name, "a list of texts", v)
	}
	i := 0
	for m := range v.Elems() {
		if m.Kind() != jsonscan.String {
			return to, inside(name, i, badField("", "a string", m))
		}
		to = append(to, m.Str(&w.out.arena))
		i++
	}
	return to, nil
}

// messages reads prompts and responses from messages: the user's are actions, the assistant's observations.
func (w *worldBench) messages(list jsonscan.Value) error {
	i := 0
	for m := range list.Elems() {
		content := m.Get("content")
		if content.Kind() != jsonscan.String {
			return inside("prompt", i, badField("content", "a string", content))
		}
		text := content.Str(&w.out.arena)
		switch who := chatRole(m.Get("role")); {
		case who == roleSystem:
			w.task = append(w.task, text)
		case who == roleUser && len(w.prompts) == len(w.answers):
			w.prompts = append(w.prompts, text)
		case who == roleAgent && len(w.prompts) == len(w.answers)+1:
			w.answers = append(w.answers, text)
		default:
			return reject(turnmill.ReasonBadMessage, "prompt[%d]: user and assistant do not take turns", i)
		}
		i++
	}
	return nil
}

// turns makes the turns of the pairs.
func (w *worldBench) turns(t *turnmill.Trajectory) {
	for i, text := range w.prompts {
		p := readPrompt(text)
		if p.task != "" {
			w.task = append(w.task, p.task)
		}
		w.headings = append(w.headings, p.turn)
		if i >= len(w.answers) {
			w.out.note(turnmill.NoteUnansweredAction)
			continue
		}
		action := w.action(p.action)
		t.Turns = append(t.Turns, turnmill.Turn{
			Index: i, State: p.state, Action: action, HasAction: p.acts, Observation: readAnswer(w.answers[i]), Tool: w.tool(action),
		})
	}
	for i := len(w.prompts); i < len(w.answers); i++ {
		w.out.note(turnmill.NoteOrphanObservation)
	}
	for i, n := range w.headings {
		if n < 1 || i > 0 && n <= w.headings[i-1] {
			return
		}
	}
	for i := range t.Turns { // the headings count from 1, and may leave some out
		t.Turns[i].Index = w.headings[i] - 1
	}
}

// action is the text of an action without its fence. JSON that its fence lays out over lines is put on one line.
func (w *worldBench) action(text string) string {
	inside, word, ok := unfence(text)
	if !ok {
		return text
	}
	if word != "json" || strings.IndexByte(inside, '\n') < 0 {
		return inside
	}
	v, err := w.out.parseInner(inside)
	if err != nil || v.Kind() != jsonscan.Object && v.Kind() != jsonscan.Array {
		return inside
	}
	return w.out.arena.Close(appendCompact(w.out.arena.Open(), v))
}

// tool names the calls of an action: an object with a name on each of its lines.
func (w *worldBench) tool(action string) string {
	w.names = w.names[:0]
	for line := range strings.SplitSeq(action, "\n") {
		if !strings.HasPrefix(line, `{"name":`) {
			return ""
		}
		v, err := w.inner.parse(w.out, line)
		if err != nil || v.Get("name").Kind() != jsonscan.String {
			return ""
		}
		w.names = append(w.names, v.Get("name").Str(&w.out.arena))
	}
	return w.out.join(w.names, ",")
}
