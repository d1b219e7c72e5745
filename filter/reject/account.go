package reject

import (
	"github.com/turnmill/turnmill"
)

// Accounts count the ends of queries by domain. They merge, and their JSON has sorted keys.
type Accounts map[turnmill.Domain]*Account

// Account holds the counts of one domain: Queries = Selected + the sums of Dropped and Failed.
type Account struct {
	Queries    int64                     `json:"queries"`
	Candidates int64                     `json:"candidates"` // complete rollouts, and the judges have spoken
	Selected   int64                     `json:"selected"`
	Dropped    map[turnmill.Reason]int64 `json:"dropped,omitempty"`
	Failed     map[turnmill.Reason]int64 `json:"failed,omitempty"`

	Rollouts   map[string]int64 `json:"rollouts,omitempty"`   // by how they ended; "missing" where nothing came back
	Judgements map[string]int64 `json:"judgements,omitempty"` // of complete rollouts, by state
	Decided    map[string]int64 `json:"decided,omitempty"`    // of selected queries, by what told the winner
	Position   Position         `json:"position"`
}

// Add counts one query and its end.
func (a Accounts) Add(c *Case, out *Outcome) {
	d := a.of(c.Domain)
	d.Queries++
	if out.Candidate {
		d.Candidates++
	}
	switch out.State {
	case Selected:
		d.Selected++
		count(&d.Decided, out.Decider.String(), 1)
	case Dropped:
		count(&d.Dropped, out.Reason, 1)
	default:
		count(&d.Failed, out.Reason, 1)
	}
	for i := range c.Rollouts {
		switch r := &c.Rollouts[i]; {
		case !r.Answered:
			count(&d.Rollouts, "missing", 1)
		case r.State == turnmill.ReplyComplete:
			count(&d.Judgements, r.Judgement.String(), 1)
			fallthrough
		default:
			count(&d.Rollouts, r.State.String(), 1)
		}
	}
	d.Position.add(c)
}

// Merge adds the counts of b, which stays as it is.
func (a Accounts) Merge(b Accounts) {
	for domain, from := range b {
		to := a.of(domain)
		to.Queries += from.Queries
		to.Candidates += from.Candidates
		to.Selected += from.Selected
		merge(&to.Dropped, from.Dropped)
		merge(&to.Failed, from.Failed)
		merge(&to.Rollouts, from.Rollouts)
		merge(&to.Judgements, from.Judgements)
		merge(&to.Decided, from.Decided)
		to.Position.merge(&from.Position)
	}
}

// of returns the account of a domain, opened when it is not there.
func (a Accounts) of(domain turnmill.Domain) *Account {
	if a[domain] == nil {
		a[domain] = new(Account)
	}
	return a[domain]
}

// count adds n under key.
func count[K ~string](m *map[K]int64, key K, n int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	(*m)[key] += n
}

// merge adds all counts of from.
func merge[K ~string](m *map[K]int64, from map[K]int64) {
	for key, n := range from {
		count(m, key, n)
	}
}
