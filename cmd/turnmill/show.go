package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
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
fired and the other rules that hold, the draw, tokens. Of an INPUT it shows one trajectory before any tokenizer;
--format to --train-dialogue are for an INPUT alone, since a run has its own.`,
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
	fs.BoolVar(&o.json, "json", false, "one JSON object instead of text")
	fs.BoolVar(&o.full, "full", false, "texts whole instead of their first lines")
	fs.StringVar(&o.ShowOptions.Tokenizer, "tokenizer", "", "the run's tokenizer `T`, where it is now")
	fs.StringVar(&o.Format, "format", o.Format, "`NAME` of the input's format; auto: by content")
	fs.StringVar(&o.Mask, "mask", o.Mask, "`MODE` for an input: turn, token, weight, off")
	fs.StringVar(&o.maskTable, "mask-table", "", "YAML `FILE` for an input")
	fs.StringVar(&o.Seed, "seed", o.Seed, "`TEXT` of the draw for an input")
	fs.StringVar(&o.Domain, "domain", o.Domain, "`NAME` for every record of an input; auto: the format's own rule")
	fs.StringVar(&o.Objective, "objective", o.Objective, "`GOAL` for an input: world-model, policy, all")
	decimalVar(fs, &o.MinTurns, "min-turns", "least turns `N` of a trajectory of an input")
	fs.StringSliceVar(&o.Filters, "filters", nil, "`LIST` of the filters that run over an input, or none; default: all")
	fs.StringVar(&o.patterns, "filter-patterns", "", "YAML `FILE` for an input, as in cpt")
	fs.BoolVar(&o.TrainDialogue, "train-dialogue", false, "replies in an input are targets too")
	return cmd
}

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

// painter writes a Shown for a person.
type painter struct {
	out    io.Writer
	colour bool
	lines  int // of each text; 0 means all
	err    error
}

// The colours by what becomes of a text.
const (
	plain   = ""
	dim     = "\x1b[2m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	red     = "\x1b[31m"
	bold    = "\x1b[1m"
	noStyle = "\x1b[0m"
)

func (p *painter) printf(style, format string, args ...any) {
	if p.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.colour && style != plain {
		// Each line is coloured on its own, so that pagers keep the colour.
		body, end := strings.TrimSuffix(text, "\n"), text[len(strings.TrimSuffix(text, "\n")):]
		text = style + strings.ReplaceAll(body, "\n", noStyle+"\n"+style) + noStyle + end
	}
	_, p.err = io.WriteString(p.out, text)
}

func (p *painter) row(s *pipelines.Shown) {
	if s.Shard != "" {
		p.printf(bold, "%s, row %d\n", s.Shard, s.Row)
		if s.Windows > 1 {
			p.printf(plain, "window %d of %d of its trajectory; this one is --row %d\n", s.Window, s.Windows, s.Number)
		}
		p.printf(plain, "id %s, domain %s, source %s: %s tokens, %s trained\n", label(s.ID), label(string(s.Domain)), label(s.Source),
			stats.Thousands(int64(s.Tokens)), stats.Thousands(int64(s.Trained)))
	} else {
		p.printf(bold, "trajectory %d\n", s.Row)
		p.printf(plain, "id %s, domain %s, source %s\n", label(s.ID), label(string(s.Domain)), label(s.Source))
	}
	p.legend(s)
	if s.Dropped != "" {
		p.printf(red, "dropped: %s\n", s.Dropped)
	}
	if s.System != "" {
		p.printf(bold, "\nsystem")
		p.printf(plain, "  context\n")
		p.text(dim, s.System, false)
	}
	for i := range s.Turns {
		p.turn(s, &s.Turns[i])
	}
}

func (p *painter) legend(s *pipelines.Shown) {
	p.printf(plain, "mask %s; colours: ", s.Mask)
	p.printf(green, "trained")
	p.printf(plain, ", ")
	p.printf(dim, "context")
	p.printf(plain, ", ")
	p.printf(yellow, "masked")
	p.printf(plain, ", ")
	p.printf(red, "dropped\n")
}

func (p *painter) turn(s *pipelines.Shown, t *pipelines.ShownTurn) {
	style, what := outcomeOf(t)
	p.printf(bold, "\nturn %d", t.Turn)
	p.printf(style, "  %s", what)
	if t.Tool != "" {
		p.printf(plain, "  tool %s", label(t.Tool))
	}
	p.printf(plain, "\n")
	if t.Category != "" {
		p.statistics(s, t)
	}
	lost := s.Shard != "" && t.Span == nil // a run keeps no text of what is in no row
	if t.State != "" {
		p.printf(plain, "  state\n")
		p.text(dim, t.State, false)
	}
	action, observation := dim, style
	trained := [2]string{"", fmt.Sprintf(", %d trained", t.Trained)}
	switch {
	case t.Category == "":
	case s.Objective == "policy":
		action, observation = style, dim
		trained = [2]string{trained[1], ""}
	case s.Objective == "all":
		action = style
		trained[1] += " with the action's"
	}
	if t.Category != "" {
		p.printf(plain, "  action%s\n", tokens(t.Tokens[0], " with its end token"+trained[0]))
		p.text(action, t.Action, lost)
	}
	n := t.Tokens[1]
	with := ""
	if t.Category != "" && t.Span != nil {
		n, with = n+1, " with its end token"
	}
	p.printf(plain, "  observation%s\n", tokens(n, with+trained[1]))
	p.text(observation, t.Observation, lost)
}

func tokens(n int32, more string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  %s tokens%s", stats.Thousands(int64(n)), more)
}

func outcomeOf(t *pipelines.ShownTurn) (style, what string) {
	switch {
	case t.Status == "dropped":
		return red, "dropped: " + t.Reason
	case t.Status == "context" && t.Reason == "masked":
		return yellow, "masked"
	case t.Status == "context":
		return dim, "context: " + t.Reason
	}
	return green, "trained"
}

func (p *painter) statistics(s *pipelines.Shown, t *pipelines.ShownTurn) {
	p.printf(plain, "  %s, keep %.4g", t.Category, t.Keep)
	if t.Draw != nil {
		sign := "<"
		if !t.Kept {
			sign = ">="
		}
		p.printf(plain, "; draw %.4f %s %.4g", *t.Draw, sign, t.Keep)
	}
	p.printf(plain, "\n  words: action %d, observation %d, shared %d; characters: %d, %d\n", t.Words[0], t.Words[1], t.Words[2], t.Chars[0], t.Chars[1])
	p.printf(plain, "  overlap %s, novelty %s, jaccard %s, length ratio %s\n", figure(t.Overlap), figure(t.Novelty), figure(t.Jaccard), figure(t.LengthRatio))
	for _, near := range t.Near {
		p.printf(yellow, "  near %s\n", near)
	}
	switch {
	case len(t.Rules) == 0:
		p.printf(plain, "  rule: no row of the table holds\n")
	case len(t.Rules) == 1:
		p.printf(plain, "  rule: %s\n", t.Rules[0])
	default:
		p.printf(plain, "  rule: %s (holds too: %s)\n", t.Rules[0], strings.Join(t.Rules[1:], "; "))
	}
}

func figure(f *float64) string {
	if f == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", *f)
}

// label returns a name of the content's, which may hold anything, fit for a terminal.
func label(s string) string {
	if s == "" {
		return "-"
	}
	return visible(s)
}

// text writes a text, indented, cut to some lines and without control characters that would steer the
// terminal.
func (p *painter) text(style, s string, lost bool) {
	const width = 160
	if lost {
		p.printf(style, "    (in no row; turnmill show INPUT has it)\n")
		return
	}
	if s == "" {
		p.printf(style, "    (empty)\n")
		return
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		if p.lines > 0 && i == p.lines {
			p.printf(plain, "    ... %d more lines\n", len(lines)-i)
			return
		}
		line = visible(line)
		if r := []rune(line); p.lines > 0 && len(r) > width {
			line = string(r[:width]) + fmt.Sprintf(" ... %d more characters", len(r)-width)
		}
		p.printf(style, "    %s\n", line)
	}
}

// visible shows control characters as symbols; a line feed is one too.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7F:
			return 0x2421
		case r >= 0x80 && r < 0xA0:
			return 0xFFFD
		}
		return r
	}, s)
}
