package pipelines

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// spansOf proves that a turn has kept spans where its mode and category give it some, and none elsewhere, and that
// they are sound. It returns the ratio of the turn's draw, of which keep is the table's.
func (p *partitionCheck) spansOf(t *stats.TurnRow, category turnmill.Category, keep turnmill.Ratio, at func(string, ...any)) turnmill.Ratio {
	has := t.KeptSpans != nil
	inRow := t.Shard != "" || p.plan.audits() && p.plan.tokens() && t.Status != "dropped"
	decided := inRow && (t.Status == "target" || t.Reason == string(turnmill.ReasonMasked))
	switch {
	case has && !decided:
		at("kept spans %v of a turn that the mask has not decided about", t.KeptSpans)
	case p.mode == mask.ModeSpan && decided && has != mask.HasSpans(category, keep):
		at("kept spans %v, category %s, keep %v do not go together", t.KeptSpans, category, keep)
	case p.mode == mask.ModeChanged:
		keep = p.changedKeep(t, keep, decided)
	case p.mode != mask.ModeSpan && has:
		at("kept spans %v in mode %s", t.KeptSpans, p.mode)
	}
	if has {
		p.pairs(t, at)
	}
	if want := spanTokens(t.KeptSpans); has && !t.Kept && float64(t.TrainedTokens) != want || has && t.Kept && t.TrainedTokens != t.TargetTokens {
		at("%d of %d tokens trained, kept %v; its spans hold %v", t.TrainedTokens, t.TargetTokens, t.Kept, want)
	}
	return keep
}

// changedKeep is the ratio of a turn's draw in mode changed: that of copied lines where the turn was compared with a
// screen before it, which its spans tell. Of a turn in no row nothing tells; its ratio is one of the two.
func (p *partitionCheck) changedKeep(t *stats.TurnRow, keep turnmill.Ratio, decided bool) turnmill.Ratio {
	copied := mask.CopiedKeep(keep, p.copied)
	if t.KeptSpans != nil || !decided && t.Keep == copied.Float() || decided && keep.Num == keep.Den && copied.Num == copied.Den {
		return copied
	}
	return keep
}

// pairs proves that kept spans rise, do not touch, and hold the end token when they hold the token before it.
func (p *partitionCheck) pairs(t *stats.TurnRow, at func(string, ...any)) {
	n, last := t.ObservationTokens, int32(-1)
	sound := len(t.KeptSpans)%2 == 0
	for i := 1; sound && i < len(t.KeptSpans); i += 2 {
		from, to := t.KeptSpans[i-1], t.KeptSpans[i]
		sound = from > last && from < to && from < n && to <= n+1 && to != n
		last = to
	}
	if !sound {
		at("kept spans %v are no pairs of places in an observation of %d tokens and its end token", t.KeptSpans, n)
	}
}

// mayHaveSpans tells whether a turn without tokens that its draw does not keep may carry loss all the same.
func (p *partitionCheck) mayHaveSpans(t *stats.TurnRow) bool {
	category, keep := mask.Classify(&p.table, countsOf(t))
	return p.mode == mask.ModeSpan && mask.HasSpans(category, keep) || p.mode == mask.ModeChanged
}

// inPairs tells whether a place lies in one of the pairs, which rise.
func inPairs(pairs []int32, place int32) bool {
	i, found := slices.BinarySearch(pairs, place)
	if found { // at the start of a pair it is inside, at an end outside
		return i%2 == 0
	}
	return i%2 == 1
}
