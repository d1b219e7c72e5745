// Package shard turns one trajectory, or one document, into the rows that a trainer reads.
//
//	Trajectory --chat--> text, in pieces --encoder--> tokens and spans --windows--> rows
//
//	pieces   | system | turn 0 | turn 1 | ... | turn n |     each starts and ends beside a control token,
//	                                                         so pieces can be put together in any window
//	row      | system | turn i ... turn j |                  at most SeqLen tokens; windows never overlap
//	labels   -100 everywhere, the id on kept targets: observation and its end token; of a target that the draw
//	         does not keep, on the spans that it keeps whatever the draw
//
// Some formats write a row's first or last turn unlike the others. The first and the last turn of a
// trajectory, which can stand in no other place, are encoded so at once, and any other one a second time
// where a window begins or ends with it.
//
//	sample   | system | turn ... turn | target: action, reasoning, answer |     loss on the answer alone
//
// A turn is never split. One that does not fit beside the system prompt is dropped and the next window
// starts after it. A row without a trained token does not leave this package. A sample leaves out
// whole turns from the oldest on, never the target.
package shard

import (
	"fmt"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/chat"
)

// Objective says which part of a turn carries loss.
type Objective uint8

// Loss on observations (the report's CPT), on actions, or on both.
const (
	WorldModel Objective = iota
	Policy
	Both
)

// StateMode says when the current state is written into the user message.
type StateMode uint8

// Always, only when it differs from the observation before, or never.
const (
	StateAlways StateMode = iota
	StateChanged
	StateNever
)

// Shows tells whether the state of turn i is written. The observation before it is that of the turn before
// in the trajectory, turns that were filtered included.
func (m StateMode) Shows(t *turnmill.Trajectory, i int) bool {
	before := ""
	if i > 0 {
		before = t.Turns[i-1].Observation
	}
	return m == StateAlways || m == StateChanged && t.Turns[i].State != before
}

// Options are the settings of a Builder.
type Options struct {
	SeqLen    int // tokens, the longest row; 0 means 262,144
	Objective Objective
	State     StateMode
	Weights   bool // write the keep ratio as a weight instead of drawing
}

// Target is what was decided about one turn before it is rendered.
type Target struct {
	turnmill.Verdict
	turnmill.MaskDecision
}

// Drawer draws single tokens of one trajectory, in mode token: index is the turn's in its source, token
// the place in the turn's trained span, keep the ratio.
type Drawer interface {
	DrawToken(index, token int, keep turnmill.Ratio) bool
}

// TurnResult is what became of one turn.
type TurnResult struct {
	turnmill.Verdict
	Row         int           // the number of the row that holds the turn, -1 when none does; see Rows
	Action      turnmill.Span // in that row, as in turnmill.TurnTokens
	Response    turnmill.Span // of the observation
	Observation int32         // tokens of the observation without its end token; 0 when it was not encoded
	Loss        int32         // tokens that would carry loss without the mask; 0 when it was not encoded
	Trained     int32         // tokens that do
	// Spans are pairs of token places in the observation, half-open and counted from its first token, that carry loss
	// whatever the draw: Target.Spans in tokens. Nil where that is nil or the turn stands in no row.
	Spans []int32
}

// Result is what became of a trajectory or document. Turns is overwritten by the builder's next call.
type Result struct {
	Reason  turnmill.Reason // why no row came out; "" when there is one
	Turns   []TurnResult    // one a turn of the trajectory; one a window of a document
	Notes   turnmill.Notes
	RowLoss int64 // loss tokens lost because a row's first token is never trained (documents)
}

// Rows collects rows; its memory is reused after Reset. They are numbered from 0 since the last Reset, those
// that Take has moved away included.
type Rows struct {
	Rows []turnmill.Row
	// Full, unless nil, is called between two rows of one trajectory or document when Rows holds FullTokens
	// tokens or more, so that a huge one needs no more memory than a window of it. It may Take the rows.
	Full    func()
	many    int // tokens; 0: FullTokens
	taken   int
	ids     []int32
	labels  []int32
	weights []float32
	turns   []turnmill.TurnTokens
}

