package formats

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// openCUA decodes recordings of OpenCUA: it gathers actions and dumps, then plays the actions in their order.
type openCUA struct {
	acts
	partReader
	kinds       uint16
	actions     []cuaAction
	dumps       []cuaDump
	name, about string // of the task; the recorder's metadata
}

// cuaAction is one action of a person. Times are seconds of the recorder's clock.
type cuaAction struct {
	shown      bool // of reduced_events_vis
	id         int64
	numbered   bool
	start, end float64
	name, text string // of the call
	tree       string
	raw        string // what it was read from, to tell equals
}

type cuaDump struct {
	at        float64
	text, raw string
}

func (c *openCUA) Decode(raw []byte, out *Decoded) error {
	return c.decodeOne(raw, out, c.DecodeParts)
}

func (c *openCUA) DecodeParts(parts []Part, out *Decoded) error {
	out.reset()
	c.out, c.kinds, c.actions, c.dumps, c.name, c.about = out, 0, c.actions[:0], c.dumps[:0], "", ""
	c.readParts(parts, out, c)
	if err := out.complete(openCUAName, c.kinds, "no part of a recording in it", openCUALacks); err != nil {
		return err
	}
	c.play()
	return nil
}

// value takes a part, or a list of them.
func (c *openCUA) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			c.value(e, base)
		}
		return
	}
	kind, why, _ := cuaKind(v)
	c.kinds |= kind
	switch kind {
	case 0:
		c.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), wrongFormat(openCUAName, why))
	case cuaActions, cuaShown:
		c.action(v, kind == cuaShown)
	case cuaDumps:
		c.dumps = append(c.dumps, cuaDump{at: seconds(v.Get("time_stamp")), text: c.tree(v.Get("axtree")), raw: v.RawStr()})
	case cuaTask:
		if c.name == "" {
			c.name = v.Get("task_name").Str(&c.out.arena)
		}
	case cuaAbout:
		if c.about == "" {
			c.about = c.out.meta(v)
		}
	}
}

// seconds returns a number as it is written, 0 where it is none.
func seconds(v jsonscan.Value) float64 {
	n, err := strconv.ParseFloat(v.RawStr(), 64)
	if err != nil || math.IsNaN(n) {
		return 0
	}
	return n
}

func (c *openCUA) action(v jsonscan.Value, shown bool) {
	a := cuaAction{shown: shown, start: seconds(v.Get("start_time")), end: seconds(v.Get("end_time")), raw: v.RawStr()}
	a.id, a.numbered = v.Get("id").Int()
	a.name = v.Get("action").Str(&c.out.arena)
	a.text = c.callText(a.name, v)
	if tree := v.Get("axtree"); tree.Kind() == jsonscan.Object {
		a.tree = c.tree(tree)
	}
	c.actions = append(c.actions, a)
}

// cuaMarks are members of an action that say nothing of what was done: times, the recorder's marks, what else
// stands in its trees or in the members that are kept.
var cuaMarks = [...]string{"action", "id", "start_time", "end_time", "time_stamp", "time_trace", "drag_time_trace", "event_start_idx", "event_idx",
	"complete", "vis", "exception", "depth", "axtree", "past_frame_target", "pre_move", "children", "pressed", "coordinates", "mark"}

// callText returns the canonical text of an action: what says what was done are its arguments.
func (c *openCUA) callText(name string, v jsonscan.Value) string {
	b := append(appendCallName(c.out.arena.Open(), name), '{')
	n := 0
	for k, m := range v.Members() {
		if !m.Present() || slices.ContainsFunc(cuaMarks[:], k.Is) {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(c.out.appendVerbatim(b, k), ':')
		switch {
		case k.Is("target") && m.Kind() == jsonscan.Object:
			b = c.out.appendMembers(b, m, "control_type", "title")
		case k.Is("drag_trace") && m.Kind() == jsonscan.Array && m.Len() > 2:
			b = c.out.appendCompact(append(b, '['), m.At(0))
			b = append(c.out.appendCompact(append(b, ','), m.At(m.Len()-1)), ']')
		default:
			b = c.out.appendCompact(b, m)
		}
	}
	return c.out.arena.Close(append(b, "}}"...))
}

// tree returns the text of an accessibility tree.
func (c *openCUA) tree(v jsonscan.Value) string {
	b := c.appendTree(c.out.arena.Open(), v, 0)
	if len(b) > 0 {
		b = b[1:] // the line feed before the first line
	}
	return c.out.arena.Close(b)
}

func (c *openCUA) appendTree(b []byte, v jsonscan.Value, depth int) []byte {
	if v.Kind() != jsonscan.Object {
		return b
	}
	b = append(b, '\n')
	for range min(depth, maxIndent) {
		b = append(b, '\t')
	}
	box := v.Get("BoundingRectangle")
	b = c.out.appendElement(b, &element{class: v.Get("ControlType"), text: v.Get("Name"),
		corners: [4]jsonscan.Value{box.Get("left"), box.Get("top"), box.Get("right"), box.Get("bottom")}})
	for child := range v.Get("Children").Elems() {
		b = c.appendTree(b, child, depth+1)
	}
	return b
}

// play makes the trajectories.
func (c *openCUA) play() {
	slices.SortFunc(c.dumps, func(a, b cuaDump) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.raw, b.raw)) })
	slices.SortFunc(c.actions, func(a, b cuaAction) int {
		return cmp.Or(cmp.Compare(order(a.shown), order(b.shown)), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id), strings.Compare(a.raw, b.raw))
	})
	all := len(c.actions)
	if !c.actions[0].shown { // what was shown is the same once more
		c.actions = slices.DeleteFunc(c.actions, func(a cuaAction) bool { return a.shown })
	}
	c.actions = slices.CompactFunc(c.actions, func(a, b cuaAction) bool { return a.raw == b.raw })
	c.out.Copied += int64(all - len(c.actions))
	for i := range c.actions {
		a := &c.actions[i]
		if i == 0 || c.gap(&c.actions[i-1], a) {
			if i > 0 {
				c.close()
			}
			c.open()
		}
		c.turn(a)
	}
	c.close()
}

func order(later bool) int {
	if later {
		return 1
	}
	return 0
}

// gap tells whether actions between two were deleted.
func (c *openCUA) gap(a, b *cuaAction) bool { return a.numbered && b.numbered && b.id != a.id+1 }

func (c *openCUA) open() {
	c.begin(c.out.trajectory(openCUAName, ""), c.out)
	c.t.Observed, c.t.Meta = turnmill.ObservedTrue, c.about
	c.person(words{text: c.name, mute: c.name == ""})
}

func (c *openCUA) close() {
	c.acts.finish()
	c.t.Domain = turnmill.DomainOS
	c.out.finish(c.t, c.opts)
}

// turn makes a turn of an action and the first dump after it.
func (c *openCUA) turn(a *cuaAction) {
	c.agent()
	if c.state = a.tree; c.state == "" {
		if i := c.after(a.start, true); i > 0 {
			c.state = c.dumps[i-1].text
		}
	}
	c.call(call{name: a.name, text: a.text, answer: -1})
	if i := c.after(a.end, false); i < len(c.dumps) {
		text := c.dumps[i].text
		c.answer(result{text: text, mute: text == ""})
	}
	c.end()
}

// after returns the first dump after a time, or, at says so, at that time.
func (c *openCUA) after(time float64, at bool) int {
	i, _ := slices.BinarySearchFunc(c.dumps, time, func(d cuaDump, t float64) int {
		if d.at < t || d.at == t && !at {
			return -1
		}
		return 1
	})
	return i
}
