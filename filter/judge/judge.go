// Package judge writes the questions to judges and reads their answers: five scores for one rollout, a
// choice between two, a verdict on one. It asks nobody: a question is a turnmill.Request, an answer a
// turnmill.Reply, and whoever has both calls the parsers. No I/O, goroutine or clock.
//
//	query, rollout
//	  | Extract           prediction: what stands in <predicted_observation>, without thinking or marker
//	  v
//	Asker.Scores          one question a rollout           ID{scores, query, rollout}
//	Asker.Pair            two a pair, one for each order   ID{pair, query, shown first, shown second}
//	Asker.Verdict         one a rollout                    ID{verdict, query, rollout}
//	  | turnmill.Request  rubric of the domain, the history that the model saw, real observation, predictions
//	  v
//	turnmill.Reply        of an endpoint, a journal or a file
//	  | ParseScores       state, five scores of 1 to 5
//	  | ParsePair         state, first or second          the last \boxed{A} or \boxed{B}
//	  | ParseVerdict      state, pass or fail             whole verdicts only
//	  v
//	Judgement, Preference, Verdict
//
// An answer is valid or it has another State; only a valid one carries scores. Nothing is clamped, rounded or
// guessed, unless Options.Compat asks for the arithmetic of the released evaluator, and then it is counted.
// Report, sections 3.3, 3.4.1 and 4.2.
package judge

import "github.com/turnmill/turnmill"

// Dimension is one of the five dimensions of a rubric. Report, section 4.2.
type Dimension uint8

// The dimensions in the rubrics' order.
const (
	Format Dimension = iota
	Factuality
	Consistency
	Realism
	Quality
	NumDimensions = int(Quality) + 1
)

// Best and Worst bound the scale of each dimension.
const (
	Worst = 1
	Best  = 5
)

var dimensionNames = [NumDimensions]string{"format", "factuality", "consistency", "realism", "quality"}

// String returns the dimension as it stands in judges' answers.
func (d Dimension) String() string { return dimensionNames[d] }

// Scores are the scores of one rollout by dimension, 1 to 5 each. 0 is no score, and stands in a valid
// judgement under Compat alone.
type Scores [NumDimensions]uint8

// Sum returns the sum of the scores: 5 to 25 where all are there, which is the mean times five, and the rubric
// reward of the report (section 3.4.1).
func (s Scores) Sum() int {
	sum := 0
	for _, v := range s {
		sum += int(v)
	}
	return sum
}

// Mean returns the exact mean over the scores that are there, 1 to 5. Den is 0 when there is none.
func (s Scores) Mean() turnmill.Ratio {
	var mean turnmill.Ratio
	for _, v := range s {
		if v > 0 {
			mean.Num += uint64(v)
			mean.Den++
		}
	}
	return mean
}

// State says what an answer of a judge is worth.
type State uint8

// None is the zero value, so that what was never judged cannot pass for judged. Failed and Timeout come from
// the asking and may be asked again; the others are what the judge said.
const (
	None             State = iota // no answer is there
	Valid                         // what was asked for, whole and on the scale
	Refused                       // the judge or a content filter refused
	Truncated                     // the answer ends before what was asked for does
	Unparsable                    // nothing that can be read; also NaN, Infinity, words for numbers
	OutOfRange                    // a score off the scale: 0, 6, 4.5, 90, 4/10
	MissingDimension              // fewer than five scores
	Timeout                       // there is no answer in time
	Failed                        // there is no answer
	NumStates        = int(Failed) + 1
)

var stateNames = [NumStates]string{"none", "valid", "refused", "truncated", "unparsable", "out_of_range", "missing_dimension", "timeout", "failed"}

// String returns the state as it stands in files.
func (s State) String() string { return stateNames[s] }

// ParseState is the inverse of String.
func ParseState(name string) (State, bool) {
	for i, n := range stateNames {
		if n == name {
			return State(i), true
		}
	}
	return 0, false
}

// Transient tells whether asking again may help although the same was asked: there is no answer.
func (s State) Transient() bool { return s == None || s == Timeout || s == Failed }

// stateOf maps how an answer ended to what it is worth; Valid means that its text is to be read.
func stateOf(reply *turnmill.Reply) State {
	switch reply.State {
	case turnmill.ReplyComplete:
		return Valid
	case turnmill.ReplyTruncated:
		return Truncated
	case turnmill.ReplyRefused:
		return Refused
	case turnmill.ReplyTimeout:
		return Timeout
	default:
		return Failed
	}
}
