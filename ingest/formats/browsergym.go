package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// browserGym decodes runs of BrowserGym's agents:
//
//	step i     the page, and the action on it     -> state, action
//	step i+1   the page                           -> observation
type browserGym struct {
	acts
	tree  tree  // which tree of a step is read
	steps int   // of the run
	num   int64 // of the last step
	acted bool  // the last step has an action
}

// tree is the place of a page's accessibility tree in a step.
type tree struct{ in, key string }

var noTree tree

// treeOf returns the place of a step's tree, the fullest first.
func treeOf(step jsonscan.Value) tree {
	for _, in := range [...]string{"", "obs", "observation"} {
		for _, key := range [...]string{"axtree_txt", "axtree", "axtree_pruned", "pruned_axtree"} {
			if where := (tree{in, key}); where.of(step).Kind() == jsonscan.String {
				return where
			}
		}
	}
	return noTree
}

func (t tree) of(step jsonscan.Value) jsonscan.Value {
	if t.in != "" {
		step = step.Get(t.in)
	}
	return step.Get(t.key)
}

func (g *browserGym) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, g.record)
}

func (g *browserGym) record(v jsonscan.Value, out *Decoded) error {
	steps := v.Get("steps")
	if steps.Kind() != jsonscan.Array {
		why, _ := recogniseBrowserGym(v)
		return wrongFormat(browserGymName, why)
	}
	g.open(browserGymName, v, v.Get("goal"), out)
	g.t.ID = out.id(v.Get("id"))
	i := 0
	for step := range steps.Elems() {
		if err := g.step(step); err != nil {
			return inside("steps", i, err)
		}
		i++
	}
	g.close()
	return nil
}

// open begins a run that v tells of: a record or its first step.
func (g *browserGym) open(name string, v, goal jsonscan.Value, out *Decoded) {
	arena := &out.arena
	g.tree, g.steps, g.acted = noTree, 0, false
	g.begin(out.trajectory(name, ""), out)
	g.t.Observed = turnmill.ObservedTrue
	g.t.TaskID, g.t.Agent = out.id(firstOf(v, "task_id", "task_name")), firstOf(v, "agent", "model", "agent_name").Str(arena)
	g.t.Meta = out.object(
		member{name: "benchmark", text: v.Get("benchmark").Str(arena)},
		member{name: "experiment", text: v.Get("experiment").Str(arena)},
		number("seed", v.Get("seed")),
	)
	g.person(words{text: goal.Str(arena), mute: true})
	g.started = true
}

// firstOf returns the first member that is present.
func firstOf(v jsonscan.Value, names ...string) jsonscan.Value {
	for _, name := range names {
		if m := v.Get(name); m.Present() {
			return m
		}
	}
	return jsonscan.Value{}
}

func (g *browserGym) close() {
	g.acts.finish()
	g.t.Domain = turnmill.DomainWeb
	g.out.finish(g.t, g.opts)
}

// step takes a step: the page that the action before it led to, and the action on it.
func (g *browserGym) step(v jsonscan.Value) error {
	if v.Kind() != jsonscan.Object {
		return badField("", "an object", v)
	}
	if g.tree == noTree {
		g.tree = treeOf(v)
	}
	page := g.tree.of(v)
	if page.Present() && page.Kind() != jsonscan.String {
		return badField(g.tree.key, "a string", page)
	}
	text := page.Str(&g.out.arena)
	num, numbered := stepNumber(v)
	if g.acted && text != "" && (!numbered || g.steps == 0 || num == g.num+1) {
		g.answer(result{text: text})
	}
	g.end()
	g.steps, g.num, g.state = g.steps+1, num, text
	g.think.add(firstOf(v, "reasoning", "think", "thought").Str(&g.out.arena))
	return g.action(v.Get("action"))
}

// stepNumber returns a step's number in its run.
func stepNumber(v jsonscan.Value) (int64, bool) {
	for _, name := range [...]string{"num", "step", "step_num", "step_id", "step_idx"} {
		if n, ok := v.Get(name).Int(); ok {
			return n, true
		}
	}
	return 0, false
}

// action takes what was done: a text, a call of {name, arguments}, or nothing.
func (g *browserGym) action(v jsonscan.Value) error {
	g.acted = false
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return nil
	case jsonscan.String:
		text := strings.Trim(v.Str(&g.out.arena), blanks)
		if text == "" {
			g.out.note(turnmill.NoteEmptiedMessage)
			return nil
		}
		g.call(call{name: nameBefore(text, '('), text: text, answer: -1})
	case jsonscan.Object:
		k, err := g.out.readCall(v)
		if err != nil {
			return under("action", err)
		}
		k.text = g.out.arena.Close(g.out.appendCall(g.out.arena.Open(), &k)) // the next step may stand in another document
		g.call(k)
	default:
		return badField("action", "a string or an object", v)
	}
	g.acted = true
	return nil
}

// browserGymSteps decodes files whose records are steps.
type browserGymSteps struct {
	browserGym
	wholeFile
	seen int    // steps of the file
	key  runKey // of the run at hand
	part int    // of the episode at hand, where it breaks
	over bool   // the last step ended its run
}

// runKey is what all steps of a run share.
type runKey struct{ task, episode, seed, goal string }

func (b *browserGymSteps) Decode(raw []byte, out *Decoded) error {
	out.reset()
	b.out, b.seen, b.over, b.wholeFile.doc.NonFinite = out, 0, false, true
	b.readFile(raw, out, b)
	if b.seen == 0 {
		return out.refuseWhole(browserGymStepsName, "no step of a run in it")
	}
	b.close()
	return nil
}

// value takes a step, or a list of them.
func (b *browserGymSteps) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			b.value(e, base)
		}
		return
	}
	if err := b.one(v); err != nil {
		if b.seen > 0 {
			b.end()
			b.acted = false
		}
		b.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

func (b *browserGymSteps) one(v jsonscan.Value) error {
	if why, _ := recogniseBrowserGymStep(v); why != "" {
		return wrongFormat(browserGymStepsName, why)
	}
	goal := b.goal(v)
	key := runKey{b.out.id(firstOf(v, "task_id", "task_name")), b.out.id(v.Get("episode_id")), b.out.id(v.Get("seed")), goal.Str(&b.out.arena)}
	num, numbered := stepNumber(v)
	if b.seen == 0 || key != b.key || b.over || numbered && num != b.num+1 {
		if b.seen > 0 {
			b.close()
		}
		b.open(browserGymStepsName, v, goal, b.out)
		if b.part++; b.seen == 0 || key.episode != b.key.episode {
			b.part = 0
		}
		b.key, b.t.ID = key, b.out.ownID(key.episode, b.part)
	}
	b.seen++
	b.over = v.Get("terminated").Kind() == jsonscan.True || v.Get("truncated").Kind() == jsonscan.True
	return b.step(v)
}

// goal returns the task of a step: goal, or the first text of goal_object, in the step or in its observation.
func (b *browserGymSteps) goal(step jsonscan.Value) jsonscan.Value {
	for _, in := range [...]jsonscan.Value{step, step.Get("obs"), step.Get("observation")} {
		for _, name := range [...]string{"goal", "goal_object"} {
			goal := in.Get(name)
			if goal.Kind() == jsonscan.Array {
				goal = goal.At(0).Get("text")
			}
			if goal.Kind() == jsonscan.String {
				return goal
			}
		}
	}
	return jsonscan.Value{}
}
