package figures

import (
	"math"

	"github.com/turnmill/turnmill"
)

// Group holds the figures of some turns: of all, of a domain, of a tool.
type Group struct {
	Name string

	Records, Trajectories int64 // that have a turn here; documents are among both
	Turns                 int64 // windows of documents included
	Documents             int64 // windows of documents
	Targets, Masked       int64
	Context               map[string]int64 // by reason, masked ones apart
	Dropped               map[string]int64 // by reason

	ActionChars, ObservationChars int64 // of all turns
	ActionWords, ObservationWords int64 // distinct in each turn, added up
	ObservationTokens             int64
	TargetTokens, TrainedTokens   int64

	Categories [turnmill.NumCategories]Sum // of turns that the mask decided about
	Other      [NumOther]int64             // of those of category other: why no row of the table holds
	Density    [densityBins][densityBins]int64

	Overlap, Novelty, Jaccard Shares // of turns that the mask decided about
	LengthRatio               Ratios

	Beyond Beyond

	partition          int
	record, trajectory int64
}

// Sum is what the turns of one category add up to.
type Sum struct {
	Turns, KeptTurns            int64
	Chars, KeptChars            int64 // of observations
	TargetTokens, TrainedTokens int64
	ObservationTokens           int64
	Keep                        float64 // the table's ratio
	// What is expected to be kept, as the modes span and changed draw: a turn's spans always, the rest by the draw.
	ExpectedTurns, ExpectedChars, ExpectedTokens float64
	SquaredChars, SquaredTargets                 Wide
	MostChars, MostTargets                       int64 // of one turn
}

// The four regions where no row of the report's table holds (docs/masking.md).
const (
	OtherRepetitive = iota // O1: little is new and little comes back: a few words, many times
	OtherBar               // O2 and O3: just below the bar of 60 % novelty
	OtherWordless          // O4: no words to compare
	NumOther
)

func newGroup(name string, bars []turnmill.Ratio) *Group {
	return &Group{Name: name, Beyond: newBeyond(bars), Context: map[string]int64{}, Dropped: map[string]int64{}, partition: -1}
}

// densityBins are twenty steps of five points, and one for what is exactly all.
const densityBins = 21

// Add adds one turn. Turns of a partition come in their order.
func (g *Group) Add(t *Turn) {
	g.count(t)
	g.Turns++
	g.ActionChars += t.ActionChars
	g.ObservationChars += t.ObservationChars
	g.ActionWords += t.ActionWords
	g.ObservationWords += t.ObservationWords
	g.ObservationTokens += t.ObservationTokens
	g.TargetTokens += t.TargetTokens
	g.TrainedTokens += t.TrainedTokens
	switch {
	case t.Status == turnmill.StatusTarget.String():
		g.Targets++
	case t.Reason == string(turnmill.ReasonMasked):
		g.Masked++
	case t.Status == turnmill.StatusContext.String():
		g.Context[t.Reason]++
	default:
		g.Dropped[t.Reason]++
	}
	if t.Document {
		g.Documents++
		return
	}
	g.Beyond.add(t)
	if t.Decided {
		g.decided(t)
	}
}

// count counts records and trajectories, whose turns come one after the other.
func (g *Group) count(t *Turn) {
	if t.Partition != g.partition {
		g.partition, g.record, g.trajectory = t.Partition, -1, -1
	}
	if t.Record != g.record {
		g.record = t.Record
		g.Records++
	}
	if t.Trajectory != g.trajectory {
		g.trajectory = t.Trajectory
		g.Trajectories++
	}
}

