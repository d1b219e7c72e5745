package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/ingest/formats"
)

// benchAnswer is one row with all that is known about its prediction.
type benchAnswer struct {
	name       string
	row        *formats.BenchRow
	question   *question
	prediction *turnmill.Reply // nil: there is none
	attempts   []turnmill.Reply
	judge.Judgement
	found int // replies of judges, repeated ones included
	rolls int // predictions, so
}

// answer looks up what was predicted for a row, and what judges said of it.
func (e *evaluation) answer(name string, row *formats.BenchRow) (*benchAnswer, error) {
	t := &turnmill.Trajectory{ID: row.ID, Domain: row.Domain, Turns: []turnmill.Turn{{Observation: row.Answer}}}
	a := &benchAnswer{name: name, row: row, question: &question{id: name, domain: row.Domain,
		query: &turnmill.Query{ID: name, Trajectory: t, Messages: row.Messages}}}
	for _, id := range []string{name, formats.BenchID(row.Task, row.ID, row.Turn)} {
		all, found, err := e.predicted.Get(id)
		if err != nil {
			return nil, err
		}
		a.rolls += found
		if len(all) > 0 && all[0].Sample == 0 && a.prediction == nil {
			a.prediction = &all[0]
		}
		if found > 0 || id == formats.BenchID(row.Task, row.ID, row.Turn) {
			break
		}
	}
	if a.prediction == nil || a.prediction.State != turnmill.ReplyComplete {
		return a, nil
	}
	all, found, err := e.live.judgements(a.question, judge.ID{Kind: judge.KindScores, Query: name}, a.prediction)
	a.found = found
	for i := range all {
		a.attempts = all[:i+1]
		if a.Judgement = judge.ParseScores(&all[i], judge.Options{Compat: e.o.Compat}); a.Judgement.State == judge.Valid {
			break
		}
	}
	return a, err
}

// request returns an attempt at the judgement.
func (e *evaluation) request(a *benchAnswer, attempt int) turnmill.Request {
	return e.live.judgement(a.question, judge.ID{Kind: judge.KindScores, Query: a.name}, attempt, a.prediction)
}

// next returns which attempt at the judgement comes next, -1 when none is of use.
func (e *evaluation) next(a *benchAnswer) int {
	if a.prediction == nil || a.prediction.State != turnmill.ReplyComplete {
		return -1
	}
	if n := needs(a.attempts, a.Judgement.State, e.o.Ask.Retry); n < e.o.Attempts {
		return n
	}
	return -1
}

// missing yields the requests of one attempt that neither files nor journal answer.
func (e *evaluation) missing(ctx context.Context, attempt int) iter.Seq2[turnmill.Request, error] {
	return func(yield func(turnmill.Request, error) bool) {
		errStop := errors.New("no more is wanted")
		err := e.rows.each(ctx, func(name string, row *formats.BenchRow) error {
			a, err := e.answer(name, row)
			if err != nil {
				return err
			}
			if e.next(a) == attempt && !yield(e.request(a, attempt), nil) {
				return errStop
			}
			return nil
		}, func([]byte) error { return nil })
		if err != nil && err != errStop {
			yield(turnmill.Request{}, err)
		}
	}
}

// ask asks the judge, attempt by attempt. The journal stays open, for the scores.
func (e *evaluation) ask(ctx context.Context) error {
	o := e.o
	client, err := o.Ask.client(o.Ask.JudgeURL, "")
	if err != nil {
		return &UsageError{fmt.Errorf("--judge-url: %w", err)}
	}
	defer client.Close()
	if err := e.openJournal(true); err != nil {
		return err
	}
	journal := e.journals.scores
	client.Charge(journal.Spent())
	for attempt := range o.Attempts { // each: a run that was stopped among the last ones has none to ask before them
		down := ""
		account, err := client.Ask(ctx, endpoint.Job{Kind: kindScore, Journal: journal, RetryFailed: o.Ask.Retry}, e.missing(ctx, attempt), func(r turnmill.Reply) error {
			switch reason := endpoint.ReasonOf(r.Error); {
			case r.State != turnmill.ReplyFailed:
			case reason == endpoint.ReasonDown:
				down = r.Error
			case reason == endpoint.ReasonBudget:
				e.stopped = true
			}
			return nil
		})
		e.spent.Add(account)
		switch {
		case err != nil:
			return err
		case down != "":
			return fmt.Errorf("the endpoint does not answer: %s; what it has answered is kept: run the same command again when it is up", down)
		}
	}
	return nil
}

// EvalPlan says what an evaluation would ask.
type EvalPlan struct {
	Rows     int64 `json:"rows"`     // that are evaluated
	Rejected int64 `json:"rejected"` // that cannot be read
	Missing  int64 `json:"missing"`  // without a prediction
	Unended  int64 `json:"unended"`  // with one that is no whole answer
	Judged   int64 `json:"judged"`   // with scores in files or journal
	Ask      int64 `json:"ask"`      // requests, were each answered so that it can be read
	Bytes    int64 `json:"bytes"`    // of their texts
}

// PlanEval says what Eval would ask, and writes nothing.
func PlanEval(ctx context.Context, o EvalOptions) (*EvalPlan, error) {
	e, err := openEvaluation(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if o.Output != "" {
		if err := e.openJournal(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	p := &EvalPlan{}
	return p, e.rows.each(ctx, func(name string, row *formats.BenchRow) error {
		a, err := e.answer(name, row)
		if err != nil {
			return err
		}
		p.Rows++
		switch {
		case a.prediction == nil:
			p.Missing++
		case a.prediction.State != turnmill.ReplyComplete:
			p.Unended++
		case a.Judgement.State == judge.Valid:
			p.Judged++
		}
		if next := e.next(a); next >= 0 && o.JudgeModel != "" {
			p.Ask++
			for _, m := range e.request(a, next).Messages {
				p.Bytes += int64(len(m.Content))
			}
		}
		return nil
	}, func([]byte) error { p.Rejected++; return nil })
}
