package endpoint

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/turnmill/turnmill"
)

// Job says what an Ask is part of.
type Job struct {
	Kind    string   // rollout, score, pair: a part of every key
	Journal *Journal // what was answered, and where answers go
	// RetryFailed asks again what the journal holds as failed or timeout. Else those stand, as all other states do.
	RetryFailed bool
}

// Ask takes requests to replies: from the journal where it holds them, else from the endpoint. give gets one reply a
// request, in the order in which they come; both it and the sequence run in the caller's goroutine, never at once. A
// reply is given after it is synced to the journal.
//
// An error of the sequence, of give or of the journal ends the Ask, as ctx does: nothing new is sent, answers that come
// within Grace are journalled and given, the rest is interrupted. The error is then the first of these, or the cause of
// ctx. Replies that failed are no error.
func (c *Client) Ask(ctx context.Context, job Job, requests iter.Seq2[turnmill.Request, error], give func(turnmill.Reply) error) (Account, error) {
	p := c.newPool(ctx, job, give)
	defer p.stop()
	for r, err := range requests {
		if err == nil {
			err = p.put(r)
		}
		if err != nil {
			p.fail(err)
		}
		if p.ctx.Err() != nil {
			break
		}
	}
	for p.open > 0 {
		p.take(<-p.results)
	}
	p.account.Peak, _ = c.gate.state()
	return p.account, context.Cause(p.ctx)
}

// pool is one Ask: the caller's goroutine, which feeds and takes, and up to Concurrency workers.
type pool struct {
	c      *Client
	job    Job
	give   func(turnmill.Reply) error
	ctx    context.Context // done when the Ask is to end
	fail   context.CancelCauseFunc
	hard   context.Context // done when what is in flight is cut
	kill   context.CancelFunc
	unhook func() bool

	since   int64 // size of the journal at the start: later entries are this Ask's own
	tasks   chan *task
	results chan outcome
	workers sync.WaitGroup
	started int
	open    int // tasks without a result
	busy    map[Key]bool
	account Account
}

func (c *Client) newPool(ctx context.Context, job Job, give func(turnmill.Reply) error) *pool {
	p := &pool{c: c, job: job, give: give, since: job.Journal.size(), tasks: make(chan *task), results: make(chan outcome), busy: map[Key]bool{}}
	p.ctx, p.fail = context.WithCancelCause(ctx)
	p.hard, p.kill = context.WithCancel(context.WithoutCancel(ctx))
	p.unhook = context.AfterFunc(p.ctx, func() { c.o.Clock.AfterFunc(c.o.Grace, p.kill) })
	return p
}

// stop ends the workers, and what they have in flight where the caller's code panicked.
func (p *pool) stop() {
	p.unhook()
	p.fail(nil)
	p.kill()
	for ; p.open > 0; p.open-- {
		<-p.results
	}
	close(p.tasks)
	p.workers.Wait()
}

// put answers a request from the journal, or hands it to a worker.
func (p *pool) put(r turnmill.Request) error {
	if err := checkRequest(&r); err != nil {
		return err
	}
	t := &task{key: KeyOf(p.job.Kind, &r), req: r}
	for p.busy[t.key] { // the same request again: it gets the same answer
		p.take(<-p.results)
	}
	if p.ctx.Err() != nil {
		return nil
	}
	p.account.Requests++
	held, err := p.held(t)
	if held || err != nil {
		return err
	}
	t.body = appendBody(nil, &t.req, p.c.o.TokenField)
	p.start()
	for {
		select {
		case p.tasks <- t:
			p.busy[t.key] = true
			p.open++
			return nil
		case out := <-p.results:
			p.take(out)
		case <-p.ctx.Done():
			p.account.Interrupted++
			return nil
		}
	}
}

// held gives the reply that the journal holds.
func (p *pool) held(t *task) (bool, error) {
	e, at, err := p.job.Journal.find(t.key)
	if err != nil || at < 0 {
		return false, err
	}
	if e.Reply.ID != t.req.ID || e.Reply.Sample != t.req.Sample || e.Kind != p.job.Kind {
		return false, fmt.Errorf("%s: the entry at offset %d has the key of request %s and is another's", p.job.Journal.name, at, t.req.ID)
	}
	if p.job.RetryFailed && !answers(e.Reply.State) && at < p.since {
		return false, nil
	}
	p.account.FromJournal++
	p.account.reply(&e.Reply)
	return true, p.give(e.Reply)
}

// take counts and gives what a worker made of a task.
func (p *pool) take(out outcome) {
	p.open--
	delete(p.busy, out.key)
	p.account.Add(out.account)
	switch {
	case out.err != nil:
		p.account.Interrupted++
		p.fail(out.err)
	case out.interrupted:
		p.account.Interrupted++
	default:
		p.account.reply(&out.reply)
		if err := p.give(out.reply); err != nil {
			p.fail(err)
		}
	}
}

// start adds a worker while there are fewer than may be in flight.
func (p *pool) start() {
	if p.started == p.c.o.Concurrency || p.started > p.open {
		return
	}
	p.started++
	p.workers.Go(func() {
		for t := range p.tasks {
			p.results <- p.c.one(p.ctx, p.hard, p.job, t)
		}
	})
}
