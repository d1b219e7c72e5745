package turnmill

import "strconv"

// Category is one of the seven observation categories of the report's Table 3.
type Category uint8

// Categories in the order of Table 3. CategoryOther is what no row of the table takes.
const (
	CategoryRetrieval Category = iota
	CategoryExpansion
	CategoryAction
	CategoryTransform
	CategoryBoilerplate
	CategoryEcho
	CategoryOther
	NumCategories = int(CategoryOther) + 1
)

var categoryNames = [NumCategories]string{"retrieval", "expansion", "action", "transform", "boilerplate", "echo", "other"}

// String returns the category's name as it stands in tables and files.
func (c Category) String() string { return categoryNames[c] }

// ParseCategory is the inverse of String.
func ParseCategory(name string) (Category, bool) {
	for i, n := range categoryNames {
		if n == name {
			return Category(i), true
		}
	}
	return 0, false
}

// Ratio is an exact fraction. Thresholds and keep ratios are decimal percentages held as integers, so
// that every comparison of the mask is one of integers. Den is never zero in a valid table.
type Ratio struct {
	Num, Den uint64
}

// Float returns the ratio as one binary64 division, the form that the turns table holds.
func (r Ratio) Float() float64 { return float64(r.Num) / float64(r.Den) }

// String returns the shortest decimal of Float.
func (r Ratio) String() string { return strconv.FormatFloat(r.Float(), 'g', -1, 64) }

// MaskDecision is what masking found about one turn and what it decided. The five integers determine the
// rest, but for Spans. Report, section 3.2.
type MaskDecision struct {
	ActionWords      int   // a = |A|, distinct words of the action
	ObservationWords int   // o = |O|
	SharedWords      int   // b = |A and O|, at most min(a, o)
	ActionChars      int64 // la, code points of the trimmed action
	ObservationChars int64 // lo
	Category         Category
	Keep             Ratio // that the draw goes by: the table's for the category, or that of copied lines in mode changed
	Kept             bool  // the draw's outcome in the modes turn, span and changed; true in the others
	// Spans are stretches of the observation, in bytes, that carry loss whatever the draw says: they rise and do not
	// touch. Nil where the draw decides about all of it, empty where nothing is new. Modes span and changed.
	Spans []Span
}

// Status says what became of a turn.
type Status uint8

// A turn is a target, stands in a row as context only, or was dropped and is in no row.
const (
	StatusTarget Status = iota
	StatusContext
	StatusDropped
)

// String returns the status as it stands in the turns table.
func (s Status) String() string {
	return [...]string{"target", "context", "dropped"}[s]
}

// Verdict is a filter's answer about one trajectory or turn.
type Verdict struct {
	Status Status
	Reason Reason // empty for targets
}
