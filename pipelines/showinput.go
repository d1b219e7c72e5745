package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// showInput decodes an input up to the trajectory that is asked for, and explains it without tokens.
func showInput(ctx context.Context, o *ShowOptions) (*Shown, error) {
	if names := o.given([]string{"tokenizer"}); names != "" {
		return nil, &UsageError{fmt.Errorf("%s: for a run alone, and an input is shown without tokens; leave it out, or name the directory of a run", names)}
	}
	o.Inputs = []string{o.Path}
	inputs, paths, _, err := inventory(ctx, &o.Options)
	if err != nil {
		return nil, err
	}
	v, err := newInputView(o, inputs)
	if err != nil {
		return nil, err
	}
	v.most, v.searching, v.paths = -1, o.Surprising, map[string]string{}
	for i := range inputs {
		v.paths[inputs[i].Path] = asGiven(o.Path, paths[i])
	}
	err = v.read(ctx, inputs, paths)
	if err == nil && v.searching && v.most >= 0 { // it is known which one: to that, in a second reading
		v.searching, v.n, v.lost = false, 0, 0
		err = v.read(ctx, inputs, paths)
	}
	if err != nil && !errors.Is(err, errFound) {
		return nil, err
	}
	if v.found != nil {
		if err == nil { // everything was read
			v.found.Matches = v.matches
		}
		return v.found, nil
	}
	err = o.missing("trajectory or document", v.n, v.matches)
	if v.lost > 0 {
		err = &UsageError{fmt.Errorf("%w; %d files or records could not be read, the first: %w", err, v.lost, v.why)}
	}
	return nil, err
}

// read visits the inputs; it is errFound when what is asked for was found.
func (v *inputView) read(ctx context.Context, inputs []PlanInput, paths []string) error {
	var read int64
	l := limits{record: v.options.MaxRecord, window: v.options.MaxWindow}
	return readRanges(ctx, inputs, wholeRanges(inputs), paths, l, &read, v.visit, func(RangeSum) error { return nil })
}

// inputView looks for one trajectory among decoded records.
type inputView struct {
	unpacker
	options   *ShowOptions
	filters   *filter.Chain
	mask      *mask.Masker
	counts    *stats.Counts
	scratch   []byte
	borders   []mask.Border
	n         int64
	verdicts  []turnmill.Verdict
	asked     *int32 // the turn for which a trajectory is wanted
	most      int    // new words of a turn that is not sure to be kept, so far
	best      int64  // its trajectory
	turn      int32  // itself
	searching bool   // for that
	found     *Shown
	paths     map[string]string // of the machine, by those of the plan
	matches   int64             // trajectories and documents that are what is asked for, so far
	at        source
	raw       frame.Record // that is being looked at
	lost      int          // files and records that could not be read
	why       error        // the first of them
}

func newInputView(o *ShowOptions, inputs []PlanInput) (*inputView, error) {
	hide, err := secrets.ParseMode(o.Secrets)
	if err != nil {
		return nil, &UsageError{err}
	}
	v := &inputView{
		unpacker: newUnpacker(inputs, formats.Options{KeepThought: o.KeepThought, Domain: domainOf(o.Domain)}, hide),
		options:  o, counts: stats.NewCounts(),
	}
	mode, err := mask.ParseMode(o.Mask)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--mask: %w", err)}
	}
	v.borders = o.MaskTable.Borders()
	if v.mask, err = mask.New(o.MaskTable, o.Seed, mode); err != nil {
		return nil, &UsageError{err}
	}
	copied, err := parseKeep(o.CopiedKeep)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--copied-keep %q: %w", o.CopiedKeep, err)}
	}
	v.mask.Copied = copied.ratio
	if v.filters, err = filter.New(o.Filters, filter.Options{MinTurns: o.MinTurns, TrainDialogue: o.TrainDialogue, Patterns: o.Patterns}); err != nil {
		return nil, &UsageError{err}
	}
	return v, nil
}

func (v *inputView) visit(from source, raw frame.Record, err error) error {
	if err != nil {
		v.lose(from, err)
		return nil
	}
	for part, err := range v.unpack(from, raw, v.counts) {
		if err != nil {
			v.lose(from, err)
			continue
		}
		v.at, v.raw = from, part
		for i := range v.decoded.Documents {
			if d := &v.decoded.Documents[i]; v.wantedDocument(d) && v.match() {
				if v.find(v.document(d)) {
					return errFound
				}
			}
			v.n++
		}
		for i := range v.decoded.Trajectories {
			t := &v.decoded.Trajectories[i]
			if t.ID == "" {
				t.ID, v.scratch = formats.ContentID(t, v.scratch)
			}
			if v.wanted(t) && v.match() {
				if v.find(v.explain(t)) {
					return errFound
				}
			}
			v.n++
		}
	}
	return nil
}

// asGiven is a path below an input as the command names the input.
func asGiven(input, path string) string {
	if base, err := filepath.Abs(input); err == nil {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(input, rel)
		}
	}
	return path
}

// match counts what is asked for, and tells whether it is the one to show.
func (v *inputView) match() bool {
	v.matches++
	return v.found == nil && v.matches >= v.options.Nth
}

// find keeps what is shown, with its place, and tells whether that is all: without Nth those with the ID are counted.
func (v *inputView) find(s *Shown) bool {
	pos := position(v.at, v.raw)
	s.Match, s.Asked, s.From = v.options.match(v.matches), v.asked, &ShownFrom{Path: cmp.Or(v.paths[pos.Path], pos.Path), Line: pos.Line}
	if pos.Line == 0 && v.at.parts == nil {
		s.From.Offset = &pos.Offset
	}
	v.found = s
	return v.options.ID == "" || v.options.Nth > 0
}

