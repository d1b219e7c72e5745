package pipelines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/stats"
)

// partitionCheck proves one partition from its files: it walks the turns table, the shards and the rejects
// side by side, and counts again what they hold.
type partitionCheck struct {
	*checker
	commit      *Commit
	counts      *stats.Counts // counted again, from the files
	*shardCheck               // of the split that the turn at hand stands in
	shards      [len(splitNames)]shardCheck
	rejects     rejectCheck
	split       splitter

	examples *exampleCheck // of an audit, else nil
	records  recordSampler // what the rejects of an audit give, chosen again
	samples  *sampleCheck  // of sft, else nil
	asked    *QueryLine    // for the turn at hand, or nil

	reasons [2][]turnmill.Reason // that the plan has for turns: of context, of what is dropped
	decoded int64                // records
	unit    unit                 // at hand
	units   int64
}

// unit is the trajectory or document that turns belong to.
type unit struct {
	number       int64 // -1 before the first
	first        stats.TurnRow
	recordDomain string // of the first trajectory or document of the record that has a turn
	recordOut    bool
	document     bool
	placed       bool
	turns        int // that the filters left
	last         stats.TurnRow
	dropped      []droppedTurn // of a trajectory
	beyond       unitBeyond
}

type droppedTurn struct {
	turn   int32
	reason string
}

func (c *checker) partition(ctx context.Context, i int) {
	commit := c.commits[i]
	p := &partitionCheck{checker: c, commit: commit, counts: stats.NewCounts(), unit: unit{number: -1}, reasons: reasonsOf(c.plan)}
	p.split.seed = c.plan.Mask.Seed
	if c.plan.audits() {
		p.examples = newExampleCheck(c.plan, &c.table)
		p.records = newRecordSampler(c.plan.Mask.Seed, mostKinds)
	}
	p.split.share, _ = parseShare(c.plan.Config.Validation) // open has read it
	for s := range p.shards {
		p.shards[s].size = -1
	}
	p.shardCheck = &p.shards[train]
	for _, l := range commit.Counts.Ledger.Domains {
		p.decoded += l.Records.In + l.Records.Repeated
	}
	for _, f := range commit.Files {
		if s, ok := splitOf(unstaged(f.Path)); ok {
			p.shards[s].left = append(p.shards[s].left, f.Path)
		}
	}
	before := len(c.faults)
	err := p.read(ctx, i)
	for s := range p.shards {
		p.shards[s].closeShard()
	}
	p.rejects.close()
	p.samples.close()
	if err != nil && !errors.Is(err, errApart) {
		c.faults = append(c.faults, err)
	}
	if err == nil && c.plan.Config.Shuffle && len(c.faults) == before {
		if err := p.takenApart(ctx, i); err != nil {
			c.faults = append(c.faults, err)
		}
	}
	if len(c.faults) > before {
		return // accounts of damaged files mean nothing
	}
	p.compareCounts(i)
}

// reasonsOf returns why a turn may be context, masked ones aside, and why it may be dropped: by the plan's
// filters, or by what comes after them.
func reasonsOf(p *Plan) (reasons [2][]turnmill.Reason) {
	if !p.Config.TrainDialogue {
		reasons[0] = append(reasons[0], turnmill.ReasonDialogue)
	}
	if p.tokens() {
		reasons[1] = []turnmill.Reason{turnmill.ReasonTurnTooLong, turnmill.ReasonSystemTooLong, turnmill.ReasonNoLoss, turnmill.ReasonUnencodable}
	}
	if _, pools := p.Config.pool(); pools != nil {
		reasons[1] = append(reasons[1], turnmill.ReasonOtherPool)
	}
	if p.Scan != nil {
		reasons[1] = append(reasons[1], p.scanReasons()...)
	}
	for _, f := range filter.All() {
		if !slices.Contains(p.Config.Filters, f.Name) {
			continue
		}
		if f.Level == "turn" && f.Status == turnmill.StatusContext {
			reasons[0] = append(reasons[0], f.Reason)
		} else {
			reasons[1] = append(reasons[1], f.Reason)
		}
	}
	return reasons
}

