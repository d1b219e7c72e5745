package pipelines

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
)

// answerer finds the replies to a question by its id: one a sample, in their order, and how many there were in all.
type answerer interface {
	Get(id string) (all []turnmill.Reply, found int, err error)
}

// chooser ends queries. It serves one goroutine; what it returns is a pure function of the answers.
type chooser struct {
	options              reject.Options
	compat               bool
	samples              int
	seed                 string
	rollouts, judgements answerer
}

func newChooser(p *Plan, rollouts, judgements answerer) *chooser {
	c := p.Config.SFT
	threshold, _, _ := parseMean(c.Threshold) // it was validated
	return &chooser{
		options: reject.Options{Threshold: threshold, Pairs: reject.PairRule(indexOf(pairRules[:], c.Pairs))},
		compat:  c.Compat, samples: c.Samples, seed: p.Mask.Seed, rollouts: rollouts, judgements: judgements,
	}
}

// hearing is all that is known about a query: what was answered, and what follows.
type hearing struct {
	id string // of the query
	reject.Case
	reject.Outcome
	rollouts []turnmill.Reply   // those there are, by sample, below the number asked for
	scored   []judge.Judgement  // by sample
	scores   [][]turnmill.Reply // by sample, by attempt
	pairs    []heardPair        // in the order in which they are asked
	found    int64              // replies that there were, repeated and surplus ones included
	surplus  int64              // of those, repeated ones and samples beyond the number asked for
}

// heardPair is one comparison in one order.
type heardPair struct {
	judge.ID
	judge.Preference
	replies []turnmill.Reply // by attempt
}

// hear looks up what was answered to a query, and chooses. Pairs are looked up where the choice needs them.
func (c *chooser) hear(id string, domain turnmill.Domain) (*hearing, error) {
	h := &hearing{id: id, scored: make([]judge.Judgement, c.samples), scores: make([][]turnmill.Reply, c.samples)}
	h.Domain = turnmill.Domain(strings.Clone(string(domain)))
	h.Rollouts = make([]reject.Rollout, c.samples)
	all, found, err := c.rollouts.Get(id)
	if err != nil {
		return nil, err
	}
	h.found, h.surplus = int64(found), int64(found-len(all))
	for _, r := range all {
		if r.Sample >= c.samples {
			h.surplus++
			continue
		}
		h.rollouts = append(h.rollouts, r)
		if err := c.scores(h, id, &r); err != nil {
			return nil, err
		}
	}
	for _, p := range c.options.Ask(&h.Case) {
		for _, ask := range judge.Orders(c.seed, id, p[0], p[1]) {
			if err := c.pair(h, ask); err != nil {
				return nil, err
			}
		}
	}
	h.Outcome = c.options.Choose(&h.Case)
	return h, nil
}

// scores takes in one rollout and what a judge said of it, if it is complete.
func (c *chooser) scores(h *hearing, id string, r *turnmill.Reply) error {
	into := &h.Rollouts[r.Sample]
	into.Answered, into.State = true, r.State
	if r.State != turnmill.ReplyComplete {
		return nil
	}
	all, err := c.ask(h, judge.ID{Kind: judge.KindScores, Query: id, First: r.Sample})
	if err != nil {
		return err
	}
	for i := range all {
		h.scores[r.Sample] = all[:i+1]
		j := judge.ParseScores(&all[i], judge.Options{Compat: c.compat})
		h.scored[r.Sample], into.Judgement, into.Scores = j, j.State, j.Scores
		if j.State == judge.Valid {
			break // later attempts were made for nothing
		}
	}
	return nil
}

// pair takes in one comparison.
func (c *chooser) pair(h *hearing, ask judge.ID) error {
	all, err := c.ask(h, ask)
	if err != nil {
		return err
	}
	p := heardPair{ID: ask}
	for i := range all {
		p.replies = all[:i+1]
		if p.Preference = judge.ParsePair(&all[i]); p.State == judge.Valid {
			break
		}
	}
	if len(all) > 0 {
		h.Pairs = append(h.Pairs, reject.Pair{First: ask.First, Second: ask.Second, Preference: p.Preference})
		h.pairs = append(h.pairs, p)
	}
	return nil
}

// ask returns the attempts at a judgement.
func (c *chooser) ask(h *hearing, id judge.ID) ([]turnmill.Reply, error) {
	all, found, err := c.judgements.Get(id.String())
	h.found, h.surplus = h.found+int64(found), h.surplus+int64(found-len(all))
	return all, err
}
