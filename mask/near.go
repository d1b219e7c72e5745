package mask

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
)

// How near is near: two points of a share, a tenth of a length ratio or of the limit for short observations.
const (
	nearShare = 0.02
	nearRatio = 0.1
)

// Border is one bound of a table, or its limit for short observations, as a place where turns change their
// category.
type Border struct {
	Row   int // in Table.Rows; -1 for the limit
	bound int // in the order of Row.bounds
	on    statistic
	at    float64
}

// Borders returns every bound of a table, row by row, and the limit last where a row asks for it. It needs a
// valid table.
func (t *Table) Borders() []Border {
	var all []Border
	short := false
	for i := range t.Rows {
		r := &t.Rows[i]
		short = short || r.OrShort
		for k, at := range r.bounds() {
			if at.Den != 0 {
				all = append(all, Border{i, k, boundKinds[k].on, at.Float()})
			}
		}
	}
	if short {
		all = append(all, Border{Row: -1, bound: -1})
	}
	return all
}

// Name returns the border for people: "echo: overlap >= 70%".
func (b Border) Name(t *Table) string {
	if b.Row < 0 {
		return fmt.Sprintf("short: %d characters", t.Short)
	}
	kind, at := &boundKinds[b.bound], *t.Rows[b.Row].bounds()[b.bound]
	value := percentage(at)
	if kind.on == lengthRatio {
		value = decimal(rat(at))
	}
	return t.Rows[b.Row].Category.String() + ": " + kind.sign + " " + value
}

// Near tells whether a turn stands near the border, and would have another category beyond it: the second
// return value. b is one of t.Borders().
func (b Border) Near(t *Table, c Counts) (beyond turnmill.Category, near bool) {
	if !b.close(t, c) {
		return 0, false
	}
	now, _ := Classify(t, c)
	beyond = b.beyond(t, c)
	return beyond, beyond != now
}

func (b Border) close(t *Table, c Counts) bool {
	apart, within, defined := b.distance(t, c)
	return defined && apart <= within
}

func distance(a, b float64) float64 {
	if a < b {
		return b - a
	}
	return a - b
}

// beyond is the category of a turn for which the border's own comparison gives the other answer.
func (b Border) beyond(t *Table, c Counts) turnmill.Category {
	short := (c.ObservationChars <= t.Short) != (b.Row < 0)
	for i := range t.Rows {
		not := -1
		if i == b.Row {
			not = b.bound
		}
		if t.Rows[i].matchesBut(short, not, c.compare) {
			return t.Rows[i].Category
		}
	}
	return turnmill.CategoryOther
}

// Bound is one bound of a row, as programs that draw or move it need it.
type Bound struct {
	Name string // in a table's file: overlap_min
	On   string // overlap, novelty or length_ratio
	Sign string // >=, <, > or <=
	At   turnmill.Ratio
	Text string // as a table's file has it: 70%, 1.5
}

// Bounds returns the bounds of a row that are set.
func (r *Row) Bounds() []Bound {
	var all []Bound
	for k, at := range r.bounds() {
		if at.Den == 0 {
			continue
		}
		kind := &boundKinds[k]
		b := Bound{Name: kind.name, On: statisticNames[kind.on], Sign: kind.sign[strings.LastIndexByte(kind.sign, ' ')+1:], At: *at, Text: percentage(*at)}
		if kind.on == lengthRatio {
			b.Text = decimal(rat(*at))
		}
		all = append(all, b)
	}
	return all
}

// BoundKinds returns every bound that a row may have, in the order of a row's bounds, without its place.
func BoundKinds() []Bound {
	var all []Bound
	for i := range boundKinds {
		kind := &boundKinds[i]
		all = append(all, Bound{Name: kind.name, On: statisticNames[kind.on], Sign: kind.sign[strings.LastIndexByte(kind.sign, ' ')+1:]})
	}
	return all
}

// statisticNames are the columns of the turns table.
var statisticNames = [numStatistics]string{overlap: "overlap", novelty: "novelty", lengthRatio: "length_ratio"}
