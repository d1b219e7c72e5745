package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const androidControlName = "androidcontrol"

func androidControlFormat() Format {
	return Format{
		Name:      androidControlName,
		Title:     "AndroidControl episodes as JSON: accessibility trees and the actions between them",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseAndroidControl,
		New:       func(o Options) Decoder { return &androidControl{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "episode_id, goal (the task), accessibility_trees, actions (action_type and its arguments),\n" +
				"step_instructions, which tell the person what to do next and are thoughts here. A tree's visible nodes\n" +
				"are lines: class, \"text\", [content description], #id, {flags}, (x1,y1,x2,y2); hints and tooltips are\n" +
				"left out.",
			Pairing:  "action i stands between trees i and i+1; an episode whose numbers do not fit is rejected",
			State:    "the tree before the action",
			Domain:   "android",
			ID:       "episode_id, which is the task_id too",
			Stripped: "step_instructions, unless thoughts are to be kept; screenshots",
			Sample: `{"episode_id":4,"goal":"Go back.","screenshots":["0.png","1.png"],"accessibility_trees":[` +
				`[{"text":"Settings","class_name":"android.widget.TextView","is_visible":true,"bbox_pixels":{"x_min":0,"x_max":80,"y_min":0,"y_max":20}}],` +
				`[{"text":"Home","class_name":"android.widget.TextView","is_visible":true,"bbox_pixels":{"x_min":0,"x_max":60,"y_min":0,"y_max":20}}]],` +
				`"actions":[{"action_type":"navigate_back"}],"step_instructions":["Go back"]}`,
		},
	}
}

func recogniseAndroidControl(v jsonscan.Value) (why string, marks int) {
	for _, name := range [...]string{"episode_id", "goal"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	switch trees := v.Get("accessibility_trees"); {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case trees.Kind() != jsonscan.Array:
		return "no accessibility_trees", 0
	case marks == 0:
		return "accessibility_trees without an episode_id or a goal", 2
	}
	return "", marks + 3
}

// androidControl decodes episodes of AndroidControl.
type androidControl struct {
	acts
	trees   []string
	reasons []string // of the actions, as far as there are
}

func (a *androidControl) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *androidControl) record(v jsonscan.Value, out *Decoded) error {
	trees, actions := v.Get("accessibility_trees"), v.Get("actions")
	switch {
	case v.Kind() != jsonscan.Object || trees.Kind() == jsonscan.Invalid:
		why, _ := recogniseAndroidControl(v)
		return wrongFormat(androidControlName, why)
	case trees.Kind() != jsonscan.Array:
		return badField("accessibility_trees", "an array", trees)
	case actions.Kind() != jsonscan.Array:
		return badField("actions", "an array", actions)
	case trees.Len() != actions.Len()+1:
		return reject(turnmill.ReasonBadField, "%d accessibility_trees and %d actions, want one tree more", trees.Len(), actions.Len())
	}
	a.begin(out.trajectory(androidControlName, out.id(v.Get("episode_id"))), out)
	a.t.TaskID, a.t.Observed = a.t.ID, turnmill.ObservedTrue
	a.person(words{text: v.Get("goal").Str(&out.arena)})
	if err := a.readTrees(trees); err != nil {
		return err
	}
	if err := a.play(actions, v.Get("step_instructions")); err != nil {
		return err
	}
	a.finish()
	a.t.Domain = turnmill.DomainAndroid
	out.finish(a.t, a.opts)
	return nil
}

func (a *androidControl) readTrees(trees jsonscan.Value) error {
	a.trees = a.trees[:0]
	i := 0
	for tree := range trees.Elems() {
		if tree.Kind() != jsonscan.Array {
			return inside("accessibility_trees", i, badField("", "an array", tree))
		}
		b, n := a.out.arena.Open(), 0
		for node := range tree.Elems() {
			if node.Kind() != jsonscan.Object || node.Get("is_visible").Kind() == jsonscan.False {
				continue
			}
			if n++; n > 1 {
				b = append(b, '\n')
			}
			b = a.node(b, node)
		}
		a.trees = append(a.trees, a.out.arena.Close(b))
		i++
	}
	return nil
}

func (a *androidControl) node(b []byte, node jsonscan.Value) []byte {
	box := node.Get("bbox_pixels")
	e := element{
		class: node.Get("class_name"), text: node.Get("text"), about: node.Get("content_description"), id: node.Get("resource_id"),
		corners: [4]jsonscan.Value{box.Get("x_min"), box.Get("y_min"), box.Get("x_max"), box.Get("y_max")},
	}
	for _, f := range [...]struct{ key, name string }{{"is_checked", "checked"}, {"is_selected", "selected"}, {"is_focused", "focused"},
		{"is_checkable", "checkable"}, {"is_clickable", "clickable"}, {"is_long_clickable", "long_clickable"},
		{"is_scrollable", "scrollable"}, {"is_editable", "editable"}} {
		e.flag(f.name, node.Get(f.key).Kind() == jsonscan.True)
	}
	e.flag("disabled", node.Get("is_enabled").Kind() == jsonscan.False)
	return a.out.appendElement(b, &e)
}

// play makes the turns.
func (a *androidControl) play(actions, instructions jsonscan.Value) error {
	a.reasons = a.reasons[:0]
	for v := range instructions.Elems() {
		a.reasons = append(a.reasons, v.Str(&a.out.arena))
	}
	i := 0
	for action := range actions.Elems() {
		kind := action.Get("action_type")
		if kind.Kind() != jsonscan.String {
			return inside("actions", i, badField("action_type", "a string", kind))
		}
		a.agent()
		a.state = a.trees[i]
		if i < len(a.reasons) {
			a.think.add(a.reasons[i])
		}
		k := call{name: kind.Str(&a.out.arena), answer: -1}
		k.text = a.out.otherMembers(k.name, action, "action_type")
		a.call(k)
		a.answer(result{text: a.trees[i+1], mute: a.trees[i+1] == ""})
		i++
	}
	return nil
}
