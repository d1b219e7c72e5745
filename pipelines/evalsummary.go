package pipelines

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/ingest/formats"
)

// EvalSummary is summary.json: what was evaluated, and the means. It is a function of files, options and answers.
type EvalSummary struct {
	FormatVersion int        `json:"format_version"`
	Turnmill      string     `json:"turnmill"`
	Config        EvalConfig `json:"config"`

	Rows     int64                     `json:"rows"`     // that were evaluated: the sum of states
	Rejected map[turnmill.Reason]int64 `json:"rejected"` // rows that could not be read, by reason
	States   map[string]int64          `json:"states"`   // scored, or why not
	Answers  EvalAnswers               `json:"answers"`
	Compat   *EvalCompat               `json:"compat,omitempty"`

	OverSamples EvalMean     `json:"over_samples"` // where a large domain weighs more
	OverDomains EvalMean     `json:"over_domains"` // where each weighs the same
	Domains     []EvalDomain `json:"domains"`

	Means   reject.Means     `json:"-"`
	Spent   endpoint.Account `json:"-"` // by this run
	Stopped bool             `json:"-"` // for a budget
}

// EvalConfig is what an evaluation is of: with the answers of the judge it gives every byte.
type EvalConfig struct {
	Rows        []EvalFile      `json:"rows"`
	Predictions []AnswerFile    `json:"predictions"`
	Judgements  []AnswerFile    `json:"judgements"`
	JudgeModel  string          `json:"judge-model,omitempty"` // "": all judgements are recorded
	Judge       turnmill.Params `json:"judge"`
	Attempts    int             `json:"judge-attempts"`
	Compat      bool            `json:"compat"`
	Rubrics     []judge.Rubric  `json:"rubrics"`
}

// EvalAnswers count replies.
type EvalAnswers struct {
	Unused   int64                     `json:"unused"`   // to what no row asks, repeated, or further samples
	Rejected map[turnmill.Reason]int64 `json:"rejected"` // rows of answers that could not be read
	Attempts map[string]int64          `json:"attempts"` // of judges that were looked at, by what they are worth
	Usage    turnmill.Usage            `json:"usage"`    // of these attempts, as reported
}

// EvalCompat counts what the arithmetic of the released evaluator has changed, in scores.
type EvalCompat struct {
	Clamped int64 `json:"clamped"`
	Rounded int64 `json:"rounded"`
	Missing int64 `json:"missing"`
}

// EvalMean is a mean on the scale of 0 to 100, of four decimals; null without scores. Floor counts rows without one as 0.
type EvalMean struct {
	Score      *json.Number                      `json:"score"`
	Floor      *json.Number                      `json:"floor"`
	Dimensions [judge.NumDimensions]*json.Number `json:"dimensions"` // format, factuality, consistency, realism, quality
}

// EvalDomain is one domain.
type EvalDomain struct {
	Domain turnmill.Domain `json:"domain"`
	Rows   int64           `json:"rows"`
	Scored int64           `json:"scored"`
	EvalMean
}

// scoreLine is one line of scores.jsonl.zst: one row.
type scoreLine struct {
	ID       string          `json:"id"`
	Domain   turnmill.Domain `json:"domain"`
	Turn     int             `json:"turn"`
	State    string          `json:"state"`
	Detail   string          `json:"detail,omitempty"`
	Attempts int             `json:"attempts"`
	Scores   *judge.Scores   `json:"scores"` // format, factuality, consistency, realism, quality; 1 to 5, 0 for none under compat
	Mean     *json.Number    `json:"mean"`   // of the scores, 1 to 5
	Score    *json.Number    `json:"score"`  // 0 to 100
}

// scored is the state of a row with scores.
const scored = "scored"

// state says in one word what became of a row, and why.
func (a *benchAnswer) state() (state, detail string) {
	switch {
	case a.prediction == nil:
		return "prediction_missing", ""
	case a.prediction.State != turnmill.ReplyComplete:
		return "prediction_" + a.prediction.State.String(), a.prediction.Error
	case a.Judgement.State == judge.Valid:
		return scored, ""
	case a.Judgement.State == judge.None:
		return string(turnmill.ReasonNotJudged), ""
	}
	return "judge_" + a.Judgement.State.String(), a.Detail
}

// line says what became of a row.
func (a *benchAnswer) line() scoreLine {
	l := scoreLine{ID: a.name, Domain: a.row.Domain, Turn: a.row.Turn, Attempts: len(a.attempts)}
	if l.State, l.Detail = a.state(); l.State == scored {
		mean := a.Scores.Mean()
		exact := big.NewRat(int64(mean.Num), int64(mean.Den))
		l.Scores, l.Mean, l.Score = &a.Scores, figure(exact), figure(reject.Percent(exact))
	}
	return l
}