// keepTokens is the largest buffer that Rows keeps over a Reset.
const keepTokens = 4 << 20

// FullTokens is how many tokens are many for one trajectory.
const FullTokens = 1 << 20

// Take moves the rows into another Rows, whose own are forgotten.
func (r *Rows) Take(into *Rows) {
	into.Reset()
	r.taken += len(r.Rows)
	r.Rows, into.Rows = into.Rows, r.Rows
	r.ids, into.ids = into.ids, r.ids
	r.labels, into.labels = into.labels, r.labels
	r.weights, into.weights = into.weights, r.weights
	r.turns, into.turns = into.turns, r.turns
}

// Reset forgets the rows.
func (r *Rows) Reset() {
	if cap(r.ids) > keepTokens {
		r.ids, r.labels, r.weights = nil, nil, nil
	}
	r.taken = 0
	r.Rows, r.ids, r.labels, r.weights, r.turns = r.Rows[:0], r.ids[:0], r.labels[:0], r.weights[:0], r.turns[:0]
}

// Builder encodes trajectories; it serves one goroutine.
type Builder struct {
	options   Options
	format    *chat.Format
	text      *chat.Text
	ends      form     // the forms that the format gives the first and the last turn of a row of the trajectory
	targets   []Target // of the trajectory
	pieces    []piece
	results   []TurnResult
	notes     turnmill.Notes
	leanBytes int
	lean      bool // text.IDs holds one turn at a time; pieces are lengths, and are written again for their row
}

// piece is one turn's tokens in text.IDs, with its spans in the same positions.
type piece struct {
	turn                int // position in Trajectory.Turns
	all                 turnmill.Span
	action, observation turnmill.Span
	spans               []turnmill.Span // Target.Spans
	prompt              int32           // tokens of a system prompt inside the turn
	form                form
	differs             bool // the published template would differ
}

// form says that a turn is written as a row's first, and as its last. It is false where the format makes no
// difference, so that equal forms are equal tokens.
type form struct{ first, last bool }

// NewBuilder returns a builder that writes format with e, which it alone uses.
func NewBuilder(format *chat.Format, e turnmill.Encoder, o Options) (*Builder, error) {
	if o.SeqLen == 0 {
		o.SeqLen = 262_144
	}
	if o.SeqLen < 2 {
		return nil, fmt.Errorf("--seq-len %d: want 2 or more", o.SeqLen)
	}
	return &Builder{options: o, format: format, text: chat.NewText(e), leanBytes: leanBytes}, nil
}

// Trajectory appends the rows of t to out. targets has one entry a turn; d draws tokens and is nil outside
// mode token. An error costs the trajectory, and out is as it was before.
func (b *Builder) Trajectory(t *turnmill.Trajectory, targets []Target, d Drawer, out *Rows) (Result, error) {
	b.start(len(t.Turns))
	b.lean = textBytes(t) > b.leanBytes
	b.targets = targets
	for i := range targets {
		b.results[i] = TurnResult{Verdict: targets[i].Verdict, Row: -1}
	}
	b.ends.first, b.ends.last = b.format.Forms(&t.System)
	b.format.System(b.text, &t.System)
	if err := b.text.Err(); err != nil {
		return Result{}, err
	}
	system := int32(len(b.text.IDs))
	fits, err := b.encode(t, targets, system)
	if err != nil {
		return Result{}, err
	}
	if !fits {
		for i := range b.results {
			b.drop(i, turnmill.ReasonSystemTooLong)
		}
		return b.result(turnmill.ReasonSystemTooLong), nil
	}
	first, rows, ids, turns := out.next(), len(out.Rows), len(out.ids), len(out.turns)
	if err := b.windows(t, targets, d, system, out); err != nil {
		if out.next()-len(out.Rows) == first-rows { // what was taken is gone; a text that was encoded once is again
			out.Rows = out.Rows[:rows]
			out.cut(ids, turns)
		}
		return Result{}, err
	}
	if out.next() == first {
		return b.result(b.firstReason()), nil
	}
	return b.result(""), nil
}

