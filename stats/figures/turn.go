package figures

import (
	"math/bits"

	"github.com/turnmill/turnmill"
)

// Turn is what the figures take of one turn, or of one window of a document.
type Turn struct {
	Partition                   int
	Record, Trajectory          int64 // ordinals in the partition
	Domain, Source, Agent, Tool string

	ActionWords, ObservationWords, SharedWords int64
	ActionChars, ObservationChars              int64

	Document bool
	Category turnmill.Category // of a turn that is no document
	Keep     float64           // the table's ratio
	Draw     float64           // the ratio that its draw goes by: Keep, or that of copied lines in mode changed
	Decided  bool              // the mask decided about it: a target, were it not for the mask
	Kept     bool              // it carries loss
	Status   string
	Reason   string // "" for targets

	ObservationTokens, TargetTokens, TrainedTokens int64
	ExpectedTokens                                 float64 // that carry loss, before its draw is known

	// What the mask does not look at.
	Index                 int64  // place in the source
	Observed              string // "true", "false"; "" where the source does not say
	Instructed, Perturbed bool
	Measured, HasState    bool // against what stands before it; against a state
	StateShared, Unseen   int64
	Judged, Leaked        bool // by a reference answer
}

// Names returns the turn's name in each dimension.
func (t *Turn) Names() [NumDimensions]string {
	return [NumDimensions]string{t.Domain, t.Source, t.Agent, t.Tool, t.Observed}
}

// Wide is a sum of squares, which 64 bits do not hold.
type Wide struct{ hi, lo uint64 }

// AddSquare adds n*n.
func (w *Wide) AddSquare(n int64) {
	hi, lo := bits.Mul64(uint64(n), uint64(n))
	w.Add(Wide{hi, lo})
}

// Add adds o.
func (w *Wide) Add(o Wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

// Float returns the nearest float, about.
func (w Wide) Float() float64 { return float64(w.hi)*(1<<32)*(1<<32) + float64(w.lo) }
