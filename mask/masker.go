package mask

import (
	"fmt"
	"slices"

	"github.com/turnmill/turnmill"
)

// Mode says how a keep ratio becomes loss.
type Mode uint8

// The modes. The report speaks of masked turns and of the fraction of tokens used; a draw for each turn
// gives both, since it does not look at lengths.
const (
	ModeTurn   Mode = iota // one draw a turn: all of it, or nothing
	ModeToken              // one draw a token, by DrawToken
	ModeWeight             // every token, weighted with the ratio
	ModeOff                // every token
)

var modeNames = [...]string{"turn", "token", "weight", "off"}

// String returns the mode's name as flags and manifests spell it.
func (m Mode) String() string { return modeNames[m] }

// ParseMode is the inverse of String.
func ParseMode(name string) (Mode, error) {
	if i := slices.Index(modeNames[:], name); i >= 0 {
		return Mode(i), nil
	}
	return 0, fmt.Errorf("mask mode %q is not known; try turn, token, weight or off", name)
}

// Masker decides about turns. It serves one goroutine; make one for each.
type Masker struct {
	measurer Measurer
	table    Table
	seed     string
	mode     Mode
}

// New returns a Masker for a table, which is copied. The error is that of Table.Validate.
func New(table Table, seed string, mode Mode) (*Masker, error) {
	if err := table.Validate(); err != nil {
		return nil, err
	}
	table.Rows = slices.Clone(table.Rows)
	return &Masker{table: table, seed: seed, mode: mode}, nil
}

// Decide measures one turn of the trajectory id and decides about it. It cannot fail: a turn without
// observation words has no novelty and falls to other, a wait (an empty action) is measured like any. Keep
// is the table's ratio in every mode; Kept is the draw's outcome in mode turn and true in the others, where
// tokens are drawn or weighted later. State, Thought and HasAction play no part.
func (m *Masker) Decide(id string, turn *turnmill.Turn) turnmill.MaskDecision {
	c := m.measurer.Measure(turn.Action, turn.Observation)
	category, keep := Classify(&m.table, c)
	return turnmill.MaskDecision{
		ActionWords:      c.ActionWords,
		ObservationWords: c.ObservationWords,
		SharedWords:      c.SharedWords,
		ActionChars:      c.ActionChars,
		ObservationChars: c.ObservationChars,
		Category:         category,
		Keep:             keep,
		Kept:             m.mode != ModeTurn || Keeps(Draw(m.seed, id, turn.Index), keep),
	}
}
