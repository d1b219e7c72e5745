package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/replies"
)

// EvalOptions are the settings of an evaluation: a world model's predictions of the turns of AgentWorldBench, scored by
// a judge.
type EvalOptions struct {
	Rows        []string // of AgentWorldBench
	Predictions []string // files of recorded answers to them
	Judgements  []string // files of a judge's recorded answers

	JudgeModel string // asked for the judgements that no file holds; "": none is asked
	Judge      turnmill.Params
	Attempts   int // at a judgement that cannot be read
	Ask        AskOptions
	Compat     bool // the released evaluator's arithmetic

	Output        string // "": nothing is written
	Restart       bool   // throw away the scores of another evaluation there; the journal stays
	MaxRejectRate float64
	MaxRecord     int64 // bytes
	MaxWindow     int64 // bytes, zstd

	// Rejected is called with a JSON line for each row and each answer that cannot be read; it may be nil.
	Rejected func(line []byte) error
}

// Files of an evaluation below OUT, beside journal/scores.jsonl.
const (
	evalScores  = "scores.jsonl.zst"
	evalRejects = "rejects.jsonl.zst"
	evalSummary = "summary.json"
	evalJournal = journalDir + "/scores.jsonl"
)

// Validate joins all problems that show without reading a file.
func (o *EvalOptions) Validate() error {
	var errs []error
	ask := AskConfig{JudgeModel: o.JudgeModel, Judge: o.Judge, Attempts: o.Attempts}
	errs = append(errs, ask.validate())
	switch {
	case o.JudgeModel == "" && len(o.Judgements) == 0:
		errs = append(errs, errors.New("no judge: name files of its answers with --judgements, or a model to ask with --judge-model"))
	case o.JudgeModel != "" && o.Output == "":
		errs = append(errs, errors.New("--judge-model: what is asked costs money, and its answers are kept in OUT; name that with --output"))
	}
	if o.JudgeModel != "" && o.Ask.JudgeURL == "" {
		errs = append(errs, fmt.Errorf("--judge-url: the model %s is to be asked, and no address is known; name one, or set OPENAI_BASE_URL", o.JudgeModel))
	}
	for _, args := range [][]string{o.Rows, o.Predictions, o.Judgements} {
		if slices.Contains(args, "-") {
			errs = append(errs, errors.New("input -: standard input has no second reading, and rows and answers are read more than once; name a file"))
		}
	}
	if !(o.MaxRejectRate >= 0 && o.MaxRejectRate <= 1) {
		errs = append(errs, fmt.Errorf("--max-reject-rate %v: want a share from 0 to 1", o.MaxRejectRate))
	}
	if err := errors.Join(errs...); err != nil {
		return &UsageError{err}
	}
	return nil
}

// evaluation is one on its way.
//
//	rows --formats.BenchReader--> messages, real observation
//	  | predictions by id         judge.Extract of the answer
//	  v
//	judge.Asker.Scores            asked into the journal, up to Attempts times
//	  | judge.ParseScores         of files and journal
//	  v
//	scores.jsonl.zst, summary.json
type evaluation struct {
	o           *EvalOptions
	rows        *benchRows
	predictions *replies.Index
	judgements  *replies.Index
	journals    *journals // nil: nothing is asked
	predicted   *replies.Reader
	live        *live
	spent       endpoint.Account
	stopped     bool // the budget was spent
}

