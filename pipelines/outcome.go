package pipelines

import (
	"errors"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// outcome is what some records became: rows, turn rows, rejects and counts, in the order of the input. It
// owns its memory, which the pool uses again.
//
// Places are local until the consumer writes: turns[i].Row counts rows of this outcome (-1: none), and
// turns[i].Trajectory trajectories and documents of it.
type outcome struct {
	rows    shard.Rows
	splits  []split // of each row
	to      split   // of the rows that come next
	groups  []int   // of a mix, of each row
	group   int     // of the rows that come next; -1: of none
	turns   []stats.TurnRow
	rejects []byte // JSON lines
	lines   int64  // of rejects
	counts  *stats.Counts
	records int64 // decoded
	units   int64 // trajectories and documents
	mode    mask.Mode
	tokens  bool           // turns are encoded
	samples *sampler       // of an audit, else nil
	beyond  []mask.Beyond  // of the turns of the trajectory at hand; the worker's
	sft     *sampleOutcome // of sft, else nil
	prompts bool           // of the pool rl
	scanned *scanned       // of a scan, else nil
	part    bool           // rows alone; the rest of the job follows
	failed  error          // the run cannot go on
	secrets *secrets.Scrubber

	arena jsonscan.Arena
	rec   recordAccount // the record at hand
}

// recordAccount is what is known of a record while it is worked through.
type recordAccount struct {
	pos          turnmill.Pos
	raw          []byte       // borrowed until the account is closed
	shown        *recordBytes // of raw, once an example may show it
	domain       turnmill.Domain
	trajectories int
	id           string          // of the first trajectory or document
	kept         bool            // it has a row
	reason       turnmill.Reason // the first for which something of it was lost
	failed       bool            // that reason is a reject's
	detail       string
}

func newOutcome(mode mask.Mode, tokens bool) *outcome {
	return &outcome{counts: stats.NewCounts(), mode: mode, tokens: tokens}
}

func (o *outcome) reset() {
	o.rows.Reset()
	o.splits, o.turns, o.rejects = o.splits[:0], o.turns[:0], o.rejects[:0]
	o.groups, o.group = o.groups[:0], -1
	o.lines, o.records, o.units, o.part, o.failed = 0, 0, 0, false, nil
	o.counts.Reset()
	o.arena.Reset()
	if o.samples != nil {
		o.samples.reset()
	}
	if o.sft != nil {
		o.sft.reset()
	}
	if o.scanned != nil {
		o.scanned.reset()
	}
}

// split puts the rows that were added last into their split.
func (o *outcome) split() {
	for len(o.splits) < len(o.rows.Rows) {
		o.splits = append(o.splits, o.to)
		o.groups = append(o.groups, o.group)
	}
}

// take moves the rows so far into part, to be written before the rest of the outcome.
func (o *outcome) take(part *outcome) {
	o.split()
	o.rows.Take(&part.rows)
	part.splits, o.splits = o.splits, part.splits[:0]
	part.groups, o.groups = o.groups, part.groups[:0]
	part.part = true
}

// reject writes a reject line at the record's place.
func (o *outcome) reject(l rejectLine) {
	o.rejects = l.append(o.rejects, o.rec.pos)
	o.lines++
	if o.samples != nil && l.Kind != "turn" {
		l.at(o.rec.pos)
		o.samples.records.lose(&l, o.recordBytes())
	}
}

// begin opens the account of a record that was decoded.
func (o *outcome) begin(from source, raw frame.Record, rec *formats.Decoded) {
	r := recordAccount{pos: position(from, raw), raw: raw.Data, domain: turnmill.DomainUnknown, trajectories: len(rec.Trajectories) + len(rec.Rejected)}
	switch {
	case len(rec.Trajectories) > 0:
		r.domain = rec.Trajectories[0].Domain
	case len(rec.Documents) > 0:
		r.domain = rec.Documents[0].Domain
	}
	o.rec = r
	o.counts.Domain(r.domain).Records.In++
	notes := rec.Notes
	notes[turnmill.NoteCopied] += rec.Copied
	notes[turnmill.NoteLostPart] += int64(len(rec.Lost))
	id := ""
	if len(rec.Trajectories) > 0 {
		id = rec.Trajectories[0].ID
	}
	o.note(r.domain, id, &notes)
	for i := range rec.Lost { // parts of a whole file, each a record that the framer could not know of
		o.lostPart(from, &rec.Lost[i])
	}
	for i := range rec.Rejected { // trajectories that could not be read, among others that could
		t := &rec.Rejected[i]
		o.counts.Each(r.domain, func(l *stats.Ledger) { l.Trajectories.In++; l.Trajectories.Reject(t.Reason, 1) })
		o.lose("rejected", t.Reason, "", r.domain, t.Err)
	}
	if r.trajectories+len(rec.Documents) == 0 {
		o.lose("dropped", turnmill.ReasonNoTarget, "", r.domain, nil)
	}
}

// note counts what was mended in the record at hand, or decided about it.
func (o *outcome) note(d turnmill.Domain, id string, notes *turnmill.Notes) {
	o.counts.AddNotes(d, notes)
	if o.samples != nil && *notes != (turnmill.Notes{}) {
		o.samples.records.mend(d, id, notes, o.rec.pos, o.recordBytes())
	}
}

// recordBytes returns what an example of the record at hand may show, nil where it could not be read.
func (o *outcome) recordBytes() *recordBytes {
	if o.rec.shown == nil && len(o.rec.raw) > 0 {
		o.rec.shown = recordBytesOf(o.rec.raw, &o.arena)
	}
	return o.rec.shown
}

// lostPart puts a stretch of a record that could not be read into the accounts, as a record of its own.
func (o *outcome) lostPart(from source, s *formats.Stretch) {
	at, raw, shown := o.rec.pos, o.rec.raw, o.rec.shown
	if s.Offset >= 0 && s.Bytes >= 0 && s.Offset+s.Bytes <= int64(len(raw)) {
		o.rec.raw, o.rec.shown = raw[s.Offset:s.Offset+s.Bytes], nil
	}
	path, start := from.part(s.Offset)
	o.rec.pos.Path, o.rec.pos.Line, o.rec.pos.Offset, o.rec.pos.Bytes = path, 0, at.Offset+s.Offset-start, s.Bytes
	o.counts.Ledger.Total.Records.In++
	o.counts.Ledger.Total.Records.Reject(s.Reason, 1)
	o.reject(rejectLine{Kind: "record", Status: "rejected", Reason: s.Reason, Detail: o.secrets.Text(s.Err.Error())})
	o.rec.pos, o.rec.raw, o.rec.shown = at, raw, shown
}

// position is where a record lies; of a run in several files, its first file.
func position(from source, raw frame.Record) turnmill.Pos {
	pos := turnmill.Pos{Path: from.path, Frame: from.frame, Line: raw.Line, Offset: raw.Offset, Bytes: int64(len(raw.Data))}
	switch {
	case from.layout == frame.Parquet:
		pos.Bytes = raw.Bytes
	case from.parts != nil:
		pos.Bytes = from.parts[0].end
	}
	return pos
}

// lose notes that a trajectory or document of the record is gone. The first reason stands for the record
// if nothing of it is left; where it held several trajectories, each has a line of its own.
func (o *outcome) lose(status string, reason turnmill.Reason, id string, domain turnmill.Domain, err error) {
	detail := ""
	if err != nil {
		detail = o.secrets.Text(err.Error())
	}
	if o.rec.reason == "" {
		o.rec.reason, o.rec.failed, o.rec.detail, o.rec.id = reason, status == "rejected", detail, o.arena.Copy(id)
	}
	if o.rec.trajectories > 1 {
		o.reject(rejectLine{Kind: "trajectory", Status: status, Reason: reason, Detail: detail, ID: id, Domain: domain})
	}
}

// end closes the record's account. In was counted by the framer, and for the domain by begin.
func (o *outcome) end() {
	r := &o.rec
	o.records++
	defer func() { r.raw = nil }()
	if r.kept {
		o.counts.Each(r.domain, func(l *stats.Ledger) { l.Records.Out++ })
		return
	}
	status := "dropped"
	if r.failed {
		status = "rejected"
	}
	o.counts.Each(r.domain, func(l *stats.Ledger) { enter(&l.Records, status, r.reason) })
	o.reject(rejectLine{Kind: "record", Status: status, Reason: r.reason, Detail: r.detail, ID: r.id, Domain: r.domain, Trajectories: r.trajectories})
}

func enter(a *stats.Account, status string, reason turnmill.Reason) {
	if status == "rejected" {
		a.Reject(reason, 1)
	} else {
		a.Drop(reason, 1)
	}
}

// rejectRecord puts a record that was not decoded into the accounts; it has no domain.
func (o *outcome) rejectRecord(from source, raw frame.Record, err error) {
	o.rec = recordAccount{pos: position(from, raw), raw: raw.Data}
	pos := &o.rec.pos
	line := rejectLine{Kind: "record", Status: "rejected", Reason: turnmill.ReasonBadJSON, Detail: err.Error()}
	var file *fileError
	var rec *turnmill.RecordError
	if errors.As(err, &file) {
		line.Kind, pos.Bytes = "file", max(file.bytes, 0)
	}
	if errors.As(err, &rec) {
		if rec.Pos != (turnmill.Pos{}) { // the framer knows the extent of what it did not hand out
			pos.Line, pos.Offset, pos.Bytes = rec.Pos.Line, rec.Pos.Offset, max(rec.Pos.Bytes, pos.Bytes)
		}
		plain := *rec
		plain.Pos = turnmill.Pos{} // the line's own fields say where
		line.Reason, line.Detail = rec.Reason, plain.Error()
	}
	line.Detail = o.secrets.Text(line.Detail)
	o.counts.Ledger.Total.Records.Reject(line.Reason, 1)
	o.reject(line)
}

// trajectory accounts for a trajectory that was rendered: its rows are in o.rows already.
func (o *outcome) trajectory(t *turnmill.Trajectory, targets []shard.Target, res *shard.Result) {
	if res.Reason != "" {
		o.lose("dropped", res.Reason, t.ID, t.Domain, nil)
	} else {
		o.rec.kept = true
	}
	if res.Reason != "" {
		o.counts.Sources.Lose(t.Source, t.Domain, res.Reason, 1, 0)
	}
	o.note(t.Domain, t.ID, &res.Notes)
	o.turnsOf(t, targets, res.Turns, res.Reason == "")
	o.counts.Each(t.Domain, func(l *stats.Ledger) {
		l.Trajectories.In++
		if res.Reason != "" {
			l.Trajectories.Drop(res.Reason, 1)
		} else {
			l.Trajectories.Out++
		}
		for i := range res.Turns {
			countTurn(l, &res.Turns[i])
		}
	})
}

// countTurn enters one turn, and its loss tokens, into a ledger.
func countTurn(l *stats.Ledger, r *shard.TurnResult) {
	l.Turns.In++
	l.LossTokens.In += int64(r.Loss)
	l.LossTokens.Out += int64(r.Trained)
	lost := int64(r.Loss - r.Trained)
	switch {
	case r.Status != turnmill.StatusDropped:
		l.Turns.Out++
		l.LossTokens.Drop(turnmill.ReasonMasked, lost)
	case failure(r.Reason):
		l.Turns.Reject(r.Reason, 1)
	case r.Reason == turnmill.ReasonNoLoss: // what a row without loss had was masked
		l.Turns.Drop(r.Reason, 1)
		l.LossTokens.Drop(turnmill.ReasonMasked, lost)
	default:
		l.Turns.Drop(r.Reason, 1)
		l.LossTokens.Drop(r.Reason, lost)
	}
}

// dropTrajectory accounts for a trajectory that a filter refused: every turn of it goes.
func (o *outcome) dropTrajectory(t *turnmill.Trajectory, targets []shard.Target, reason turnmill.Reason, why error) {
	o.lose("dropped", reason, t.ID, t.Domain, why)
	o.lost(t, targets, "dropped", reason)
}

// rejectTrajectory accounts for a trajectory that could not be rendered.
func (o *outcome) rejectTrajectory(t *turnmill.Trajectory, targets []shard.Target, err error) {
	reason := turnmill.ReasonUnencodable
	o.lose("rejected", reason, t.ID, t.Domain, err)
	o.lost(t, targets, "rejected", reason)
}

// lost enters a whole trajectory that is gone. Turns that a filter had dropped keep their own reason.
func (o *outcome) lost(t *turnmill.Trajectory, targets []shard.Target, status string, reason turnmill.Reason) {
	o.counts.Sources.Lose(t.Source, t.Domain, reason, 1, 0)
	results := make([]shard.TurnResult, len(targets))
	for i := range targets {
		results[i] = shard.TurnResult{Verdict: targets[i].Verdict, Row: -1}
		if targets[i].Status != turnmill.StatusDropped {
			results[i].Verdict = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: reason}
		}
	}
	o.turnsOf(t, targets, results, false)
	o.counts.Each(t.Domain, func(l *stats.Ledger) {
		l.Trajectories.In++
		enter(&l.Trajectories, status, reason)
		for i := range results {
			l.Turns.In++
			if results[i].Reason == reason {
				enter(&l.Turns, status, reason)
			} else {
				l.Turns.Drop(results[i].Reason, 1)
			}
		}
	})
}
