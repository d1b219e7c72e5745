package filter

import (
	"slices"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// retried tells whether turn i is the garbage and the error of a retry cycle:
//
//	state S   action that cannot be read   observation: the harness refuses it      <- skipped
//	state S   the agent's next action      ...                                      <- has S again
//
// It is, when its observation as a whole is one with which a harness refuses an action (Patterns.Refused),
// and the agent acts again, with no person's reply between, on no other state: the next state is S, or the
// refusal itself, or not told. The next action then gets S. A refusal that the agent does not answer stays,
// and so does every error of a program: it is what the environment said.
func (c *Chain) retried(t *turnmill.Trajectory, i int) bool {
	turn := &t.Turns[i]
	if turn.Dialogue || !turn.HasAction || !c.refuses(turn.Observation) {
		return false
	}
	next := i + 1
	for next < len(t.Turns) && !t.Turns[next].HasAction {
		next++
	}
	if next == len(t.Turns) || t.Turns[next].Dialogue {
		return false
	}
	switch state := &t.Turns[next].State; *state {
	case turn.State:
	case "", turn.Observation:
		*state = turn.State
	default:
		return c.screen.same(turn.State, *state, "")
	}
	return true
}

// refusalHead is how many bytes of an observation are looked at before all of it is.
const refusalHead = 64

// refuses tells whether an observation is one of the refusals.
func (c *Chain) refuses(observation string) bool {
	if len(observation) > refusedBytes || !c.patterns.refusals.may(observation) {
		return false
	}
	end := min(len(observation), refusalHead)
	for end > 0 && end < len(observation) && !utf8.RuneStart(observation[end]) {
		end--
	}
	c.text = appendFolded(c.text[:0], observation[:end])
	for i, g := range c.patterns.refused {
		if g.mayMeet(c.text) {
			c.text = appendFolded(c.text[:0], observation)
			return slices.ContainsFunc(c.patterns.refused[i:], func(g glob) bool { return g.meets(c.text) })
		}
	}
	return false
}
