package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/turnmill/turnmill"
)

// Client asks one endpoint. Several Asks may run at once; they share what is in flight, the cool-down, the circuit and
// the budget.
type Client struct {
	o    Options
	url  string
	http *http.Client
	gate *gate
}

// New returns a client; nothing is sent yet.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{o: o.withDefaults()}
	var err error
	if c.url, err = join(c.o.URL); err != nil {
		return nil, err
	}
	c.http = newHTTP(c.o.Concurrency)
	c.gate = newGate(&c.o)
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Charge takes from the budget what was spent before, by a run that is resumed; see Journal.Spent.
func (c *Client) Charge(s Spent) {
	if s.Cost == 0 {
		s.Cost = c.o.Prices.cost(s.Usage)
	}
	c.gate.charge(s)
}

// task is one request on its way.
type task struct {
	key  Key
	req  turnmill.Request
	body []byte
}

// outcome is how a task ended.
type outcome struct {
	key         Key
	reply       turnmill.Reply
	interrupted bool
	err         error // of the journal; ends the Ask
	account     Account
}

// one takes a request to its one reply: attempts, waits, and the entry in the journal. ctx stops waiting, hard stops
// what is in flight.
func (c *Client) one(ctx, hard context.Context, job Job, t *task) (out outcome) {
	out = outcome{key: t.key}
	var (
		deadline time.Time
		last     *failure
		failures int
		attempts int
	)
	for {
		p, err := c.gate.enter(ctx, deadline)
		if err != nil {
			return c.unsent(job, t, out, err, last, attempts)
		}
		now := c.o.Clock.Now()
		if attempts == 0 {
			deadline = now.Add(c.o.Deadline)
		}
		attempts++
		reply, mended, f := c.attempt(hard, t.body, min(c.o.Timeout, deadline.Sub(now)))
		used := c.used(t, &reply, f, &out.account)
		c.gate.leave(p, f, used)
		out.account.Spent.add(used)
		out.account.Sent++
		if attempts > 1 {
			out.account.Retried++
		}
		switch {
		case f == nil:
			out.account.Mended += int64(mended)
			return c.ended(job, t, out, reply, attempts)
		case f.stopped:
			out.interrupted = true
			return out
		case f.remedy == final, f.remedy == retry && failures >= c.o.Retries:
			return c.ended(job, t, out, f.reply(), attempts)
		}
		last = f
		if f.remedy == limited {
			out.account.Limited++
			continue
		}
		wait := max(c.gate.backoff(failures), f.after)
		failures++
		if c.o.Clock.Now().Add(wait).After(deadline) {
			return c.unsent(job, t, out, errLate, last, attempts)
		}
		if c.o.Clock.Sleep(ctx, wait) != nil {
			out.interrupted = true
			return out
		}
	}
}

// unsent ends a request that the gate did not let through. What the run is to blame for, a spent budget or a dead
// endpoint, is no entry of the journal: the next run asks again.
func (c *Client) unsent(job Job, t *task, out outcome, err error, last *failure, attempts int) outcome {
	spent, isSpent := errors.AsType[errSpent](err)
	switch {
	case isSpent:
		out.reply = turnmill.Reply{State: turnmill.ReplyFailed, Error: ReasonBudget + ": " + string(spent)}
	case errors.Is(err, errDown):
		_, why := c.gate.state()
		out.reply = turnmill.Reply{State: turnmill.ReplyFailed, Error: ReasonDown + ": " + why}
	case errors.Is(err, errLate):
		why := fmt.Sprintf("%s: no answer within %s; at last %s", ReasonDeadline, c.o.Deadline, last.error())
		return c.ended(job, t, out, turnmill.Reply{State: turnmill.ReplyTimeout, Error: why}, attempts)
	default:
		out.interrupted = true
		return out
	}
	out.reply.ID, out.reply.Sample = t.req.ID, t.req.Sample
	if attempts == 0 {
		out.account.Unsent++
	} else {
		out.account.Asked++
	}
	return out
}

// ended writes the reply into the journal; only then it counts.
func (c *Client) ended(job Job, t *task, out outcome, r turnmill.Reply, attempts int) outcome {
	r.ID, r.Sample = t.req.ID, t.req.Sample
	out.reply = r
	if out.err = job.Journal.Append(Entry{Key: t.key, Kind: job.Kind, Attempts: attempts, Reply: r}); out.err == nil {
		out.account.Asked++
	}
	return out
}

// used prices an attempt. A failed one reports nothing; endpoints charge for some of those, which the budget of
// requests bounds.
func (c *Client) used(t *task, r *turnmill.Reply, f *failure, a *Account) (s Spent) {
	if f != nil {
		return s
	}
	s.Usage = r.Usage
	if s.Usage.Prompt == 0 && s.Usage.Completion == 0 {
		s.Usage = estimate(len(t.body), r)
		a.Estimated++
	}
	s.Cost = c.o.Prices.cost(s.Usage)
	return s
}
