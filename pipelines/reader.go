package pipelines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// job is some records of one source on their way to a worker and back.
type job struct {
	from   source
	items  []item
	text   []byte // the records' bytes, one after the other
	charge int64  // of the memory budget
	stored int64  // stored bytes read since the job before, for the progress
	done   chan *outcome
	ended  <-chan struct{} // nobody waits for done any more
}

// item is one record of a job, or what the framer rejected in its place.
type item struct {
	from, to     int // in text
	line, offset int64
	bytes        int64 // of the row group, in a Parquet file
	reject       error
	record       int64      // of the partition, from 0
	decided      []decision // what the plan has of its trajectories and documents
}

// recordWork is what a worker does with a record.
type recordWork interface {
	work(j *job, it *item, rec frame.Record, out *outcome)
}

// answer works through a job. Rows of a huge record go ahead in parts.
func (j *job) answer(w recordWork, out *outcome, spare func() *outcome) {
	out.rows.Full = func() {
		if out.sft != nil {
			out.noteRow()
		}
		part := spare()
		out.take(part)
		j.send(part)
	}
	for i := range j.items {
		it := &j.items[i]
		rec := frame.Record{Data: j.text[it.from:it.to:it.to], Line: it.line, Offset: it.offset, Bytes: it.bytes}
		if it.reject != nil {
			out.rejectRecord(j.from, rec, it.reject)
			continue
		}
		w.work(j, it, rec, out)
	}
	out.rows.Full = nil
	if cap(j.text) > jobBytes {
		j.text = nil
	}
	j.send(out) // and the job is the consumer's
}

func (j *job) send(out *outcome) {
	select {
	case j.done <- out:
	case <-j.ended:
	}
}

// reader frames the ranges of one partition into jobs. It owns the order: pending gets each job before
// any worker does.
type reader struct {
	pool      *pool
	partition int
	pending   chan<- *job
	sums      []RangeSum
	job       *job
	read      int64 // stored bytes read since the last job
	last      bool  // standard input has ended
	records   int64 // taken
	decided   *decisionReader
}

func (r *reader) run(ctx context.Context) error {
	s := r.pool.setup
	l := limits{record: s.plan.Config.MaxRecord, window: s.plan.Config.MaxWindow, stored: s.stored}
	if s.stream != nil {
		sum, err := s.stream.stretch(ctx, &r.read,
			func(from source, rec frame.Record, err error) error { return r.take(ctx, from, rec, err) })
		if err != nil {
			return err
		}
		r.sums, r.last = append(r.sums, sum), s.stream.ended
		return r.flush(ctx)
	}
	decided, file, err := s.decisionsOf(r.partition)
	if err != nil {
		return err
	}
	defer file.Close()
	r.decided = decided
	err = readRanges(ctx, s.plan.Inputs, s.plan.Partitions[r.partition], s.paths, l, &r.read,
		func(from source, rec frame.Record, err error) error { return r.take(ctx, from, rec, err) },
		func(sum RangeSum) error {
			r.sums = append(r.sums, sum)
			return r.flush(ctx) // a job has one source
		})
	if err == nil && decided != nil && (decided.err != nil || decided.more) {
		err = fmt.Errorf("%s: %w: %w", decisionsPath(r.partition), turnmill.ErrCorrupt, cmp.Or(decided.err, errors.New("it speaks of records that are not there")))
	}
	return err
}

// take copies one record into the job, or what the framer rejected in its place.
func (r *reader) take(ctx context.Context, from source, rec frame.Record, reject error) error {
	if r.job != nil && (len(r.job.text)+len(rec.Data) > jobBytes || len(r.job.items) == jobItems) {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	if r.job == nil {
		r.job = r.pool.job(from, len(rec.Data), ctx.Done())
	}
	j := r.job
	start := len(j.text)
	j.text = append(j.text, rec.Data...)
	j.items = append(j.items, item{from: start, to: len(j.text), line: rec.Line, offset: rec.Offset, bytes: rec.Bytes, reject: reject,
		record: r.records, decided: r.decided.of(r.records)})
	r.records++
	return nil
}

// job returns an empty job, with room for a record of so many bytes.
func (p *pool) job(from source, bytes int, ended <-chan struct{}) *job {
	j := p.done.Get().(*job)
	if cap(j.text) < max(jobBytes, bytes) {
		j.text = make([]byte, 0, max(jobBytes, bytes))
	}
	j.from, j.ended, j.text, j.items = from, ended, j.text[:0], j.items[:0]
	return j
}

// flush hands the job over: first to the consumer, which keeps the order, then to the workers.
func (r *reader) flush(ctx context.Context) error {
	j := r.job
	if j == nil {
		return nil
	}
	r.job = nil
	j.stored, r.read = r.read, 0
	p := r.pool
	j.charge = min(p.setup.tokenizer.charge*int64(len(j.text))+itemBytes*int64(len(j.items)+bytes.Count(j.text, objectMark)), p.size)
	if err := p.budget.Acquire(ctx, j.charge); err != nil {
		return context.Cause(ctx)
	}
	select {
	case r.pending <- j:
	case <-ctx.Done():
		p.budget.Release(j.charge)
		return context.Cause(ctx)
	}
	select {
	case p.jobs <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
