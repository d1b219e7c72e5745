package reject

import (
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

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

// merge adds the counts of from.
func (p *Position) merge(from *Position) {
	merge(&p.States, from.States)
	p.First += from.First
	p.Pairs += from.Pairs
	p.Consistent += from.Consistent
	p.FirstTwice += from.FirstTwice
}

// WritePositions writes how judges of pairs went by place, a row for each domain with queries, then the total:
// pairs of which both orders are valid, those in which both name the same rollout, those in which both name the
// first or the second place, and the share of the last two.
func (a Accounts) WritePositions(w io.Writer) error {
	text := [][]string{{"domain", "pairs", "consistent", "first twice", "second twice", "bias"}}
	var total Position
	row := func(name turnmill.Domain, p *Position) {
		bias, twice := "-", p.Pairs-p.Consistent
		if p.Pairs > 0 {
			bias = percent(tenths(twice, p.Pairs))
		}
		text = append(text, []string{string(name), grouped(p.Pairs), grouped(p.Consistent), grouped(p.FirstTwice), grouped(twice - p.FirstTwice), bias})
	}
	for _, d := range a.domains() {
		row(d, &a[d].Position)
		total.merge(&a[d].Position)
	}
	row(Total, &total)
	return writeTable(w, text)
}