// leanBytes is the text of a trajectory above which its tokens are not all held at once: it is encoded once to
// measure its turns, and again for its rows.
const leanBytes = 16 << 20

func textBytes(t *turnmill.Trajectory) (n int) {
	for i := range t.Turns {
		n += len(t.Turns[i].State) + len(t.Turns[i].Action) + len(t.Turns[i].Observation)
	}
	return n
}

func (b *Builder) start(turns int) {
	b.text.Reset()
	b.targets = nil
	b.pieces, b.notes = b.pieces[:0], turnmill.Notes{}
	if cap(b.results) < turns {
		b.results = make([]TurnResult, turns)
	}
	b.results = b.results[:turns]
}

func (b *Builder) result(reason turnmill.Reason) Result {
	return Result{Reason: reason, Turns: b.results, Notes: b.notes}
}

// firstReason is why a trajectory without rows has none: the first turn that was lost after the filters.
func (b *Builder) firstReason() turnmill.Reason {
	for _, p := range b.pieces {
		if r := &b.results[p.turn]; r.Status == turnmill.StatusDropped {
			return r.Reason
		}
	}
	return turnmill.ReasonNoLoss
}

// encode writes every turn that is left as a piece: the first of them as a row's first turn and the last as a
// row's last, which is what they are in any window. It stops when the system prompt, which takes system
// tokens before the first turn and may take more inside it, leaves no room.
func (b *Builder) encode(t *turnmill.Trajectory, targets []Target, system int32) (fits bool, err error) {
	if int(system) >= b.options.SeqLen {
		return false, nil
	}
	final := -1
	for i := range targets {
		if targets[i].Status != turnmill.StatusDropped {
			final = i
		}
	}
	for i := range t.Turns {
		if targets[i].Status == turnmill.StatusDropped {
			continue
		}
		p, err := b.piece(t, i, form{first: len(b.pieces) == 0 && b.ends.first, last: i == final && b.ends.last})
		if err != nil {
			return false, err
		}
		if int(system+p.prompt) >= b.options.SeqLen {
			return false, nil
		}
		if b.lean {
			b.text.IDs = b.text.IDs[:system]
		}
		b.pieces = append(b.pieces, p)
		r := &b.results[i]
		r.Observation = p.observation.Len() - 1
		if targets[i].Status == turnmill.StatusTarget {
			r.Loss = b.loss(p)
		}
	}
	b.notes[turnmill.NoteForgedControl] += int64(b.text.Forged)
	b.notes[turnmill.NoteAddedToken] += int64(b.text.Added)
	b.notes[turnmill.NoteStraddle] += int64(b.text.Straddles)
	return true, nil
}

func (b *Builder) loss(p piece) int32 {
	switch b.options.Objective {
	case Policy:
		return p.action.Len()
	case Both:
		return p.action.Len() + p.observation.Len()
	}
	return p.observation.Len()
}

// piece writes turn i in the given form at the end of the text.
func (b *Builder) piece(t *turnmill.Trajectory, i int, as form) (piece, error) {
	turn, place := &t.Turns[i], b.place(t, i, as)
	if b.targets != nil {
		place.Spans = b.targets[i].Spans
	}
	start := int32(len(b.text.IDs))
	b.format.Turn(b.text, turn, place)
	if err := b.text.Err(); err != nil {
		return piece{}, fmt.Errorf("turn %d: %w", turn.Index, err)
	}
	p := b.last(i, start, as, b.format.Differs(turn, place))
	if p.spans = b.text.Spans; !b.lean { // of a lean piece they are used before the next is written
		p.spans = slices.Clone(p.spans)
	}
	return p, nil
}

func (b *Builder) drop(i int, reason turnmill.Reason) {
	if r := &b.results[i]; r.Status != turnmill.StatusDropped {
		r.Verdict = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: reason}
	}
}
