package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/turnmill/turnmill/shard/arrow"
)

// pool is the goroutines of one process, all of them started and joined here.
//
//	partition i   reader --job--> jobs (shared) --> worker --outcome--+
//	                 |                                                |
//	                 +---the same job, in order--> pending --> consumer: writers, counts, commit
//	                                                              +--full batch--> one goroutine each
//
// The reader takes bytes from the memory budget, puts a job into pending and then into jobs; a worker
// answers in the job; the consumer ranges over pending, so that outcomes are written in the order of the
// input whoever made them, alone touches the partition's files and counts, and gives the bytes back.
type pool struct {
	setup   *setup
	jobs    chan *job
	budget  *semaphore.Weighted
	size    int64              // of the budget, in bytes
	ahead   int                // jobs of one partition that may be open
	spare   sync.Pool          // of *outcome
	done    sync.Pool          // of *job
	shards  chan *arrow.Writer // whose buffers are the largest that a partition has
	workers errgroup.Group
	writing sync.WaitGroup // record batches
	report  reporter
}

// chargeFactor is how many bytes of memory a record is charged with for each of its own: its text, the
// tape, words, tokens, labels and turn rows. Engine hf charges more.
const chargeFactor = 8

// mostActive is how many partitions are open at once: while one ends, the next one keeps the workers busy.
const mostActive = 2

// jobBytes is how much input a job gathers, so that channels cost nothing beside the work.
const jobBytes = 128 << 10

// jobItems is how many records a job gathers at most: what is rejected before it is framed brings no bytes.
const jobItems = 1024

// itemBytes is what a record is charged with beside its bytes, for its error, its reject line and its counts; and
// every object in it, which may be a turn with a row in the turns table.
const itemBytes = 1 << 10

// objectMark begins an object.
var objectMark = []byte("{")

func newPool(s *setup, budget int64, workers int, report reporter) *pool {
	return startPool(s, budget, workers, report, s.newOutcome, func() recordWork { return s.newWorker() })
}

// newScanPool returns a pool whose workers print records.
func newScanPool(s *setup, budget int64, workers int) *pool {
	outcome := func() *outcome {
		o := newOutcome(s.mode, false)
		o.scanned = &scanned{}
		return o
	}
	return startPool(s, budget, workers, reporter{}, outcome, func() recordWork { return s.newScanWork() })
}

// startPool starts the workers.
func startPool(s *setup, budget int64, workers int, report reporter, spare func() *outcome, work func() recordWork) *pool {
	p := &pool{
		setup: s, jobs: make(chan *job), size: budget, budget: semaphore.NewWeighted(budget),
		ahead: 4*workers + 4, report: report, shards: make(chan *arrow.Writer, mostActive*len(splitNames)),
	}
	p.spare.New = func() any { return spare() }
	p.done.New = func() any { return &job{done: make(chan *outcome, 1)} }
	for range workers {
		p.workers.Go(func() error {
			w := work()
			for j := range p.jobs {
				j.answer(w, p.outcome(), p.outcome)
			}
			return nil
		})
	}
	return p
}

// close ends the workers and waits for them.
func (p *pool) close() {
	close(p.jobs)
	p.workers.Wait() // workers return no errors
	p.writing.Wait()
}

// behind writes a record batch while the consumer goes on: a burst of a tenth of a second, in which the workers
// would run out of jobs.
func (p *pool) behind(write func() error) (wait func() error) {
	done := make(chan error, 1)
	p.writing.Go(func() { done <- write() })
	return func() error { return <-done }
}

func (p *pool) outcome() *outcome {
	out := p.spare.Get().(*outcome)
	out.reset()
	return out
}

// partition reads, works through and writes partition i, and returns what to commit. When it fails nothing is
// committed, and the next run writes over what shards there are.
func (p *pool) partition(ctx context.Context, i int, to sink) (*Commit, error) {
	w, err := newPartitionWriter(p, i, to)
	if err != nil {
		return nil, err
	}
	defer w.abort()
	r, err := p.through(ctx, i, w)
	if err != nil {
		return nil, err
	}
	c, err := w.finish(r.sums)
	if c != nil {
		c.Last = r.last
	}
	return c, err
}

// outcomeWriter takes the outcomes of a partition in their order.
type outcomeWriter interface{ write(*outcome) error }

