package mask

import (
	"math/bits"

	"github.com/turnmill/turnmill"
)

// Counts is what masking knows about a turn; all statistics follow from it. 0 <= SharedWords <= both other
// word counts.
type Counts struct {
	ActionWords      int   // a, distinct words of the action
	ObservationWords int   // o
	SharedWords      int   // b, distinct words on both sides
	ActionChars      int64 // la, code points of the trimmed action
	ObservationChars int64 // lo
}

// Overlap returns b/a, the share of the action's words that come back. Undefined without action words.
// Like the three below it is one binary64 division, for columns and reports; rows compare integers.
func (c Counts) Overlap() (float64, bool) {
	return quotient(int64(c.SharedWords), int64(c.ActionWords))
}

// Novelty returns (o-b)/o, the share of the observation's words that are new. Undefined without them.
func (c Counts) Novelty() (float64, bool) {
	return quotient(int64(c.ObservationWords-c.SharedWords), int64(c.ObservationWords))
}

// Jaccard returns b/(a+o-b): 0 when one side has no words, undefined when neither has.
func (c Counts) Jaccard() (float64, bool) {
	return quotient(int64(c.SharedWords), int64(c.ActionWords)+int64(c.ObservationWords)-int64(c.SharedWords))
}

// LengthRatio returns lo/la. Undefined when the action is empty; a row compares it as unbounded then, if
// the observation is not empty.
func (c Counts) LengthRatio() (float64, bool) {
	return quotient(c.ObservationChars, c.ActionChars)
}

func quotient(n, d int64) (float64, bool) {
	if d == 0 {
		return 0, false
	}
	return float64(n) / float64(d), true
}

// Classify returns the category of a turn and its keep ratio: those of the first row of t whose bounds
// hold, else other and its ratio. It depends on nothing but its arguments and allocates nothing.
func Classify(t *Table, c Counts) (turnmill.Category, turnmill.Ratio) {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.holds(t.Short, c) {
			return r.Category, r.Keep
		}
	}
	return turnmill.CategoryOther, t.Other
}

// Matching returns the positions of all rows of t whose bounds hold, in evaluation order: the first one
// decided, the second is the runner-up. None means other.
func Matching(t *Table, c Counts) []int {
	var rows []int
	for i := range t.Rows {
		if t.Rows[i].holds(t.Short, c) {
			rows = append(rows, i)
		}
	}
	return rows
}

func (r *Row) holds(short int64, c Counts) bool {
	return r.matches(c.ObservationChars <= short, c.compare)
}

// compare orders one statistic of the turn against a bound: negative below it, zero at it, positive above.
// An undefined statistic has no order, and every comparison with it is false.
func (c Counts) compare(on statistic, at turnmill.Ratio) (sign int, defined bool) {
	var n, d uint64
	switch on {
	case overlap:
		n, d = uint64(c.SharedWords), uint64(c.ActionWords)
	case novelty:
		n, d = uint64(c.ObservationWords-c.SharedWords), uint64(c.ObservationWords)
	case lengthRatio:
		n, d = uint64(c.ObservationChars), uint64(c.ActionChars)
		if d == 0 && n > 0 {
			return 1, true // unbounded
		}
	}
	if d == 0 {
		return 0, false
	}
	return compareProducts(n, at.Den, at.Num, d), true
}

// compareProducts returns the sign of a*b - c*d, whose products take up to 128 bits.
func compareProducts(a, b, c, d uint64) int {
	hi1, lo1 := bits.Mul64(a, b)
	hi2, lo2 := bits.Mul64(c, d)
	switch {
	case hi1 != hi2:
		return sign(hi1 > hi2)
	case lo1 != lo2:
		return sign(lo1 > lo2)
	}
	return 0
}

func sign(positive bool) int {
	if positive {
		return 1
	}
	return -1
}
