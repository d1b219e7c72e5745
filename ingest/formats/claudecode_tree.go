package formats

// unit is one step of a session: a message of the agent with the results of its calls, or one entry of the
// person or of the harness.
//
//	entry  text  parent u1  \
//	entry  call  parent ^    } one message.id  -> unit 1, child of unit 0
//	entry  call  parent ^   /
//	entry  result of a call                    -> unit 1 too, whatever its parent
type unit struct {
	first, last    int32 // entries, in the order of the log
	parent         int32 // -1 for a root
	child, sibling int32 // the first child and the next of its parent's, in the order of the log; -1 for none
	end            int32 // the last entry in the unit and under it
	acts           bool  // the agent acts in it or under it
	waits          int32 // children that have not been summed up
}

// unsought is the anchor of a link that has not been looked for.
const unsought = -2

// unitOf returns the unit of a message, and makes it where it is new.
func (s *session) unitOf(message string) int32 {
	u, known := s.messages[message]
	if !known {
		u = s.newUnit()
		s.messages[message] = u
	}
	return u
}

func (s *session) newUnit() int32 {
	s.units = append(s.units, unit{first: -1, last: -1, parent: -1, child: -1, sibling: -1})
	return int32(len(s.units) - 1)
}

// join puts an entry into its unit: results go where their call is.
func (s *session) join(i int32) {
	e := &s.entries[i]
	if !e.answered.empty() {
		if u, known := s.owners[s.answered[e.answered.from].id]; known {
			e.unit = u
		}
	}
	if e.unit < 0 {
		e.unit = s.newUnit()
	}
	for _, k := range s.asked[e.asked.from:e.asked.to] {
		s.owners[k.id] = e.unit
	}
	u := &s.units[e.unit]
	if u.last < 0 {
		u.first = i
	} else {
		s.entries[u.last].next = i
	}
	u.last, u.end = i, i
	u.acts = u.acts || e.kind == entryAgent
}

// build links the units to a forest.
func (s *session) build() {
	linked := false
	for u := range s.units {
		linked = s.link(int32(u)) || linked
	}
	s.bridge(linked)
	for u := range s.units {
		s.cut(int32(u))
	}
	for u := range s.units {
		s.units[u].waits = 0
	}
	for u := len(s.units) - 1; u >= 0; u-- {
		if p := s.units[u].parent; p >= 0 {
			s.units[u].sibling, s.units[p].child = s.units[p].child, int32(u)
			s.units[p].waits++
		}
	}
	s.sum()
}

// link finds the parent of a unit: the first message outside it that an entry of it hangs from.
func (s *session) link(u int32) bool {
	for i := s.units[u].first; i >= 0; i = s.entries[i].next {
		e := &s.entries[i]
		p := s.anchorOf(s.parentOf(e))
		if p < 0 || s.entries[p].unit == u {
			continue
		}
		if a, b := e.chain, s.entries[p].chain; a.side != b.side || a.side && a.agent != b.agent {
			return false // a sidechain hangs from what asked for it, and is a line of its own
		}
		s.units[u].parent = s.entries[p].unit
		return true
	}
	return false
}

func (s *session) parentOf(e *entry) int32 {
	if i, known := s.uuids[e.parent]; known && e.parent != "" {
		return i
	}
	return -1
}

// anchorOf returns the message at i or, where i is a link, the nearest one above it; -1 when there is none.
func (s *session) anchorOf(i int32) int32 {
	s.walk = s.walk[:0]
	for i >= 0 && s.entries[i].kind == entryLink {
		e := &s.entries[i]
		if e.anchor != unsought {
			i = e.anchor
			break
		}
		e.anchor = -1 // a link that leads to itself leads nowhere
		s.walk = append(s.walk, i)
		i = s.parentOf(e)
	}
	for _, link := range s.walk {
		s.entries[link].anchor = i
	}
	return i
}

// bridge gives parents to units that lack theirs. Where a parent is named and leads to no message of the
// line, something was lost, and the unit goes on from the one before it; so do all units of a log that knows
// no parents. linked says that it does.
func (s *session) bridge(linked bool) {
	for i := range s.units {
		u := &s.units[i]
		e := &s.entries[u.first]
		c := e.chain
		if linked {
			c.session = "" // which changes when a session is resumed
		}
		before, known := s.chains[c]
		s.chains[c] = int32(i)
		if u.parent >= 0 || !known {
			continue
		}
		if lost := e.parent != "" && (!c.side || s.parentOf(e) < 0); lost || !linked {
			u.parent = before
		}
	}
}

// cut makes a root of one unit of a ring.
func (s *session) cut(u int32) {
	// A unit that was walked has its walk's start, plus one, in waits.
	mark := u + 1
	at := u
	for at >= 0 && s.units[at].waits == 0 {
		s.units[at].waits = mark
		at = s.units[at].parent
	}
	if at >= 0 && s.units[at].waits == mark {
		s.units[at].parent = -1
	}
}

// sum tells each unit what lies under it, the leaves first.
func (s *session) sum() {
	s.walk = s.walk[:0]
	for u := range s.units {
		if s.units[u].child < 0 {
			s.walk = append(s.walk, int32(u))
		}
	}
	for n := 0; n < len(s.walk); n++ {
		u := &s.units[s.walk[n]]
		if u.parent < 0 {
			continue
		}
		p := &s.units[u.parent]
		p.end, p.acts = max(p.end, u.end), p.acts || u.acts
		if p.waits--; p.waits == 0 {
			s.walk = append(s.walk, u.parent)
		}
	}
}