func (p *partitionCheck) read(ctx context.Context, i int) error {
	if err := p.openRejects(i); err != nil {
		return err
	}
	if p.plan.samples() {
		if err := p.openSamples(i); err != nil {
			return err
		}
	}
	var turns int64
	err := eachTurn(p.root, i, func(rows []stats.TurnRow) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for k := range rows {
			turns++
			if err := p.turn(turnsPath(i), &rows[k]); err != nil {
				return err
			}
			if p.full() {
				return errors.New("too many faults")
			}
		}
		return nil
	})
	if err == nil {
		err = p.endUnit()
	}
	if err == nil {
		err = p.endRows()
	}
	if err == nil {
		err = p.endRejects()
	}
	if err == nil && p.samples != nil {
		err = p.endSamples(i)
	}
	if err == nil && p.examples != nil {
		var rows int64
		if rows, err = p.examples.compare(p.root, i, p.fault); err == nil {
			p.fileRows(examplesPath(i), rows)
			p.report.Audit, p.report.Examples = true, p.report.Examples+rows
			err = p.recordExamples(i)
		}
	}
	if err != nil {
		return err
	}
	p.report.Turns += turns
	p.ordinals(turnsPath(i))
	p.fileRows(turnsPath(i), turns)
	p.fileRows(rejectsPath(i), p.rejects.n)
	return nil
}

// ordinals proves that trajectories and documents without any turn, which have a reject line each, are all
// that the numbering leaves out.
func (p *partitionCheck) ordinals(path string) {
	if absent, lost := p.unit.number+1-p.units, p.rejects.lost-p.rejects.found; absent > lost {
		p.fault(path, "trajectories up to number %d, %d of them without a turn; the rejects have %d such", p.unit.number, absent, lost)
	}
}

// fileRows compares the number of rows of a file with the commit's.
func (p *partitionCheck) fileRows(path string, rows int64) {
	staged := p.plan.staged(path)
	if p.commit.Plan == "" { // of all shuffled rows
		staged = path
	}
	for _, f := range p.commit.Files {
		if f.Path == staged || f.Path == path {
			if f.Rows != rows {
				p.fault(path, "%s, the commit says %s", stats.Counted(rows, "row", "rows"), stats.Thousands(f.Rows))
			}
			return
		}
	}
	p.fault(path, "the commit does not name it")
}

// sumOf returns the SHA-256 that the commit has of a file.
func (p *partitionCheck) sumOf(path string) string {
	for _, f := range p.commit.Files {
		if f.Path == path {
			return f.SHA256
		}
	}
	return ""
}

// turn takes one row of the turns table.
func (p *partitionCheck) turn(path string, t *stats.TurnRow) error {
	at := func(format string, args ...any) {
		p.fault(path, "%s, turn %d: %s", t.ID, t.Turn, fmt.Sprintf(format, args...))
	}
	if err := p.startTurn(t, at); err != nil {
		return err
	}
	if t.Category == "" {
		p.documentTurn(t, at)
	} else {
		p.maskOf(t, at)
		p.beyondOf(t, at)
	}
	if p.samples != nil {
		var err error
		if p.asked, err = p.query(t, at); err != nil {
			return err
		}
		p.sampleStatus(t, at)
	} else {
		p.statusOf(t, at)
	}
	p.countTurn(t)
	if p.examples != nil {
		p.examples.turn(t)
	}
	if t.Shard == "" {
		return nil
	}
	if s, ok := splitOf(t.Shard); !ok || s != p.split.of(t.ID) {
		at("it says %s, and belongs into %s", t.Shard, p.split.of(t.ID))
		return errApart
	} else {
		p.shardCheck = &p.shards[s]
	}
	if err := p.advance(t, at); err != nil {
		return err
	}
	p.claim(t, at)
	return nil
}

