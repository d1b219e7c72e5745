package shard

import (
	"cmp"
	"slices"

	"github.com/turnmill/turnmill"
)

// windows cuts the pieces into rows: each takes as many turns as fit beside the system prompt.
func (b *Builder) windows(t *turnmill.Trajectory, targets []Target, d Drawer, system int32, out *Rows) error {
	room := int32(b.options.SeqLen) - system
	for from := 0; from < len(b.pieces); {
		base := len(b.text.IDs)
		to, err := b.window(t, from, room)
		if err != nil {
			return err
		}
		if to == from {
			b.drop(b.pieces[from].turn, turnmill.ReasonTurnTooLong)
			from++
		} else {
			if err := b.row(t, targets, d, system, b.pieces[from:to], out); err != nil {
				return err
			}
			from = to
		}
		b.text.IDs = b.text.IDs[:base] // pieces that were written again stand in the row now
	}
	return nil
}

// window writes the first piece from from as a row's first turn, takes as many pieces as fit in room tokens,
// and writes the last of them as a row's last, leaving turns out until that fits. It returns the end of the
// window, which is from when not one piece fits.
func (b *Builder) window(t *turnmill.Trajectory, from int, room int32) (to int, err error) {
	first, err := b.as(t, from, form{first: b.ends.first, last: b.pieces[from].form.last})
	if err != nil {
		return 0, err
	}
	b.set(from, first)
	used := int32(0)
	for to = from; to < len(b.pieces) && used+b.pieces[to].all.Len() <= room; to++ {
		used += b.pieces[to].all.Len()
	}
	for ; to > from; to-- {
		used -= b.pieces[to-1].all.Len()
		last, err := b.as(t, to-1, form{first: b.pieces[to-1].form.first, last: b.ends.last})
		if err != nil {
			return 0, err
		}
		if used+last.all.Len() <= room {
			b.set(to-1, last)
			return to, nil
		}
	}
	return from, nil
}

// as returns piece i in the given form, written again when it has another.
func (b *Builder) as(t *turnmill.Trajectory, i int, want form) (piece, error) {
	if p := b.pieces[i]; p.form == want {
		return p, nil
	}
	return b.piece(t, b.pieces[i].turn, want)
}

// set makes p piece i, with the counts that follow from its form.
func (b *Builder) set(i int, p piece) {
	b.pieces[i] = p
	r := &b.results[p.turn]
	r.Observation = p.observation.Len() - 1
	if r.Loss > 0 {
		r.Loss = b.loss(p)
	}
}

// row appends one row, or marks its turns no_loss when nothing in it would be trained.
func (b *Builder) row(t *turnmill.Trajectory, targets []Target, d Drawer, system int32, pieces []piece, out *Rows) (err error) {
	ids0, turns0 := len(out.ids), len(out.turns)
	out.ids = append(out.ids, b.text.IDs[:system]...)
	out.labels = appendIgnore(out.labels, int(system))
	if b.options.Weights {
		out.weights = append(out.weights, make([]float32, system)...)
	}
	trained, differs := int32(0), b.format.SystemDiffers(&t.System)
	base := len(b.text.IDs)
	for _, p := range pieces {
		if b.lean {
			b.text.IDs = b.text.IDs[:base]
			if p, err = b.piece(t, p.turn, p.form); err != nil {
				return err
			}
		}
		shift := int32(len(out.ids)-ids0) - p.all.Start
		out.ids = append(out.ids, b.text.IDs[p.all.Start:p.all.End]...)
		out.labels = appendIgnore(out.labels, int(p.all.Len()))
		if b.options.Weights {
			out.weights = append(out.weights, make([]float32, p.all.Len())...)
		}
		tt := turnmill.TurnTokens{
			Turn: p.turn, EndTokens: 1,
			Action:      turnmill.Span{Start: p.action.Start + shift, End: p.action.End + shift},
			Observation: turnmill.Span{Start: p.observation.Start + shift, End: p.observation.End + shift},
		}
		tt.Trained = b.label(&t.Turns[p.turn], &targets[p.turn], tt, d, out, ids0)
		if target := &targets[p.turn]; target.Status == turnmill.StatusTarget && target.Spans != nil {
			tt.Trained += b.labelSpans(p.turn, p.spans, shift, tt.Observation, !target.Kept, out, ids0)
		}
		trained += tt.Trained
		differs = differs || p.differs
		out.turns = append(out.turns, tt)
	}
	for i, p := range pieces {
		r := &b.results[p.turn]
		if trained == 0 {
			b.drop(p.turn, turnmill.ReasonNoLoss)
			r.Spans = nil
			continue
		}
		tt := &out.turns[turns0+i]
		r.Row, r.Action, r.Response, r.Trained = out.next(), tt.Action, tt.Observation, tt.Trained
		if r.Status == turnmill.StatusTarget && r.Trained == 0 {
			r.Verdict = turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonMasked}
		}
	}
	if trained == 0 {
		out.cut(ids0, turns0)
		return nil
	}
	if differs {
		b.notes[turnmill.NoteTemplateDiffer]++
	}
	out.add(ids0, turns0)
	return nil
}

// label puts labels, and weights, on a turn's target spans and returns how many tokens carry loss.
func (b *Builder) label(turn *turnmill.Turn, target *Target, tt turnmill.TurnTokens, d Drawer, out *Rows, ids0 int) int32 {
	if target.Status != turnmill.StatusTarget || d == nil && !target.Kept {
		return 0
	}
	weight := float32(target.Keep.Float())
	if b.options.Weights && target.Keep.Num == 0 {
		return 0
	}
	trained, token := int32(0), 0
	for _, span := range b.spans(tt) {
		if d == nil && !b.options.Weights { // all of it
			copy(out.labels[ids0+int(span.Start):ids0+int(span.End)], out.ids[ids0+int(span.Start):])
			trained += span.Len()
			continue
		}
		for i := ids0 + int(span.Start); i < ids0+int(span.End); i++ {
			if d == nil || d.DrawToken(turn.Index, token, target.Keep) {
				out.labels[i] = out.ids[i]
				trained++
				if b.options.Weights {
					out.weights[i] = weight
				}
			}
			token++
		}
	}
	return trained
}

