package pipelines

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
)

// AskOptions say how endpoints are asked. None of it changes what a question is.
type AskOptions struct {
	RolloutURL, JudgeURL string          // base addresses, as OPENAI_BASE_URL
	Key                  endpoint.Secret // of both
	MaxInFlight          int             // requests at a time, of each endpoint; 0: that of package endpoint
	Budget               endpoint.Budget // of each endpoint
	Timeout              time.Duration   // of one attempt; 0: that of package endpoint
	Retry                bool            // what failed is asked again
	BatchRequests        string          // directory for files of requests, in place of asking; "": none

	tune func(*endpoint.Options) // nil: none; how tests shorten waits
}

// AskConfig is what of a question stands in the plan: whom, and how.
type AskConfig struct {
	RolloutModel string          `json:"rollout-model,omitempty"` // "": rollouts are recorded
	Rollout      turnmill.Params `json:"rollout"`
	JudgeModel   string          `json:"judge-model,omitempty"` // "": judgements are recorded
	Judge        turnmill.Params `json:"judge"`
	Attempts     int             `json:"judge-attempts"`
}

// machineClock is the clock of this machine.
type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

// Sleep waits for d, or until ctx ends.
func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AfterFunc calls f once after d.
func (machineClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// client opens the client of one endpoint; price is validated, or "".
func (a *AskOptions) client(url, price string) (*endpoint.Client, error) {
	settings := endpoint.Options{URL: url, Key: a.Key, Clock: machineClock{}, Jitter: rand.Float64,
		Concurrency: a.MaxInFlight, Budget: a.Budget, Timeout: a.Timeout}
	settings.Prices, _ = prices(price)
	if a.tune != nil {
		a.tune(&settings)
	}
	return endpoint.New(settings)
}

// conversation asks the questions of one run.
type conversation struct {
	setup          *setup
	options        *Options
	rollout, judge *endpoint.Client // nil where nothing is asked
	spent          endpoint.Account
}

// newConversation opens the clients that a run needs, and charges them with what its journals have cost already.
func newConversation(o *Options, s *setup) (*conversation, error) {
	c := &conversation{setup: s, options: o}
	ask := s.plan.Config.SFT.Ask
	var errs []error
	for _, e := range []struct {
		model, url, flag, price string
		client                  **endpoint.Client
	}{
		{ask.RolloutModel, o.Ask.RolloutURL, "rollout-url", s.plan.Config.SFT.RolloutPrice, &c.rollout},
		{ask.JudgeModel, o.Ask.JudgeURL, "judge-url", s.plan.Config.SFT.JudgePrice, &c.judge},
	} {
		if e.model == "" {
			continue
		}
		if e.url == "" {
			errs = append(errs, fmt.Errorf("--%s: the model %s is to be asked, and no address is known; name one, or set OPENAI_BASE_URL", e.flag, e.model))
			continue
		}
		client, err := o.Ask.client(e.url, e.price)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", e.flag, err))
			continue
		}
		*e.client = client
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &UsageError{err}
	}
	for i := range s.plan.Partitions {
		if err := c.charge(i); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// charge takes what the journals of a partition have cost from the budgets.
func (c *conversation) charge(partition int) error {
	j, err := openJournals(c.options.Output, partition, false)
	if err != nil || j == nil {
		return err
	}
	defer j.close()
	if c.rollout != nil {
		c.rollout.Charge(j.rollouts.Spent())
	}
	if c.judge != nil {
		c.judge.Charge(j.scores.Spent())
		c.judge.Charge(j.pairs.Spent())
	}
	return nil
}

func (c *conversation) close() {
	for _, client := range []*endpoint.Client{c.rollout, c.judge} {
		if client != nil {
			client.Close()
		}
	}
}

// partition asks what the choice of a partition needs and no file or journal holds. The journals stay open, for
// the choice; the caller closes them.
func (c *conversation) partition(ctx context.Context, i int) error {
	j, err := openJournals(c.options.Output, i, true)
	if err != nil {
		return err
	}
	c.setup.journals = j
	attempts := c.setup.plan.Config.SFT.Ask.Attempts
	if c.rollout != nil {
		if _, err := c.ask(ctx, c.rollout, kindRollout, j.rollouts, c.setup.missingRollouts(ctx, i, c.options.Ask.Retry)); err != nil {
			return err
		}
	}
	if c.judge == nil {
		return nil
	}
	for _, phase := range []struct {
		kind    string
		journal *endpoint.Journal
		missing func(context.Context, int, int, bool) iter.Seq2[turnmill.Request, error]
	}{{kindScore, j.scores, c.setup.missingScores}, {kindPair, j.pairs, c.setup.missingPairs}} {
		for round := range attempts {
			attempt := anyAttempt // a run that was stopped has questions at any attempt
			if c.options.Ask.Retry {
				attempt = round // what fails again is asked once
			}
			n, err := c.ask(ctx, c.judge, phase.kind, phase.journal, phase.missing(ctx, i, attempt, c.options.Ask.Retry))
			if err != nil {
				return err
			}
			if n == 0 && attempt == anyAttempt {
				break
			}
		}
	}
	return nil
}

// ask asks one sequence of requests.
func (c *conversation) ask(ctx context.Context, client *endpoint.Client, kind string, j *endpoint.Journal, requests iter.Seq2[turnmill.Request, error]) (int64, error) {
	down := ""
	account, err := client.Ask(ctx, endpoint.Job{Kind: kind, Journal: j, RetryFailed: c.options.Ask.Retry}, requests, func(r turnmill.Reply) error {
		switch {
		case r.State != turnmill.ReplyFailed:
		case endpoint.ReasonOf(r.Error) == endpoint.ReasonDown:
			down = r.Error
		case endpoint.ReasonOf(r.Error) == endpoint.ReasonBudget:
			c.setup.stopped = true
		}
		return nil
	})
	c.spent.Add(account)
	if err == nil && down != "" {
		err = fmt.Errorf("the endpoint does not answer: %s; what it has answered is kept: run the same command again when it is up", down)
	}
	return account.Requests, err
}

// yielder turns a walk over queries into a sequence of requests.
func (s *setup) yielder(ctx context.Context, partition int, visit func(m *sampleMaker, q *question, h *hearing, yield func(turnmill.Request) bool) bool) iter.Seq2[turnmill.Request, error] {
	return func(yield func(turnmill.Request, error) bool) {
		errStop := errors.New("no more is wanted")
		err := s.eachQuestion(ctx, partition, func(m *sampleMaker, q *question) error {
			h, err := m.hear(q)
			if err != nil {
				return err
			}
			if !visit(m, q, h, func(r turnmill.Request) bool { return yield(r, nil) }) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(turnmill.Request{}, err)
		}
	}
}

// missingRollouts yields the rollouts that are not there, and with retry those that failed.
func (s *setup) missingRollouts(ctx context.Context, partition int, retry bool) iter.Seq2[turnmill.Request, error] {
	return s.yielder(ctx, partition, func(m *sampleMaker, q *question, h *hearing, yield func(turnmill.Request) bool) bool {
		for sample := range h.Rollouts {
			if r := &h.Rollouts[sample]; !r.Answered || unanswered(r.State) && (retry || s.recordedOnly(h, sample)) {
				if !yield(m.asker.rollout(q, sample)) {
					return false
				}
			}
		}
		return true
	})
}

// recordedOnly tells whether a failure comes from a file: an endpoint has not been asked yet.
func (s *setup) recordedOnly(h *hearing, sample int) bool {
	for i := range h.rollouts {
		if h.rollouts[i].Sample == sample {
			return h.rollouts[i].Pos.Path != ""
		}
	}
	return false
}

// missingScores yields an attempt at the scores of each complete rollout that needs it.
func (s *setup) missingScores(ctx context.Context, partition, attempt int, retry bool) iter.Seq2[turnmill.Request, error] {
	return s.yielder(ctx, partition, func(m *sampleMaker, q *question, h *hearing, yield func(turnmill.Request) bool) bool {
		if !h.complete() {
			return true
		}
		for i := range h.rollouts {
			r := &h.rollouts[i]
			next, ok := m.asker.due(h.scores[r.Sample], h.Rollouts[r.Sample].Judgement, attempt, retry)
			if !ok {
				continue
			}
			if !yield(m.asker.judgement(q, judge.ID{Kind: judge.KindScores, Query: q.id, First: r.Sample}, next, r)) {
				return false
			}
		}
		return true
	})
}

// missingPairs yields an attempt at each comparison that the choice needs.
func (s *setup) missingPairs(ctx context.Context, partition, attempt int, retry bool) iter.Seq2[turnmill.Request, error] {
	return s.yielder(ctx, partition, func(m *sampleMaker, q *question, h *hearing, yield func(turnmill.Request) bool) bool {
		for i := range h.pairs {
			p := &h.pairs[i]
			next, ok := m.asker.due(p.replies, p.State, attempt, retry)
			if !ok {
				continue
			}
			if !yield(m.asker.judgement(q, p.ID, next, h.reply(p.First), h.reply(p.ID.Second))) {
				return false
			}
		}
		return true
	})
}

// anyAttempt stands for whichever attempt comes next.
const anyAttempt = -1

// due tells whether an attempt at a judgement comes next, and which.
func (a *asker) due(made []turnmill.Reply, state judge.State, attempt int, retry bool) (next int, ok bool) {
	next = needs(made, state, retry)
	return next, next >= 0 && next < a.attempts && (attempt == anyAttempt || attempt == next)
}

// needs returns which attempt at a judgement comes next, -1 when none is of use.
func needs(made []turnmill.Reply, state judge.State, retry bool) int {
	switch {
	case len(made) == 0:
		return 0
	case state == judge.Valid:
		return -1
	case state.Transient():
		if retry || made[len(made)-1].Pos.Path != "" { // it failed in a file, and was not asked yet
			return len(made) - 1
		}
		return -1
	}
	return len(made)
}

// complete tells whether all rollouts are answers: no judge is asked about the others.
func (h *hearing) complete() bool {
	for i := range h.Rollouts {
		if r := &h.Rollouts[i]; !r.Answered || r.State != turnmill.ReplyComplete {
			return false
		}
	}
	return true
}

// reply returns the rollout of a sample.
func (h *hearing) reply(sample int) *turnmill.Reply {
	for i := range h.rollouts {
		if h.rollouts[i].Sample == sample {
			return &h.rollouts[i]
		}
	}
	panic("pipelines: a sample that nobody gave")
}
