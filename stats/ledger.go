package stats

import (
	"fmt"

	"github.com/turnmill/turnmill"
)

// Account says what came in and what became of it: In + Repeated = Out + Dropped + Rejected. In is counted
// where things are read, on its own.
type Account struct {
	In       int64                     `json:"in"`
	Out      int64                     `json:"out"`
	Dropped  map[turnmill.Reason]int64 `json:"dropped"`
	Rejected map[turnmill.Reason]int64 `json:"rejected"`
	Repeated int64                     `json:"repeated"`
}

// Drop counts n things that a rule refused.
func (a *Account) Drop(reason turnmill.Reason, n int64) { a.Dropped = plus(a.Dropped, reason, n) }

// Reject counts n things that failed.
func (a *Account) Reject(reason turnmill.Reason, n int64) { a.Rejected = plus(a.Rejected, reason, n) }

func plus(m map[turnmill.Reason]int64, reason turnmill.Reason, n int64) map[turnmill.Reason]int64 {
	if n == 0 {
		return m
	}
	if m == nil {
		m = map[turnmill.Reason]int64{}
	}
	m[reason] += n
	return m
}

// AllDropped returns the sum over the reasons.
func (a *Account) AllDropped() int64 { return sum(a.Dropped) }

// AllRejected returns the sum over the reasons.
func (a *Account) AllRejected() int64 { return sum(a.Rejected) }

func sum(m map[turnmill.Reason]int64) int64 {
	var n int64
	for _, k := range m {
		n += k
	}
	return n
}

// Add adds o to a.
func (a *Account) Add(o *Account) {
	a.In += o.In
	a.Out += o.Out
	a.Repeated += o.Repeated
	for r, n := range o.Dropped {
		a.Drop(r, n)
	}
	for r, n := range o.Rejected {
		a.Reject(r, n)
	}
}

func (a *Account) balanced(what string) error {
	if d, r := a.AllDropped(), a.AllRejected(); a.In+a.Repeated != a.Out+d+r {
		return fmt.Errorf("%s: in %d + repeated %d is not out %d + dropped %d + rejected %d", what, a.In, a.Repeated, a.Out, d, r)
	}
	return nil
}

// Ledger holds the accounts of a run, a partition, or one domain of it.
type Ledger struct {
	Records      Account  `json:"records"`
	Trajectories Account  `json:"trajectories"`
	Queries      *Account `json:"queries,omitempty"` // of an SFT set, else nil
	Turns        Account  `json:"turns"`
	LossTokens   Account  `json:"loss_tokens"`
}

// Query returns the account of queries, which it opens where there is none yet.
func (l *Ledger) Query() *Account {
	if l.Queries == nil {
		l.Queries = &Account{Dropped: map[turnmill.Reason]int64{}, Rejected: map[turnmill.Reason]int64{}}
	}
	return l.Queries
}

func newLedger() *Ledger {
	l := &Ledger{}
	for _, a := range []*Account{&l.Records, &l.Trajectories, &l.Turns, &l.LossTokens} {
		a.Dropped, a.Rejected = map[turnmill.Reason]int64{}, map[turnmill.Reason]int64{}
	}
	return l
}

// Add adds o to l.
func (l *Ledger) Add(o *Ledger) {
	l.Records.Add(&o.Records)
	l.Trajectories.Add(&o.Trajectories)
	if o.Queries != nil {
		l.Query().Add(o.Queries)
	}
	l.Turns.Add(&o.Turns)
	l.LossTokens.Add(&o.LossTokens)
}

// balanced returns the first account that does not meet.
func (l *Ledger) balanced(whose string) error {
	for _, a := range []struct {
		name    string
		account *Account
	}{{"records", &l.Records}, {"trajectories", &l.Trajectories}, {"turns", &l.Turns}, {"loss_tokens", &l.LossTokens}} {
		if err := a.account.balanced(whose + " " + a.name); err != nil {
			return err
		}
	}
	if l.Queries != nil {
		return l.Queries.balanced(whose + " queries")
	}
	return nil
}
