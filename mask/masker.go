package mask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// Mode says how a keep ratio becomes loss.
type Mode uint8

// The modes. The report speaks of masked turns and of the fraction of tokens used; a draw for each turn
// gives both, since it does not look at lengths.
const (
	ModeTurn    Mode = iota // one draw a turn: all of it, or nothing
	ModeToken               // one draw a token, by DrawToken
	ModeWeight              // every token, weighted with the ratio
	ModeSpan                // as ModeTurn, but what an echo or boilerplate has of its own always
	ModeChanged             // as ModeTurn, but of a tree on a screen what differs from the tree before always
	ModeOff                 // every token
)

var modeNames = [...]string{"turn", "token", "weight", "span", "changed", "off"}

// Modes returns the modes' names.
func Modes() []string { return slices.Clone(modeNames[:]) }

// String returns the mode's name as flags and manifests spell it.
func (m Mode) String() string { return modeNames[m] }

// Draws tells whether the mode draws for each turn.
func (m Mode) Draws() bool { return m == ModeTurn || m.Spans() }

// Spans tells whether the mode keeps spans of turns that its draw does not keep.
func (m Mode) Spans() bool { return m == ModeSpan || m == ModeChanged }

// ParseMode is the inverse of String.
func ParseMode(name string) (Mode, error) {
	if i := slices.Index(modeNames[:], name); i >= 0 {
		return Mode(i), nil
	}
	return 0, fmt.Errorf("mask mode %q is not known; try %s or %s", name, strings.Join(modeNames[:len(modeNames)-1], ", "), ModeOff)
}

// DefaultCopied is the keep ratio of copied lines in mode changed: that of boilerplate.
var DefaultCopied = turnmill.Ratio{Num: 1, Den: 10}

// Masker decides about turns. It serves one goroutine; make one for each.
type Masker struct {
	// Copied is the keep ratio, in mode changed, of lines that a tree has in common with the one before, for turns of
	// which the table keeps all. New sets DefaultCopied.
	Copied turnmill.Ratio

	measurer Measurer
	aligner  aligner
	table    Table
	seed     string
	mode     Mode
	spans    []turnmill.Span
}

// New returns a Masker for a table, which is copied. The error is that of Table.Validate.
func New(table Table, seed string, mode Mode) (*Masker, error) {
	if err := table.Validate(); err != nil {
		return nil, err
	}
	table.Rows = slices.Clone(table.Rows)
	return &Masker{Copied: DefaultCopied, table: table, seed: seed, mode: mode}, nil
}

// Decide measures turn i of a trajectory and decides about it. It cannot fail: a turn without observation words has no
// novelty and falls to other, a wait (an empty action) is measured like any. Category and integers depend on action and
// observation alone; so does Keep, the table's ratio, but in mode changed. Kept is the draw's outcome in the modes that
// draw for a turn and true in the others, where tokens are drawn or weighted later.
func (m *Masker) Decide(t *turnmill.Trajectory, i int) turnmill.MaskDecision {
	turn := &t.Turns[i]
	c := m.measurer.Measure(turn.Action, turn.Observation)
	category, keep := Classify(&m.table, c)
	d := turnmill.MaskDecision{
		ActionWords:      c.ActionWords,
		ObservationWords: c.ObservationWords,
		SharedWords:      c.SharedWords,
		ActionChars:      c.ActionChars,
		ObservationChars: c.ObservationChars,
		Category:         category,
		Keep:             keep,
	}
	switch {
	case m.mode == ModeSpan && HasSpans(category, keep):
		d.Spans = m.own(m.measurer.spansOf(m.spans[:0], turn.Observation))
	case m.mode == ModeChanged:
		m.changed(&d, t, i)
	}
	d.Kept = !m.mode.Draws() || Keeps(Draw(m.seed, t.ID, turn.Index), d.Keep)
	return d
}

// HasSpans tells whether turns of a category have new spans of their own in mode span: echo and boilerplate, unless
// the table keeps them whole. A status of transform has few words and is drawn for as a whole.
func HasSpans(c turnmill.Category, keep turnmill.Ratio) bool {
	return (c == turnmill.CategoryEcho || c == turnmill.CategoryBoilerplate) && keep.Num < keep.Den
}

// own returns a copy of the spans, which is never nil, and keeps their room for the next turn.
func (m *Masker) own(spans []turnmill.Span) []turnmill.Span {
	out := append(make([]turnmill.Span, 0, len(spans)), spans...)
	if m.spans = spans[:0]; cap(spans) > keepSpans {
		m.spans = nil
	}
	return out
}

// keepSpans is how many spans a Masker keeps room for.
const keepSpans = 1 << 14
