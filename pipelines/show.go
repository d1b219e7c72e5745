package pipelines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/shard/hub"
	"github.com/turnmill/turnmill/stats"
)

// ShowOptions say what to show: a row of a run, or a trajectory of an input.
type ShowOptions struct {
	Path     string
	ID       string // of a trajectory or document; "" means by Row
	Row      int64  // row of the run, or trajectory of the input, from 0
	Category string // the first row with a turn of this category
	// NearBorder means the first row with a turn that stands near a bound of the table (mask.Border.Near), Surprising
	// the row with the turn that has most new words of all that are not sure to be kept.
	NearBorder, Surprising bool
	// Nth says which of several is shown, from 1: of the trajectories with this ID, or of the rows with such a turn. 0
	// means the first, and with ID that all of them are counted, which takes the whole reading.
	Nth       int64
	Tokenizer string // "" means the one that local.json names
	// Given names the flags of the command line. One that would change nothing, since it is for the other kind of
	// path, is refused.
	Given []string

	Options // for an input: format, domain, table, seed, mode, filters
}

// Show explains one row of a run, or one trajectory of an input.
func Show(ctx context.Context, o ShowOptions) (*Shown, error) {
	info, err := os.Stat(o.Path)
	if o.Path == "-" && err != nil {
		return nil, &UsageError{errors.New("standard input cannot be shown; try to write it to a file first")}
	}
	if err == nil && info.IsDir() {
		p, err := readPlan(o.Path)
		switch {
		case err == nil:
			return showRow(ctx, &o, p)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return showInput(ctx, &o)
}

// readLocal reads local.json, which may be gone.
func readLocal(root string) (*local, error) {
	data, err := os.ReadFile(filepath.Join(root, "local.json"))
	if err != nil {
		return nil, err
	}
	l := &local{}
	return l, json.Unmarshal(data, l)
}

// tokenizerOf loads the tokenizer of a run, if it has one, and makes sure that it is the one.
func tokenizerOf(ctx context.Context, root, given string, p *Plan, from hub.Options) (*tokenizer, error) {
	if !p.tokens() {
		return noTokenizer(), nil
	}
	if given == "" {
		l, err := readLocal(root)
		if err != nil {
			return nil, &UsageError{fmt.Errorf("%s: where the tokenizer is stands in local.json, which cannot be read (%w); try --tokenizer", root, err)}
		}
		given = l.Tokenizer
	}
	model, info, err := loadTokenizer(ctx, given, p.Tokenizer.Engine, from)
	if err != nil {
		return nil, err
	}
	if info.SHA256 != p.Tokenizer.SHA256 {
		return nil, &UsageError{fmt.Errorf("--tokenizer %s: the run was made with another one (SHA-256 %s); name that", given, p.Tokenizer.SHA256)}
	}
	return model, nil
}

// showRow finds the row, and every turn of its trajectory.
func showRow(ctx context.Context, o *ShowOptions, p *Plan) (*Shown, error) {
	if names := o.given(inputFlags[:]); names != "" {
		return nil, &UsageError{fmt.Errorf("%s: for an INPUT alone, and %s is a run with settings of its own; leave it out, or name an input", names, o.Path)}
	}
	if p.audits() {
		return nil, &UsageError{fmt.Errorf("%s: an audit keeps no rows; try turnmill show INPUT, with the same flags", o.Path)}
	}
	model, err := tokenizerOf(ctx, o.Path, o.Tokenizer, p, o.Hub)
	if err != nil {
		return nil, err
	}
	table, err := mask.FromSpec(p.Mask.Table)
	if err != nil {
		return nil, err
	}
	found, err := findRow(ctx, o, p)
	if err != nil {
		return nil, err
	}
	turns, at := found.turns, found.at
	row, err := readRow(o.Path, p, at.shard, at.row)
	if err != nil {
		return nil, err
	}
	s := &Shown{Shard: at.shard, Row: at.row, Number: found.number, ID: turns[0].ID, Domain: turnmill.Domain(turns[0].Domain), Source: turns[0].Source,
		Tokens: len(row.IDs), Mask: p.Mask.Mode, Objective: p.Config.Objective, From: found.from(p), Match: o.match(o.Nth), Asked: found.asked}
	if o.ID != "" && o.Nth == 0 {
		if s.Matches, err = countID(ctx, o, p); err != nil {
			return nil, err
		}
	}
	format, err := chat.New(p.Chat.Name, model, p.chatOptions())
	if err != nil {
		return nil, err
	}
	s.windows(turns, at)
	v := rowView{model: model, format: format, ids: row.IDs}
	if p.samples() {
		if err := v.query(s, o.Path, found); err != nil {
			return nil, err
		}
	}
	for i := range turns {
		t := &turns[i]
		if t.Shard != "" && (t.Shard != at.shard || t.Row != at.row) {
			continue // in another window
		}
		shown := explainTurn(t, &table, p.Mask)
		if t.Shard != "" {
			v.turn(s, &shown, t)
			if p.Template == nil { // the mask measured the texts inside it
				shown.mark(&table)
			}
			v.spans(&shown, t)
			if p.Mask.Mode == mask.ModeToken.String() || shown.Parted {
				shown.Drawn = trainedSpans(row.Labels, t)
			}
		}
		s.Trained += int(shown.Trained)
		s.Turns = append(s.Turns, shown)
	}
	return s, nil
}

// match is the number among several of what is shown, or 0 where there is but one.
func (o *ShowOptions) match(n int64) int64 {
	if o.ID == "" && o.Category == "" && !o.NearBorder {
		return 0
	}
	return max(n, 1)
}

// lostTo lists the reasons of an account, the most frequent first.
func lostTo(a *stats.Account) string {
	lost := maps.Clone(a.Dropped)
	maps.Copy(lost, a.Rejected)
	names := slices.SortedFunc(maps.Keys(lost), func(a, b turnmill.Reason) int {
		return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, r := range names {
		parts[i] = fmt.Sprintf("%s %s", r, stats.Thousands(lost[r]))
	}
	return strings.Join(parts, ", ")
}

// inputFlags are the flags that a run has settled.
var inputFlags = [...]string{"format", "mask", "copied-keep", "mask-table", "seed", "domain", "objective", "min-turns", "filters", "filter-patterns", "train-dialogue", "secrets"}

// given joins the flags of names that were given, as they are written.
func (o *ShowOptions) given(names []string) string {
	var given []string
	for _, name := range names {
		if slices.Contains(o.Given, name) {
			given = append(given, "--"+name)
		}
	}
	return strings.Join(given, ", ")
}

// windows tells which of its trajectory's rows this one is.
func (s *Shown) windows(turns []stats.TurnRow, at place) {
	last := place{row: -1}
	for i := range turns {
		if here := (place{turns[i].Shard, turns[i].Row}); here.shard != "" && here != last {
			last = here
			if s.Windows++; here == at {
				s.Window = s.Windows
			}
		}
	}
}

// trainedSpans returns the stretches of a turn's tokens that carry loss.
func trainedSpans(labels []int32, t *stats.TurnRow) (spans []turnmill.Span) {
	from := t.TokenStart
	if t.ActionEnd > 0 {
		from = t.ActionStart
	}
	for i := from; i < t.TokenEnd; i++ {
		switch n := len(spans); {
		case labels[i] == turnmill.IgnoreIndex:
		case n > 0 && spans[n-1].End == i:
			spans[n-1].End++
		default:
			spans = append(spans, turnmill.Span{Start: i, End: i + 1})
		}
	}
	return spans
}

// explainTurn takes what the turns table holds and adds rules and draw.
func explainTurn(t *stats.TurnRow, table *mask.Table, m MaskInfo) ShownTurn {
	s := ShownTurn{
		Turn: t.Turn, Status: t.Status, Reason: t.Reason, Tool: t.Tool,
		Words: [3]int32{t.ActionWords, t.ObservationWords, t.SharedWords}, Chars: [2]int64{t.ActionChars, t.ObservationChars},
		Overlap: number(t.Overlap), Novelty: number(t.Novelty), Jaccard: number(t.Jaccard), LengthRatio: number(t.LengthRatio),
		Category: t.Category, Keep: t.Keep, Kept: t.Kept,
		Tokens: [2]int32{0, t.ObservationTokens}, Target: t.TargetTokens, Trained: t.TrainedTokens,
	}
	if t.Category != "" {
		if mode, err := mask.ParseMode(m.Mode); err == nil && mode.Draws() && (t.Status == "target" || t.Reason == string(turnmill.ReasonMasked)) {
			draw := float64(mask.Draw(m.Seed, t.ID, int(t.Turn))>>11) / (1 << 53)
			s.Draw = &draw
		}
		for _, i := range mask.Matching(table, countsOf(t)) {
			s.Rules = append(s.Rules, table.Rows[i].String())
		}
		borders := table.Borders()
		s.Near = nearBorders(table, borders, countsOf(t))
		s.RunnerUp = mask.RunnerUp(table, countsOf(t)).String()
		if n, ok := mask.NearestBorder(table, borders, countsOf(t)); ok {
			s.Nearest = &ShownBorder{n.Border.Name(table), n.Border.On(), n.Apart, n.Away(), n.Beyond.String()}
		}
	}
	return s
}

// mark finds the words of both texts that the other one has too, and those that it has not.
func (t *ShownTurn) mark(table *mask.Table) {
	if t.Category == "" || len(t.Action) > markBytes || len(t.Observation) > markBytes {
		return
	}
	e := mask.Explain(table, &turnmill.Turn{Action: t.Action, Observation: t.Observation})
	t.ActionMarks = marksOf(&e, t.Action, e.Action, mask.Escaped(t.Action))
	t.ObservationMarks = marksOf(&e, t.Observation, e.Observation, mask.Escaped(t.Observation))
}

// marksOf returns the marks of a piece of a text as pairs of bytes and kind.
func marksOf(e *mask.Explanation, piece string, own []string, escapes bool) (pairs []int) {
	for _, m := range e.Marks(piece, own, escapes) {
		pairs = append(pairs, m.Bytes, int(m.Kind))
	}
	return pairs
}

// nearBorders names the borders that a turn stands near, with the category beyond each.
func nearBorders(table *mask.Table, borders []mask.Border, c mask.Counts) (names []string) {
	for _, b := range borders {
		if beyond, near := b.Near(table, c); near {
			names = append(names, b.Name(table)+"; beyond it the turn would be "+beyond.String())
		}
	}
	return names
}

func countsOf(t *stats.TurnRow) mask.Counts {
	return mask.Counts{ActionWords: int(t.ActionWords), ObservationWords: int(t.ObservationWords), SharedWords: int(t.SharedWords),
		ActionChars: t.ActionChars, ObservationChars: t.ObservationChars}
}

// number is nil for NaN, which stands for undefined.
func number(f float64) *float64 {
	if f != f {
		return nil
	}
	return &f
}

// rowView decodes the parts of a row.
type rowView struct {
	model  turnmill.Vocabulary
	format *chat.Format
	ids    []int32
	end    int32 // of the part decoded last
}

func (v *rowView) text(from, to int32) string {
	var b []byte
	for _, id := range v.ids[from:to] {
		b = v.model.AppendText(b, id)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// turn decodes a turn's texts. What stands between two turns is scaffold, and the state where there is one.
func (v *rowView) turn(s *Shown, shown *ShownTurn, t *stats.TurnRow) {
	shown.Span = &turnmill.Span{Start: t.TokenStart, End: t.TokenEnd}
	if t.Category == "" { // a document
		shown.Observation = v.text(t.TokenStart, t.TokenStart+t.ObservationTokens) // without the end token
		return
	}
	system, state := v.format.Context(v.text(v.end, t.ActionStart))
	if v.end == 0 {
		s.System = system
	}
	shown.State = state
	shown.Action = v.text(t.ActionStart, t.ActionEnd-1)
	shown.Observation = v.text(t.TokenStart, t.TokenEnd-1)
	shown.Tokens[0] = t.ActionEnd - t.ActionStart
	v.end = t.TokenEnd
}
