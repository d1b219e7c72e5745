package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// partitionCheck proves one partition from its files: it walks the turns table and the shards side by
// side, and counts again what they and the rejects hold.
type partitionCheck struct {
	*checker
	commit *Commit
	counts *stats.Counts // counted again, from the files

	shards []string // in order, those not opened yet
	name   string   // of the open shard
	shard  *arrow.Reader
	file   *os.File
	row    *arrow.Row // the row that the next placed turn may stand in
	next   int32      // first token of it that no turn has claimed
	marks  []bool     // tokens of it that a turn says are trained
	rows   int64

	trajectory unit // at hand
}

// unit is the trajectory or document that turns belong to.
type unit struct {
	number, record int64
	recordOut      bool
	id             string
	domain         string
	document       bool
	turns          int
	placed         bool
	lastTurn       int32
	reason         string // of the last turn that is in no row
}

func (c *checker) partition(i int) {
	commit := c.commits[i]
	p := &partitionCheck{checker: c, commit: commit, counts: stats.NewCounts(), trajectory: unit{number: -1, record: -1}}
	for _, f := range commit.Files {
		if strings.HasPrefix(f.Path, "train/") {
			p.shards = append(p.shards, f.Path)
		}
	}
	before := len(c.faults)
	if err := p.read(i); err != nil {
		c.faults = append(c.faults, err)
	}
	if p.file != nil {
		p.file.Close()
	}
	if len(c.faults) > before {
		return // accounts of damaged files mean nothing
	}
	p.compareCounts(i)
}