// figure writes a number with four decimals, rounded half away from zero; nil stays nil.
func figure(r *big.Rat) *json.Number {
	if r == nil {
		return nil
	}
	n := json.Number(r.FloatString(4))
	return &n
}

// score ends every row, and writes what came out where there is an output: the summary last.
func (e *evaluation) score(ctx context.Context) (*EvalSummary, error) {
	s := &EvalSummary{FormatVersion: FormatVersion, Turnmill: Version, Config: e.config(), Means: reject.Means{}, Spent: e.spent, Stopped: e.stopped,
		Rejected: map[turnmill.Reason]int64{}, States: map[string]int64{}}
	s.Answers = EvalAnswers{Unused: e.predictions.Replies() + e.judgements.Replies(), Rejected: map[turnmill.Reason]int64{}, Attempts: map[string]int64{}}
	if e.o.Compat {
		s.Compat = &EvalCompat{}
	}
	out, err := e.openScores()
	if err != nil {
		return nil, err
	}
	defer out.abort()
	if err := e.answersLost(s, out); err != nil {
		return nil, err
	}
	err = e.rows.each(ctx, func(name string, row *formats.BenchRow) error {
		a, err := e.answer(name, row)
		if err != nil {
			return err
		}
		s.add(a, e.o.Compat)
		return out.lines[0].Encode(a.line())
	}, func(line []byte) error {
		var l rejectLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		s.Rejected[l.Reason]++
		return out.lose(line)
	})
	if err != nil {
		return nil, err
	}
	s.close()
	return s, out.commit(s)
}

// config returns what the evaluation is of.
func (e *evaluation) config() EvalConfig {
	return EvalConfig{Rows: e.rows.files, Predictions: answerFiles(e.predictions), Judgements: answerFiles(e.judgements),
		JudgeModel: e.o.JudgeModel, Judge: e.o.Judge, Attempts: e.o.Attempts, Compat: e.o.Compat, Rubrics: judge.Rubrics()}
}

// add counts one row.
func (s *EvalSummary) add(a *benchAnswer, compat bool) {
	s.Rows++
	state, _ := a.state()
	s.States[state]++
	s.Means.Add(a.row.Domain, a.Judgement.State, a.Scores)
	if a.prediction != nil {
		s.Answers.Unused--
	}
	for i := range a.attempts {
		r := &a.attempts[i]
		s.Answers.Attempts[judge.ParseScores(r, judge.Options{Compat: compat}).State.String()]++
		s.Answers.Usage.Prompt += r.Usage.Prompt
		s.Answers.Usage.Completion += r.Usage.Completion
		s.Answers.Usage.Reasoning += r.Usage.Reasoning
		if r.Pos.Path != "" { // of a file
			s.Answers.Unused--
		}
	}
	if compat && state == scored {
		s.Compat.Clamped += int64(a.Clamped)
		s.Compat.Rounded += int64(a.Rounded)
		s.Compat.Missing += int64(a.Missing)
	}
}

// close fills what follows from the sums.
func (s *EvalSummary) close() {
	samples, domains := s.Means.Overall()
	low, lowest := s.Means.Floors()
	s.OverSamples, s.OverDomains = EvalMean{Score: figure(samples), Floor: figure(low)}, EvalMean{Score: figure(domains), Floor: figure(lowest)}
	for i := range judge.NumDimensions {
		one, each := s.Means.Dimension(judge.Dimension(i))
		s.OverSamples.Dimensions[i], s.OverDomains.Dimensions[i] = figure(one), figure(each)
	}
	s.Domains = []EvalDomain{}
	for _, d := range s.Means.Domains() {
		m := s.Means[d]
		line := EvalDomain{Domain: d, Rows: m.Samples + m.Failed, Scored: m.Samples, EvalMean: EvalMean{Score: figure(m.Score()), Floor: figure(m.Floor())}}
		for i := range judge.NumDimensions {
			line.Dimensions[i] = figure(m.Dimension(judge.Dimension(i)))
		}
		s.Domains = append(s.Domains, line)
	}
}

// Lost returns how many rows have no score, those that could not be read included, and of how many.
func (s *EvalSummary) Lost() (lost, of int64) {
	for _, n := range s.Rejected {
		lost += n
	}
	return lost + s.Rows - s.States[scored], lost + s.Rows
}

// threshold says whether too many rows have no score.
func (e *evaluation) threshold(s *EvalSummary) error {
	lost, of := s.Lost()
	if of == 0 || float64(lost)/float64(of) <= e.o.MaxRejectRate {
		return nil
	}
	see := "the states above"
	if e.o.Output != "" {
		see = "OUT/" + evalScores
	}
	return &ThresholdError{What: "left without a score", Records: lost, Of: of, Things: "rows", Rate: float64(lost) / float64(of), Limit: e.o.MaxRejectRate,
		Flag: "max-reject-rate", See: see}
}
