package mask

import (
	"fmt"

	"github.com/turnmill/turnmill"
)

// Nearest is the border that a turn would have to cross least far for another category.
type Nearest struct {
	Border Border
	Apart  float64           // in shares, length ratios or characters: what lies between the turn and the bound
	Beyond turnmill.Category // which it would have there
}

// NearestBorder returns the nearest of the borders that part a turn from another category, if there is one: of
// t.Borders(), the one whose distance is the least part of what Near calls near. Among equal ones the first.
func NearestBorder(t *Table, borders []Border, c Counts) (n Nearest, ok bool) {
	now, _ := Classify(t, c)
	least := 0.0
	for _, b := range borders {
		apart, within, defined := b.distance(t, c)
		if !defined || within == 0 {
			continue
		}
		beyond := b.beyond(t, c)
		if beyond == now || ok && apart/within >= least {
			continue
		}
		least, ok = apart/within, true
		n = Nearest{b, apart, beyond}
	}
	return n, ok
}

// Away returns how far the turn stands from the border, for people.
func (n *Nearest) Away() string {
	switch {
	case n.Border.Row < 0 && n.Apart == 1:
		return "1 character"
	case n.Border.Row < 0:
		return fmt.Sprintf("%.0f characters", n.Apart)
	case n.Border.on == lengthRatio:
		return fmt.Sprintf("%.3g", n.Apart)
	}
	return fmt.Sprintf("%.1f points", 100*n.Apart)
}

// RunnerUp returns the category that a turn would have if the row that decided were not there.
func RunnerUp(t *Table, c Counts) turnmill.Category {
	if rows := Matching(t, c); len(rows) > 1 {
		return t.Rows[rows[1]].Category
	}
	return turnmill.CategoryOther
}

// On returns the column of the turns table that the border is a bound of, or "observation_chars".
func (b Border) On() string {
	if b.Row < 0 {
		return "observation_chars"
	}
	return statisticNames[b.on]
}

// distance returns how far a turn stands from the border, and how far off is near.
func (b Border) distance(t *Table, c Counts) (apart, within float64, defined bool) {
	if b.Row < 0 {
		at := float64(t.Short)
		return distance(float64(c.ObservationChars), at), nearRatio * at, true
	}
	var x float64
	switch b.on {
	case overlap:
		x, defined = c.Overlap()
	case novelty:
		x, defined = c.Novelty()
	default:
		x, defined = c.LengthRatio()
		return distance(x, b.at), nearRatio * b.at, defined
	}
	return distance(x, b.at), nearShare, defined
}
