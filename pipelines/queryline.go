package pipelines

import (
	"fmt"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/ingest/replies"
	"github.com/turnmill/turnmill/shard"
)

// QueryLine is one line of queries/pNNNNN.jsonl.zst: one query, and its one end.
type QueryLine struct {
	ID         string            `json:"id"`
	Trajectory string            `json:"trajectory"`
	Turn       int               `json:"turn"` // as in the source
	Domain     turnmill.Domain   `json:"domain"`
	Source     string            `json:"source,omitempty"`
	State      string            `json:"state"` // selected, dropped, rejected
	Reason     turnmill.Reason   `json:"reason,omitempty"`
	Detail     string            `json:"detail,omitempty"`
	Template   turnmill.Template `json:"template"`
	Rollouts   []RolloutLine     `json:"rollouts"`
	Pairs      []PairLine        `json:"pairs"`
	Candidate  bool              `json:"candidate"`
	Winner     *int              `json:"winner,omitempty"`
	Decided    string            `json:"decided,omitempty"` // by what
	Wins       []int             `json:"wins,omitempty"`
	Reward     reject.Reward     `json:"reward,omitempty"` // of the winner, 0 to 25
	Verifier   *VerifierLine     `json:"verifier,omitempty"`
	Row        *SampleRow        `json:"row,omitempty"`
	Prompt     *PromptLine       `json:"prompt,omitempty"` // of the pool rl
}

// RolloutLine is one answer to a query, and what a judge said of it.
type RolloutLine struct {
	State    string         `json:"state"` // as replies end; missing
	Detail   string         `json:"detail,omitempty"`
	Judged   string         `json:"judged,omitempty"` // what the judgement is worth
	Attempts int            `json:"attempts,omitempty"`
	Scores   *judge.Scores  `json:"scores,omitempty"`  // format, factuality, consistency, realism, quality
	Why      string         `json:"why,omitempty"`     // the judgement is worth no more
	Chain    *ChainLine     `json:"chain,omitempty"`   // of a complete rollout
	Verdict  *VerdictLine   `json:"verdict,omitempty"` // of the query's verifier
	Reward   *reject.Reward `json:"reward,omitempty"`  // where a judge was heard, 0 to 25
}

// ChainLine is what a chain of thought looks like.
type ChainLine struct {
	Chars      int `json:"chars"`      // code points
	Interrupts int `json:"interrupts"` // where it stops itself
	Leaks      int `json:"leaks"`      // where it speaks of an answer that it must not have seen
}

func newChainLine(reasoning string) *ChainLine {
	return &ChainLine{utf8.RuneCountInString(reasoning), len(reject.Interrupts(reasoning)), len(reject.Leaks(reasoning))}
}

// PairLine is one comparison in one order.
type PairLine struct {
	First    int    `json:"first"` // shown first
	Second   int    `json:"second"`
	Judged   string `json:"judged"`
	Attempts int    `json:"attempts"`
	Better   *int   `json:"better,omitempty"`
}

// SampleRow says where a query's row is, and what is in it. Ranges are of tokens, half open.
type SampleRow struct {
	Shard     string        `json:"shard"`
	Row       int64         `json:"row"`
	Tokens    int32         `json:"tokens"`
	Trained   int32         `json:"trained"`
	System    turnmill.Span `json:"system"`
	Action    turnmill.Span `json:"action"`
	Reasoning turnmill.Span `json:"reasoning"`
	Answer    turnmill.Span `json:"answer"`    // its end token included
	Cut       int           `json:"cut"`       // whole oldest turns that were left out
	Loss      string        `json:"loss"`      // which part is trained
	History   int           `json:"history"`   // turns before the target
	Rewritten bool          `json:"rewritten"` // the rollout has words outside its prediction, or another template's form
	local     int           // row of the outcome
}

// newQueryLine says what was heard about a query.
func newQueryLine(id string, t *turnmill.Trajectory, at int, tmpl turnmill.Template, h *hearing) *QueryLine {
	q := &QueryLine{ID: id, Trajectory: clone(t.ID), Turn: t.Turns[at].Index, Domain: h.Domain, Source: clone(t.Source),
		Template: tmpl, Candidate: h.Candidate, Rollouts: []RolloutLine{}, Pairs: []PairLine{}}
	next := 0
	for i := range h.Rollouts {
		r := &h.Rollouts[i]
		if !r.Answered {
			q.Rollouts = append(q.Rollouts, RolloutLine{State: "missing"})
			continue
		}
		line := RolloutLine{State: r.State.String(), Detail: h.rollouts[next].Error, Attempts: len(h.scores[i])}
		if r.State == turnmill.ReplyComplete {
			line.Chain = newChainLine(h.rollouts[next].Reasoning)
			line.Judged, line.Why = r.Judgement.String(), h.scored[i].Detail
		}
		next++
		if r.Judgement == judge.Valid {
			line.Scores = &h.scored[i].Scores
		}
		q.Rollouts = append(q.Rollouts, line)
	}
	for _, p := range h.pairs {
		line := PairLine{First: p.First, Second: p.ID.Second, Judged: p.State.String(), Attempts: len(p.replies)}
		if p.State == judge.Valid {
			better := p.First
			if p.Preference.Second {
				better = p.ID.Second
			}
			line.Better = &better
		}
		q.Pairs = append(q.Pairs, line)
	}
	if h.Winner >= 0 {
		winner := h.Winner
		q.Winner, q.Decided, q.Wins = &winner, h.Decider.String(), h.Wins
	}
	return q
}

// judged says for a reject line what the judges said of the rollouts.
func (q *QueryLine) judged() string {
	var text []byte
	for i, r := range q.Rollouts {
		if i > 0 {
			text = append(text, "; "...)
		}
		text = fmt.Appendf(text, "rollout %d %s", i, r.State)
		switch {
		case r.Detail != "":
			text = append(append(text, ": "...), r.Detail...)
		case r.Scores != nil:
			text = fmt.Appendf(text, ", scores %v", *r.Scores)
		case r.Judged != "":
			text = append(append(text, ", judged "...), r.Judged...)
			if r.Why != "" {
				text = append(append(text, ": "...), r.Why...)
			}
		}
	}
	return string(text)
}

// appendReplies appends the raw answers that the choice has used, a line each: rollouts, scores, pairs.
func (h *hearing) appendReplies(dst []byte) ([]byte, int64) {
	lines := int64(0)
	for i := range h.rollouts {
		dst = replies.AppendRollout(dst, &h.rollouts[i])
		lines++
	}
	for sample, all := range h.scores {
		for i := range all {
			dst = replies.AppendScores(dst, h.id, sample, &all[i])
			lines++
		}
	}
	for _, p := range h.pairs {
		for i := range p.replies {
			dst = replies.AppendPair(dst, p.Query, p.First, p.ID.Second, &p.replies[i])
			lines++
		}
	}
	return dst, lines
}

// fill says where a row is in its outcome, and what is in it.
func (r *SampleRow) fill(res *shard.SampleResult, tokens, history int) {
	r.System, r.Action, r.Reasoning, r.Answer = res.System, res.Action, res.Reasoning, res.Answer
	r.Trained, r.Cut, r.local, r.Tokens, r.History = res.Trained, res.Cut, res.Row, int32(tokens), history
}
