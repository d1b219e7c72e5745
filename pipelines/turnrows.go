package pipelines

import (
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// turnsOf appends the turn rows of a trajectory and its mask statistics, and, when the trajectory stays, a
// reject line for each turn of it that goes.
func (o *outcome) turnsOf(t *turnmill.Trajectory, targets []shard.Target, results []shard.TurnResult, stays bool) {
	id, domain, source := o.arena.Copy(t.ID), o.arena.Copy(string(t.Domain)), o.arena.Copy(t.Source)
	task, agent := o.arena.Copy(t.TaskID), o.arena.Copy(t.Agent)
	observed, instructed, perturbed := observedOf(t.Observed), stats.Bool(t.System.SimulationInstruction != ""), stats.Bool(formats.Perturbed(t.Meta))
	for i := range results {
		r, d := &results[i], &targets[i].MaskDecision
		row := stats.TurnRow{
			ID: id, Turn: int32(t.Turns[i].Index), Record: o.records, Trajectory: o.units,
			Domain: domain, Source: source, TaskID: task, Agent: agent, Tool: o.arena.Copy(t.Turns[i].Tool),
			Status: r.Status.String(), Reason: string(r.Reason),
			ObservationTokens: r.Observation, TargetTokens: r.Loss, TrainedTokens: r.Trained, Row: -1,
			Observed: observed, Instructed: instructed, Perturbed: perturbed,
		}
		setDecision(&row, d)
		setBeyond(&row, &o.beyond[i])
		row.KeptSpans = r.Spans
		if o.mode == mask.ModeToken && r.Row >= 0 {
			row.Kept = r.Trained > 0
		}
		o.place(&row, r)
		o.turns = append(o.turns, row)
		if o.samples != nil {
			o.samples.turn(&row, &t.Turns[i], &o.arena)
		}
		if decided(&row, o.tokens) {
			o.counts.AddTurn(t.Domain, row.Category, maskCount(&row, o.mode, o.tokens))
		}
		if r.Status == turnmill.StatusDropped {
			o.counts.Sources.Lose(t.Source, t.Domain, r.Reason, 0, 1)
		}
		if stays && r.Status == turnmill.StatusDropped && (o.sft == nil || targets[i].Status == turnmill.StatusDropped) {
			index := t.Turns[i].Index
			o.reject(rejectLine{Kind: "turn", Status: "dropped", Reason: r.Reason, ID: t.ID, Turn: &index, Domain: t.Domain})
		}
	}
	o.units++
}

// maskCount is what a turn adds to the mask statistics. It depends on the turn's row alone, so that check
// finds the same from the table. A turn of which spans alone carry loss is not kept.
func maskCount(row *stats.TurnRow, mode mask.Mode, tokens bool) stats.MaskCount {
	m := stats.MaskCount{Turns: 1, ObservationTokens: int64(row.ObservationTokens), TargetTokens: int64(row.TargetTokens),
		KeptTokens: int64(row.TrainedTokens), ExpectedShare: row.Keep}
	if row.Kept && (row.TrainedTokens > 0 || !tokens && row.Status == turnmill.StatusTarget.String()) {
		m.KeptTurns = 1
	}
	if mode.Spans() && tokens {
		m.ExpectedMillionths = int64(math.Round(1e6 * expectedTokens(row)))
	}
	return m
}

// expectedTokens is how many tokens of a turn carry loss before its draw is known: those of its spans, and of the rest
// the share that the draw keeps.
func expectedTokens(row *stats.TurnRow) float64 {
	spans := spanTokens(row.KeptSpans)
	rest := float64(row.TargetTokens) - spans
	return spans + float64(row.Keep*rest) // a product that is converted is not fused with the sum
}

// spanTokens adds up pairs of token places.
func spanTokens(pairs []int32) (n float64) {
	for i := 1; i < len(pairs); i += 2 {
		n += float64(pairs[i] - pairs[i-1])
	}
	return n
}

// setDecision fills a turn row's columns of the mask; NaN stands for undefined and becomes null.
func setDecision(row *stats.TurnRow, d *turnmill.MaskDecision) {
	row.ActionWords, row.ObservationWords, row.SharedWords = int32(d.ActionWords), int32(d.ObservationWords), int32(d.SharedWords)
	row.ActionChars, row.ObservationChars = d.ActionChars, d.ObservationChars
	row.Category, row.Keep, row.Kept = d.Category.String(), d.Keep.Float(), d.Kept
	row.Overlap, row.Novelty, row.Jaccard, row.LengthRatio = ratios(countsOf(row))
}

// setBeyond fills a turn row's columns of what the mask does not look at.
func setBeyond(row *stats.TurnRow, b *mask.Beyond) {
	row.StateWords, row.StateSharedWords, row.StateNovelty, row.UnseenWords = stats.NotCounted, stats.NotCounted, math.NaN(), stats.NotCounted
	if b.Counted {
		row.UnseenWords = int32(b.Unseen)
	}
	if b.Counted && b.HasState {
		row.StateWords, row.StateSharedWords = int32(b.StateWords), int32(b.StateShared)
		if v, ok := b.StateNovelty(int(row.ObservationWords)); ok {
			row.StateNovelty = v
		}
	}
	if b.Judged {
		row.AnswerLeaked = stats.Bool(b.Leaked)
	}
}

// observedOf is what a turn row says of where observations come from.
func observedOf(o turnmill.Observed) *bool {
	if o == turnmill.ObservedUnset {
		return nil
	}
	return stats.Bool(o == turnmill.ObservedTrue)
}

// ratios returns the four statistics of a turn, NaN where one is undefined.
func ratios(c mask.Counts) (overlap, novelty, jaccard, length float64) {
	orNaN := func(v float64, ok bool) float64 {
		if !ok {
			return math.NaN()
		}
		return v
	}
	return orNaN(c.Overlap()), orNaN(c.Novelty()), orNaN(c.Jaccard()), orNaN(c.LengthRatio())
}

// place fills where the turn stands in its row.
func (o *outcome) place(row *stats.TurnRow, r *shard.TurnResult) {
	if r.Row < 0 {
		return
	}
	row.Row = int64(r.Row)
	row.TokenStart, row.TokenEnd = r.Response.Start, r.Response.End
	row.ActionStart, row.ActionEnd = r.Action.Start, r.Action.End
}
