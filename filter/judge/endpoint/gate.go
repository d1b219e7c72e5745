package endpoint

import (
	"context"
	"errors"
	"sync"
	"time"
)

// gate lets requests to one endpoint pass, for all that ask it. Four things hold them back, in this order: an endpoint
// that is down, a spent budget, a cool-down, and the number in flight.
//
//	enter --> in flight --> leave: answered    limit + 1/limit, up to Concurrency
//	                               429         limit / 2, cool-down for all
//	                               failure     limit / 2, counts for the circuit
//
// Requests that were in flight together and fail together halve the limit once.
type gate struct {
	o *Options

	mu       sync.Mutex
	changed  chan struct{} // closed, and made anew, when one that waits may go on
	limit    float64       // additive increase, multiplicative decrease; at least 1
	epoch    int           // decreases so far
	inFlight int
	peak     int
	cool     time.Time // nothing is sent before
	crowded  int       // cool-downs in a row without Retry-After
	circuit  circuit
	spent    Spent
}

// firstLimit is how many requests are in flight before anything is known of an endpoint.
const firstLimit = 4

func newGate(o *Options) *gate {
	return &gate{o: o, changed: make(chan struct{}), limit: float64(min(firstLimit, o.Concurrency))}
}

// pass is the right to send once.
type pass struct {
	epoch int
	probe bool
}

// Why a request is not let through.
var (
	errDown = errors.New("the endpoint is down")
	errLate = errors.New("its deadline comes first")
)

type errSpent string

func (e errSpent) Error() string { return string(e) }

// enter waits until one request may be sent. deadline is the request's, zero before its first attempt. The error is
// errDown, errLate, errSpent, or the cause of ctx.
func (g *gate) enter(ctx context.Context, deadline time.Time) (pass, error) {
	for {
		if ctx.Err() != nil {
			return pass{}, context.Cause(ctx)
		}
		g.mu.Lock()
		p, wait, err := g.admit(deadline)
		changed := g.changed
		g.mu.Unlock()
		switch {
		case err != nil:
			return pass{}, err
		case wait == 0:
			return p, nil
		case wait > 0:
			if err := g.o.Clock.Sleep(ctx, wait); err != nil {
				return pass{}, err
			}
		default:
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// admit lets one pass (0), or says how long to wait, or that the state must change first (-1).
func (g *gate) admit(deadline time.Time) (p pass, wait time.Duration, err error) {
	now := g.o.Clock.Now()
	if g.circuit.down {
		return p, 0, errDown
	}
	if what := g.o.Budget.over(g.spent); what != "" {
		return p, 0, errSpent(what)
	}
	until := g.cool
	if g.circuit.open && g.circuit.until.After(until) {
		until = g.circuit.until
	}
	switch {
	case !deadline.IsZero() && (until.After(deadline) || !now.Before(deadline)):
		return p, 0, errLate
	case until.After(now):
		return p, until.Sub(now), nil
	case g.circuit.open && g.circuit.probing, g.inFlight >= int(g.limit):
		return p, -1, nil
	}
	p = pass{epoch: g.epoch, probe: g.circuit.open}
	g.circuit.probing = p.probe
	g.inFlight++
	g.peak = max(g.peak, g.inFlight)
	g.spent.Sent++
	return p, 0, nil
}

// leave takes back a pass; f is nil when there was an answer.
func (g *gate) leave(p pass, f *failure, used Spent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	g.spent.add(used)
	now := g.o.Clock.Now()
	if f != nil && !f.stopped && (f.remedy == limited || f.sick) {
		g.slow(p, f, now)
	}
	switch {
	case f != nil && f.stopped:
		if p.probe {
			g.circuit.probing = false
		}
	case f != nil && f.sick:
		g.circuit.failed(g.o, p, f, now)
	default:
		g.circuit.worked()
	}
	if f == nil {
		g.crowded = 0
		g.limit = min(g.limit+1/g.limit, float64(g.o.Concurrency))
	}
	g.notify()
}

// slow halves the limit and sets the cool-down: as told, but never so short that the endpoint is asked without pause.
// Without Retry-After it grows from one 429 to the next, but not for those that were sent together.
func (g *gate) slow(p pass, f *failure, now time.Time) {
	again := p.epoch != g.epoch
	if !again {
		g.epoch++
		g.limit = max(g.limit/2, 1)
	}
	wait := f.after
	switch {
	case f.remedy != limited || again:
	case wait < 0:
		wait = g.jittered(g.crowded)
		g.crowded++
	default:
		wait = max(wait, g.jittered(0))
	}
	if until := now.Add(wait); wait > 0 && until.After(g.cool) {
		g.cool = until
	}
}

// backoff returns how long to wait after the n-th failure of a request, from 0.
func (g *gate) backoff(n int) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jittered(n)
}

// jittered is between half of BackoffMin doubled n times, at most BackoffMax, and the whole.
func (g *gate) jittered(n int) time.Duration {
	d := g.o.BackoffMin
	for ; n > 0 && d < g.o.BackoffMax; n-- {
		d *= 2
	}
	d = min(d, g.o.BackoffMax)
	return d/2 + time.Duration(float64(d/2)*g.o.Jitter())
}

func (g *gate) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// charge counts what was spent before.
func (g *gate) charge(s Spent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent.add(s)
}

// state returns the peak in flight and why the endpoint is down.
func (g *gate) state() (peak int, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peak, g.circuit.last
}
