package shard

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/chat"
)

// AnswerLoss says which part of a sample's answer carries loss.
type AnswerLoss uint8

// Loss on reasoning and answer, which is the report's, or on one of them. The end token belongs to the answer.
const (
	LossBoth AnswerLoss = iota
	LossReasoning
	LossAnswer
)

// ParseAnswerLoss returns what both, reasoning and answer name.
func ParseAnswerLoss(name string) (AnswerLoss, bool) {
	for i, n := range [...]string{"both", "reasoning", "answer"} {
		if n == name {
			return AnswerLoss(i), true
		}
	}
	return 0, false
}

// Sample is one question with its answer: the system prompt, the turns before the target as context, the
// target's action, and what a model reasoned and answered. Report, section 3.3.
type Sample struct {
	Trajectory *turnmill.Trajectory // rendered under a template, or plain
	Target     int                  // position in Trajectory.Turns; its own observation and what follows are not read
	Verdicts   []turnmill.Verdict   // one a turn; those dropped are no context. nil: none is
	Reasoning  string               // without tags; "" when there is none
	Answer     string
	Loss       AnswerLoss
	Whole      bool // a sample longer than SeqLen is dropped, not cut
}

// SampleResult is what became of a sample. Spans are token ranges of its row.
type SampleResult struct {
	Reason    turnmill.Reason // why no row came out: system_too_long, turn_too_long, no_loss; "" when there is one
	Row       int             // its number, as in Rows; -1 without one
	System    turnmill.Span   // what stands before the first turn, headers included
	Action    turnmill.Span   // of the target, its end token included
	Reasoning turnmill.Span   // with its tags, less what the generation prompt holds; empty without reasoning
	Answer    turnmill.Span   // the end token included; it follows Reasoning
	EndToken  int32           // place of the end token: Answer.End-1
	Trained   int32           // tokens with loss
	Cut       int             // whole oldest turns that were left out, so that the row fits SeqLen
	Notes     turnmill.Notes
}

// written is a piece with what its text holds.
type written struct {
	piece
	forged, added, straddles int
	reasoning                turnmill.Span
}

// Sample appends the row of s to out. Where the row is longer than SeqLen, whole turns are left out from the
// oldest on, never the system prompt or the target; where these two do not fit, there is no row. An error
// costs the sample, and out is as it was before. Objective and Weights of the options are a corpus's: they do
// not count here.
func (b *Builder) Sample(s *Sample, out *Rows) (SampleResult, error) {
	b.start(0)
	t := s.Trajectory
	if s.Target < 0 || s.Target >= len(t.Turns) || s.Verdicts != nil && len(s.Verdicts) != len(t.Turns) {
		return SampleResult{}, fmt.Errorf("target %d and %d verdicts for %d turns", s.Target, len(s.Verdicts), len(t.Turns))
	}
	b.ends.first, b.ends.last = b.format.Forms(&t.System)
	b.format.System(b.text, &t.System)
	if err := b.text.Err(); err != nil {
		return SampleResult{}, err
	}
	system := b.written(piece{all: turnmill.Span{End: int32(len(b.text.IDs))}, differs: b.format.SystemDiffers(&t.System)}, written{})
	target, err := b.target(s, false)
	if err != nil {
		return SampleResult{}, err
	}
	history, full, err := b.history(s, system.all.Len()+target.all.Len())
	if err != nil {
		return SampleResult{}, err
	}
	if history, err = b.opened(s, system.all.Len(), history, &target); err != nil {
		return SampleResult{}, err
	}
	pieces := append([]written{system}, history...)
	res := SampleResult{Row: -1, Cut: full - len(history)}
	if res.Reason = b.refuses(s, append(pieces, target), res.Cut); res.Reason == "" {
		b.sampleRow(s, append(pieces, target), &res, out)
	}
	return res, nil
}

// target writes the turn that is asked for, with the answer in the place of its observation.
func (b *Builder) target(s *Sample, first bool) (written, error) {
	before := b.counts()
	turn := s.Trajectory.Turns[s.Target]
	turn.Observation = s.Answer
	place := b.place(s.Trajectory, s.Target, form{first: first, last: true})
	start := int32(len(b.text.IDs))
	b.format.Answer(b.text, &turn, place, s.Reasoning)
	if err := b.text.Err(); err != nil {
		return written{}, fmt.Errorf("turn %d: %w", turn.Index, err)
	}
	p := b.last(s.Target, start, form{first: first, last: true}, b.format.AnswerDiffers(&turn, place, s.Reasoning))
	w := b.written(p, before)
	w.reasoning = b.text.Reasoning
	return w, nil
}

// history writes the turns before the target, the latest first, while they fit beside used tokens. It
// returns those in the order of the trajectory, and how many there would be without a limit.
func (b *Builder) history(s *Sample, used int32) (fit []written, all int, err error) {
	room := true
	for i := s.Target - 1; i >= 0; i-- {
		if s.Verdicts != nil && s.Verdicts[i].Status == turnmill.StatusDropped {
			continue
		}
		if all++; !room {
			continue
		}
		before := b.counts()
		p, err := b.piece(s.Trajectory, i, form{})
		if err != nil {
			return nil, 0, err
		}
		if used += p.all.Len(); int(used) > b.options.SeqLen {
			room = false
			continue
		}
		fit = append(fit, b.written(p, before))
	}
	for i, j := 0, len(fit)-1; i < j; i, j = i+1, j-1 {
		fit[i], fit[j] = fit[j], fit[i]
	}
	return fit, all, nil
}

