// Package filter decides what stays: it keeps or drops turns, then whole trajectories, each for one
// counted reason.
//
//	turns        no-action  ->  dropped, no_action      the turn leaves the trajectory, its index stays
//	             elided     ->  context, elided         the turn stays as history, without loss
//	trajectory   no-target, no-environment, min-turns   looked at after the turn filters, first reason wins
//
// Turn filters of one trajectory run in the order of the table that All returns, and the first that
// refuses a turn decides. A filter never changes a text.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// Options holds the settings that filters share.
type Options struct {
	MinTurns      int  // least number of turns that must be left; 0 means 2
	TrainDialogue bool // customers' replies are targets too
}

// Filter is one row of the table of filters.
type Filter struct {
	Name    string            // as in --filters
	Reason  turnmill.Reason   // counted in ledger and rejects
	Level   string            // "turn" or "trajectory"
	Domains []turnmill.Domain // nil means all
	Summary string            // one line for `turnmill filters`

	status     turnmill.Status // what a refused turn becomes
	turn       func(t *turnmill.Turn) bool
	trajectory func(t *turnmill.Trajectory, kept, environment int, o Options) bool
}

// All returns every filter in the order in which they run.
func All() []Filter {
	return []Filter{
		{Name: "no-action", Reason: turnmill.ReasonNoAction, Level: "turn", status: turnmill.StatusDropped,
			Summary: "turns without an action object (pauses, narration); waits and [] stay",
			turn:    func(t *turnmill.Turn) bool { return !t.HasAction }},
		{Name: "elided", Reason: turnmill.ReasonElided, Level: "turn", status: turnmill.StatusContext,
			Summary: "observations with an exporter's placeholder in place of a JSON value stay context",
			turn:    func(t *turnmill.Turn) bool { return Elided(t.Observation) }},
		{Name: "no-target", Reason: turnmill.ReasonNoTarget, Level: "trajectory",
			Summary:    "trajectories without any turn",
			trajectory: func(t *turnmill.Trajectory, kept, _ int, _ Options) bool { return len(t.Turns) == 0 }},
		{Name: "no-environment", Reason: turnmill.ReasonNoEnvironment, Level: "trajectory",
			Summary: "pure chats: every turn is a person's reply",
			trajectory: func(_ *turnmill.Trajectory, kept, environment int, _ Options) bool {
				return kept > 0 && environment == 0
			}},
		{Name: "min-turns", Reason: turnmill.ReasonTooFewTurns, Level: "trajectory",
			Summary:    "fewer turns than --min-turns after the turn filters",
			trajectory: func(_ *turnmill.Trajectory, kept, _ int, o Options) bool { return kept < o.MinTurns }},
	}
}

// Chain is the filters of one run. It holds no state and is safe for concurrent use.
type Chain struct {
	filters []Filter
	options Options
}

// New returns the chain of the named filters; no names means all, and the one name "none" means none.
func New(names []string, o Options) (*Chain, error) {
	if o.MinTurns == 0 {
		o.MinTurns = 2
	}
	if o.MinTurns < 0 {
		return nil, fmt.Errorf("--min-turns %d: want 1 or more", o.MinTurns)
	}
	all := All()
	switch {
	case len(names) == 0:
		return &Chain{all, o}, nil
	case len(names) == 1 && names[0] == "none":
		return &Chain{nil, o}, nil
	}
	known := make([]string, len(all))
	for i, f := range all {
		known[i] = f.Name
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("--filters: no filter %q; known: %s", n, strings.Join(known, ", "))
		}
	}
	c := &Chain{options: o}
	for _, f := range all {
		if slices.Contains(names, f.Name) {
			c.filters = append(c.filters, f)
		}
	}
	return c, nil
}

// Names returns the names of the chain's filters in the order in which they run.
func (c *Chain) Names() []string {
	names := make([]string, len(c.filters))
	for i, f := range c.filters {
		names[i] = f.Name
	}
	return names
}

// Apply appends one verdict a turn to verdicts[:0] and returns them with the reason for which the whole
// trajectory is dropped, or "". Turns keep their verdicts either way. It cannot fail.
func (c *Chain) Apply(t *turnmill.Trajectory, verdicts []turnmill.Verdict) ([]turnmill.Verdict, turnmill.Reason) {
	verdicts = verdicts[:0]
	kept, environment := 0, 0
	for i := range t.Turns {
		v := c.turn(t, &t.Turns[i])
		if v.Status != turnmill.StatusDropped {
			kept++
			if !t.Turns[i].Dialogue {
				environment++
			}
		}
		verdicts = append(verdicts, v)
	}
	for i := range c.filters {
		f := &c.filters[i]
		if f.trajectory != nil && f.applies(t.Domain) && f.trajectory(t, kept, environment, c.options) {
			return verdicts, f.Reason
		}
	}
	return verdicts, ""
}

func (c *Chain) turn(t *turnmill.Trajectory, turn *turnmill.Turn) turnmill.Verdict {
	for i := range c.filters {
		f := &c.filters[i]
		if f.turn != nil && f.applies(t.Domain) && f.turn(turn) {
			return turnmill.Verdict{Status: f.status, Reason: f.Reason}
		}
	}
	if turn.Dialogue && !c.options.TrainDialogue {
		return turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonDialogue}
	}
	return turnmill.Verdict{Status: turnmill.StatusTarget}
}

func (f *Filter) applies(d turnmill.Domain) bool {
	return f.Domains == nil || slices.Contains(f.Domains, d)
}
