package pipelines

import (
	"context"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/shard/prompt"
	"github.com/turnmill/turnmill/stats"
)

// question is one query on its way to an end.
type question struct {
	id     string
	domain turnmill.Domain
	tmpl   *prompt.Template // nil where nothing is asked: check has the answers alone

	trajectory *turnmill.Trajectory
	at         int // position of the target
	shown      prompt.Options
	query      *turnmill.Query
	asked      int // answers that journals hold and no file does
}

// ask returns the query with its messages, which are written when they are first needed.
func (q *question) ask() *turnmill.Query {
	if q.query == nil {
		query := q.tmpl.Query(q.trajectory, q.at, q.shown)
		q.query = &query
	}
	return q.query
}

// question returns what is asked about the turn at a position.
func (m *sampleMaker) question(t *turnmill.Trajectory, at int, verdicts []turnmill.Verdict) *question {
	id := queryID(t, at)
	return &question{id: id, domain: t.Domain, tmpl: m.template(t, id), trajectory: t, at: at,
		shown: prompt.Options{Verdicts: verdicts, State: func(turn int) bool { return m.state.Shows(t, turn) }}}
}

// asker writes the requests of a run, so that the same question has the same request whoever asks it.
type asker struct {
	model    string
	params   turnmill.Params
	judge    judge.Asker
	samples  int
	attempts int
}

func newAsker(c *SFTConfig) *asker {
	a := &asker{samples: c.Samples, attempts: 1}
	if c.Ask != nil {
		a.model, a.params, a.attempts = c.Ask.RolloutModel, c.Ask.Rollout, c.Ask.Attempts
		a.judge = judge.Asker{Model: c.Ask.JudgeModel, Params: c.Ask.Judge}
	}
	return a
}

// Kinds of questions, as journals have them.
const (
	kindRollout = "rollout"
	kindScore   = "score"
	kindPair    = "pair"
)

func (a *asker) rollout(q *question, sample int) turnmill.Request {
	return turnmill.Request{ID: q.id, Sample: sample, Model: a.model, Messages: q.ask().Messages, Params: a.params}
}

// judgement asks about one rollout, or about two in the order in which they are given.
func (a *asker) judgement(q *question, id judge.ID, attempt int, about ...*turnmill.Reply) turnmill.Request {
	s := &judge.Subject{Query: q.ask()}
	var r turnmill.Request
	if id.Kind == judge.KindPair {
		r = a.judge.Pair(s, id, judge.Extract(about[0].Text), judge.Extract(about[1].Text))
	} else {
		r = a.judge.Scores(s, id.First, judge.Extract(about[0].Text))
	}
	r.Sample = attempt
	return r
}

// live finds answers in files and in the journals of the partition at hand. What a file holds as failed a journal may
// have answered.
type live struct {
	recorded answerSource
	setup    *setup
	*asker
}

func (l *live) rollouts(q *question) ([]turnmill.Reply, int, error) {
	all, found, err := l.recorded.rollouts(q)
	if err != nil || l.setup.journals == nil || l.model == "" {
		return all, found, err
	}
	var out []turnmill.Reply
	next := 0
	for sample := range l.samples {
		var r *turnmill.Reply
		if next < len(all) && all[next].Sample == sample {
			r = &all[next]
			next++
		}
		if r == nil || unanswered(r.State) {
			request := l.rollout(q, sample)
			got, ok, err := l.setup.journals.rollouts.Lookup(kindRollout, &request)
			if err != nil {
				return nil, 0, err
			}
			if ok && (r == nil || !unanswered(got.State)) {
				if r == nil {
					found++
					q.asked++
				}
				r = &got
			}
		}
		if r != nil {
			out = append(out, *r)
		}
	}
	return append(out, all[next:]...), found, nil
}

// unanswered tells whether a model has said nothing.
func unanswered(s turnmill.ReplyState) bool {
	return s == turnmill.ReplyFailed || s == turnmill.ReplyTimeout
}

func (l *live) judgements(q *question, id judge.ID, about ...*turnmill.Reply) ([]turnmill.Reply, int, error) {
	all, found, err := l.recorded.judgements(q, id, about...)
	if err != nil || l.setup.journals == nil || l.judge.Model == "" {
		return all, found, err
	}
	kind, journal := kindScore, l.setup.journals.scores
	if id.Kind == judge.KindPair {
		kind, journal = kindPair, l.setup.journals.pairs
	}
	var last *turnmill.Reply
	if n := len(all); n > 0 && unanswered(all[n-1].State) { // its attempt is asked again
		last, all = &all[n-1], all[:n-1]
	}
	for len(all) < l.attempts {
		request := l.judgement(q, id, len(all), about...)
		got, ok, err := journal.Lookup(kind, &request)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			break
		}
		if last == nil {
			found++
			q.asked++
		}
		last = nil
		if all = append(all, got); unanswered(got.State) {
			break
		}
	}
	if last != nil {
		all = append(all, *last)
	}
	return all, found, nil
}

// eachQuestion walks a partition's queries in the order of the plan, without its rows.
func (s *setup) eachQuestion(ctx context.Context, partition int, visit func(m *sampleMaker, q *question) error) error {
	w := s.newWorker()
	counts := stats.NewCounts() // the run counts
	l := limits{record: s.plan.Config.MaxRecord, window: s.plan.Config.MaxWindow, stored: s.stored}
	var read int64
	return readRanges(ctx, s.plan.Inputs, s.plan.Partitions[partition], s.paths, l, &read, func(from source, rec frame.Record, reject error) error {
		if reject != nil {
			return nil
		}
		for _, err := range w.unpack(from, rec, counts) {
			if err != nil {
				continue
			}
			for i := range w.decoded.Trajectories {
				t := &w.decoded.Trajectories[i]
				if w.admit(t) != "" {
					continue
				}
				for _, at := range w.samples.pick(t, w.verdicts) {
					if err := visit(w.samples, w.samples.question(t, at, w.verdicts)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}, func(RangeSum) error { return nil })
}

var _ endpoint.Clock = machineClock{}
