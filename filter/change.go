package filter

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/volatile"
)

// comparison compares screens. What it finds of a turn is remembered, because two filters ask.
type comparison struct {
	a, b  side
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

// mostFocus is how many elements may get or lose the focus between two screens that are the same: an action is
// looked through for each.
const mostFocus = 64

// same tells whether two screens differ in volatile parts alone. Lines that differ are compared without what
// volatile.Append leaves out; those that are nothing but volatile are passed over. A change of focus counts
// where the action is aimed at the element.
func (s *comparison) same(a, b, action string) bool {
	if a == b {
		return true
	}
	x, y := &s.a, &s.b
	x.begin(a)
	y.begin(b)
	defer x.forget()
	defer y.forget()
	for focused := 0; x.rest != "" || y.rest != ""; {
		x.cut()
		y.cut()
		if x.line == y.line || sameButID(x.line, y.line) {
			x.step()
			y.step()
			continue
		}
		if max(len(x.line), len(y.line)) > longestLine {
			return false
		}
		x.settle()
		y.settle()
		switch {
		case len(x.stable) == 0 && x.rest != "":
			x.step()
			continue
		case len(y.stable) == 0 && y.rest != "":
			y.step()
			continue
		case string(x.stable) != string(y.stable) && !volatile.SameClock(x.stable, y.stable):
			return false
		case x.focus != y.focus:
			if focused++; focused > mostFocus || aimed(action, x.line, y.line) {
				return false
			}
		}
		x.step()
		y.step()
	}
	return true
}

// side is a place in one of two screens. What is found of its line is kept, for the other side may pass many
// lines meanwhile.
type side struct {
	rest   string // from the line on
	line   string
	after  string
	stable []byte // the line without its volatile parts
	focus  bool
	found  bool // line and after
	folded bool // stable and focus
}

func (d *side) begin(screen string) { d.rest, d.found, d.folded = screen, false, false }

// forget lets go of the screen, which is the record's.
func (d *side) forget() { *d = side{stable: d.stable} }

func (d *side) step() { d.begin(d.after) }

func (d *side) cut() {
	if !d.found {
		d.line, d.after, _ = strings.Cut(d.rest, "\n")
		d.found = true
	}
}

func (d *side) settle() {
	if !d.folded {
		d.stable, d.focus = volatile.Append(d.stable[:0], d.line)
		d.folded = true
	}
}

// sameButID tells whether two lines are equal behind their elements' ids, which is what most that differ are.
func sameButID(x, y string) bool {
	a, b := strings.TrimLeft(x, "\t "), strings.TrimLeft(y, "\t ")
	if n, m := volatile.IDLength(a), volatile.IDLength(b); n > 0 && m > 0 {
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
		if (i == 0 || !volatile.WordByte(action[i-1])) && (end == len(action) || !volatile.WordByte(action[end])) {
			return true
		}
		from = i + 1
	}
}

// elementID returns the id under which a line's element can be acted on: [a51] before it, or the index of
// AndroidWorld's lists.
func elementID(line string) string {
	line = strings.TrimLeft(line, " \t")
	if n := volatile.IDLength(line); n > 0 {
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