func (g *Group) decided(t *Turn) {
	s := &g.Categories[t.Category]
	s.Keep = t.Keep
	s.Turns++
	s.Chars += t.ObservationChars
	s.ObservationTokens += t.ObservationTokens
	s.TargetTokens += t.TargetTokens
	s.TrainedTokens += t.TrainedTokens
	s.ExpectedTurns += t.Draw
	s.ExpectedChars += float64(t.Draw * float64(t.ObservationChars))
	s.ExpectedTokens += t.ExpectedTokens
	s.SquaredChars.AddSquare(t.ObservationChars)
	s.SquaredTargets.AddSquare(t.TargetTokens)
	s.MostChars, s.MostTargets = max(s.MostChars, t.ObservationChars), max(s.MostTargets, t.TargetTokens)
	if t.Kept {
		s.KeptTurns++
		s.KeptChars += t.ObservationChars
	}
	fresh := t.ObservationWords - t.SharedWords
	g.Overlap.Add(t.SharedWords, t.ActionWords)
	g.Novelty.Add(fresh, t.ObservationWords)
	g.Jaccard.Add(t.SharedWords, t.ActionWords+fresh)
	g.LengthRatio.Add(t.ObservationChars, t.ActionChars)
	if t.ActionWords > 0 && t.ObservationWords > 0 {
		step := int64(densityBins - 1)
		g.Density[step*fresh/t.ObservationWords][step*t.SharedWords/t.ActionWords]++
	}
	if t.Category == turnmill.CategoryOther {
		g.Other[otherOf(t)]++
	}
}

// otherOf tells the regions of other apart as the report's table has them.
func otherOf(t *Turn) int {
	switch {
	case t.ObservationWords == 0:
		return OtherWordless
	case 2*(t.ObservationWords-t.SharedWords) < t.ObservationWords:
		return OtherRepetitive
	}
	return OtherBar
}

// Decided returns the sum over the categories.
func (g *Group) Decided() Sum {
	var all Sum
	for i := range g.Categories {
		s := &g.Categories[i]
		all.Turns += s.Turns
		all.KeptTurns += s.KeptTurns
		all.Chars += s.Chars
		all.KeptChars += s.KeptChars
		all.ObservationTokens += s.ObservationTokens
		all.TargetTokens += s.TargetTokens
		all.TrainedTokens += s.TrainedTokens
		all.SquaredChars.Add(s.SquaredChars)
		all.SquaredTargets.Add(s.SquaredTargets)
		all.MostChars, all.MostTargets = max(all.MostChars, s.MostChars), max(all.MostTargets, s.MostTargets)
	}
	return all
}

// Expected returns the shares of some turns, and of their tokens (without a tokenizer characters), that are expected to
// carry loss: the table's ratio, unless the mode keeps turns in part. The turns are of one category.
func (s *Sum) Expected(mode string, tokens bool) (turns, length float64) {
	switch {
	case s.Turns == 0 || mode != "span" && mode != "changed":
		return s.Keep, s.Keep
	case tokens:
		length = s.ExpectedTokens / float64(max(s.TargetTokens, 1))
	default:
		length = s.ExpectedChars / float64(max(s.Chars, 1))
	}
	return s.ExpectedTurns / float64(s.Turns), length
}

// Deviation is the standard deviation of a realised share, as a share of its own: with whole turns kept at
// ratio p, sqrt(p(1-p) * sum L*L) / sum L. L is 1 for shares of turns.
func Deviation(p, squares, sum float64) float64 {
	if sum == 0 {
		return 0
	}
	return math.Sqrt(p*(1-p)*squares) / sum
}

// Bound is how far a sum of independent draws may lie from what it is expected to be, but for one case in doubt:
// with variance as the sum's and most as the largest that one draw adds (Bernstein's inequality).
//
//	2 exp(-t*t/2 / (variance + most*t/3)) = 1/doubt
//
// Where thousands of turns are drawn this is 4.5 standard deviations for a doubt of 15,000; where there are few it
// is wide enough for the one turn in twenty that an echo keeps.
func Bound(variance, most, doubt float64) float64 {
	l := math.Log(2 * doubt)
	a := l * most / 3
	return a + math.Sqrt(float64(a*a)+float64(2*variance*l)) // not fused, so that every machine finds the same
}
