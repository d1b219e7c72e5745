// Package filter decides what stays: it keeps or drops turns, then whole trajectories, each for one
// counted reason.
//
//	turns        no-action     ->  dropped, no_action      the turn leaves the trajectory, its index stays
//	             retry-cycle   ->  dropped, retry_cycle    so, and the turn after it keeps the state before it
//	             no-change     ->  dropped, no_change      screens alone
//	             unseen-change ->  context, unseen_change  the turn stays as history, without loss
//	             elided        ->  context, elided
//	trajectory   no-target, no-environment, undeclared-tool, missing-state, captcha, http-error, min-turns
//	             looked at after the turn filters, first reason wins
//
// Turn filters of one trajectory run in the order of the table that All returns, and the first that
// refuses a turn decides. A filter never changes an action or an observation; retry-cycle alone sets a state.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// Options holds the settings that filters share.
type Options struct {
	MinTurns      int       // least number of turns that must be left; 0 means 2
	TrainDialogue bool      // customers' replies are targets too
	Patterns      *Patterns // of pages and refusals; nil means the built-in ones
}

// Filter is one row of the table of filters.
type Filter struct {
	Name    string            // as in --filters
	Reason  turnmill.Reason   // counted in ledger and rejects
	Level   string            // "turn" or "trajectory"
	Domains []turnmill.Domain // nil means all
	Summary string            // one line for `turnmill filters`
	Status  turnmill.Status   // what a refused turn becomes

	turn       func(c *Chain, t *turnmill.Trajectory, i int) bool
	trajectory func(c *Chain, t *turnmill.Trajectory) bool
}

// gui are the domains whose states are screens, and declaring those whose tools differ from run to run.
var (
	gui       = []turnmill.Domain{turnmill.DomainWeb, turnmill.DomainAndroid, turnmill.DomainOS}
	declaring = []turnmill.Domain{turnmill.DomainMCP, turnmill.DomainSWE}
)

// All returns every filter in the order in which they run.
func All() []Filter {
	return []Filter{
		{Name: "no-action", Reason: turnmill.ReasonNoAction, Level: "turn", Status: turnmill.StatusDropped,
			Summary: "turns without an action object (pauses, narration); waits and [] stay",
			turn:    func(_ *Chain, t *turnmill.Trajectory, i int) bool { return !t.Turns[i].HasAction }},
		{Name: "retry-cycle", Reason: turnmill.ReasonRetryCycle, Level: "turn", Status: turnmill.StatusDropped,
			Summary: "actions that the harness could not read, when the agent tries again from the same state",
			turn:    (*Chain).retried},
		{Name: "no-change", Reason: turnmill.ReasonNoChange, Level: "turn", Status: turnmill.StatusDropped, Domains: gui,
			Summary: "turns after which the screen is what it was, but for clocks, focus, ids and the like",
			turn:    func(c *Chain, t *turnmill.Trajectory, i int) bool { return c.unchanged(t, i) && !c.pixelsDiffer(t, i) }},
		{Name: "unseen-change", Reason: turnmill.ReasonUnseenChange, Level: "turn", Status: turnmill.StatusContext, Domains: gui,
			Summary: "turns whose screenshots differ although their texts are the same stay context",
			turn:    func(c *Chain, t *turnmill.Trajectory, i int) bool { return c.unchanged(t, i) && c.pixelsDiffer(t, i) }},
		{Name: "elided", Reason: turnmill.ReasonElided, Level: "turn", Status: turnmill.StatusContext,
			Summary: "observations with an exporter's placeholder in place of a JSON value stay context",
			turn:    func(_ *Chain, t *turnmill.Trajectory, i int) bool { return Elided(t.Turns[i].Observation) }},
		{Name: "no-target", Reason: turnmill.ReasonNoTarget, Level: "trajectory",
			Summary:    "trajectories without any turn",
			trajectory: func(_ *Chain, t *turnmill.Trajectory) bool { return len(t.Turns) == 0 }},
		{Name: "no-environment", Reason: turnmill.ReasonNoEnvironment, Level: "trajectory",
			Summary:    "pure chats: every turn is a person's reply",
			trajectory: func(c *Chain, _ *turnmill.Trajectory) bool { return c.kept > 0 && c.environment == 0 }},
		{Name: "undeclared-tool", Reason: turnmill.ReasonUndeclaredTool, Level: "trajectory", Domains: declaring,
			Summary:    "a call to a tool that the action space does not declare; one that declares none passes",
			trajectory: (*Chain).undeclared},
		{Name: "missing-state", Reason: turnmill.ReasonMissingState, Level: "trajectory", Domains: gui,
			Summary:    "a turn without a screen to act on; the first may lack one where the others have theirs",
			trajectory: (*Chain).stateless},
		{Name: "captcha", Reason: turnmill.ReasonCaptcha, Level: "trajectory", Domains: gui,
			Summary:    "a page that asks for a proof of being human, not one that speaks of such pages",
			trajectory: func(c *Chain, t *turnmill.Trajectory) bool { return c.failed(t).captcha }},
		{Name: "http-error", Reason: turnmill.ReasonHTTPError, Level: "trajectory", Domains: gui,
			Summary:    "a page that did not load: blank, blocked, an HTTP error, a browser's error page",
			trajectory: func(c *Chain, t *turnmill.Trajectory) bool { return c.failed(t).httpError }},
		{Name: "min-turns", Reason: turnmill.ReasonTooFewTurns, Level: "trajectory",
			Summary:    "fewer turns than --min-turns after the turn filters",
			trajectory: func(c *Chain, _ *turnmill.Trajectory) bool { return c.kept < c.options.MinTurns }},
	}
}