// startTurn keeps the order: trajectories count up, turns of one stand together and agree about it.
func (p *partitionCheck) startTurn(t *stats.TurnRow, at func(string, ...any)) error {
	u := &p.unit
	if t.Trajectory != u.number {
		if err := p.endUnit(); err != nil {
			return err
		}
		p.startUnit(t, at)
	} else if a := &u.first; t.ID != a.ID || t.Record != a.Record || t.Domain != a.Domain || (t.Category == "") != u.document ||
		t.Source != a.Source || t.TaskID != a.TaskID || t.Agent != a.Agent {
		at("differs in id, record, domain, source, task, agent or kind from the turn before, of the same trajectory")
	}
	if u.document && t.Turn != u.last.Turn+1 || t.Turn < 0 {
		at("windows of a document count from 0")
	}
	if u.document && !p.plan.audits() && u.last.Turn >= 0 && u.last.ObservationTokens != u.last.TokenEnd-u.last.TokenStart {
		at("the window before it has an end token, which only a document's last window has")
	}
	u.last = *t
	reason := turnmill.Reason(t.Reason)
	filtered := t.Status == "dropped" && reason != turnmill.ReasonTurnTooLong && reason != turnmill.ReasonNoLoss
	if p.samples != nil { // what no query asks for is no loss, and has no line
		filtered = t.Status == "dropped" && slices.Contains(p.samples.filtered, reason)
	}
	if !filtered {
		u.turns++
	}
	if t.Status == "dropped" && (p.samples == nil || filtered) {
		u.dropped = append(u.dropped, droppedTurn{t.Turn, t.Reason})
	}
	if t.Shard != "" || p.plan.unplaced() && t.Status != "dropped" {
		u.placed = true
		if !u.recordOut {
			u.recordOut = true
			p.each(u.recordDomain, func(l *stats.Ledger) { l.Records.Out++ })
		}
	}
	return nil
}

func (p *partitionCheck) startUnit(t *stats.TurnRow, at func(string, ...any)) {
	u := &p.unit
	if t.Trajectory <= u.number || u.number >= 0 && t.Record < u.first.Record || t.Record < 0 {
		at("trajectory %d of record %d after %d of %d", t.Trajectory, t.Record, u.number, u.first.Record)
	}
	if t.Record >= p.decoded {
		at("record %d; %d were decoded, counted from 0", t.Record, p.decoded)
	}
	next := unit{number: t.Trajectory, first: *t, recordDomain: t.Domain, document: t.Category == "", last: stats.TurnRow{Turn: -1}, dropped: u.dropped[:0]}
	if u.number >= 0 && t.Record == u.first.Record {
		next.recordDomain, next.recordOut = u.recordDomain, u.recordOut
	}
	p.unit = next
	p.units++
}

func (p *partitionCheck) each(domain string, f func(*stats.Ledger)) {
	p.counts.Each(turnmill.Domain(domain), f)
}

// endUnit enters a trajectory that has a row, and finds the reject lines of what has none.
func (p *partitionCheck) endUnit() error {
	u := &p.unit
	switch {
	case u.number < 0:
		return nil
	case !u.placed:
		return p.gone(u)
	case u.document && !p.plan.audits() && u.last.Shard != "" && u.last.ObservationTokens != u.last.TokenEnd-u.last.TokenStart-1:
		p.fault(turnsPath(p.commit.Partition), "%s, turn %d: a document's last window has an end token", u.first.ID, u.last.Turn)
	case !u.document:
		p.each(u.first.Domain, func(l *stats.Ledger) { l.Trajectories.Out++ })
		if slices.Contains(p.plan.Config.Filters, "min-turns") && u.turns < p.plan.Config.MinTurns {
			p.fault(turnsPath(p.commit.Partition), "%s: %d turns, and the filter min-turns wants %d", u.first.ID, u.turns, p.plan.Config.MinTurns)
		}
	}
	for _, d := range u.dropped {
		if err := p.dropped(u, d.turn, d.reason); err != nil {
			return err
		}
	}
	return nil
}

