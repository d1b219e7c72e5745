package pipelines

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// sampleOutcome is what of an outcome sft alone has.
type sampleOutcome struct {
	queries []*QueryLine
	replies []byte // JSON lines
	lines   int64  // of replies
	prompts []stats.PromptRow
	counts  *SFTCounts

	// Of the trajectory at hand.
	results []shard.TurnResult
	shown   []bool     // turns that a prompt shows
	first   *QueryLine // that has no row
	rows    int
	noted   []turnmill.TurnTokens // of the last row
	tokens  int                   // of it
	notes   turnmill.Notes
}

// failure tells whether a query with this reason has failed: an answer is not there, and asking again may bring it.
func failure(reason turnmill.Reason) bool {
	switch reason {
	case turnmill.ReasonRolloutFailed, turnmill.ReasonRolloutTimeout, turnmill.ReasonJudgeFailed, turnmill.ReasonJudgeTimeout,
		turnmill.ReasonNotJudged, turnmill.ReasonBudget:
		return true
	}
	return false
}

func (s *sampleOutcome) reset() {
	s.queries, s.replies, s.lines, s.noted = s.queries[:0], s.replies[:0], 0, s.noted[:0]
	clear(s.prompts)
	s.prompts = s.prompts[:0]
	s.counts = newSFTCounts()
}

// startSamples opens the account of a trajectory of so many turns.
func (o *outcome) startSamples(turns int) {
	s := o.sft
	s.first, s.rows, s.results, s.shown, s.notes = nil, 0, s.results[:0], s.shown[:0], turnmill.Notes{}
	for range turns {
		s.results, s.shown = append(s.results, shard.TurnResult{Row: -1}), append(s.shown, false)
	}
}

// noteRow keeps what is needed of the last row, which may be taken away to be written.
func (o *outcome) noteRow() {
	if n := len(o.rows.Rows); n > 0 {
		row := &o.rows.Rows[n-1]
		o.sft.noted, o.sft.tokens = append(o.sft.noted[:0], row.Turns...), len(row.IDs)
	}
}

// sampleRow enters a row that was just made: its target, and the turns that it holds as history where no row
// before does.
func (o *outcome) sampleRow(r *SampleRow, res *shard.SampleResult) {
	s := o.sft
	if len(s.noted) == 0 {
		o.noteRow()
	}
	r.fill(res, s.tokens, len(s.noted)-1)
	for i, turn := range s.noted {
		result := &s.results[turn.Turn]
		switch {
		case i == len(s.noted)-1:
			response := turnmill.Span{Start: r.Answer.Start, End: r.Answer.End}
			if res.Reasoning.Len() > 0 {
				response.Start = res.Reasoning.Start
			}
			*result = shard.TurnResult{Verdict: turnmill.Verdict{Status: turnmill.StatusTarget}, Row: res.Row, Action: res.Action, Response: response,
				Observation: response.Len() - 1, Loss: res.Trained, Trained: res.Trained}
		case result.Row < 0:
			*result = shard.TurnResult{Verdict: turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonHistory}, Row: res.Row,
				Action: turn.Action, Response: turn.Observation, Observation: turn.Observation.Len() - 1}
		}
	}
	s.noted = s.noted[:0]
	s.rows++
	s.notes.Add(&res.Notes)
}

// query enters one query and its end.
func (o *outcome) query(q *QueryLine, h *hearing, at int) {
	s := o.sft
	s.queries = append(s.queries, q)
	var n int64
	s.replies, n = h.appendReplies(s.replies)
	s.lines += n
	s.counts.add(q, h, o.prompts)
	o.counts.Each(h.Domain, func(l *stats.Ledger) {
		a := l.Query()
		a.In++
		if q.State == "selected" {
			a.Out++
		} else {
			enter(a, q.State, q.Reason)
		}
	})
	if q.State == "selected" {
		return
	}
	if s.first == nil {
		s.first = q
	}
	if s.results[at].Row < 0 {
		s.results[at].Verdict = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: q.Reason}
	}
	detail := q.Detail
	if detail == "" {
		detail = q.judged()
	}
	o.reject(rejectLine{Kind: "query", Status: q.State, Reason: q.Reason, Detail: detail, ID: q.ID, Turn: &q.Turn, Domain: q.Domain})
}

// sampled closes the account of a trajectory whose queries have ended.
func (o *outcome) sampled(t *turnmill.Trajectory, targets []shard.Target) {
	s := o.sft
	reason, status := turnmill.Reason(""), "dropped"
	switch {
	case s.rows > 0:
		o.rec.kept = true
		o.split()
	case s.first == nil:
		reason = turnmill.ReasonNoTarget
	default:
		reason, status = s.first.Reason, s.first.State
	}
	if reason != "" {
		o.lose(status, reason, t.ID, t.Domain, nil)
		o.counts.Sources.Lose(t.Source, t.Domain, reason, 1, 0)
	}
	o.note(t.Domain, t.ID, &s.notes)
	for i := range s.results {
		o.settle(&s.results[i], &targets[i], s.shown[i])
	}
	o.turnsOf(t, targets, s.results, reason == "")
	o.counts.Each(t.Domain, func(l *stats.Ledger) {
		l.Trajectories.In++
		if reason == "" {
			l.Trajectories.Out++
		} else {
			enter(&l.Trajectories, status, reason)
		}
		for i := range s.results {
			countTurn(l, &s.results[i])
		}
	})
}