func (v *inputView) lose(from source, err error) {
	if v.lost++; v.lost == 1 {
		v.why = fmt.Errorf("%s: %s", from.path, v.secrets.Text(err.Error()))
	}
}

// wantedDocument names a document, and tells whether it is asked for.
func (v *inputView) wantedDocument(d *turnmill.Document) bool {
	if d.ID == "" {
		d.ID, v.scratch = formats.DocumentContentID(d, v.scratch)
	}
	switch o := v.options; {
	case o.ID != "":
		return d.ID == o.ID
	case o.Category != "", o.NearBorder, o.Surprising:
		return false // it has none
	}
	return v.n == v.options.Row
}

// document shows a document as its one turn, all of it trained.
func (v *inputView) document(d *turnmill.Document) *Shown {
	turn := ShownTurn{Status: "target", Keep: 1, Kept: true, Observation: strings.Clone(d.Text)}
	s := &Shown{Row: v.n, ID: strings.Clone(d.ID), Domain: turnmill.Domain(strings.Clone(string(d.Domain))), Source: strings.Clone(d.Source),
		Mask: v.options.Mask, Objective: v.options.Objective}
	if d.Text == "" {
		s.Dropped = turnmill.ReasonEmptyText
		turn.Status, turn.Reason = "dropped", string(s.Dropped)
	}
	s.Turns = []ShownTurn{turn}
	return s
}

// wanted tells whether a trajectory is asked for: by its id or number, or for a turn that the mask decides about.
func (v *inputView) wanted(t *turnmill.Trajectory) bool {
	o := v.options
	v.asked = nil
	switch {
	case o.ID != "":
		return t.ID == o.ID
	case o.Category == "" && !o.NearBorder && !o.Surprising:
		return v.n == o.Row
	case o.Surprising && !v.searching:
		v.asked = &v.turn
		return v.n == v.best
	}
	var reason turnmill.Reason
	if v.verdicts, reason = v.filters.Apply(t, v.verdicts); reason != "" {
		return false
	}
	for i := range t.Turns {
		if v.verdicts[i].Status == turnmill.StatusTarget && v.wantedTurn(t, i) {
			index := int32(t.Turns[i].Index)
			v.asked = &index
			return true
		}
	}
	return false
}

// wantedTurn looks at a turn that the mask decides about. The most surprising one is known when all were looked at.
func (v *inputView) wantedTurn(t *turnmill.Trajectory, i int) bool {
	d := v.mask.Decide(t, i)
	switch o := v.options; {
	case o.Category != "":
		return d.Category.String() == o.Category
	case o.NearBorder:
		return nearBorders(&o.MaskTable, v.borders, countsIn(&d)) != nil
	}
	if fresh := d.ObservationWords - d.SharedWords; d.Keep.Num < d.Keep.Den && fresh > v.most {
		v.most, v.best, v.turn = fresh, v.n, int32(t.Turns[i].Index)
	}
	return false
}

func countsIn(d *turnmill.MaskDecision) mask.Counts {
	return mask.Counts{ActionWords: d.ActionWords, ObservationWords: d.ObservationWords, SharedWords: d.SharedWords,
		ActionChars: d.ActionChars, ObservationChars: d.ObservationChars}
}

// explain decides about a trajectory as a run would, without tokens.
func (v *inputView) explain(t *turnmill.Trajectory) *Shown {
	verdicts, reason := v.filters.Apply(t, nil)
	s := &Shown{Row: v.n, ID: strings.Clone(t.ID), Domain: turnmill.Domain(strings.Clone(string(t.Domain))), Source: strings.Clone(t.Source),
		Mask: v.options.Mask, Objective: v.options.Objective, Dropped: reason}
	var parts []string
	for _, p := range t.System.Parts() {
		if p != "" {
			parts = append(parts, p)
		}
	}
	s.System = strings.Clone(strings.Join(parts, "\n\n"))
	for i := range t.Turns {
		turn := &t.Turns[i]
		d := v.mask.Decide(t, i)
		verdict := verdicts[i]
		switch {
		case reason != "" && verdict.Status != turnmill.StatusDropped: // it goes with its trajectory
			verdict = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: reason}
		case verdict.Status == turnmill.StatusTarget && !d.Kept && len(d.Spans) == 0:
			verdict = turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonMasked}
		}
		row := stats.TurnRow{ID: t.ID, Turn: int32(turn.Index), Tool: turn.Tool, Status: verdict.Status.String(), Reason: string(verdict.Reason)}
		setDecision(&row, &d)
		shown := explainTurn(&row, &v.options.MaskTable, MaskInfo{Mode: v.options.Mask, Seed: v.options.Seed})
		shown.State, shown.Action, shown.Observation, shown.Tool = strings.Clone(turn.State), strings.Clone(turn.Action), strings.Clone(turn.Observation), strings.Clone(turn.Tool)
		shown.mark(&v.options.MaskTable)
		if shown.Parted = d.Spans != nil && verdict.Status != turnmill.StatusDropped; shown.Parted {
			for _, s := range d.Spans {
				shown.addSpan(int(s.Start), int(s.End), nil)
			}
		}
		s.Turns = append(s.Turns, shown)
	}
	return s
}
