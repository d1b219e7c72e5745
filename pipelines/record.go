package pipelines

import (
	"cmp"
	"errors"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// worker takes records to rows. It serves one goroutine; what several share is read-only.
type worker struct {
	unpacker
	filters *filter.Chain
	mask    *mask.Masker
	builder rowBuilder
	history *mask.History // with --beyond, else nil
	draw    *tokenDraw    // mode token, else nil
	splits  splitter
	samples *sampleMaker // of sft, else nil
	pool    string       // which one the run is
	pools   Pools        // nil: any source goes to any

	verdicts  []turnmill.Verdict
	targets   []shard.Target
	beyond    []mask.Beyond // of each target
	canonical []byte
	decided   []decision    // what the plan has of the record at hand
	unit      int64         // of it: trajectories and documents so far
	copy      *stats.Counts // of a record that is there again
	mix       *Mix          // nil: none is asked for
}

// work takes one record of a job to rows.
func (w *worker) work(j *job, it *item, rec frame.Record, out *outcome) {
	copies, decided := times(it.decided)
	w.decided, w.unit = decided, 0
	w.record(j.from, rec, out)
	for range copies - 1 {
		w.again(j, decided, rec, out)
	}
}

// again takes a record to rows once more: what came in is counted as repeated.
func (w *worker) again(j *job, decided []decision, rec frame.Record, out *outcome) {
	counts := out.counts
	if w.copy == nil {
		w.copy = stats.NewCounts()
	}
	w.copy.Reset()
	w.copy.Sources, out.counts = counts.Sources, w.copy
	w.decided, w.unit = decided, 0
	w.record(j.from, rec, out)
	w.copy.Repeat()
	w.copy.Sources, out.counts = nil, counts
	counts.Add(w.copy)
}

// group notes the group of a mix that the record belongs to.
func (w *worker) group(from source, out *outcome) {
	switch d := &w.decoded; {
	case w.mix == nil || w.unit > 0:
	case len(d.Documents) > 0:
		out.group = w.mix.groupOf(from.path, d.Documents[0].Source, kindDocument)
	case len(d.Trajectories) > 0:
		out.group = w.mix.groupOf(from.path, d.Trajectories[0].Source, kindTrajectory)
	}
}

// planned returns why the plan drops the trajectory or document that comes next in the record, if it does.
func (w *worker) planned() (reason turnmill.Reason, why error) {
	if len(w.decided) > 0 && w.decided[0].unit == w.unit {
		reason, why = w.decided[0].reason, errors.New(w.decided[0].detail)
		w.decided = w.decided[1:]
	}
	w.unit++
	return reason, why
}

// record takes one framed record to rows: the whole path, in order. No I/O, clock or goroutine: the same
// bytes, plan and seed give the same outcome on any worker. raw is borrowed; out owns its memory. A failure
// costs the record, or one trajectory of it, and stands in out as a reject.
func (w *worker) record(from source, raw frame.Record, out *outcome) {
	for part, err := range w.unpack(from, raw, out.counts) { // ingest/formats: bytes to trajectories, documents
		if err != nil {
			out.rejectRecord(from, part, err)
			continue
		}
		out.begin(from, part, &w.decoded)
		w.group(from, out)
		for i := range w.decoded.Documents { // world knowledge: nothing to mask
			w.document(&w.decoded.Documents[i], out)
		}
		for i := range w.decoded.Trajectories { // several where a record holds side chains or candidates
			w.trajectory(&w.decoded.Trajectories[i], out)
		}
		out.end()
	}
}

// trajectory takes one trajectory of a record to rows.
func (w *worker) trajectory(t *turnmill.Trajectory, out *outcome) {
	planned, why := w.planned() // what the whole of the inputs decides
	reason := cmp.Or(planned, w.admit(t))
	out.note(t.Domain, t.ID, w.filters.Notes())

	w.decide(t, reason == "") // mask: one decision a turn, dropped ones included
	out.beyond = w.beyond
	if reason != "" {
		out.dropTrajectory(t, w.targets, reason, why)
		return
	}
	out.to = w.splits.of(t.ID)
	if w.samples != nil { // sft: a row for each turn that is asked for and answered well
		out.failed = w.sampleTrajectory(t, out)
		return
	}
	res, err := w.builder.Trajectory(t, w.targets, w.drawer(t.ID), &out.rows) // shard: template, tokens, spans, windows, labels
	if err != nil {
		out.rejectTrajectory(t, w.targets, err)
		return
	}
	out.split()
	out.trajectory(t, w.targets, &res)
}

// decide fills targets and beyond. What a filter drops is no history of what follows, and is measured against none.
func (w *worker) decide(t *turnmill.Trajectory, stays bool) {
	w.targets, w.beyond = w.targets[:0], w.beyond[:0]
	if stays = stays && w.history != nil; stays {
		ref := formats.ReferenceOf(t)
		w.history.Begin(t, ref.Query, ref.Answers)
	}
	for i := range t.Turns {
		target, beyond := shard.Target{Verdict: w.verdicts[i]}, mask.Beyond{}
		if stays && target.Status != turnmill.StatusDropped {
			target.MaskDecision, beyond = w.history.Decide(t, i)
		} else {
			target.MaskDecision = w.mask.Decide(t, i)
		}
		w.targets, w.beyond = append(w.targets, target), append(w.beyond, beyond)
	}
}

// admit names a trajectory and says for what reason it is dropped as a whole, or "".
func (w *worker) admit(t *turnmill.Trajectory) (reason turnmill.Reason) {
	if t.ID == "" { // ingest/formats: a trajectory without an id of its own is named by its content
		t.ID, w.canonical = formats.ContentID(t, w.canonical)
	}
	w.verdicts, reason = w.filters.Apply(t, w.verdicts) // filter: keep or drop turns, then the whole
	if reason == "" && w.pools.other(w.pool, t.Source) {
		reason = turnmill.ReasonOtherPool
	}
	return reason
}

// document takes one text of world knowledge to rows.
func (w *worker) document(d *turnmill.Document, out *outcome) {
	if d.ID == "" {
		d.ID, w.canonical = formats.DocumentContentID(d, w.canonical)
	}
	if planned, why := w.planned(); planned != "" {
		out.dropDocument(d, planned, why)
		return
	}
	if w.samples != nil { // it has nothing to ask
		out.dropDocument(d, turnmill.ReasonNoEnvironment, nil)
		return
	}
	if w.pools.other(w.pool, d.Source) {
		out.dropDocument(d, turnmill.ReasonOtherPool, nil)
		return
	}
	if d.Text == "" {
		out.dropDocument(d, turnmill.ReasonEmptyText, nil)
		return
	}
	out.to = w.splits.of(d.ID)
	res, err := w.builder.Document(d.Text, &out.rows)
	if err != nil {
		out.rejectDocument(d, err)
		return
	}
	out.split()
	out.document(d, &res)
}

// tokenDraw draws the tokens of one trajectory, in mode token.
type tokenDraw struct{ seed, id string }

// DrawToken tells whether a token of the turn at index is kept.
func (d *tokenDraw) DrawToken(index, token int, keep turnmill.Ratio) bool {
	return mask.Keeps(mask.DrawToken(d.seed, d.id, index, token), keep)
}

// drawer returns what draws tokens, or nil outside mode token.
func (w *worker) drawer(id string) shard.Drawer {
	if w.draw == nil {
		return nil
	}
	w.draw.id = id
	return w.draw
}