// compareCounts holds what the files gave against the commit. What came in is the framer's, decoder's and
// encoder's own count, and stands in the commit alone: there the balance must hold.
func (p *partitionCheck) compareCounts(i int) {
	path := commitPath(i)
	var framed int64
	for _, r := range p.commit.Inputs {
		framed += r.Records
	}
	for _, names := range p.commit.Counts.Notices {
		framed += names[turnmill.NoteLostPart.String()]
	}
	spliced := p.commit.Counts.Repairs[stats.InputNotes][turnmill.NoteSplicedLine.String()] // lines that were several records
	if got := p.commit.Counts.Ledger.Total.Records.In; got < framed || got > framed && spliced == 0 {
		p.fault(path, "%d records in, the ranges hold %d with their lost parts, and %d lines were spliced", got, framed, spliced)
	}
	if p.plan.audits() { // of rows that are not kept only the trained tokens stand in turns
		p.counts.Tokens.Rows, p.counts.Tokens.All = p.commit.Counts.Tokens.Rows, p.commit.Counts.Tokens.All
		p.counts.Tokens.Context = p.counts.Tokens.All - p.counts.Tokens.Trained
	}
	if p.counts.Tokens != p.commit.Counts.Tokens {
		p.fault(path, "tokens %+v; the shards hold %+v", p.commit.Counts.Tokens, p.counts.Tokens)
	}
	p.compareCopies(path)
	p.compareLedger(path, "total", p.commit.Counts.Ledger.Total, p.counts.Ledger.Total)
	for _, d := range slices.Sorted(maps.Keys(p.commit.Counts.Ledger.Domains)) {
		if p.counts.Ledger.Domains[d] == nil {
			p.fault(path, "the ledger has domain %s, the files hold nothing of it", d)
		}
		p.compareLedger(path, string(d), p.commit.Counts.Ledger.Domains[d], p.counts.Domain(d))
	}
	for d := range p.counts.Ledger.Domains {
		if p.commit.Counts.Ledger.Domains[d] == nil {
			p.fault(path, "the files hold domain %s, the ledger does not", d)
		}
	}
	if !reflect.DeepEqual(p.counts.Mask, p.commit.Counts.Mask) {
		p.fault(path, "mask_statistics are not those of the turns table")
	}
}

// compareCopies proves that as many records are repeated as the plan has decided; a line that holds several is one there.
func (p *partitionCheck) compareCopies(path string) {
	if p.plan.Mix == nil {
		return
	}
	var copies int64
	s := setup{plan: p.plan, root: p.root}
	decided, file, err := s.decisionsOf(p.commit.Partition)
	if err != nil {
		return // named already
	}
	defer file.Close()
	for ; decided.more; decided.next() {
		n, _ := times([]decision{decided.now})
		copies += int64(n) - 1
	}
	got := p.commit.Counts.Ledger.Total.Records.Repeated
	spliced := p.commit.Counts.Repairs[stats.InputNotes][turnmill.NoteSplicedLine.String()]
	if got < copies || got > copies && spliced == 0 {
		p.fault(path, "%d records are repeated, the plan has decided %d", got, copies)
	}
	var rows MixRows
	for i := range p.commit.Mix {
		rows.Rows, rows.Tokens, rows.Trained = rows.Rows+p.commit.Mix[i].Rows, rows.Tokens+p.commit.Mix[i].Tokens, rows.Trained+p.commit.Mix[i].Trained
	}
	if t := p.commit.Counts.Tokens; rows != (MixRows{Rows: t.Rows, Tokens: t.All, Trained: t.Trained}) {
		p.fault(path, "the groups of the mix have %+v, the shards %+v", rows, t)
	}
}

func (p *partitionCheck) compareLedger(path, whose string, want, got *stats.Ledger) {
	for _, a := range [...]struct {
		name      string
		want, got *stats.Account
		in        bool // the files give In too
	}{
		{"records", &want.Records, &got.Records, false}, {"trajectories", &want.Trajectories, &got.Trajectories, false},
		{"queries", want.Queries, got.Queries, true},
		{"turns", &want.Turns, &got.Turns, true}, {"loss_tokens", &want.LossTokens, &got.LossTokens, true},
	} {
		if a.want == nil && a.got == nil {
			continue
		}
		if a.want == nil || a.got == nil {
			p.fault(path, "%s: it has %s, or the files have, and not both", whose, a.name)
			continue
		}
		repeated := a.want.Repeated == a.got.Repeated || p.plan.Mix != nil // of which the decisions say how many records are
		if a.want.Out != a.got.Out || !repeated || a.in && a.want.In+a.want.Repeated != a.got.In || !maps.Equal(a.want.Dropped, a.got.Dropped) || !maps.Equal(a.want.Rejected, a.got.Rejected) {
			got := *a.got
			if !a.in { // it is proven by the balance
				got.In = a.want.In
			}
			p.fault(path, "%s %s: %+v; the files give %+v", whose, a.name, *a.want, got)
		}
	}
}
