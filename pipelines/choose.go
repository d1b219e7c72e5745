package pipelines

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
)

// answerSource finds replies, one a sample or attempt, in their order, and how many there were in all. A judgement is
// about one rollout, or two in the order of the id.
type answerSource interface {
	rollouts(q *question) (all []turnmill.Reply, found int, err error)
	judgements(q *question, id judge.ID, about ...*turnmill.Reply) (all []turnmill.Reply, found int, err error)
}

// getter finds replies by the id of what was asked.
type getter interface {
	Get(id string) (all []turnmill.Reply, found int, err error)
}

// byID is an answerSource of replies that are found by id alone.
type byID struct{ rolled, judged getter }

func (b byID) rollouts(q *question) ([]turnmill.Reply, int, error) { return b.rolled.Get(q.id) }

func (b byID) judgements(_ *question, id judge.ID, _ ...*turnmill.Reply) ([]turnmill.Reply, int, error) {
	return b.judged.Get(id.String())
}

// chooser ends queries. It serves one goroutine; what it returns is a pure function of the answers.
type chooser struct {
	options reject.Options
	compat  bool
	samples int
	seed    string
	answers answerSource
	stopped func() bool // asking ended early: the budget was spent
	// What is recorded alone nobody is asked for, whatever is spent.
	asksRollouts, asksJudges bool
}

func newChooser(p *Plan, answers answerSource, stopped func() bool) *chooser {
	c := p.Config.SFT
	threshold, _, _ := parseMean(c.Threshold) // it was validated
	samples := c.Samples
	if p.prompts() {
		samples = 0 // the trainer makes them
	}
	m := &chooser{
		options: reject.Options{Threshold: threshold, Pairs: reject.PairRule(indexOf(pairRules[:], c.Pairs)), DropLeaking: c.DropLeakage},
		compat:  c.Compat, samples: samples, seed: p.Mask.Seed, answers: answers, stopped: stopped,
	}
	if c.Ask != nil {
		m.asksRollouts, m.asksJudges = c.Ask.RolloutModel != "", c.Ask.JudgeModel != ""
	}
	return m
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
	asked    int64              // of those, answers of endpoints
}

// heardPair is one comparison in one order.
type heardPair struct {
	judge.ID
	judge.Preference
	replies []turnmill.Reply // by attempt
}

// hear looks up what was answered to a query, and chooses. Pairs are looked up where the choice needs them.
func (c *chooser) hear(q *question) (*hearing, error) {
	h := &hearing{id: q.id, scored: make([]judge.Judgement, c.samples), scores: make([][]turnmill.Reply, c.samples)}
	h.Domain = turnmill.Domain(strings.Clone(string(q.domain)))
	h.Rollouts = make([]reject.Rollout, c.samples)
	stopped := c.stopped()
	h.RolloutsStopped, h.JudgesStopped = stopped && c.asksRollouts, stopped && c.asksJudges
	all, found, err := c.answers.rollouts(q)
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
		if err := c.scores(h, q, &r); err != nil {
			return nil, err
		}
	}
	for _, p := range c.options.Ask(&h.Case) {
		for _, ask := range judge.Orders(c.seed, q.id, p[0], p[1]) {
			if err := c.pair(h, q, ask); err != nil {
				return nil, err
			}
		}
	}
	h.asked = int64(q.asked)
	h.Outcome = c.options.Choose(&h.Case)
	return h, nil
}

// scores takes in one rollout and what a judge said of it, if it is complete.
func (c *chooser) scores(h *hearing, q *question, r *turnmill.Reply) error {
	into := &h.Rollouts[r.Sample]
	into.Answered, into.State = true, r.State
	if r.State != turnmill.ReplyComplete {
		return nil
	}
	into.Leaking = c.options.DropLeaking && len(reject.Leaks(r.Reasoning)) > 0
	all, err := c.ask(h, q, judge.ID{Kind: judge.KindScores, Query: q.id, First: r.Sample}, r)
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
func (c *chooser) pair(h *hearing, q *question, ask judge.ID) error {
	all, err := c.ask(h, q, ask, h.reply(ask.First), h.reply(ask.Second))
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
	if h.pairs = append(h.pairs, p); len(all) > 0 {
		h.Pairs = append(h.Pairs, reject.Pair{First: ask.First, Second: ask.Second, Preference: p.Preference})
	}
	return nil
}

// ask returns the attempts at a judgement.
func (c *chooser) ask(h *hearing, q *question, id judge.ID, about ...*turnmill.Reply) ([]turnmill.Reply, error) {
	all, found, err := c.answers.judgements(q, id, about...)
	h.found, h.surplus = h.found+int64(found), h.surplus+int64(found-len(all))
	return all, err
}