// through takes partition i from its reader through the workers to w.
func (p *pool) through(ctx context.Context, i int, w outcomeWriter) (*reader, error) {
	g, ctx := errgroup.WithContext(ctx)
	pending := make(chan *job, p.ahead)
	r := &reader{pool: p, partition: i, pending: pending}
	read := false
	g.Go(func() error {
		if err := r.run(ctx); err != nil {
			return err // pending stays open, so that nobody takes this for the end of the input
		}
		read = true
		close(pending)
		return nil
	})
	g.Go(func() error {
		if err := p.consume(ctx, pending, w); err != nil {
			return err
		}
		return context.Cause(ctx) // nil while nobody has cancelled it
	})
	err := g.Wait()
	if !read {
		close(pending)
	}
	for range pending { // nobody reads them any more; the workers have answered or will
	}
	if err != nil {
		return nil, cause(ctx, err)
	}
	return r, nil
}

// consume writes the outcomes of pending in order.
func (p *pool) consume(ctx context.Context, pending <-chan *job, w outcomeWriter) error {
	for {
		select {
		case j, ok := <-pending:
			if !ok {
				return nil
			}
			if err := p.finish(ctx, j, w); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finish writes the outcome of one job, in as many parts as it comes.
func (p *pool) finish(ctx context.Context, j *job, w outcomeWriter) error {
	for {
		select {
		case out := <-j.done:
			if out.failed != nil {
				return out.failed
			}
			if err := w.write(out); err != nil {
				return err
			}
			part := out.part
			p.report.outcome(out, j.stored)
			p.spare.Put(out)
			if !part {
				p.budget.Release(j.charge)
				p.done.Put(j)
				return nil
			}
			j.stored = 0
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// cause prefers the reason for which a context was cancelled to the plain fact.
func cause(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) {
		if c := context.Cause(ctx); c != nil {
			return c
		}
	}
	return err
}

// collectBytes is how much output is worth a garbage collection: small partitions leave little behind.
const collectBytes = 64 << 20

// partitions runs the given partitions, active of them at a time, and hands each commit to done, which is
// called by one goroutine at a time.
func (p *pool) partitions(ctx context.Context, which []int, active int, to sink, done func(*Commit) error) error {
	outer := ctx
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(active)
	var one sync.Mutex
	var written int64 // since the last collection
	for _, i := range which {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			c, err := p.partition(ctx, i, to)
			if err != nil {
				return fmt.Errorf("partition %d: %w", i, err)
			}
			one.Lock()
			defer one.Unlock()
			for _, f := range c.Files {
				written += f.Bytes
			}
			if written >= collectBytes { // the files leave buffers behind, and the next ones bring their own
				runtime.GC()
				written = 0
			}
			return done(c)
		})
	}
	if err := g.Wait(); err != nil {
		return cause(ctx, err)
	}
	return context.Cause(outer) // what was not started has not failed
}

// ahead reads standard input ahead of who works on it. A read that waits for a producer cannot be called off,
// so the goroutine that waits may outlast the run; whoever reads here does not.
type ahead struct {
	ctx    context.Context
	full   chan chunk
	empty  chan []byte
	now    chunk
	unread []byte // of now
}

type chunk struct {
	data []byte
	err  error
}

// aheadBytes is the size of each of the two buffers of ahead.
const aheadBytes = 256 << 10

// readAhead starts to read in; it ends with ctx, or with the input.
func readAhead(ctx context.Context, in io.Reader) io.Reader {
	a := &ahead{ctx: ctx, full: make(chan chunk), empty: make(chan []byte, 2)}
	for range cap(a.empty) {
		a.empty <- make([]byte, aheadBytes)
	}
	go func() {
		for {
			var buf []byte
			select {
			case buf = <-a.empty:
			case <-ctx.Done():
				return
			}
			n, err := in.Read(buf)
			select {
			case a.full <- chunk{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// Read reads on; with a context that has ended it gives its cause.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.unread) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.empty <- a.now.data[:cap(a.now.data)]
			a.now.data = nil // given back once, however often Read is called after the end
		}
		select {
		case a.now = <-a.full:
			a.unread = a.now.data
		case <-a.ctx.Done():
			return 0, context.Cause(a.ctx)
		}
	}
	n := copy(p, a.unread)
	a.unread = a.unread[n:]
	return n, nil
}
