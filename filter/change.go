package filter

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// comparison compares screens. What it finds of a turn is remembered, because two filters ask.
type comparison struct {
	a, b  []byte         // lines without their volatile parts
	trail *turnmill.Turn // the turn that was asked for last
	found bool
}

// unchanged tells whether the screen after turn i is the one before it, but for volatile parts. The one
// before it is its state; where that is not told, the observation before it, or the initial state. The
// next turn must start from that screen too: where it starts from another, the change came late, and the
// turn stays.
func (c *Chain) unchanged(t *turnmill.Trajectory, i int) bool {
	turn := &t.Turns[i]
	if c.screen.trail != turn {
		c.screen.trail, c.screen.found = turn, c.compare(t, i)
	}
	return c.screen.found
}

func (c *Chain) compare(t *turnmill.Trajectory, i int) bool {
	turn := &t.Turns[i]
	before := turn.State
	switch {
	case turn.Dialogue || !turn.HasAction:
		return false
	case before != "":
	case i == 0:
		before = t.System.InitialState
	case !t.Turns[i-1].Dialogue && t.Turns[i-1].HasAction:
		before = t.Turns[i-1].Observation
	}
	if before == "" || !c.screen.same(before, turn.Observation, turn.Action) {
		return false
	}
	if i+1 == len(t.Turns) || t.Turns[i+1].State == "" {
		return true
	}
	return c.screen.same(before, t.Turns[i+1].State, turn.Action)
}

// longestLine is in bytes: longer lines, of pages that stand on one line, are compared as they are.
const longestLine = 32 << 10

// same tells whether two screens differ in volatile parts alone. Lines that differ are compared without what
// appendStable leaves out; those that are nothing but volatile are passed over. A change of focus counts
// where the action is aimed at the element.
func (s *comparison) same(a, b, action string) bool {
	if a == b {
		return true
	}
	for a != "" || b != "" {
		x, moreA, _ := strings.Cut(a, "\n")
		y, moreB, _ := strings.Cut(b, "\n")
		if x == y || sameButID(x, y) {
			a, b = moreA, moreB
			continue
		}
		if max(len(x), len(y)) > longestLine {
			return false
		}
		var focusA, focusB bool
		s.a, focusA = appendStable(s.a[:0], x)
		s.b, focusB = appendStable(s.b[:0], y)
		switch {
		case len(s.a) == 0 && a != "":
			a = moreA
		case len(s.b) == 0 && b != "":
			b = moreB
		case string(s.a) != string(s.b) && !sameClock(s.a, s.b) || focusA != focusB && aimed(action, x, y):
			return false
		default:
			a, b = moreA, moreB
		}
	}
	return true
}

// sameButID tells whether two lines are equal behind their elements' ids, which is what most that differ are.
func sameButID(x, y string) bool {
	a, b := strings.TrimLeft(x, "\t "), strings.TrimLeft(y, "\t ")
	if n, m := idLength(a), idLength(b); n > 0 && m > 0 {
		return a[n:] == b[m:] && x[:len(x)-len(a)] == y[:len(y)-len(b)]
	}
	return false
}

// aimed tells whether an action is aimed at the element of two lines, or nothing tells what it is aimed at.
// A page's root gets and loses the focus by itself.
func aimed(action, x, y string) bool {
	p, q := elementID(x), elementID(y)
	if p == "" || q == "" {
		return !isRoot(strings.TrimSpace(x))
	}
	return names(action, p) || names(action, q)
}

// names tells whether an id stands in an action as a word of its own.
func names(action, id string) bool {
	for from := 0; ; {
		i := strings.Index(action[from:], id)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(id)
		if (i == 0 || !wordByte(action[i-1])) && (end == len(action) || !wordByte(action[end])) {
			return true
		}
		from = i + 1
	}
}

// elementID returns the id under which a line's element can be acted on: [a51] before it, or the index of
// AndroidWorld's lists.
func elementID(line string) string {
	line = strings.TrimLeft(line, " \t")
	if n := idLength(line); n > 0 {
		return line[1 : n-1]
	}
	if i := strings.Index(line, `"index": `); i >= 0 {
		id := line[i+len(`"index": `):]
		if end := strings.IndexAny(id, ",}"); end > 0 {
			return id[:end]
		}
	}
	return ""
}

// idLength returns the length of an element's id in brackets, or 0: letters and at least one digit.
func idLength(s string) int {
	const longest = 14
	digits := false
	for i := 1; i < min(len(s), longest) && s[0] == '['; i++ {
		switch c := s[i]; {
		case c == ']' && digits:
			return i + 1
		case c >= '0' && c <= '9':
			digits = true
		case !wordByte(c):
			return 0
		}
	}
	return 0
}
