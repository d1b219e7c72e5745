package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// start is where a path begins: a root, or the first unit of a branch.
type start struct {
	unit int32
	next int  // turns that the path's history has
	task span // in tasks: what was asked before it
}

// play makes a trajectory of each path that has turns. One without any stands for a log in which nothing
// happened.
func (s *session) play(source, own string) {
	for u := range s.units {
		if s.units[u].parent < 0 {
			s.starts = append(s.starts, start{unit: int32(u)})
		}
	}
	first, idle := "", int64(0) // what was asked on the first path, in how many texts
	for n := 0; n < len(s.starts); n++ {
		from := s.starts[n]
		t := s.out.trajectory(source, own)
		s.path(from, t)
		if len(t.Turns) > 0 {
			s.settle(t, s.entries[s.units[from.unit].first].chain.agent)
			continue
		}
		asked := int64(len(s.task)) - int64(from.task.to-from.task.from)
		if n == 0 {
			first, idle = t.System.TaskDescription, asked
		}
		s.out.Notes[turnmill.NoteUnsolicited] += asked // and nothing was done
		s.out.Trajectories = s.out.Trajectories[:len(s.out.Trajectories)-1]
	}
	if len(s.out.Trajectories) == 0 {
		t := s.out.trajectory(source, own)
		t.System.TaskDescription = first
		s.out.Notes[turnmill.NoteUnsolicited] -= idle
		s.kinds = 0
		s.settle(t, "")
	}
}

// settle fills in what is known of a path beside its turns.
func (s *session) settle(t *turnmill.Trajectory, agent string) {
	t.Observed = turnmill.ObservedTrue
	t.Meta = s.out.object(member{name: "version", text: s.version}, member{name: "agent_id", text: agent})
	if t.Domain = domainOf(s.kinds, 0); t.Domain == turnmill.DomainMCP && s.kinds&^toolAside == 0 {
		t.Domain = turnmill.DomainSWE
	}
	s.out.finish(t, s.opts)
}

// path plays the units from a start along the children that last longest.
func (s *session) path(from start, t *turnmill.Trajectory) {
	s.begin(t, s.out)
	s.next = from.next
	s.task = append(s.task, s.tasks[from.task.from:from.task.to]...)
	for u := from.unit; u >= 0; {
		s.unit(&s.units[u])
		u = s.branch(u)
	}
	s.finish()
}

// branch returns the child of u that the path goes on with, or -1. The others start paths of their own.
func (s *session) branch(u int32) int32 {
	best := int32(-1)
	for c := s.units[u].child; c >= 0; c = s.units[c].sibling {
		if best < 0 || s.outlasts(c, best) {
			best = c
		}
	}
	var task span
	for c := s.units[u].child; c >= 0; c = s.units[c].sibling {
		if c == best {
			continue
		}
		if task.empty() {
			task.from = int32(len(s.tasks))
			s.tasks = append(s.tasks, s.task...)
			task.to = int32(len(s.tasks))
		}
		s.starts = append(s.starts, start{c, s.next, task})
	}
	return best
}

// outlasts tells whether the log went on with a rather than with b.
func (s *session) outlasts(a, b int32) bool {
	x, y := &s.units[a], &s.units[b]
	if x.acts != y.acts {
		return x.acts
	}
	return x.end > y.end
}

// unit plays one unit.
func (s *session) unit(u *unit) {
	if s.entries[u.first].kind == entryAgent {
		s.agent()
	}
	for i := u.first; i >= 0; i = s.entries[i].next {
		s.acted(&s.entries[i])
	}
	for i := u.first; i >= 0; i = s.entries[i].next {
		e := &s.entries[i]
		for _, r := range s.answered[e.answered.from:e.answered.to] {
			s.answer(r)
		}
	}
	if len(s.calls) > 0 {
		s.end()
	}
	for i := u.first; i >= 0; i = s.entries[i].next {
		s.said(&s.entries[i])
	}
}

// acted takes what the agent did in an entry.
func (s *session) acted(e *entry) {
	if e.kind != entryAgent {
		return
	}
	if s.t.Agent == "" {
		s.t.Agent = e.model
	}
	for _, text := range s.thinks[e.thinks.from:e.thinks.to] {
		s.think.add(text)
	}
	for _, text := range s.texts[e.texts.from:e.texts.to] {
		s.say(s.out.withoutThinking(text, &s.think))
	}
	for _, k := range s.asked[e.asked.from:e.asked.to] {
		s.call(k)
		s.kinds |= builtin(k.name)
	}
}

// said takes what the person or the harness said in an entry.
func (s *session) said(e *entry) {
	if e.kind == entryAgent || e.texts.empty() {
		return
	}
	texts := s.texts[e.texts.from:e.texts.to]
	if e.kind == entryHarness && !(e.summary && !s.started) {
		s.end() // what follows is no reply to what came before
		s.out.note(turnmill.NoteUnsolicited)
		return
	}
	s.out.pieces = s.out.pieces[:0]
	for _, text := range texts {
		if harnessText(text) {
			s.out.note(turnmill.NoteUnsolicited)
		} else {
			s.out.pieces = append(s.out.pieces, text)
		}
	}
	if len(s.out.pieces) > 0 {
		s.person(words{text: s.out.join(s.out.pieces, "\n")})
	}
}

// builtin is the kind of tools that come with the program and are no pages of the web: what they act on is
// a code base.
func builtin(name string) toolKinds {
	if strings.HasPrefix(name, "mcp__") || toolKind(name)&(toolSearch|toolAside) != 0 {
		return 0
	}
	return toolEdit
}
