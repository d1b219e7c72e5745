package formats

import (
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// session decodes the log of a Claude Code session. A log is a tree of lines, written as they come:
//
//	lines    -->  entries   what an event holds, its uuid and its parent's        claudecode_event.go
//	entries  -->  units     all lines of one message, with the results of its calls;
//	                        or one line of the person, or of the harness          claudecode_tree.go
//	units    -->  paths     from a root along the branch that lasts longest;
//	                        every other branch starts a path of its own           claudecode_path.go
//	paths    -->  turns     acts.go
type session struct {
	acts
	wholeFile
	entries  []entry
	texts    []string // of all entries
	thinks   []string
	asked    []call
	answered []result
	units    []unit
	starts   []start
	walk     []int32
	tasks    []string // of all starts

	uuids    map[string]int32   // entries
	messages map[string]int32   // units
	owners   map[string]int32   // the unit of a call
	blocks   map[block]struct{} // what units hold already
	chains   map[chain]int32    // the last unit

	events  int    // recognised ones
	version string // of the program that wrote the log
}

// block is a content block of a unit, as it stands.
type block struct {
	unit int32
	raw  string
}

// keepEntries is the number of events whose memory is kept from one record to the next.
const keepEntries = 1 << 15

// forget makes the session ready for a record.
func (s *session) forget() {
	if cap(s.entries) > keepEntries {
		*s = session{acts: acts{opts: s.opts}}
	}
	s.uuids, s.messages, s.owners = emptied(s.uuids), emptied(s.messages), emptied(s.owners)
	s.blocks, s.chains = emptied(s.blocks), emptied(s.chains)
	s.entries, s.texts, s.thinks, s.asked, s.answered = s.entries[:0], s.texts[:0], s.thinks[:0], s.asked[:0], s.answered[:0]
	s.units, s.starts, s.tasks = s.units[:0], s.starts[:0], s.tasks[:0]
	s.events, s.version = 0, ""
	s.doc.NonFinite = true
}

func (s *session) Decode(raw []byte, out *Decoded) error {
	out.reset()
	s.forget()
	s.out = out
	s.readFile(raw, out, s)
	if s.events == 0 {
		return out.refuseWhole(claudeCodeName, "no line of it is an event of a session")
	}
	s.build()
	s.play(claudeCodeName, s.ownID())
	return nil
}

// ownID returns the id of the session that the file belongs to: a resumed one begins with lines of others.
func (s *session) ownID() string {
	last := -1
	for i := range s.entries {
		if e := &s.entries[i]; e.kind != entryLink && (last < 0 || !e.chain.side || s.entries[last].chain.side) {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	c := s.entries[last].chain
	if !c.side || c.agent == "" || c.session == "" {
		return c.session
	}
	b := append(append(s.out.arena.Open(), c.session...), '/')
	return s.out.arena.Close(append(b, c.agent...))
}

// value reads an event, or a list of them. Offsets in the document that holds v count from base.
func (s *session) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array && v.Len() > 0 {
		for e := range v.Elems() {
			s.value(e, base)
		}
		return
	}
	if err := s.event(v); err != nil {
		s.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

// take reads events that stand in a record of another format, after forget.
func (s *session) take(events jsonscan.Value, out *Decoded) {
	s.out = out
	s.value(events, 0)
	s.build()
}
