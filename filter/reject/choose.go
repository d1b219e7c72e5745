// Package reject chooses: of the rollouts of a query the best one, or none, and says why. It is pure: no I/O,
// goroutine, clock or randomness, and every comparison is one of integers.
//
//	query with k rollouts
//	  | complete?         else dropped incomplete_rollouts, or failed rollout_failed ...
//	  | judged?           else dropped judge_unparsable ..., or failed judge_failed ...
//	candidate
//	  | threshold         mean of five scores, equality stays; else dropped below_threshold
//	contenders            Options.Ask names their pairs, each in both orders
//	  | wins              a pair is won when both orders name the same rollout
//	  | score, index      what settles a tie
//	selected
//	  v
//	Outcome -> Accounts   by domain, mergeable: Retention, judges' states, position bias
//
// A query ends in exactly one State. Dropped is for good: what was said will not change. Failed may be asked
// again: something was not said. Beside the choice stand the hybrid reward, the gate of verifiers, statistics
// of reasoning and the means of an evaluation. Report, sections 3.3, 3.4.1 and 7.1.
package reject

import (
	"cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// Rollout is what is known about one answer to a query.
type Rollout struct {
	Answered  bool                // false: nothing came back, State means nothing
	State     turnmill.ReplyState // how the answer ended
	Judgement judge.State         // what the judge's answer about it is worth
	Scores    judge.Scores        // of a valid judgement
	Leaking   bool                // its reasoning has Leaks; asked only with Options.DropLeaking
}

// Pair is one comparison of two rollouts, in one order.
type Pair struct {
	First, Second int // samples, as they were shown
	Preference    judge.Preference
}

// Case is all that is known about one query when it is chosen.
type Case struct {
	Domain   turnmill.Domain
	Rollouts []Rollout // by sample; as many as were asked for, answered or not
	Pairs    []Pair    // in any order; of two with the same order the first counts
	// Asking ended early, the budget was spent: rollouts, or judgements, that are not there were not asked.
	RolloutsStopped, JudgesStopped bool
}

// PairRule says which rollouts are compared.
type PairRule uint8

// The rules. Whatever is compared, a winner below the threshold drops the query.
const (
	PairsAbove PairRule = iota // those at or above the threshold
	PairsAll                   // all that are validly judged: the winner may turn out below the threshold
	PairsTied                  // those that share the best mean
	PairsNone                  // none: the best mean wins
)

// Options are the settings of the choice.
type Options struct {
	Threshold turnmill.Ratio // least mean of a winner, on the scale of 1 to 5; equality keeps. Den 0: none
	Pairs     PairRule
	// DropLeaking: a rollout whose reasoning leaks is no contender. The others are chosen among as if it were not there.
	DropLeaking bool
}

// State is where a query ends.
type State uint8

// The three ends.
const (
	Selected State = iota // a rollout was chosen
	Dropped               // a rule refused all; asking again changes nothing
	Failed                // an answer is not there; `turnmill retry` asks again
)

// String returns the state as it stands in files.
func (s State) String() string { return [...]string{"selected", "dropped", "failed"}[s] }

// Decider says what told the winner from the next best.
type Decider uint8

// The deciders, in the order in which they are asked.
const (
	DecidedAlone Decider = iota // there was one contender
	DecidedWins                 // more pairs won
	DecidedScore                // as many pairs won, a better mean
	DecidedIndex                // as many, the same mean: the lower sample
)

// String returns the decider as it stands in files.
func (d Decider) String() string { return [...]string{"alone", "wins", "score", "index"}[d] }

// Outcome is the end of one query.
type Outcome struct {
	State     State
	Reason    turnmill.Reason // empty when selected
	Candidate bool            // every rollout is complete and the judges have spoken: Table 4 of the report counts it
	Winner    int             // the sample; -1 unless selected
	Decider   Decider         // of the winner
	Wins      []int           // pairs won by sample; nil when none was compared
}

// Choose ends a query. Outcomes depend on the case and the options alone, never on the order of pairs. A
// rollout whose judgement is not valid for good is no contender and costs nothing else; one whose judgement
// is not there fails the query, because it might have won.
func (o Options) Choose(c *Case) Outcome {
	out := Outcome{Winner: -1}
	if out.State, out.Reason = c.complete(); out.Reason != "" {
		return out
	}
	if out.State, out.Reason = c.judged(); out.Reason != "" {
		return out
	}
	contenders := o.contenders(c)
	if len(contenders) == 0 {
		out.State, out.Reason, out.Candidate = Dropped, o.noneGood(c), true
		return out
	}
	if o.compares(contenders) {
		out.Wins, out.Reason = c.wins(contenders)
		if out.Reason != "" {
			out.State, out.Wins = Failed, nil
			return out
		}
	}
	out.Candidate = true
	best := contenders[0]
	for _, next := range contenders[1:] {
		if order, _ := c.better(out.Wins, best, next); order < 0 {
			best = next
		}
	}
	out.Decider = c.decider(out.Wins, contenders, best)
	if !o.above(c.Rollouts[best].Scores) {
		out.State, out.Reason, out.Decider = Dropped, o.noneGood(c), DecidedAlone
		return out
	}
	out.State, out.Winner = Selected, best
	return out
}

// Ask returns the pairs that Choose needs and the case does not have, lower sample first: the caller asks
// both judge.Orders of each. None are needed when the query is decided without.
func (o Options) Ask(c *Case) [][2]int {
	if _, reason := c.complete(); reason != "" {
		return nil
	}
	if _, reason := c.judged(); reason != "" {
		return nil
	}
	contenders := o.contenders(c)
	if !o.compares(contenders) {
		return nil
	}
	var ask [][2]int
	for i, a := range contenders {
		for _, b := range contenders[i+1:] {
			if c.verdict(a, b) == judge.None || c.verdict(b, a) == judge.None {
				ask = append(ask, [2]int{a, b})
			}
		}
	}
	return ask
}

// better compares two contenders: above 0 when a goes first.
func (c *Case) better(wins []int, a, b int) (int, Decider) {
	if wins != nil && wins[a] != wins[b] {
		return cmp.Compare(wins[a], wins[b]), DecidedWins
	}
	if order := compareMeans(c.Rollouts[a].Scores, c.Rollouts[b].Scores); order != 0 {
		return order, DecidedScore
	}
	return cmp.Compare(b, a), DecidedIndex
}

// decider returns the latest question that any other contender reached against the winner.
func (c *Case) decider(wins []int, contenders []int, winner int) Decider {
	latest := DecidedAlone
	for _, other := range contenders {
		if other != winner {
			_, d := c.better(wins, winner, other)
			latest = max(latest, d)
		}
	}
	return latest
}
