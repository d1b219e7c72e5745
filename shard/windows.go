package shard

import (
	"github.com/turnmill/turnmill"
)

// windows cuts the pieces into rows: each takes as many turns as fit beside the system prompt.
func (b *Builder) windows(t *turnmill.Trajectory, targets []Target, d Drawer, system int32, out *Rows) error {
	room := int32(b.options.SeqLen) - system
	for from := 0; from < len(b.pieces); {
		to, used := from, int32(0)
		for to < len(b.pieces) && used+b.pieces[to].all.Len() <= room {
			used += b.pieces[to].all.Len()
			to++
		}
		var err error
		if to, err = b.closeWindow(t, from, to, used, room); err != nil {
			return err
		}
		if to == from {
			b.drop(b.pieces[from].turn, turnmill.ReasonTurnTooLong)
			from++
			continue
		}
		b.row(t, targets, d, system, b.pieces[from:to], out)
		from = to
	}
	return nil
}

// closeWindow writes the last turn of pieces[from:to] as a row's last turn, and leaves turns out of the
// window until that fits. It returns the new end.
func (b *Builder) closeWindow(t *turnmill.Trajectory, from, to int, used, room int32) (int, error) {
	for ; to > from; to-- {
		p := &b.pieces[to-1]
		if p.last || !b.format.LastDiffers() {
			return to, nil
		}
		used -= p.all.Len()
		before := ""
		if p.turn > 0 {
			before = t.Turns[p.turn-1].Observation
		}
		last, err := b.piece(t, p.turn, before, true)
		if err != nil {
			return 0, err
		}
		if used+last.all.Len() <= room {
			r := &b.results[p.turn]
			*p = last
			r.Observation = p.observation.Len() - 1
			if r.Loss > 0 {
				r.Loss = b.loss(last)
			}
			return to, nil
		}
	}
	return from, nil
}

// row appends one row, or marks its turns no_loss when nothing in it would be trained.
func (b *Builder) row(t *turnmill.Trajectory, targets []Target, d Drawer, system int32, pieces []piece, out *Rows) {
	ids0, turns0 := len(out.ids), len(out.turns)
	out.ids = append(out.ids, b.text.IDs[:system]...)
	out.labels = appendIgnore(out.labels, int(system))
	if b.options.Weights {
		out.weights = append(out.weights, make([]float32, system)...)
	}
	trained, differs := int32(0), false
	for _, p := range pieces {
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
		trained += tt.Trained
		differs = differs || p.differs
		out.turns = append(out.turns, tt)
	}
	for i, p := range pieces {
		r := &b.results[p.turn]
		if trained == 0 {
			b.drop(p.turn, turnmill.ReasonNoLoss)
			continue
		}
		r.Row, r.Place, r.Trained = len(out.Rows), i, out.turns[turns0+i].Trained
		if r.Status == turnmill.StatusTarget && r.Trained == 0 {
			r.Verdict = turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonMasked}
		}
	}
	if trained == 0 {
		out.cut(ids0, turns0)
		return
	}
	if differs {
		b.notes[turnmill.NoteTemplateDiffer]++
	}
	out.add(ids0, turns0)
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

// Document appends the rows of a text to out: windows of SeqLen tokens, all of them trained but the first
// of each row.
func (b *Builder) Document(text string, out *Rows) (Result, error) {
	b.start(0)
	b.format.Document(b.text, text)
	if err := b.text.Err(); err != nil {
		return Result{}, err
	}
	b.notes[turnmill.NoteForgedControl] += int64(b.text.Forged)
	b.notes[turnmill.NoteAddedToken] += int64(b.text.Added)
	var lost int64
	all := b.text.IDs
	for from, window := 0, 0; from < len(all); window++ {
		to := min(from+b.options.SeqLen, len(all))
		end := int32(0)
		if to == len(all) {
			end = 1
		}
		loss := int32(to - from)
		if window == 0 {
			loss-- // nothing comes before the first token: it was never a target
		} else {
			lost++ // a target but for its place in the row
		}
		r := TurnResult{Verdict: turnmill.Verdict{Status: turnmill.StatusTarget}, Row: len(out.Rows), Observation: int32(to-from) - end,
			Loss: loss, Trained: int32(to-from) - 1}
		if r.Trained == 0 {
			r.Row, r.Verdict = -1, turnmill.Verdict{Status: turnmill.StatusDropped, Reason: turnmill.ReasonNoLoss}
		} else {
			b.documentRow(all[from:to], window, end, out)
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

func (b *Builder) documentRow(ids []int32, window int, end int32, out *Rows) {
	ids0, turns0 := len(out.ids), len(out.turns)
	out.ids = append(out.ids, ids...)
	out.labels = append(append(out.labels, turnmill.IgnoreIndex), ids[1:]...)
	if b.options.Weights {
		out.weights = append(out.weights, 0)
		for range ids[1:] {
			out.weights = append(out.weights, 1)
		}
	}
	n := int32(len(ids))
	out.turns = append(out.turns, turnmill.TurnTokens{
		Turn: window, Observation: turnmill.Span{End: n}, EndTokens: end, Trained: n - 1})
	out.add(ids0, turns0)
}

func appendIgnore(labels []int32, n int) []int32 {
	for range n {
		labels = append(labels, turnmill.IgnoreIndex)
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
}

// cut takes back what was appended since ids0 and turns0.
func (r *Rows) cut(ids0, turns0 int) {
	r.ids, r.labels, r.turns = r.ids[:ids0], r.labels[:ids0], r.turns[:turns0]
	if len(r.weights) > 0 {
		r.weights = r.weights[:ids0]
	}
}
