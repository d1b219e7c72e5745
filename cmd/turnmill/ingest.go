package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/internal/fsync"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

type ingestOptions struct {
	pipelines.IngestOptions
	output        string
	stats         bool
	json          bool
	patterns      string
	maxRejectRate float64
}

func newIngest(s streams) *cobra.Command {
	d := pipelines.DefaultOptions()
	o := &ingestOptions{maxRejectRate: d.MaxRejectRate}
	o.MinTurns = d.MinTurns
	o.Format, o.Domain, o.Secrets, o.MaxRecord, o.MaxWindow = d.Format, d.Domain, d.Secrets, d.MaxRecord, d.MaxWindow
	cmd := &cobra.Command{
		Use:   "ingest INPUT... [-o FILE]",
		Short: "Any format into the unified JSON lines, no filters run",
		Long: `ingest writes every trajectory and document of the inputs as one line of unified JSON, to standard output
unless -o names a file, which may end in .gz or .zst. What cannot be read is named on standard error, one JSON
line each, and the rest goes on. --as agentworldbench writes rows that the evaluator of AgentWorldBench reads: one
for each turn, with the turns before it. A person's reply and a turn without an action have none; standard error
says how many.

With --stats it prints what each format gives by domain, and what the filters of a run would refuse of it, and
writes no lines unless -o names a file.`,
		Args: atLeast(1, "INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Inputs = args
			return runIngest(cmd.Context(), s, o)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", "", "`FILE` to write; it appears whole or not at all")
	fs.StringVar(&o.As, "as", "turnmill", "`NAME` of what is written: turnmill, the unified form; agentworldbench, rows for its evaluator, one a turn")
	fs.StringVar(&o.Format, "format", o.Format, "`NAME` of the inputs' format (turnmill formats); auto: by content")
	fs.StringVar(&o.Domain, "domain", o.Domain, "`NAME` for every record; auto: the format's own rule")
	fs.StringVar(&o.Secrets, "secrets", o.Secrets, "`WHAT` is done about keys, tokens and passwords in texts: "+secretModes)
	fs.BoolVar(&o.KeepThought, "keep-thought", false, "keep the agent's reasoning in thought")
	fs.Var((*sizeValue)(&o.MaxRecord), "max-record", "a larger record is rejected with its position, the rest goes on")
	fs.Var((*sizeValue)(&o.MaxWindow), "max-window", "largest zstd window that is read")
	fs.Float64Var(&o.maxRejectRate, "max-reject-rate", o.maxRejectRate, "above this share `X` of rejected records the exit code is 3")
	fs.BoolVar(&o.stats, "stats", false, "print records, turns, states and losses by format, domain and source instead of lines; filters run dry")
	fs.BoolVar(&o.json, "json", false, "with --stats, one JSON object instead of tables")
	fs.StringSliceVar(&o.Filters, "filters", nil, "with --stats, the `LIST` of filters, as in cpt")
	decimalVar(fs, &o.MinTurns, "min-turns", "with --stats, least turns `N` of a trajectory")
	fs.StringVar(&o.patterns, "filter-patterns", "", "with --stats, YAML `FILE`, as in cpt")
	return cmd
}

// validate joins all problems that show without reading an input.
func (o *ingestOptions) validate() error {
	limits := pipelines.DefaultOptions()
	limits.Domain, limits.MaxRecord, limits.MaxWindow, limits.MaxRejectRate = o.Domain, o.MaxRecord, o.MaxWindow, o.maxRejectRate
	limits.MinTurns, limits.Secrets = o.MinTurns, o.Secrets
	limits.Tokenizer = "demo" // none is needed
	if err := limits.Validate(); err != nil {
		return err
	}
	if o.As != "turnmill" && o.As != pipelines.AsWorldBench {
		return usage(fmt.Errorf("--as %s: there is no such form; try turnmill or %s", o.As, pipelines.AsWorldBench))
	}
	if o.json && !o.stats {
		return usage(errors.New("--json: it is the form of --stats; add that"))
	}
	if !o.stats && (len(o.Filters) > 0 || o.patterns != "" || o.MinTurns != pipelines.DefaultOptions().MinTurns) {
		return usage(errors.New("--filters, --filter-patterns, --min-turns: ingest runs no filter; add --stats for what they would refuse"))
	}
	if o.stats && o.output == "-" {
		return usage(errors.New("--stats: standard output holds the figures; name a file for the lines with -o, or leave it out"))
	}
	if o.toStdout() {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(o.output)); err != nil || !info.IsDir() {
		return usage(fmt.Errorf("--output %s: there is no directory %s; make it first, or name a file elsewhere", o.output, filepath.Dir(o.output)))
	}
	if info, err := os.Stat(o.output); err == nil && !info.Mode().IsRegular() {
		return usage(fmt.Errorf("--output %s: it is there and no file; name a file, or leave it out for standard output", o.output))
	}
	return outsideInputs(o.output, o.Inputs)
}

func (o *ingestOptions) toStdout() bool { return o.output == "" || o.output == "-" }

func runIngest(ctx context.Context, s streams, o *ingestOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.patterns != "" {
		p, err := readPatterns(o.patterns)
		if err != nil {
			return err
		}
		o.Patterns = p
	}
	if o.stats {
		o.Stats = stats.FormatCounts{}
	}
	o.Stdin = s.in
	out, err := openLines(s, o)
	if err != nil {
		return usage(fmt.Errorf("--output: %w", err))
	}
	defer out.abort()
	o.Rejected = func(line []byte) error {
		return writeEscaped(s.err, string(line))
	}
	counts, err := pipelines.Ingest(ctx, o.IngestOptions, out)
	if err != nil {
		return err
	}
	if err := out.finish(); err != nil {
		return err
	}
	if o.As == pipelines.AsWorldBench {
		if err := withoutRow(s.err, &counts.Ledger.Total.Turns); err != nil {
			return err
		}
	}
	if o.stats {
		if err := o.figures(s.out); err != nil {
			return err
		}
	}
	err = pipelines.Thresholds(counts, o.maxRejectRate, 1)
	var passed *pipelines.ThresholdError
	if errors.As(err, &passed) {
		passed.See = "the lines above"
	}
	return err
}

// withoutRow says how many turns have no row of AgentWorldBench, and why; nothing where all have.
func withoutRow(w io.Writer, turns *stats.Account) error {
	if turns.AllDropped() == 0 {
		return nil
	}
	var why []string
	for _, r := range slices.Sorted(maps.Keys(turns.Dropped)) {
		if n := turns.Dropped[r]; n > 0 {
			why = append(why, fmt.Sprintf("%s %s", r, stats.Thousands(n)))
		}
	}
	_, err := fmt.Fprintf(w, "rows for %s of %s turns; left out: %s\n", stats.Thousands(turns.Out), stats.Thousands(turns.In), strings.Join(why, ", "))
	return err
}

// figures writes what --stats asks for.
func (o *ingestOptions) figures(w io.Writer) error {
	if o.json {
		return writeJSON(w, o.Stats)
	}
	return visibly(w, o.Stats.WriteTable)
}

// lines is where ingest writes: standard output, or a file that appears whole or not at all.
type lines struct {
	io.Writer
	close []func() error // in this order
	temp  string
	name  string
}

func openLines(s streams, o *ingestOptions) (*lines, error) {
	name := o.output
	if o.stats && name == "" { // the figures alone
		return &lines{Writer: io.Discard}, nil
	}
	if o.toStdout() {
		b := bufio.NewWriterSize(s.out, 1<<16)
		return &lines{Writer: b, close: []func() error{b.Flush}}, nil
	}
	// The name is hidden and of this process, so that it is nobody's file, an input least of all.
	temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d.tmp", filepath.Base(name), os.Getpid()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	var path *os.PathError
	if errors.As(err, &path) { // without the name of this process
		return nil, fmt.Errorf("%s: %w; try a file in a directory that can be written", name, path.Err)
	}
	if err != nil {
		return nil, err
	}
	l := &lines{Writer: f, close: []func() error{f.Sync, f.Close}, temp: temp, name: name}
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		z = gzip.NewWriter(f)
	case strings.HasSuffix(name, ".zst"):
		if z, err = zstdio.NewWriter(f); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(temp))
		}
	}
	if z != nil {
		l.Writer, l.close = z, append([]func() error{z.Close}, l.close...)
	}
	b := bufio.NewWriterSize(l.Writer, 1<<16)
	l.Writer, l.close = b, append([]func() error{b.Flush}, l.close...)
	return l, nil
}

func (l *lines) finish() error {
	var err error
	for _, c := range l.close {
		err = errors.Join(err, c())
	}
	l.close = nil
	if err == nil && l.temp != "" {
		if err = os.Rename(l.temp, l.name); err == nil {
			l.temp = ""
			err = fsync.Dir(filepath.Dir(l.name))
		}
	}
	if err != nil {
		if l.name == "" {
			return err // which names standard output
		}
		return fmt.Errorf("writing %s: %w", l.name, err)
	}
	return nil
}

// abort removes what is not finished.
func (l *lines) abort() {
	for _, c := range l.close {
		c()
	}
	if l.temp != "" {
		os.Remove(l.temp)
	}
}
