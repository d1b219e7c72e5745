package pipelines

import (
	"errors"
	"io"
	"sync"
)

// reporter tells how far a run has come. Several partitions may report at once.
type reporter struct {
	state *progressState
}

type progressState struct {
	mu   sync.Mutex
	now  Progress
	show func(Progress)
}

// newProgress starts from what the partitions to run have to read.
func newProgress(o *Options, s *setup, todo []int) reporter {
	p := &progressState{show: o.Progress}
	for _, i := range todo {
		for _, r := range s.plan.Partitions[i] {
			p.now.BytesAll += r.To - r.From
		}
	}
	return reporter{p}
}

func (r reporter) outcome(o *outcome, stored int64) {
	p := r.state
	if p == nil || p.show == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	records := &o.counts.Ledger.Total.Records
	p.now.BytesDone += stored
	p.now.Dropped += records.AllDropped()
	p.now.Rejected += records.AllRejected()
	p.now.Records += records.Out + records.AllDropped() + records.AllRejected()
	p.now.Rows += int64(len(o.rows.Rows))
	p.show(p.now)
}

// eof turns the end of an input into no error.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
