package filter

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// pixelsDiffer tells whether the record says that the screenshots before and after turn i differ. Records
// may hold their hashes in meta, one entry for each turn's place:
//
//	{"screenshot_sha256":[[before, after], ...]}
//	{"screenshot_sha256":[before, after, ...]}      one more than turns: each also stands before the next turn
func (c *Chain) pixelsDiffer(t *turnmill.Trajectory, i int) bool {
	s := &c.pixels
	if !s.read {
		s.take(t.Meta)
	}
	place := t.Turns[i].Index
	entry := s.at(place)
	before, after := entry.At(0), entry.At(1)
	if entry.Kind() == jsonscan.String {
		before, after = entry, s.at(place+1)
	}
	return before.Kind() == jsonscan.String && after.Kind() == jsonscan.String && string(before.Raw()) != string(after.Raw())
}

// screenshots are the hashes that a record holds, read once a trajectory.
type screenshots struct {
	read bool
	list []jsonscan.Value
	doc  jsonscan.Doc
	meta []byte // the text that the list lies in
}

func (s *screenshots) take(meta string) {
	const member = "screenshot_sha256"
	if s.read = true; !strings.Contains(meta, member) {
		return
	}
	s.meta = append(s.meta[:0], meta...)
	v, err := s.doc.Parse(s.meta)
	if err != nil {
		return
	}
	for e := range v.Get(member).Elems() {
		s.list = append(s.list, e)
	}
}

func (s *screenshots) at(i int) jsonscan.Value {
	if i < 0 || i >= len(s.list) {
		return jsonscan.Value{}
	}
	return s.list[i]
}

// forget makes ready for the next trajectory. What a large one took is given back.
func (s *screenshots) forget() {
	s.read, s.list = false, s.list[:0]
	if cap(s.meta) > keepBytes {
		*s = screenshots{}
	}
}
