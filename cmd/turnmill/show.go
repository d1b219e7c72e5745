package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/pipelines"
)

type showOptions struct {
	pipelines.ShowOptions
	maskTable string
	patterns  string
	json      bool
	full      bool
	pager     bool
	lines     int // of each text
}

func newShow(s streams) *cobra.Command {
	o := &showOptions{lines: 8, pager: true}
	o.Options = pipelines.DefaultOptions()
	cmd := &cobra.Command{
		Use:   "show OUT|INPUT",
		Short: "One row or trajectory in colour: trained, context, masked and why",
		Long: `show explains one row of a finished run OUT, turn by turn: role, words, statistics, category, the rule that
fired, the runner-up, the nearest border of the table, the draw, tokens. In a terminal words that action and
observation share, and words of one side alone, have a colour each; with NO_COLOR, or where there is no terminal,
nothing has, and --json holds them as marks. Of an INPUT it shows one trajectory before any tokenizer; --format to
--train-dialogue are for an INPUT alone, since a run has its own.

Where several trajectories have the --id, the first is shown with their number, and --nth shows another.`,
		Example: "  turnmill show out --row 3\n  turnmill show out --category echo\n  turnmill show out --surprising\n  turnmill show runs/a.jsonl --id run-17",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("OUT or INPUT is missing")
			case len(args) > 1:
				return fmt.Errorf("one OUT or INPUT at a time, and %q comes after it", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Path = args[0]
			cmd.Flags().Visit(func(f *pflag.Flag) { o.Given = append(o.Given, f.Name) })
			return runShow(cmd.Context(), s, o)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.ID, "id", "", "trajectory or document `ID`")
	decimalVar(fs, &o.Row, "row", "row `N` of the run (all splits, partition by partition), or trajectory of the input, from 0")
	fs.StringVar(&o.Category, "category", "", "the first with a turn of category `C` that the mask decides about")
	fs.BoolVar(&o.NearBorder, "near-border", false, "the first with a turn that would be of another category were one bound of the table a little off")
	fs.BoolVar(&o.Surprising, "surprising", false, "the one with the turn that says most new words of all that the table may leave out")
	decimalVar(fs, &o.Nth, "nth", "of several with the ID, or such a turn, the one of number `N`, from 1")
	fs.BoolVar(&o.json, "json", false, "one JSON object instead of text")
	fs.BoolVar(&o.full, "full", false, "texts whole instead of their first lines")
	fs.StringVar(&o.ShowOptions.Tokenizer, "tokenizer", "", "the run's tokenizer `T`, where it is now")
	fs.StringVar(&o.Format, "format", o.Format, "`NAME` of the input's format; auto: by content")
	fs.StringVar(&o.Mask, "mask", o.Mask, "`MODE` for an input: "+maskModes)
	fs.StringVar(&o.CopiedKeep, "copied-keep", o.CopiedKeep, "keep ratio `X` of copied lines for an input, in mode changed")
	fs.StringVar(&o.maskTable, "mask-table", "", "YAML `FILE` for an input")
	fs.StringVar(&o.Seed, "seed", o.Seed, "`TEXT` of the draw for an input")
	fs.StringVar(&o.Domain, "domain", o.Domain, "`NAME` for every record of an input; auto: the format's own rule")
	fs.StringVar(&o.Objective, "objective", o.Objective, "`GOAL` for an input: world-model, policy, all")
	decimalVar(fs, &o.MinTurns, "min-turns", "least turns `N` of a trajectory of an input")
	fs.StringSliceVar(&o.Filters, "filters", nil, "`LIST` of the filters that run over an input, or none; default: all")
	fs.StringVar(&o.patterns, "filter-patterns", "", "YAML `FILE` for an input, as in cpt")
	fs.StringVar(&o.Secrets, "secrets", o.Secrets, "`WHAT` is done about secrets in an input: scrub, report, off")
	fs.BoolVar(&o.TrainDialogue, "train-dialogue", false, "replies in an input are targets too")
	return cmd
}

// maskModes says what each mode does, for help.
const maskModes = "turn (a draw a turn), token (a draw a token), weight (no draw, a weight), span (as turn, but what an echo or boilerplate has of its own always), changed (as turn, but lines that a screen's tree did not have before always), off"

// secretModes says what each mode of --secrets does, for help.
const secretModes = "scrub (replaced and counted), report (counted, texts stay), off"

func runShow(ctx context.Context, s streams, o *showOptions) error {
	if _, known := turnmill.ParseCategory(o.Category); o.Category != "" && !known {
		return usage(fmt.Errorf("--category %q: want one of %s", o.Category, categories()))
	}
	if err := oneChoice(o); err != nil {
		return err
	}
	if o.Row < 0 {
		return usage(fmt.Errorf("--row %d: want 0 or more", o.Row))
	}
	if slices.Contains(o.Given, "nth") && (o.Nth < 1 || o.ID == "" && o.Category == "" && !o.NearBorder) {
		return usage(fmt.Errorf("--nth %d: want 1 or more, beside --id, --category or --near-border", o.Nth))
	}
	if o.maskTable != "" {
		table, err := readMaskTable(o.maskTable)
		if err != nil {
			return err
		}
		o.MaskTable = table
	}
	if o.patterns != "" {
		p, err := readPatterns(o.patterns)
		if err != nil {
			return err
		}
		o.Patterns = p
	}
	o.Hub = hubFromEnv(slog.New(slog.NewTextHandler(s.err, nil)))
	shown, err := pipelines.Show(ctx, o.ShowOptions)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(s.out, shown)
	}
	page := &pager{on: o.pager, to: s.out}
	p := &painter{out: page, colour: isTerminal(s.out) && os.Getenv("NO_COLOR") == "", lines: o.lines}
	if o.full {
		p.lines = 0
	}
	p.row(shown)
	return errors.Join(p.err, page.end(ctx))
}

// oneChoice refuses two ways of saying which row is meant.
func oneChoice(o *showOptions) error {
	var given []string
	for _, c := range []struct {
		name string
		set  bool
	}{{"id", o.ID != ""}, {"row", o.Row > 0}, {"category", o.Category != ""}, {"near-border", o.NearBorder}, {"surprising", o.Surprising}} {
		if c.set {
			given = append(given, "--"+c.name)
		}
	}
	if len(given) > 1 {
		return usage(fmt.Errorf("%s: each says which one is shown; leave all but one out", strings.Join(given, ", ")))
	}
	return nil
}

// writeJSON writes one line of JSON. Delete and the C1 controls, which JSON lets stand, are escaped as well:
// a terminal may obey them.
func writeJSON(w io.Writer, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return writeEscaped(w, b.String())
}

// writeEscaped writes JSON whose control characters beyond ASCII are escaped too, since terminals obey them.
func writeEscaped(w io.Writer, json string) error {
	var line strings.Builder
	for _, r := range json {
		if r >= 0x7F && r < 0xA0 {
			fmt.Fprintf(&line, `\u%04x`, r)
		} else {
			line.WriteRune(r)
		}
	}
	_, err := io.WriteString(w, line.String())
	return err
}

func categories() string {
	names := make([]string, turnmill.NumCategories)
	for i := range names {
		names[i] = turnmill.Category(i).String()
	}
	return strings.Join(names, ", ")
}