// labelSpans notes the spans of a turn that carry loss whatever the draw, given in b.text.IDs, and puts labels on them
// when the draw has left them out. It returns how many tokens it labelled.
func (b *Builder) labelSpans(turn int, spans []turnmill.Span, shift int32, observation turnmill.Span, alone bool, out *Rows, ids0 int) (trained int32) {
	pairs := make([]int32, 0, 2*len(spans))
	for _, s := range spans {
		s.Start, s.End = s.Start+shift, s.End+shift
		pairs = append(pairs, s.Start-observation.Start, s.End-observation.Start)
		if alone {
			copy(out.labels[ids0+int(s.Start):ids0+int(s.End)], out.ids[ids0+int(s.Start):])
			trained += s.Len()
		}
	}
	b.results[turn].Spans = pairs
	return trained
}

// spans returns the spans of a turn that the objective trains; an empty one trains nothing.
func (b *Builder) spans(tt turnmill.TurnTokens) [2]turnmill.Span {
	switch b.options.Objective {
	case Policy:
		return [2]turnmill.Span{tt.Action}
	case Both:
		return [2]turnmill.Span{tt.Action, tt.Observation}
	}
	return [2]turnmill.Span{tt.Observation}
}

// Document appends the rows of a text to out: windows of SeqLen tokens, each of which begins with the token
// that begins a text, where the format has one. All tokens but the first of a row are trained.
func (b *Builder) Document(text string, out *Rows) (Result, error) {
	b.start(0)
	b.format.Document(b.text, text)
	if err := b.text.Err(); err != nil {
		return Result{}, err
	}
	b.notes[turnmill.NoteForgedControl] += int64(b.text.Forged)
	b.notes[turnmill.NoteAddedToken] += int64(b.text.Added)
	var lost int64
	head, all := b.text.IDs[:b.text.Observation.Start], b.text.IDs[b.text.Observation.Start:]
	for from, window := 0, 0; from < len(all); window++ {
		to := min(from+b.options.SeqLen-len(head), len(all))
		end := int32(0)
		if to == len(all) {
			end = 1
		}
		loss := int32(to - from)
		r := TurnResult{Verdict: turnmill.Verdict{Status: turnmill.StatusTarget}, Row: out.next(), Observation: loss - end,
			Loss: loss, Trained: int32(len(head)) + loss - 1}
		if len(head) == 0 && window == 0 {
			r.Loss-- // nothing comes before the first token: it was never a target
		}
		lost += int64(r.Loss - r.Trained) // a target but for its place in the row
		if r.Trained == 0 {
			r.Row, r.Verdict = -1, turnmill.Verdict{Status: turnmill.StatusDropped, Reason: turnmill.ReasonNoLoss}
		} else {
			r.Response = turnmill.Span{Start: int32(len(head)), End: int32(len(head)) + loss}
			b.documentRow(head, all[from:to], window, end, out)
		}
		b.results = append(b.results, r)
		from = to
	}
	res := b.result("")
	res.RowLoss = lost
	if len(b.results) > 0 && b.results[0].Row < 0 {
		res.Reason = turnmill.ReasonNoLoss
	}
	return res, nil
}

func (b *Builder) documentRow(head, ids []int32, window int, end int32, out *Rows) {
	ids0, turns0 := len(out.ids), len(out.turns)
	out.ids = append(append(out.ids, head...), ids...)
	n := len(out.ids) - ids0
	out.labels = append(append(out.labels, turnmill.IgnoreIndex), out.ids[ids0+1:]...)
	if b.options.Weights {
		out.weights = append(out.weights, 0)
		for range n - 1 {
			out.weights = append(out.weights, 1)
		}
	}
	out.turns = append(out.turns, turnmill.TurnTokens{
		Turn: window, Observation: turnmill.Span{Start: int32(len(head)), End: int32(n)}, EndTokens: end, Trained: int32(n) - 1})
	out.add(ids0, turns0)
}

func appendIgnore(labels []int32, n int) []int32 {
	from := len(labels)
	labels = slices.Grow(labels, n)[:from+n]
	added := labels[from:]
	for i := range min(n, 16) {
		added[i] = turnmill.IgnoreIndex
	}
	for done := 16; done < n; done *= 2 {
		copy(added[done:], added[:done])
	}
	return labels
}

// add makes a row of what was appended since ids0 and turns0.
func (r *Rows) add(ids0, turns0 int) {
	row := turnmill.Row{IDs: r.ids[ids0:], Labels: r.labels[ids0:], Turns: r.turns[turns0:]}
	if len(r.weights) > 0 {
		row.Weights = r.weights[ids0:]
	}
	r.Rows = append(r.Rows, row)
	if r.Full != nil && len(r.ids) >= cmp.Or(r.many, FullTokens) {
		r.Full()
	}
}

// next is the number of the row that is appended next.
func (r *Rows) next() int { return r.taken + len(r.Rows) }

// cut takes back what was appended since ids0 and turns0.
func (r *Rows) cut(ids0, turns0 int) {
	r.ids, r.labels, r.turns = r.ids[:ids0], r.labels[:ids0], r.turns[:turns0]
	if len(r.weights) > 0 {
		r.weights = r.weights[:ids0]
	}
}