// Eval scores the predictions. It returns what came out, with a *ThresholdError when more rows than MaxRejectRate have
// no score. An interrupted evaluation with an Output goes on with the answers that it has.
func Eval(ctx context.Context, o EvalOptions) (*EvalSummary, error) {
	e, err := openEvaluation(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if o.Output != "" {
		unlock, err := e.openOutput()
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	if o.JudgeModel != "" {
		if err := e.ask(ctx); err != nil {
			return nil, err
		}
	}
	s, err := e.score(ctx)
	if err != nil {
		return nil, err
	}
	return s, e.threshold(s)
}

// openEvaluation lists the files and reads all answers, and all names of rows.
func openEvaluation(ctx context.Context, o *EvalOptions) (_ *evaluation, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e := &evaluation{o: o}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.rows, err = openBenchRows(ctx, o); err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		what, prefix string
		args         []string
		index        **replies.Index
	}{{"PREDICTIONS", "predictions/", o.Predictions, &e.predictions}, {"--judgements", "judgements/", o.Judgements, &e.judgements}} {
		var files []replies.File
		if len(kind.args) > 0 {
			found, err := ingest.Discover(kind.args)
			if err != nil {
				return nil, &UsageError{fmt.Errorf("%s: %w", kind.what, err)}
			}
			for _, f := range found {
				files = append(files, replies.File{Name: kind.prefix + f.Name, Path: f.Path})
			}
		}
		if *kind.index, err = indexAnswers(ctx, files, o.MaxRecord, o.MaxWindow); err != nil {
			return nil, fmt.Errorf("%s: %w", kind.what, err)
		}
	}
	e.predicted = e.predictions.Reader()
	e.live = &live{recorded: byID{judged: e.judgements.Reader()}, setup: &setup{},
		asker: &asker{attempts: o.Attempts, judge: judge.Asker{Model: o.JudgeModel, Params: o.Judge}}}
	return e, nil
}

func (e *evaluation) close() error {
	errs := []error{e.journals.close()}
	for _, x := range []*replies.Index{e.predictions, e.judgements} {
		if x != nil {
			errs = append(errs, x.Close())
		}
	}
	return errors.Join(errs...)
}

// openOutput locks OUT and makes sure that nothing of somebody else's lies there.
func (e *evaluation) openOutput() (_ func(), err error) {
	o := e.o
	if err := outsideOutput(o.Output, e.rows.paths); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Output, 0o777); err != nil {
		return nil, &UsageError{fmt.Errorf("--output: %w; name a directory, or one that can be made", err)}
	}
	release, err := lockDir(o.Output, true)
	if err != nil && !errors.Is(err, errNoLock) {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	entries, err := os.ReadDir(o.Output)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == journalDir, name == evalScores, name == evalRejects, name == evalSummary:
		case isTemporary(name):
			if err := os.Remove(filepath.Join(o.Output, name)); err != nil {
				return nil, err
			}
		default:
			return nil, &UsageError{fmt.Errorf("--output %s: it holds files that are not of an evaluation (%s, ...); name an empty or absent directory", o.Output, name)}
		}
	}
	return release, e.sameEvaluation()
}

// sameEvaluation refuses to write over the scores of another evaluation, unless told to.
func (e *evaluation) sameEvaluation() error {
	data, err := os.ReadFile(filepath.Join(e.o.Output, evalSummary))
	if err != nil || e.o.Restart {
		return ignoreMissing(err)
	}
	var old struct {
		Config json.RawMessage `json:"config"`
	}
	var was, now bytes.Buffer
	if json.Unmarshal(data, &old) != nil || json.Compact(&was, old.Config) != nil {
		return nil // it is no summary, and worth nothing
	}
	if err := json.Compact(&now, encodeJSON(e.config())); err != nil || bytes.Equal(was.Bytes(), now.Bytes()) {
		return err
	}
	return &UsageError{fmt.Errorf("--output %s holds another evaluation: rows, answers or settings differ from those in its %s; name another --output, or --restart to throw its scores away, which leaves the journal", e.o.Output, evalSummary)}
}

// openJournal opens OUT's journal and hands it to those who look answers up.
func (e *evaluation) openJournal(write bool) error {
	file, err := openJournal(filepath.Join(e.o.Output, filepath.FromSlash(evalJournal)), write)
	if err != nil {
		return err
	}
	e.journals = &journals{files: []*os.File{file}}
	if write {
		e.journals.scores, err = endpoint.OpenJournal(file, evalJournal)
	} else {
		e.journals.scores, err = endpoint.ReadJournal(file, evalJournal)
	}
	e.live.setup.journals = e.journals
	return err
}