// Chain is the filters of one run. It serves one goroutine; Fork makes one for another.
type Chain struct {
	filters  []Filter
	options  Options
	patterns *compiled

	// Of the trajectory at hand.
	verdicts    []turnmill.Verdict
	kept        int // turns that are not dropped
	environment int // those of them that are no person's reply
	notes       turnmill.Notes
	failures    failures

	tools  toolSet
	screen comparison
	pixels screenshots
	page   page
	text   []byte
}

// New returns the chain of the named filters. No names means all; the one name "none" means none, and
// "all" followed by names with a minus ("all", "-captcha") all but those.
func New(names []string, o Options) (*Chain, error) {
	if o.MinTurns == 0 {
		o.MinTurns = 2
	}
	if o.MinTurns < 0 {
		return nil, fmt.Errorf("--min-turns %d: want 1 or more", o.MinTurns)
	}
	filters, err := named(names)
	if err != nil {
		return nil, err
	}
	if o.Patterns == nil {
		o.Patterns = Builtin()
	}
	patterns, err := o.Patterns.compile()
	if err != nil {
		return nil, err
	}
	return &Chain{filters: filters, options: o, patterns: patterns}, nil
}

// named returns the filters that the names of New mean, in the order in which they run.
func named(names []string) ([]Filter, error) {
	all := All()
	switch {
	case len(names) == 0:
		return all, nil
	case len(names) == 1 && names[0] == "none":
		return nil, nil
	}
	but := names[0] == "all"
	if but {
		names = names[1:]
	}
	known := make([]string, len(all))
	for i, f := range all {
		known[i] = f.Name
	}
	listed := map[string]bool{}
	for _, n := range names {
		bare, minus := strings.CutPrefix(n, "-")
		if !slices.Contains(known, bare) || n == "" {
			return nil, fmt.Errorf("--filters: no filter %q; known: %s", n, strings.Join(known, ", "))
		}
		if minus && n == names[0] && !but {
			return nil, fmt.Errorf("--filters: %q comes first, so it takes a filter away from nothing; begin with all, as in all,-%s", n, bare)
		}
		if minus != but {
			return nil, fmt.Errorf("--filters: %q beside %q: list the filters that run, or all and then those that do not, as in all,-%s", n, names[0], bare)
		}
		listed[bare] = true
	}
	return slices.DeleteFunc(all, func(f Filter) bool { return listed[f.Name] == but }), nil
}

// Fork returns a chain of the same filters for another goroutine.
func (c *Chain) Fork() *Chain {
	return &Chain{filters: c.filters, options: c.options, patterns: c.patterns}
}

// Names returns the names of the chain's filters in the order in which they run.
func (c *Chain) Names() []string {
	names := make([]string, len(c.filters))
	for i, f := range c.filters {
		names[i] = f.Name
	}
	return names
}

// Notes returns what the filters had to pass over in the last trajectory. It is valid until the next Apply.
func (c *Chain) Notes() *turnmill.Notes { return &c.notes }

// Apply appends one verdict a turn to verdicts[:0] and returns them with the reason for which the whole
// trajectory is dropped, or "". Turns keep their verdicts either way. It cannot fail. The turn after a
// retry cycle gets the state from before it; nothing else of t changes.
func (c *Chain) Apply(t *turnmill.Trajectory, verdicts []turnmill.Verdict) ([]turnmill.Verdict, turnmill.Reason) {
	c.verdicts, c.kept, c.environment, c.notes, c.failures = verdicts[:0], 0, 0, turnmill.Notes{}, failures{}
	c.screen.trail = nil
	defer c.pixels.forget()
	for i := range t.Turns {
		v := c.turn(t, i)
		if v.Status != turnmill.StatusDropped {
			c.kept++
			if !t.Turns[i].Dialogue {
				c.environment++
			}
		}
		c.verdicts = append(c.verdicts, v)
	}
	for i := range c.filters {
		f := &c.filters[i]
		if f.trajectory != nil && f.applies(t.Domain) && f.trajectory(c, t) {
			return c.verdicts, f.Reason
		}
	}
	return c.verdicts, ""
}

func (c *Chain) turn(t *turnmill.Trajectory, i int) turnmill.Verdict {
	for k := range c.filters {
		f := &c.filters[k]
		if f.turn != nil && f.applies(t.Domain) && f.turn(c, t, i) {
			if f.Reason == turnmill.ReasonUnseenChange {
				c.notes[turnmill.NoteUnseenChange]++
			}
			return turnmill.Verdict{Status: f.Status, Reason: f.Reason}
		}
	}
	if t.Turns[i].Dialogue && !c.options.TrainDialogue {
		return turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonDialogue}
	}
	return turnmill.Verdict{Status: turnmill.StatusTarget}
}

func (f *Filter) applies(d turnmill.Domain) bool {
	return f.Domains == nil || slices.Contains(f.Domains, d)
}
