package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

type evalOptions struct {
	pipelines.EvalOptions
	dryRun bool
	json   bool
}

func newEval(s streams) *cobra.Command {
	d := pipelines.DefaultOptions()
	o := &evalOptions{}
	o.Attempts, o.MaxRecord, o.MaxWindow, o.MaxRejectRate = d.SFT.Attempts, d.MaxRecord, d.MaxWindow, d.MaxRejectRate
	cmd := &cobra.Command{
		Use:   "eval ROWS PREDICTIONS",
		Short: "Score a world model's predictions with a judge",
		Long: `eval scores what a world model has predicted for rows of AgentWorldBench: five dimensions from 1 to 5, given by a
judge that sees what the model saw, the real observation and the prediction, printed on the scale of 0 to 100.

ROWS are rows of AgentWorldBench, as published or as turnmill ingest --as agentworldbench writes them; PREDICTIONS are
recorded answers in the shapes of turnmill sft. Each is a file, a directory or a glob; .gz and .zst are read through.
A prediction names its row by ID/TURN, TURN being turn_idx, or by the members id and turn_idx. A row without a whole
prediction, or without five scores, is counted, and is in no mean; floor is the mean were it the worst there is.

The judge's answers are recorded ones, or asked from an OpenAI-compatible endpoint into OUT/journal. The same command
on an interrupted OUT goes on with the answers that it has.`,
		Example: `  turnmill eval rows.jsonl predictions.jsonl --judge-model judge --judge-url http://127.0.0.1:8000/v1 -o scores
  turnmill eval rows.jsonl predictions.jsonl --judgements judged.jsonl
  turnmill eval rows/ 'batch/*.jsonl' --judgements judged/ --compat --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("ROWS is missing")
			case len(args) == 1:
				return errors.New("PREDICTIONS is missing")
			case len(args) > 2:
				return fmt.Errorf("one ROWS and one PREDICTIONS, and %q comes after them; a directory or a quoted glob names several files", args[2])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Rows, o.Predictions = args[:1], args[1:]
			return runEval(cmd.Context(), s, o)
		},
	}
	fs := cmd.Flags()
	a := &o.Ask
	fs.StringVarP(&o.Output, "output", "o", "", "`DIR` for the scores of each row, the summary and the journal; absent, empty, or of the same evaluation")
	fs.StringSliceVar(&o.Judgements, "judgements", nil, "`FILE`, directory or glob of recorded answers of judges; may be given again")
	fs.StringVar(&o.JudgeModel, "judge-model", "", "`NAME` of the model that is asked for the judgements that no file holds")
	fs.StringVar(&a.JudgeURL, "judge-url", "", "`URL` of its endpoint, as in https://host/v1; default: OPENAI_BASE_URL; its key is OPENAI_API_KEY")
	fs.StringVar(&o.Judge.Temperature, "judge-temperature", "", "sampling temperature `X` of the judge; default: the endpoint's")
	fs.StringVar(&o.Judge.TopP, "judge-top-p", "", "nucleus `X` of the judge; default: the endpoint's")
	decimalVar(fs, &o.Judge.MaxTokens, "judge-max-tokens", "longest answer of the judge in tokens, `N`; 0: the endpoint's own")
	decimalVar(fs, &o.Attempts, "judge-attempts", "`N` attempts at a judgement that cannot be read")
	fs.BoolVar(&o.Compat, "compat", false, "the released evaluator's arithmetic: scores clamped to 1-5, missing ones left out of the mean")
	decimalVar(fs, &a.MaxInFlight, "max-in-flight", "requests at a time, `N`; 0: 16")
	decimalVar(fs, &a.Budget.Requests, "budget-requests", "requests `N` at most, retries included, those in the journal counted; 0: no bound")
	decimalVar(fs, &a.Budget.Tokens, "budget-tokens", "tokens `N` after which the judge is asked no more, prompts included; 0: no bound")
	fs.DurationVar(&a.Timeout, "request-timeout", 0, "`TIME` of one request, as in 90s; 0: 10m")
	fs.BoolVar(&a.Retry, "retry-failed", false, "ask again what the journal holds as failed")
	fs.BoolVar(&o.Restart, "restart", false, "throw away the scores of another evaluation in OUT; its journal stays")
	fs.Float64Var(&o.MaxRejectRate, "max-reject-rate", o.MaxRejectRate, "above this share `X` of rows without a score the exit code is 3")
	fs.Var((*sizeValue)(&o.MaxRecord), "max-record", "a larger row is rejected with its position, the rest goes on")
	fs.Var((*sizeValue)(&o.MaxWindow), "max-window", "largest zstd window that is read")
	fs.BoolVar(&o.dryRun, "dry-run", false, "say what would be asked; asks and writes nothing")
	fs.BoolVar(&o.json, "json", false, "one JSON object instead of tables")
	return cmd
}

func runEval(ctx context.Context, s streams, o *evalOptions) error {
	o.Ask.JudgeURL = cmp.Or(o.Ask.JudgeURL, os.Getenv("OPENAI_BASE_URL"))
	o.Ask.Key = endpoint.NewSecret(os.Getenv("OPENAI_API_KEY"))
	o.Rejected = func(line []byte) error { return writeEscaped(s.err, string(line)) }
	if err := o.Validate(); err != nil {
		return err
	}
	if o.Output != "" {
		if err := outsideInputs(o.Output, slices.Concat(o.Rows, o.Predictions, o.Judgements)); err != nil {
			return err
		}
	}
	if o.dryRun {
		p, err := pipelines.PlanEval(ctx, o.EvalOptions)
		if err != nil {
			return err
		}
		if o.json {
			return writeJSON(s.out, p)
		}
		return visibly(s.out, func(w io.Writer) error { return writeEvalPlan(w, p) })
	}
	sum, err := pipelines.Eval(ctx, o.EvalOptions)
	if sum == nil {
		return err
	}
	told := writeEvalAsked(s.err, sum)
	if o.json {
		told = errors.Join(told, writeJSON(s.out, sum))
	} else {
		told = errors.Join(told, visibly(s.out, func(w io.Writer) error { return writeEvaluation(w, sum) }))
	}
	return errors.Join(told, err)
}

func writeEvalPlan(w io.Writer, p *pipelines.EvalPlan) error {
	_, err := fmt.Fprintf(w, `rows       %s, %s rejected
predicted  %s; %s without a prediction, %s with one that is no whole answer
judged     %s
to ask     %s requests, %s bytes of text
`, stats.Thousands(p.Rows), stats.Thousands(p.Rejected), stats.Thousands(p.Rows-p.Missing-p.Unended), stats.Thousands(p.Missing), stats.Thousands(p.Unended),
		stats.Thousands(p.Judged), stats.Thousands(p.Ask), stats.Thousands(p.Bytes))
	return err
}

// writeEvaluation writes the table, and what else there is to know.
func writeEvaluation(w io.Writer, s *pipelines.EvalSummary) error {
	if err := s.Means.WriteTable(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrows       %s\n", tally(s.States))
	if len(s.Rejected) > 0 {
		fmt.Fprintf(w, "           rejected: %s\n", tally(s.Rejected))
	}
	if len(s.Answers.Attempts) > 0 {
		fmt.Fprintf(w, "judgements %s\n", tally(s.Answers.Attempts))
	}
	if c := s.Compat; c != nil {
		fmt.Fprintf(w, "compat     scores clamped %s, rounded %s, left out %s\n", stats.Thousands(c.Clamped), stats.Thousands(c.Rounded), stats.Thousands(c.Missing))
	}
	if s.Answers.Unused > 0 {
		fmt.Fprintf(w, "answers    %s of no use: to what no row asks, or repeated\n", stats.Thousands(s.Answers.Unused))
	}
	if len(s.Answers.Rejected) > 0 {
		fmt.Fprintf(w, "           rows that could not be read: %s\n", tally(s.Answers.Rejected))
	}
	return nil
}

// writeEvalAsked says what this run has asked.
func writeEvalAsked(w io.Writer, s *pipelines.EvalSummary) error {
	if s.Config.JudgeModel == "" {
		return nil
	}
	stopped := ""
	if s.Stopped {
		stopped = "; the budget is spent, so that not all was asked"
	}
	_, err := fmt.Fprintf(w, "asked      %s requests, %s prompt and %s completion tokens%s\n", stats.Thousands(s.Spent.Sent),
		stats.Thousands(s.Spent.Usage.Prompt), stats.Thousands(s.Spent.Usage.Completion), stopped)
	return err
}

// tally writes counts by name: "scored 5, judge_refused 1".
func tally[K ~string](counts map[K]int64) string {
	var text []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text = append(text, fmt.Sprintf("%s %s", name, stats.Thousands(counts[name])))
	}
	return strings.Join(text, ", ")
}
