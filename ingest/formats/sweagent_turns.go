package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// steps reads the turns from trajectory.
func (s *sweAgent) steps(list jsonscan.Value) error {
	i, last := 0, list.Len()-1
	for v := range list.Elems() {
		if v.Kind() != jsonscan.Object {
			return inside("trajectory", i, badField("", "an object", v))
		}
		if err := s.step(v, i == last); err != nil {
			return inside("trajectory", i, err)
		}
		i++
	}
	return nil
}

func (s *sweAgent) step(v jsonscan.Value, last bool) error {
	f := fields{out: s.out}
	var answered bool
	var calls jsonscan.Value
	t := turnmill.Turn{Index: len(s.t.Turns)}
	s.think.reset()
	for k, m := range v.Members() {
		switch s.out.key(k) {
		case "action":
			t.Action = f.text("action", m)
		case "observation":
			t.Observation, answered = f.text("observation", m), m.Present()
		case "thought":
			s.think.reset()
			s.think.add(f.text("thought", m))
		case "tool_calls":
			calls = m
		}
	}
	if f.err != nil {
		return f.err
	}
	t.Tool = s.callNames(calls)
	if last && t.Observation == "" && firstWord(t.Action) == "submit" {
		answered = false // it ended the run
	}
	s.add(t, answered && !harnessEnd(t.Observation))
	return nil
}

// add makes the step a turn when the environment answered it.
func (s *sweAgent) add(t turnmill.Turn, answered bool) {
	if s.opts.KeepThought {
		t.Thought = s.out.join(s.think.texts, "\n")
	} else {
		s.out.Notes[turnmill.NoteThoughtStripped] += int64(s.think.n)
	}
	if !answered {
		s.out.note(turnmill.NoteUnansweredAction)
		return
	}
	if t.HasAction = hasCommand(t.Action); !t.HasAction {
		t.Action, t.Tool = "", ""
	} else if t.Tool == "" {
		t.Tool = firstWord(t.Action)
	}
	s.t.Turns = append(s.t.Turns, t)
}

// hasCommand refuses an empty action and the names under which old releases recorded that the harness, not
// the agent, ended the run.
func hasCommand(action string) bool {
	switch strings.Trim(action, blanks) {
	case "", "exit_cost", "exit_context", "exit_format", "exit_api", "exit_error":
		return false
	}
	return true
}

// harnessEnd tells observations that the harness wrote when it ended the run.
func harnessEnd(observation string) bool {
	switch observation {
	case "Exited", "Exited (autosubmitted)", "Environment died unexpectedly. Exited (autosubmitted)":
		return true
	}
	return false
}

// longestTool is the longest first word, in bytes, that is taken for a command's name.
const longestTool = 64

// firstWord returns a command's name: its first word that sets no variable.
func firstWord(command string) string {
	for {
		command = strings.TrimLeft(command, blanks)
		end := strings.IndexAny(command, blanks)
		if end < 0 {
			end = len(command)
		}
		word := command[:end]
		if name, _, sets := strings.Cut(word, "="); !sets || !isVariable(name) {
			if len(word) > longestTool {
				return ""
			}
			return word
		}
		command = command[end:]
	}
}

func isVariable(name string) bool {
	for i := 0; i < len(name); i++ {
		if !wordByte(name[i]) || name[i] >= 0x80 || i == 0 && name[i] <= '9' {
			return false
		}
	}
	return name != ""
}

// callNames joins the names of a message's tool calls by commas; "" when there is none.
func (s *sweAgent) callNames(list jsonscan.Value) string {
	b := s.out.arena.Open()
	for v := range list.Elems() {
		name := v.Get("function").Get("name")
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = name.AppendString(b)
	}
	return s.out.arena.Close(b)
}

// historyTurn is an action read from history and what has answered it so far.
type historyTurn struct {
	turn    turnmill.Turn
	open    bool
	answers []string
}

// history reads the turns from the messages after the prompt, where there is no trajectory.
func (s *sweAgent) history(list jsonscan.Value) error {
	s.pending.open = false
	i := 0
	for m := range list.Elems() {
		var err error
		switch {
		case isDemo(m):
		case m.Get("role").Is("assistant"):
			s.close()
			err = s.open(m)
		case s.pending.open:
			err = s.answer(m, i)
		}
		if err != nil {
			return inside("history", i, err)
		}
		i++
	}
	s.close()
	s.out.noteRepeats(s.ids)
	return nil
}

// open takes the agent's message: action is the command as it was run.
func (s *sweAgent) open(m jsonscan.Value) error {
	f := fields{out: s.out}
	s.think.reset()
	s.think.add(f.text("thought", m.Get("thought")))
	calls := m.Get("tool_calls")
	s.pending = historyTurn{open: true, answers: s.pending.answers[:0], turn: turnmill.Turn{
		Index:  len(s.t.Turns),
		Action: f.text("action", m.Get("action")),
		Tool:   s.callNames(calls),
	}}
	for v := range calls.Elems() {
		if id := s.out.id(v.Get("id")); id != "" {
			s.ids = append(s.ids, id)
		}
	}
	return f.err
}

// answer takes the first message after the action, and further ones of role tool; what else follows
// answers nothing.
func (s *sweAgent) answer(m jsonscan.Value, i int) error {
	p := &s.pending
	if len(p.answers) > 0 && !m.Get("role").Is("tool") {
		s.out.note(turnmill.NoteUnsolicited)
		return nil
	}
	var aside thoughts
	w, ok := s.out.content(m.Get("content"), &aside)
	if !ok {
		return reject(turnmill.ReasonBadMessage, "history[%d]: content is neither a text nor a list of parts", i)
	}
	if !w.mute {
		p.answers = append(p.answers, w.text)
	}
	return nil
}

func (s *sweAgent) close() {
	if p := &s.pending; p.open {
		p.turn.Observation = s.out.join(p.answers, "\n")
		s.add(p.turn, len(p.answers) > 0)
		p.open = false
	}
}
