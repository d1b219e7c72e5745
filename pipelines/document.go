package pipelines

import (
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// document accounts for a document: one turn row a window.
func (o *outcome) document(d *turnmill.Document, res *shard.Result) {
	if res.Reason != "" {
		o.lose("dropped", res.Reason, d.ID, d.Domain, nil)
	} else {
		o.rec.kept = true
	}
	o.note(d.Domain, d.ID, &res.Notes)
	id, domain, source := o.arena.Copy(d.ID), o.arena.Copy(string(d.Domain)), o.arena.Copy(d.Source)
	for i := range res.Turns {
		r := &res.Turns[i]
		row := stats.TurnRow{
			ID: id, Turn: int32(i), Record: o.records, Trajectory: o.units, Domain: domain, Source: source,
			Overlap: math.NaN(), Novelty: math.NaN(), Jaccard: math.NaN(), LengthRatio: math.NaN(),
			StateWords: stats.NotCounted, StateSharedWords: stats.NotCounted, StateNovelty: math.NaN(), UnseenWords: stats.NotCounted,
			Keep: 1, Kept: true, Status: r.Status.String(), Reason: string(r.Reason),
			ObservationTokens: r.Observation, TargetTokens: r.Loss, TrainedTokens: r.Trained, Row: -1,
		}
		if r.Row >= 0 {
			span := r.Response
			row.Row, row.TokenStart, row.TokenEnd = int64(r.Row), span.Start, span.End
		} else if res.Reason == "" && r.Status == turnmill.StatusDropped { // the document stays, and this window of it goes
			o.reject(rejectLine{Kind: "turn", Status: "dropped", Reason: r.Reason, ID: d.ID, Turn: &i, Domain: d.Domain})
		}
		o.turns = append(o.turns, row)
	}
	o.units++
	o.counts.Each(d.Domain, func(l *stats.Ledger) { countDocument(l, res) })
}

func countDocument(l *stats.Ledger, res *shard.Result) {
	for i := range res.Turns {
		r := &res.Turns[i]
		l.Turns.In++
		l.LossTokens.In += int64(r.Loss)
		if r.Status != turnmill.StatusDropped {
			l.Turns.Out++
			l.LossTokens.Out += int64(r.Trained)
		} else {
			l.Turns.Drop(r.Reason, 1)
		}
	}
	if res.RowLoss > 0 {
		l.LossTokens.Drop(turnmill.ReasonRowStart, res.RowLoss)
	}
}

func (o *outcome) dropDocument(d *turnmill.Document, reason turnmill.Reason, why error) {
	o.lose("dropped", reason, d.ID, d.Domain, why)
	o.units++
}

func (o *outcome) rejectDocument(d *turnmill.Document, err error) {
	o.lose("rejected", turnmill.ReasonUnencodable, d.ID, d.Domain, err)
	o.units++
}
