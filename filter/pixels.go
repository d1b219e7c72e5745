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
	const member = "screenshot_sha256"
	if !strings.Contains(t.Meta, member) {
		return false
	}
	s := &c.screen
	s.meta = append(s.meta[:0], t.Meta...)
	v, err := s.doc.Parse(s.meta)
	if err != nil {
		return false
	}
	list, place := v.Get(member), t.Turns[i].Index
	entry := list.At(place)
	before, after := entry.At(0), entry.At(1)
	if entry.Kind() == jsonscan.String {
		before, after = entry, list.At(place+1)
	}
	return before.Kind() == jsonscan.String && after.Kind() == jsonscan.String && string(before.Raw()) != string(after.Raw())
}
