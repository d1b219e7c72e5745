package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// blocked stands among the actions for one that was not run.
const blocked = "blocked"

// turns pairs the lists of a task by place.
func (c *interCode) turns(history jsonscan.Value) error {
	actions, observations := history.Get("actions"), history.Get("observations")
	for _, list := range [...]struct {
		name string
		v    jsonscan.Value
	}{{"turn_history.actions", actions}, {"turn_history.observations", observations}} {
		if list.v.Kind() != jsonscan.Array {
			return badField(list.name, "an array", list.v)
		}
	}
	acted, seen := actions.Len(), observations.Len()
	skip := acted != seen // an action that was blocked has no observation
	if skip {
		for a := range actions.Elems() {
			if a.Is(blocked) {
				acted--
			}
		}
	}
	if acted != seen {
		return reject(turnmill.ReasonBadField, "%d actions that were not blocked, but %d observations", acted, seen)
	}
	thoughts := history.Get("thoughts")
	if thoughts.Kind() != jsonscan.Array {
		thoughts = history.Get("steps")
	}
	if thoughts.Len() != actions.Len() { // whose they are is not known
		c.out.Notes[turnmill.NoteThoughtStripped] += int64(thoughts.Len())
		thoughts = jsonscan.Value{}
	}
	return c.pairs(actions, observations, thoughts, skip)
}

// pairs walks the lists side by side. skip leaves out the actions that were blocked.
func (c *interCode) pairs(actions, observations, thoughts jsonscan.Value, skip bool) error {
	c.observations, c.thoughts = collect(c.observations, observations), collect(c.thoughts, thoughts)
	i, next := -1, 0 // of the action and of the observation
	for a := range actions.Elems() {
		i++
		if a.Kind() != jsonscan.String {
			return inside("turn_history.actions", i, badField("", "a string", a))
		}
		var thought jsonscan.Value
		if len(c.thoughts) > 0 {
			thought = c.thoughts[i]
		}
		if skip && a.Is(blocked) {
			c.out.note(turnmill.NoteUnansweredAction)
			c.thought(thought)
			continue
		}
		c.turn(a, c.observations[next], thought)
		next++
	}
	return nil
}

// steps reads the turns of a log that a person made.
func (c *interCode) steps(list jsonscan.Value) error {
	i := 0
	for s := range list.Elems() {
		action := s.Get("action")
		if action.Kind() != jsonscan.String {
			return inside("trajectory", i, badField("action", "a string", action))
		}
		c.turn(action, s.Get("observation"), jsonscan.Value{})
		i++
	}
	return nil
}

// turn adds the turn of an action and what answered it.
func (c *interCode) turn(action, observation, thought jsonscan.Value) {
	t := c.action(action.Str(&c.out.arena))
	t.Thought = c.thought(thought)
	switch {
	case !observation.Present():
		c.out.note(turnmill.NoteUnansweredAction)
		return
	case t.Action == "submit": // it runs nothing: the environment shows its last output again
		c.out.note(turnmill.NoteSubmitEcho)
		return
	case observation.Kind() == jsonscan.String:
		t.Observation = observation.Str(&c.out.arena)
	default:
		t.Observation = c.out.verbatim(observation)
	}
	t.Index = len(c.t.Turns)
	c.t.Turns = append(c.t.Turns, t)
}

// action returns the turn of an action: the command without the ReAct protocol's execute[...].
func (c *interCode) action(text string) turnmill.Turn {
	if inside, ok := strings.CutPrefix(text, "execute["); ok && strings.HasSuffix(inside, "]") {
		text = inside[:len(inside)-1]
	}
	if !hasCommand(text) {
		return turnmill.Turn{}
	}
	return turnmill.Turn{Action: text, HasAction: true}
}

// thought counts a thought or returns it, when thoughts are to be kept.
func (c *interCode) thought(v jsonscan.Value) string {
	text := strings.Trim(v.Str(&c.out.arena), blanks)
	if text != "" && !c.opts.KeepThought {
		c.out.note(turnmill.NoteThoughtStripped)
		return ""
	}
	return text
}

// collect puts the elements of a list into a slice, for lists that are walked beside another.
func collect(dst []jsonscan.Value, list jsonscan.Value) []jsonscan.Value {
	dst = dst[:0]
	for v := range list.Elems() {
		dst = append(dst, v)
	}
	return dst
}