// opened writes the first turn of the row again, as such, where the format makes a difference: the oldest of
// history that fits so, else the target.
func (b *Builder) opened(s *Sample, system int32, history []written, target *written) ([]written, error) {
	if !b.ends.first {
		return history, nil
	}
	used := system + target.all.Len()
	for _, p := range history {
		used += p.all.Len()
	}
	for ; len(history) > 0; history = history[1:] {
		used -= history[0].all.Len()
		before := b.counts()
		p, err := b.piece(s.Trajectory, history[0].turn, form{first: true})
		if err != nil {
			return nil, err
		}
		if int(used+p.all.Len()) <= b.options.SeqLen {
			history[0] = b.written(p, before)
			return history, nil
		}
	}
	first, err := b.target(s, true)
	*target = first
	return history, err
}

// refuses returns why the pieces, of which the last is the target, make no row; "" when they do.
func (b *Builder) refuses(s *Sample, pieces []written, cut int) turnmill.Reason {
	n, target := 0, pieces[len(pieces)-1]
	for _, p := range pieces {
		n += int(p.all.Len())
	}
	switch {
	case int(pieces[0].all.Len()+target.prompt) >= b.options.SeqLen:
		return turnmill.ReasonSystemTooLong
	case n > b.options.SeqLen || s.Whole && cut > 0:
		return turnmill.ReasonTurnTooLong
	case s.Loss == LossReasoning && target.reasoning.Len() == 0:
		return turnmill.ReasonNoLoss
	}
	return ""
}

// sampleRow puts the pieces together, the system prompt first and the target last, with labels on the parts
// of the answer that carry loss.
func (b *Builder) sampleRow(s *Sample, pieces []written, res *SampleResult, out *Rows) {
	ids0, turns0, differs := len(out.ids), len(out.turns), false
	var shift int32
	for i, p := range pieces {
		shift = int32(len(out.ids)-ids0) - p.all.Start
		out.ids = append(out.ids, b.text.IDs[p.all.Start:p.all.End]...)
		differs = differs || p.differs
		res.Notes[turnmill.NoteForgedControl] += int64(p.forged)
		res.Notes[turnmill.NoteAddedToken] += int64(p.added)
		res.Notes[turnmill.NoteStraddle] += int64(p.straddles)
		if i > 0 {
			out.turns = append(out.turns, turnmill.TurnTokens{
				Turn: p.turn, EndTokens: 1, Action: moved(p.action, shift), Observation: moved(p.observation, shift)})
		}
	}
	target := pieces[len(pieces)-1]
	res.Row, res.System = out.next(), turnmill.Span{End: pieces[0].all.Len()}
	res.Action, res.Reasoning, res.Answer = moved(target.action, shift), moved(target.reasoning, shift), moved(target.observation, shift)
	res.EndToken = res.Answer.End - 1
	if differs {
		res.Notes[turnmill.NoteTemplateDiffer]++
	}
	out.labels = appendIgnore(out.labels, len(out.ids)-ids0)
	for _, span := range [...]turnmill.Span{s.Loss.reasoning(res), s.Loss.answer(res)} {
		copy(out.labels[ids0+int(span.Start):ids0+int(span.End)], out.ids[ids0+int(span.Start):])
		res.Trained += span.Len()
	}
	out.turns[len(out.turns)-1].Trained = res.Trained
	out.add(ids0, turns0)
}

func (l AnswerLoss) reasoning(r *SampleResult) turnmill.Span {
	if l == LossAnswer {
		return turnmill.Span{}
	}
	return r.Reasoning
}

func (l AnswerLoss) answer(r *SampleResult) turnmill.Span {
	if l == LossReasoning {
		return turnmill.Span{}
	}
	return r.Answer
}

func moved(s turnmill.Span, by int32) turnmill.Span {
	return turnmill.Span{Start: s.Start + by, End: s.End + by}
}

// counts is what the text holds so far.
func (b *Builder) counts() written {
	return written{forged: b.text.Forged, added: b.text.Added, straddles: b.text.Straddles}
}

// written is p with what its own text holds.
func (b *Builder) written(p piece, before written) written {
	return written{piece: p, forged: b.text.Forged - before.forged, added: b.text.Added - before.added, straddles: b.text.Straddles - before.straddles}
}

// place is where turn i stands, and the state that is shown there.
func (b *Builder) place(t *turnmill.Trajectory, i int, as form) chat.Place {
	place := chat.Place{Last: as.last}
	if b.options.State.Shows(t, i) {
		place.State = t.Turns[i].State
	}
	if as.first {
		place.First = &t.System
	}
	return place
}

// last is the piece that was written from start on.
func (b *Builder) last(turn int, start int32, as form, differs bool) piece {
	return piece{
		turn: turn, all: turnmill.Span{Start: start, End: int32(len(b.text.IDs))},
		action: b.text.Action, observation: b.text.Observation, prompt: b.text.Prompt - start,
		form: as, differs: differs,
	}
}
