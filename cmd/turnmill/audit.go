package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnmill/turnmill/pipelines"
)

// pipelineNames are what plan and config take.
var pipelineNames = [...]string{"cpt", "sft", "audit"}

// rowFlags are the flags of cpt that speak of files of rows, which an audit does not write.
var rowFlags = [...]string{"keep-thought", "profile", "validation", "shuffle", "shard-bytes"}

// flags returns the flags of all pipelines in a set of their own.
func (o *cptOptions) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	o.add(fs)
	return fs
}

// without returns the flags of a set that are not named.
func without(fs *pflag.FlagSet, names []string) *pflag.FlagSet {
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.SortFlags = fs.SortFlags
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			rest.AddFlag(f)
		}
	})
	return rest
}

// reportFlags are those that the report of a finished run has.
var reportFlags = [...]string{"output", "tokenizer", "log-format", "progress"}

// runReport makes the report of a finished run.
func runReport(cmd *cobra.Command, s streams, o *cptOptions, run string) error {
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(reportFlags[:], f.Name) {
			errs = append(errs, fmt.Errorf("--%s: %s is a run, whose settings are in its plan; leave the flag out, or name its inputs", f.Name, run))
		}
	})
	if len(errs) > 0 {
		return usage(errors.Join(errs...))
	}
	logger, err := newLogger(s, o.logFormat)
	if err != nil {
		return err
	}
	path, err := pipelines.Report(cmd.Context(), pipelines.ReportOptions{Path: run, Output: o.Output, Tokenizer: o.Tokenizer, Hub: hubFromEnv(logger)})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "report     %s\n", visible(path))
	return nil
}

// nameReport says where the report of an audit lies, if it ended so that there is one: a passed threshold takes
// nothing away.
func nameReport(s streams, out string, err error) {
	var passed *pipelines.ThresholdError
	if err == nil || errors.As(err, &passed) {
		fmt.Fprintf(s.err, "\nreport     %s\n", visible(filepath.Join(out, "report.html")))
	}
}

// diffOptions are the flags of a comparison.
type diffOptions struct {
	runs      []string
	tolerance float64
	json      bool
}

// diffFlags are their names.
var diffFlags = [...]string{"diff", "tolerance", "json"}

// runDiff compares two finished runs.
func runDiff(cmd *cobra.Command, s streams, o *diffOptions) error {
	runs, tolerance := o.runs, o.tolerance
	if len(runs) != 2 {
		return usage(fmt.Errorf("--diff: want two finished runs, as in --diff A B, not %d", len(runs)))
	}
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(diffFlags[:], f.Name) {
			errs = append(errs, fmt.Errorf("--%s: it says nothing about two finished runs; leave it out", f.Name))
		}
	})
	if len(errs) > 0 {
		return usage(errors.Join(errs...))
	}
	d, err := pipelines.DiffRuns(cmd.Context(), runs[0], runs[1], tolerance)
	if d == nil {
		return err
	}
	if o.json {
		return errors.Join(writeJSON(s.out, diffJSON{runs[0], runs[1], tolerance, drifted(err), d}), err)
	}
	const form = "%-14s %-12s %8s %8s %8s   %8s %8s %8s%s\n"
	fmt.Fprintf(s.out, "A %s\nB %s\n\n", visible(runs[0]), visible(runs[1]))
	fmt.Fprintf(s.out, form, "domain", "share of", "turns A", "B", "points", map[string]string{"characters": "chars", "tokens": "tokens"}[d.Unit]+" A", "B", "points", "")
	for i := range d.Lines {
		l := &d.Lines[i]
		mark := ""
		if l.Moved() > tolerance {
			mark = "  *"
		}
		fmt.Fprintf(s.out, form, visible(l.Domain), l.What, points(l.Turns[0]), points(l.Turns[1]), moved(l.Turns), points(l.Length[0]), points(l.Length[1]), moved(l.Length), mark)
	}
	return err
}

// diffJSON is a comparison as one object, with its members in this order.
type diffJSON struct {
	A         string  `json:"a"`
	B         string  `json:"b"`
	Tolerance float64 `json:"tolerance"`
	Over      int     `json:"over"` // lines that have moved by more
	*pipelines.Diff
}

// drifted is how many shares have moved by more than they may.
func drifted(err error) int {
	var drift *pipelines.DriftError
	if errors.As(err, &drift) {
		return drift.Lines
	}
	return 0
}

// points writes a share in points; a run without such turns has none.
func points(x float64) string {
	if x != x {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*x)
}

func moved(s [2]float64) string {
	if s[0] != s[0] || s[1] != s[1] {
		return "-"
	}
	return fmt.Sprintf("%+.2f", 100*(s[1]-s[0]))
}

func newAudit(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	o.Pipeline = "audit"
	diff := &diffOptions{tolerance: 0.01}
	cmd := &cobra.Command{
		Use:   "audit INPUT... -o OUT | OUT | --diff A B",
		Short: "What the mask does to a corpus, before anything is trained",
		Long: `audit reads what cpt reads, decides about every turn as cpt does, and writes no rows: OUT/turns has a line for
each turn with its statistics, category and draw, OUT/rejects everything that is lost, and OUT/manifest.json the
sums. No tokenizer is needed; with one, turns have their tokens as well, and fall to windows of --seq-len.

INPUT is a file, a directory (walked; hidden and temporary names are skipped), a glob, or - for standard
input. .gz and .zst are read through, Parquet by its columns. The same command on an interrupted OUT goes on
where it stopped. One recipe serves cpt and audit.

INPUT may also be one finished OUT, of cpt, sft or audit: its report is made from its own files, the inputs are not
read. With -o it is written there, which may not be another run.

With --diff two finished runs are compared, domain by domain: two corpora, or one with two tables. The exit code
is 3 when a share moves by more than --tolerance.`,
		Example: `  turnmill audit runs/ -o out
  turnmill audit 'traj/*.traj' -o out --mask-table table.yaml
  turnmill audit runs/ -o out --tokenizer qwen3/tokenizer.json
  turnmill audit out
  turnmill audit --diff before after --tolerance 0.005
  turnmill audit --diff before after --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(diff.runs) > 0 {
				diff.runs = append(diff.runs, args...)
				return runDiff(cmd, s, diff)
			}
			if diff.json || cmd.Flags().Changed("tolerance") {
				return usage(errors.New("--json, --tolerance: for two finished runs, as in --diff A B; leave them out, or name the runs"))
			}
			if i := slices.IndexFunc(args, pipelines.IsRun); i >= 0 {
				if len(args) > 1 {
					return usage(fmt.Errorf("%s: it is a run, and a report is of one run alone; leave the other inputs out, or name its inputs in its place", args[i]))
				}
				return runReport(cmd, s, o, args[0])
			}
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			o.Stdin = s.in
			err := runCPT(cmd.Context(), s, o)
			if !o.DryRun {
				nameReport(s, o.Output, err)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&diff.runs, "diff", nil, "compare two finished runs, `A` and B: their shares of categories and of what is kept")
	fs.Float64Var(&diff.tolerance, "tolerance", diff.tolerance, "for --diff: above this difference `X` of two shares the exit code is 3")
	fs.BoolVar(&diff.json, "json", false, "for --diff: one JSON object instead of a table")
	fs.AddFlagSet(without(o.flags(), o.unused()))
	return cmd
}