func (p *partitionCheck) read(i int) error {
	var turns int64
	err := eachTurn(p.root, i, func(rows []stats.TurnRow) error {
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
	if err != nil {
		return err
	}
	p.endUnit()
	p.report.Turns += turns
	if err := p.endRows(); err != nil {
		return err
	}
	lines, err := p.rejects(i)
	if err != nil {
		return err
	}
	p.fileRows(turnsPath(i), turns)
	p.fileRows(rejectsPath(i), lines)
	return nil
}

// fileRows compares the number of rows of a file with the commit's.
func (p *partitionCheck) fileRows(path string, rows int64) {
	for _, f := range p.commit.Files {
		if f.Path == path {
			if f.Rows != rows {
				p.fault(path, "%d rows, the commit says %d", rows, f.Rows)
			}
			return
		}
	}
	p.fault(path, "the commit does not name it")
}

// turn takes one row of the turns table.
func (p *partitionCheck) turn(path string, t *stats.TurnRow) error {
	at := func(format string, args ...any) {
		p.fault(path, "%s, turn %d: %s", t.ID, t.Turn, fmt.Sprintf(format, args...))
	}
	p.startTurn(t, at)
	if t.Category == "" {
		p.documentTurn(t, at)
	} else {
		p.maskOf(t, at)
	}
	p.statusOf(t, at)
	p.countTurn(t)
	if t.Shard == "" {
		return nil
	}
	if err := p.advance(t, at); err != nil || p.row == nil {
		return err
	}
	p.claim(t, at)
	return nil
}

// startTurn keeps the order: trajectories count up, turns of one stand together.
func (p *partitionCheck) startTurn(t *stats.TurnRow, at func(string, ...any)) {
	u := &p.trajectory
	if t.Trajectory != u.number {
		p.endUnit()
		if t.Trajectory <= u.number || t.Record < u.record {
			at("trajectory %d of record %d after %d of %d", t.Trajectory, t.Record, u.number, u.record)
		}
		out := t.Record == u.record && u.recordOut
		*u = unit{number: t.Trajectory, record: t.Record, recordOut: out, id: t.ID, domain: t.Domain, document: t.Category == "", lastTurn: -1}
	} else if t.ID != u.id || t.Record != u.record || t.Domain != u.domain || (t.Category == "") != u.document {
		at("differs in id, record, domain or kind from the turn before, of the same trajectory")
	}
	if u.document && t.Turn != u.lastTurn+1 || t.Turn < 0 {
		at("windows of a document count from 0")
	}
	u.lastTurn = t.Turn
	u.turns++
	if t.Shard != "" {
		u.placed = true
		if !u.recordOut {
			u.recordOut = true
			p.each(t.Domain, func(l *stats.Ledger) { l.Records.Out++ })
		}
	} else {
		u.reason = t.Reason
	}
}

func (p *partitionCheck) each(domain string, f func(*stats.Ledger)) {
	p.counts.Each(turnmill.Domain(domain), f)
}

// endUnit enters a trajectory that has a row; those that have none stand in the rejects.
func (p *partitionCheck) endUnit() {
	u := &p.trajectory
	if u.number >= 0 && !u.document && u.placed {
		p.each(u.domain, func(l *stats.Ledger) { l.Trajectories.Out++ })
	}
}

// maskOf proves statistics, category, keep and draw from the five integers.
func (p *partitionCheck) maskOf(t *stats.TurnRow, at func(string, ...any)) {
	n := countsOf(t)
	if n.SharedWords < 0 || n.SharedWords > min(n.ActionWords, n.ObservationWords) || n.ActionChars < 0 || n.ObservationChars < 0 ||
		int64(n.ActionWords) > n.ActionChars || int64(n.ObservationWords) > n.ObservationChars {
		at("words %d, %d, shared %d, characters %d, %d cannot be", n.ActionWords, n.ObservationWords, n.SharedWords, n.ActionChars, n.ObservationChars)
		return
	}
	o, v, j, r := ratios(n)
	if !sameFloat(o, t.Overlap) || !sameFloat(v, t.Novelty) || !sameFloat(j, t.Jaccard) || !sameFloat(r, t.LengthRatio) {
		at("overlap, novelty, jaccard or length_ratio do not follow from the integers")
	}
	category, keep := mask.Classify(&p.table, n)
	if category.String() != t.Category || keep.Float() != t.Keep {
		at("category %s, keep %v; the table gives %s, %v", t.Category, t.Keep, category, keep.Float())
	}
	kept := p.mode != mask.ModeTurn || mask.Keeps(mask.Draw(p.plan.Mask.Seed, t.ID, int(t.Turn)), keep)
	if p.mode == mask.ModeToken && t.Shard != "" {
		kept = t.TrainedTokens > 0
	}
	if kept != t.Kept {
		at("kept %v; the draw says %v", t.Kept, kept)
	}
}

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

func (p *partitionCheck) documentTurn(t *stats.TurnRow, at func(string, ...any)) {
	if t.Keep != 1 || !t.Kept || t.ActionWords != 0 || t.ObservationWords != 0 || t.SharedWords != 0 || t.ActionStart != 0 || t.ActionEnd != 0 {
		at("a document is always kept and has no statistics")
	}
}

// statusOf proves that status, reason, place and tokens agree.
func (p *partitionCheck) statusOf(t *stats.TurnRow, at func(string, ...any)) {
	placed, trained := t.Shard != "", t.TrainedTokens
	ok := false
	switch {
	case t.Status == "target":
		ok = t.Reason == "" && placed && trained > 0 && trained <= t.TargetTokens && t.Kept
	case t.Status == "context" && t.Reason == string(turnmill.ReasonMasked):
		ok = placed && trained == 0 && t.TargetTokens > 0 && (!t.Kept || t.Keep == 0)
	case t.Status == "context":
		ok = t.Reason != "" && placed && trained == 0 && t.TargetTokens == 0
	case t.Status == "dropped":
		ok = t.Reason != "" && !placed && trained == 0
	}
	if !ok {
		at("status %q, reason %q, kept %v, %d of %d tokens trained, placed %v do not go together", t.Status, t.Reason, t.Kept, trained, t.TargetTokens, placed)
	}
}

// countTurn enters a turn into the accounts, as outcome does from results.
func (p *partitionCheck) countTurn(t *stats.TurnRow) {
	reason := turnmill.Reason(t.Reason)
	target, trained := int64(t.TargetTokens), int64(t.TrainedTokens)
	p.each(t.Domain, func(l *stats.Ledger) {
		l.Turns.In++
		l.LossTokens.In += target
		l.LossTokens.Out += trained
		switch {
		case t.Status != "dropped":
			l.Turns.Out++
			if t.Category == "" {
				l.LossTokens.Drop(turnmill.ReasonRowStart, target-trained)
			} else {
				l.LossTokens.Drop(turnmill.ReasonMasked, target-trained)
			}
		case reason == turnmill.ReasonUnencodable:
			l.Turns.Reject(reason, 1)
		case t.Category == "":
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(turnmill.ReasonRowStart, target)
		case reason == turnmill.ReasonNoLoss:
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(turnmill.ReasonMasked, target)
		default:
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(reason, target)
		}
	})
	if t.Category != "" && target > 0 && reason != turnmill.ReasonTurnTooLong {
		p.counts.AddTurn(turnmill.Domain(t.Domain), t.Category, maskCount(t))
	}
}

// advance goes on to the row that a turn says it stands in; rows in between would be nobody's.
func (p *partitionCheck) advance(t *stats.TurnRow, at func(string, ...any)) error {
	if p.row != nil && p.name == t.Shard && p.row.Number == t.Row {
		return nil
	}
	if err := p.endRow(); err != nil {
		return err
	}
	if err := p.nextRow(); err != nil {
		return err
	}
	if p.row == nil || p.name != t.Shard || p.row.Number != t.Row {
		where := "nowhere"
		if p.row != nil {
			where = fmt.Sprintf("%s row %d", p.name, p.row.Number)
		}
		p.row = nil
		at("it says %s row %d; the next row is %s", t.Shard, t.Row, where)
		return errors.New("turns: rows and turns do not go together")
	}
	return nil
}

// nextRow reads the next row of the partition's shards; p.row is nil at their end.
func (p *partitionCheck) nextRow() error {
	p.row = nil
	for {
		if p.shard == nil {
			if len(p.shards) == 0 {
				return nil
			}
			if err := p.openShard(); err != nil {
				return err
			}
		}
		row, err := p.shard.Next()
		if err == nil {
			p.row, p.next = row, 0
			p.marks = append(p.marks[:0], make([]bool, len(row.IDs))...)
			p.rows++
			return p.rowItself()
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		p.fileRows(p.name, p.shard.Facts().Rows)
		p.batches()
		p.file.Close()
		p.shard, p.file = nil, nil
	}
}

func (p *partitionCheck) openShard() (err error) {
	p.name, p.shards = p.shards[0], p.shards[1:]
	if p.file, err = os.Open(filepath.Join(p.root, filepath.FromSlash(p.name))); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.shard, err = arrow.NewReader(p.file, info.Size(), p.name, p.profile)
	return err
}

// batches holds the shard's batches against the limits.
func (p *partitionCheck) batches() {
	for i, b := range p.shard.Facts().Batches {
		if b.Rows > 1000 || b.Bytes > 64<<20 && b.Rows > 1 {
			p.fault(p.name, "batch %d holds %d rows and %d bytes", i, b.Rows, b.Bytes)
		}
	}
}

// rowItself proves what holds of any row.
func (p *partitionCheck) rowItself() error {
	r := p.row
	row := turnmill.Row{IDs: r.IDs, Labels: r.Labels, Weights: r.Weights}
	if err := arrow.CheckRow(&row, p.profile, p.plan.Tokenizer.Vocabulary); err != nil {
		p.fault(p.name, "row %d: %v", r.Number, err)
	}
	if len(r.IDs) > p.plan.Config.SeqLen {
		p.fault(p.name, "row %d: %d tokens, --seq-len %d", r.Number, len(r.IDs), p.plan.Config.SeqLen)
	}
	p.counts.Tokens.Rows++
	p.counts.Tokens.All += int64(len(r.IDs))
	for _, l := range r.Labels {
		if l != turnmill.IgnoreIndex {
			p.counts.Tokens.Trained++
		}
	}
	return nil
}

// claim proves a turn's ranges in its row and notes the tokens that it says are trained.
func (p *partitionCheck) claim(t *stats.TurnRow, at func(string, ...any)) {
	n := int32(len(p.row.IDs))
	action, observation := turnmill.Span{Start: t.ActionStart, End: t.ActionEnd}, turnmill.Span{Start: t.TokenStart, End: t.TokenEnd}
	if t.Category == "" {
		if observation.Start != 0 || observation.End != n || p.next != 0 || t.TrainedTokens != n-1 {
			at("a document's window is a row, and all of it but the first token is trained")
			return
		}
		for i := int32(1); i < n; i++ {
			p.marks[i] = true
		}
		p.next = n
		return
	}
	if action.Start < p.next || action.End <= action.Start || observation.Start < action.End || observation.End <= observation.Start || observation.End > n {
		at("ranges [%d, %d) and [%d, %d) do not fit row %d of %d tokens", action.Start, action.End, observation.Start, observation.End, p.row.Number, n)
		return
	}
	p.next = observation.End
	if t.ObservationTokens != observation.Len()-1 {
		at("%d observation tokens in a range of %d", t.ObservationTokens, observation.Len())
	}
	p.endTokens(action, observation, at)
	p.trained(t, action, observation, at)
}

// endTokens proves that each message ends with the one end token and holds none inside.
func (p *partitionCheck) endTokens(action, observation turnmill.Span, at func(string, ...any)) {
	ids := p.row.IDs
	if p.end < 0 {
		p.end = ids[action.End-1]
	}
	for _, s := range [...]turnmill.Span{action, observation} {
		if i := slices.Index(ids[s.Start:s.End], p.end); i != int(s.Len())-1 {
			at("its message at [%d, %d) does not end at its first end token", s.Start, s.End)
		}
	}
}

// trained proves the labels of a turn's target span.
func (p *partitionCheck) trained(t *stats.TurnRow, action, observation turnmill.Span, at func(string, ...any)) {
	spans := []turnmill.Span{observation}
	switch p.plan.Config.Objective {
	case "policy":
		spans = []turnmill.Span{action}
	case "all":
		spans = []turnmill.Span{action, observation}
	}
	var size, count int32
	token := 0
	for _, s := range spans {
		size += s.Len()
		for i := s.Start; i < s.End; i++ {
			keep := t.Status == "target"
			if keep && p.mode == mask.ModeToken {
				_, ratio := mask.Classify(&p.table, countsOf(t))
				keep = mask.Keeps(mask.DrawToken(p.plan.Mask.Seed, t.ID, int(t.Turn), token), ratio)
			}
			token++
			if keep {
				p.marks[i] = true
				count++
				if p.mode == mask.ModeWeight && p.row.Weights[i] != float32(t.Keep) {
					at("token %d has weight %v, the table keeps %v", i, p.row.Weights[i], t.Keep)
					return
				}
			}
		}
	}
	if t.TargetTokens != 0 && t.TargetTokens != size {
		at("%d target tokens in ranges of %d", t.TargetTokens, size)
	}
	if count != t.TrainedTokens {
		at("%d trained tokens; the mask gives %d", t.TrainedTokens, count)
	}
}

// endRow holds the labels against what the turns of the row claimed.
func (p *partitionCheck) endRow() error {
	if p.row == nil {
		return nil
	}
	for i, l := range p.row.Labels {
		if (l != turnmill.IgnoreIndex) != p.marks[i] {
			p.fault(p.name, "row %d: the label of token %d is %d, its turn says trained %v", p.row.Number, i, l, p.marks[i])
			break
		}
	}
	p.row = nil
	return nil
}

// endRows makes sure that no row is left over.
func (p *partitionCheck) endRows() error {
	if err := p.endRow(); err != nil {
		return err
	}
	if err := p.nextRow(); err != nil {
		return err
	}
	if p.row != nil {
		p.fault(p.name, "row %d and what follows belong to no turn", p.row.Number)
	}
	p.report.Rows += p.counts.Tokens.Rows
	p.report.Tokens += p.counts.Tokens.All
	p.report.Trained += p.counts.Tokens.Trained
	p.counts.Tokens.Context = p.counts.Tokens.All - p.counts.Tokens.Trained
	return nil
}

// rejects counts the reject lines again.
func (p *partitionCheck) rejects(i int) (int64, error) {
	path := rejectsPath(i)
	f, err := os.Open(filepath.Join(p.root, filepath.FromSlash(path)))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := zstdio.NewReader(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	defer z.Close()
	var n int64
	d := json.NewDecoder(bufio.NewReader(z))
	d.DisallowUnknownFields()
	for {
		var l rejectLine
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, fmt.Errorf("%s: %w: line %d: %w", path, turnmill.ErrCorrupt, n+1, err)
		}
		n++
		p.rejectLine(path, n, &l)
	}
}

func (p *partitionCheck) rejectLine(path string, n int64, l *rejectLine) {
	if l.Status != "dropped" && l.Status != "rejected" || l.Reason == "" || !p.knows(l.Path) {
		p.fault(path, "line %d: status %q, reason %q, path %q", n, l.Status, l.Reason, l.Path)
		return
	}
	both := func(f func(*stats.Ledger)) {
		if l.Domain == "" {
			f(p.counts.Ledger.Total)
		} else {
			p.each(string(l.Domain), f)
		}
	}
	switch l.Kind {
	case "file", "record":
		both(func(a *stats.Ledger) { enter(&a.Records, l.Status, l.Reason) })
		if l.Trajectories == 1 {
			both(func(a *stats.Ledger) { enter(&a.Trajectories, l.Status, l.Reason) })
		}
	case "trajectory":
		both(func(a *stats.Ledger) { enter(&a.Trajectories, l.Status, l.Reason) })
	case "turn": // the turns table has it
	default:
		p.fault(path, "line %d: kind %q", n, l.Kind)
	}
}

func (p *partitionCheck) knows(path string) bool {
	return slices.ContainsFunc(p.plan.Inputs, func(in PlanInput) bool { return in.Path == path })
}

// compareCounts holds what the files gave against the commit. What came in is the framer's, decoder's and
// encoder's own count, and stands in the commit alone: there the balance must hold.
func (p *partitionCheck) compareCounts(i int) {
	path := commitPath(i)
	if err := p.commit.Counts.Balanced(); err != nil {
		p.fault(path, "%v", err)
	}
	var framed int64
	for _, r := range p.commit.Inputs {
		framed += r.Records
	}
	if got := p.commit.Counts.Ledger.Total.Records.In; got < framed {
		p.fault(path, "%d records in, the ranges hold %d", got, framed)
	}
	if p.counts.Tokens != p.commit.Counts.Tokens {
		p.fault(path, "tokens %+v; the shards hold %+v", p.commit.Counts.Tokens, p.counts.Tokens)
	}
	p.compareLedger(path, "total", p.commit.Counts.Ledger.Total, p.counts.Ledger.Total)
	for _, d := range slices.Sorted(maps.Keys(p.commit.Counts.Ledger.Domains)) {
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

func (p *partitionCheck) compareLedger(path, whose string, want, got *stats.Ledger) {
	for _, a := range [...]struct {
		name      string
		want, got *stats.Account
		in        bool // the files give In too
	}{
		{"records", &want.Records, &got.Records, false}, {"trajectories", &want.Trajectories, &got.Trajectories, false},
		{"turns", &want.Turns, &got.Turns, true}, {"loss_tokens", &want.LossTokens, &got.LossTokens, true},
	} {
		if a.want.Out != a.got.Out || a.in && a.want.In != a.got.In || !maps.Equal(a.want.Dropped, a.got.Dropped) || !maps.Equal(a.want.Rejected, a.got.Rejected) {
			p.fault(path, "%s %s: %+v; the files give %+v", whose, a.name, *a.want, *a.got)
		}
	}
}
