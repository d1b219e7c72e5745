package reject

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
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

// Position counts how judges of pairs go by place.
type Position struct {
	States     map[string]int64 `json:"states,omitempty"` // answers by state
	First      int64            `json:"first"`            // valid answers that name the rollout shown first
	Pairs      int64            `json:"pairs"`            // pairs of which both orders are valid
	Consistent int64            `json:"consistent"`       // of those, both name the same rollout
	FirstTwice int64            `json:"first_twice"`      // both name the one shown first; the remaining pairs name the second twice
}

// Bias returns the share of pairs whose verdict follows the place; Den is 0 without pairs.
func (p *Position) Bias() turnmill.Ratio {
	return turnmill.Ratio{Num: uint64(p.Pairs - p.Consistent), Den: uint64(p.Pairs)}
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

// add counts the pairs of a case: answers one by one, pairs where both orders are there, once each.
func (p *Position) add(c *Case) {
	for _, pair := range c.Pairs {
		count(&p.States, pair.Preference.State.String(), 1)
		if pair.Preference.State == judge.Valid && !pair.Preference.Second {
			p.First++
		}
	}
	for a := range c.Rollouts {
		for b := a + 1; b < len(c.Rollouts); b++ {
			one, _ := c.find(a, b)
			two, _ := c.find(b, a)
			if one.State != judge.Valid || two.State != judge.Valid {
				continue
			}
			p.Pairs++
			switch {
			case one.Second != two.Second:
				p.Consistent++
			case !one.Second:
				p.FirstTwice++
			}
		}
	}
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
		to.Position.First += from.Position.First
		to.Position.Pairs += from.Position.Pairs
		to.Position.Consistent += from.Position.Consistent
		to.Position.FirstTwice += from.Position.FirstTwice
		merge(&to.Position.States, from.Position.States)
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
