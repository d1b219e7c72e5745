package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/stats"
)

// rejectCheck is where a partition's rejects are read, in step with its turns: both are in the order of the
// input. A turn that is dropped from a trajectory that stays has one line; so has what is lost as a whole.
//
//	turns     a dropped | a target | b dropped | b dropped | c target      b: nothing of it stays
//	rejects   turn a                 record b                              and records that no turn comes from
type rejectCheck struct {
	path   string
	file   *os.File
	plain  io.ReadCloser
	lines  *json.Decoder
	n      int64 // lines read
	lost   int64 // of those, what stands for a trajectory or document
	found  int64 // of those, what the turns table has too
	astray bool  // a line was not where it belongs: the others are counted, and no more
}

func (p *partitionCheck) openRejects(i int) (err error) {
	p.rejects.path = rejectsPath(i)
	if p.rejects.file, err = os.Open(filepath.Join(p.root, filepath.FromSlash(p.rejects.path))); err != nil {
		return err
	}
	if p.rejects.plain, err = zstdio.NewReader(p.rejects.file); err != nil {
		return fmt.Errorf("%s: %w: %w", p.rejects.path, turnmill.ErrCorrupt, err)
	}
	p.rejects.lines = json.NewDecoder(bufio.NewReader(p.rejects.plain))
	p.rejects.lines.DisallowUnknownFields()
	return nil
}

func (r *rejectCheck) close() {
	if r.plain != nil {
		r.plain.Close()
	}
	if r.file != nil {
		r.file.Close()
	}
}

// nextReject reads one line and counts it; it is nil at the end.
func (p *partitionCheck) nextReject() (*rejectLine, error) {
	r := &p.rejects
	l := &rejectLine{}
	if err := r.lines.Decode(l); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w: line %d: %w", r.path, turnmill.ErrCorrupt, r.n+1, err)
	}
	r.n++
	p.rejectLine(l)
	if p.examples != nil {
		p.records.lose(l, nil)
	}
	return l, nil
}

// stray notes that the rejects and the turns do not go together.
func (p *partitionCheck) stray(format string, args ...any) {
	p.fault(p.rejects.path, format, args...)
	p.rejects.astray = true
}

// dropped finds the line of a turn that was dropped from a trajectory that stays.
func (p *partitionCheck) dropped(u *unit, turn int32, reason string) error {
	for !p.rejects.astray {
		l, err := p.nextReject()
		switch {
		case err != nil:
			return err
		case l == nil:
			p.stray("turn %d of %s is dropped, and no line says so", turn, u.first.ID)
		case l.Kind == "turn":
			if l.ID != u.first.ID || *l.Turn != int(turn) || string(l.Reason) != reason || string(l.Domain) != u.first.Domain {
				p.stray("line %d: turn %d of %s, domain %s, is dropped: %s; the next turn that the table drops is %d of %s, domain %s: %s",
					p.rejects.n, *l.Turn, l.ID, l.Domain, l.Reason, turn, u.first.ID, u.first.Domain, reason)
			}
			return nil
		}
	}
	return nil
}

// gone finds the line of a trajectory or document of which nothing stays.
func (p *partitionCheck) gone(u *unit) error {
	for !p.rejects.astray {
		l, err := p.nextReject()
		switch {
		case err != nil:
			return err
		case l == nil:
			p.stray("nothing of %s is left, and no line says so", u.first.ID)
		case l.Kind == "turn":
			p.stray("line %d: turn %d of %s: the table drops no such turn here", p.rejects.n, *l.Turn, l.ID)
		case l.Kind == "query":
		case l.ID == u.first.ID && string(l.Domain) == u.first.Domain && l.Kind != "file":
			// Another line with this id may be of a record without turns: ids repeat, and domains tell them apart.
			p.rejects.found++
			return nil
		}
	}
	return nil
}

// endRejects reads the lines that are left. They are of what has no turn.
func (p *partitionCheck) endRejects() error {
	for {
		l, err := p.nextReject()
		if err != nil || l == nil {
			return err
		}
		if l.Kind == "turn" && !p.rejects.astray {
			p.stray("line %d: turn %d of %s: the table drops no such turn", p.rejects.n, *l.Turn, l.ID)
		}
	}
}

// rejectLine proves what holds of any line and enters it into the accounts.
func (p *partitionCheck) rejectLine(l *rejectLine) {
	if l.Kind == "query" {
		p.rejectedQuery(l)
	}
	if l.Status != "dropped" && l.Status != "rejected" || l.Reason == "" || l.Kind == "turn" && (l.Turn == nil || l.Status != "dropped") {
		p.fault(p.rejects.path, "line %d: kind %q, status %q, reason %q do not go together", p.rejects.n, l.Kind, l.Status, l.Reason)
		if l.Turn == nil {
			l.Turn = new(int)
		}
		return
	}
	if l.Kind == "reply" {
		p.rejectedReply(l)
		return
	}
	if !p.reads(l) {
		p.fault(p.rejects.path, "line %d: %s, offset %d, %d bytes: not what this partition reads", p.rejects.n, l.Path, l.Offset, l.Bytes)
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
		if l.Domain != "" && l.Trajectories < 2 {
			p.rejects.lost++
		}
	case "trajectory":
		both(func(a *stats.Ledger) { enter(&a.Trajectories, l.Status, l.Reason) })
		p.rejects.lost++
	case "turn", "query": // the turns table has it, and queries/
	default:
		p.fault(p.rejects.path, "line %d: kind %q", p.rejects.n, l.Kind)
	}
}

// reads tells whether a line's place is in one of the partition's ranges. Offsets in compressed files count
// other bytes than the plan does.
func (p *partitionCheck) reads(l *rejectLine) bool {
	return slices.ContainsFunc(rangesOf(p.plan, p.commit), func(r Range) bool {
		in := &p.plan.Inputs[r.Input]
		return in.Path == l.Path && (l.Kind == "file" || in.Compression != frame.None.String() && !p.plan.streams() ||
			r.From <= l.Offset && l.Bytes >= 0 && l.Offset+l.Bytes <= r.To)
	})
}
