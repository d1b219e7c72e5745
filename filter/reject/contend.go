package reject

import (
	"cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// complete asks whether every rollout is an answer. What can never come right is looked for first, so that no
// query is asked again in vain.
func (c *Case) complete() (State, turnmill.Reason) {
	failed, timeout, unasked := false, false, len(c.Rollouts) == 0
	for i := range c.Rollouts {
		switch r := &c.Rollouts[i]; {
		case !r.Answered:
			unasked = true
		case r.State == turnmill.ReplyComplete:
		case r.State == turnmill.ReplyFailed:
			failed = true
		case r.State == turnmill.ReplyTimeout:
			timeout = true
		default:
			return Dropped, turnmill.ReasonIncompleteRollouts
		}
	}
	switch {
	case unasked && !c.RolloutsStopped:
		return Dropped, turnmill.ReasonIncompleteRollouts
	case failed:
		return Failed, turnmill.ReasonRolloutFailed
	case timeout:
		return Failed, turnmill.ReasonRolloutTimeout
	case unasked:
		return Failed, turnmill.ReasonBudget
	}
	return Selected, ""
}

// judged asks whether the judges have spoken about every rollout, and validly about one.
func (c *Case) judged() (State, turnmill.Reason) {
	valid := false
	for i := range c.Rollouts {
		s := c.Rollouts[i].Judgement
		if s.Transient() {
			return Failed, c.unspoken(s)
		}
		valid = valid || s == judge.Valid
	}
	if !valid {
		return Dropped, spoken(c.Rollouts[0].Judgement)
	}
	return Selected, ""
}

// unspoken names why an answer of a judge is not there.
func (c *Case) unspoken(s judge.State) turnmill.Reason {
	switch {
	case s == judge.Timeout:
		return turnmill.ReasonJudgeTimeout
	case s == judge.Failed:
		return turnmill.ReasonJudgeFailed
	case c.JudgesStopped:
		return turnmill.ReasonBudget
	}
	return turnmill.ReasonNotJudged
}

// spoken names why an answer of a judge is of no use.
func spoken(s judge.State) turnmill.Reason {
	switch s {
	case judge.Refused:
		return turnmill.ReasonJudgeRefused
	case judge.Truncated:
		return turnmill.ReasonJudgeTruncated
	case judge.OutOfRange:
		return turnmill.ReasonJudgeOutOfRange
	case judge.MissingDimension:
		return turnmill.ReasonJudgeMissing
	}
	return turnmill.ReasonJudgeUnparsable
}

// contenders returns the samples among which the winner is sought, in order.
func (o Options) contenders(c *Case) []int {
	var in []int
	for i := range c.Rollouts {
		r := &c.Rollouts[i]
		if r.Judgement != judge.Valid || o.Pairs != PairsAll && !o.above(r.Scores) || o.leaks(r) {
			continue
		}
		if o.Pairs == PairsTied && len(in) > 0 {
			switch order := compareMeans(r.Scores, c.Rollouts[in[0]].Scores); {
			case order < 0:
				continue
			case order > 0:
				in = in[:0]
			}
		}
		in = append(in, i)
	}
	return in
}

// leaks tells whether a rollout is no contender for its reasoning.
func (o Options) leaks(r *Rollout) bool { return o.DropLeaking && r.Leaking }

// noneGood says why a query has no winner though the judges have spoken.
func (o Options) noneGood(c *Case) turnmill.Reason {
	for i := range c.Rollouts {
		if r := &c.Rollouts[i]; r.Judgement == judge.Valid && o.above(r.Scores) && o.leaks(r) {
			return turnmill.ReasonLeakage
		}
	}
	return turnmill.ReasonBelowThreshold
}

// compares tells whether contenders are shown to a judge in pairs.
func (o Options) compares(contenders []int) bool { return o.Pairs != PairsNone && len(contenders) > 1 }

// above tells whether a mean reaches the threshold; equality does.
func (o Options) above(s judge.Scores) bool {
	return o.Threshold.Den == 0 || compareRatios(s.Mean(), o.Threshold) >= 0
}

// compareMeans compares two means exactly.
func compareMeans(a, b judge.Scores) int { return compareRatios(a.Mean(), b.Mean()) }

// compareRatios compares as integers. A ratio without a denominator is below every other.
func compareRatios(a, b turnmill.Ratio) int {
	if a.Den == 0 || b.Den == 0 {
		return cmp.Compare(a.Den, b.Den)
	}
	return cmp.Compare(a.Num*b.Den, b.Num*a.Den)
}

// wins counts the pairs that each sample won: both orders name it. A pair whose orders disagree follows the
// place and not the text, and is won by nobody; so is one of which an order is refused or cannot be read,
// because one order alone cannot tell text from place. An order that is not there fails the query.
func (c *Case) wins(contenders []int) ([]int, turnmill.Reason) {
	wins := make([]int, len(c.Rollouts))
	for i, a := range contenders {
		for _, b := range contenders[i+1:] {
			for _, s := range []judge.State{c.verdict(a, b), c.verdict(b, a)} {
				if s.Transient() {
					return nil, c.unspoken(s)
				}
			}
			if winner, ok := c.winner(a, b); ok {
				wins[winner]++
			}
		}
	}
	return wins, ""
}

// winner returns which of two samples both orders name.
func (c *Case) winner(a, b int) (int, bool) {
	one, ok := c.find(a, b)
	two, also := c.find(b, a)
	if !ok || !also || one.State != judge.Valid || two.State != judge.Valid || one.Second == two.Second {
		return 0, false
	}
	if one.Second {
		return b, true
	}
	return a, true
}

// verdict returns the state of one order, None when it is not there.
func (c *Case) verdict(first, second int) judge.State {
	p, _ := c.find(first, second)
	return p.State
}

// find returns the first pair in one order.
func (c *Case) find(first, second int) (judge.Preference, bool) {
	for i := range c.Pairs {
		if c.Pairs[i].First == first && c.Pairs[i].Second == second {
			return c.Pairs[i].Preference, true
		}
	}
	return judge.Preference{}, false
}