// settle gives a turn its verdict that no query has given it.
func (o *outcome) settle(r *shard.TurnResult, target *shard.Target, shown bool) {
	switch {
	case target.Status == turnmill.StatusDropped:
		r.Verdict = target.Verdict
	case r.Status == turnmill.StatusContext && target.Status == turnmill.StatusContext:
		r.Reason = target.Reason // dialogue and the like say more than history
	case r.Row < 0 && r.Status != turnmill.StatusDropped && !shown:
		r.Verdict = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: turnmill.ReasonNotAsked}
	}
}

// SFTCounts is what is counted of queries beside the ledger. It merges.
type SFTCounts struct {
	Queries reject.Accounts     `json:"queries"` // by domain: candidates, kept, why not, what judges are like
	Chains  reject.Reasonings   `json:"chains"`  // the reasoning of rows, by domain
	Replies ReplyCounts         `json:"replies"`
	Usage   map[string]UsageSum `json:"usage"` // of the answers that were used: rollouts, judges
	Cut     int64               `json:"cut"`   // rows that lost their oldest turns
	// Rewritten counts rows whose answer is not the rollout's text to the byte.
	Rewritten int64 `json:"rewritten"`
	// Verifiers are counted by domain; nil where there are none.
	Verifiers map[turnmill.Domain]*VerifierCounts `json:"verifiers,omitempty"`
	// Prompts are those of the pool rl, by domain; nil in others.
	Prompts map[turnmill.Domain]*PromptCounts `json:"prompts,omitempty"`
}

// ReplyCounts counts answers.
type ReplyCounts struct {
	Found   int64 `json:"found"`           // answers to what was asked
	Used    int64 `json:"used"`            // those of them that the choice looked at
	Surplus int64 `json:"surplus"`         // those of them that repeat a sample, or go beyond the number asked for
	Asked   int64 `json:"asked,omitempty"` // those of them that endpoints gave, and no file holds
}

// UsageSum adds up tokens as endpoints reported them.
type UsageSum struct {
	Replies    int64 `json:"replies"`
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`
}

// Pairs returns how many pairs of rollouts were compared in both orders.
func (c *SFTCounts) Pairs() (n int64) {
	for _, a := range c.Queries {
		n += a.Position.Pairs
	}
	return n
}

func newSFTCounts() *SFTCounts {
	return &SFTCounts{Queries: reject.Accounts{}, Chains: reject.Reasonings{}, Usage: map[string]UsageSum{}}
}

// Add adds o to c.
func (c *SFTCounts) Add(o *SFTCounts) {
	c.Queries.Merge(o.Queries)
	c.Chains.Merge(o.Chains)
	c.Replies.Found += o.Replies.Found
	c.Replies.Used += o.Replies.Used
	c.Replies.Surplus += o.Replies.Surplus
	c.Replies.Asked += o.Replies.Asked
	c.Cut += o.Cut
	for domain, p := range o.Prompts {
		c.addPrompts(domain, p)
	}
	for domain, v := range o.Verifiers {
		c.addVerifiers(domain, v)
	}
	c.Rewritten += o.Rewritten
	for kind, u := range o.Usage {
		c.use(kind, u)
	}
}

func (c *SFTCounts) use(kind string, u UsageSum) {
	sum := c.Usage[kind]
	sum.Replies += u.Replies
	sum.Prompt += u.Prompt
	sum.Completion += u.Completion
	sum.Reasoning += u.Reasoning
	c.Usage[kind] = sum
}

// add counts one query.
func (c *SFTCounts) add(q *QueryLine, h *hearing, prompts bool) {
	c.verifiersOf(q)
	c.promptOf(q)
	if prompts { // nothing was asked yet
		return
	}
	end := h.Outcome
	if end.State == reject.Selected && q.Row == nil { // the winner gave no row
		end.State, end.Reason = reject.Dropped, q.Reason
		if q.State == "rejected" {
			end.State = reject.Failed
		}
	}
	c.Queries.Add(&h.Case, &end)
	if q.Row != nil {
		c.Chains.Add(h.Domain, h.reply(h.Winner).Reasoning, int64(q.Row.Reasoning.Len()))
		if q.Row.Cut > 0 {
			c.Cut++
		}
		if q.Row.Rewritten {
			c.Rewritten++
		}
	}
	c.Replies.Found += h.found
	c.Replies.Surplus += h.surplus
	c.Replies.Asked += h.asked
	spend := func(kind string, r *turnmill.Reply) {
		c.Replies.Used++
		c.use(kind, UsageSum{1, r.Usage.Prompt, r.Usage.Completion, r.Usage.Reasoning})
	}
	for i := range h.rollouts {
		spend("rollouts", &h.rollouts[i])
	}
	for _, all := range h.scores {
		for i := range all {
			spend("judges", &all[i])
		}
	}
	for _, p := range h.pairs {
		for i := range p.replies {
			spend("judges", &p.replies[i])
		}
	}
}
