package formats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// droidBot decodes runs of DroidBot: it gathers events and screens, then plays the events in their order.
type droidBot struct {
	acts
	partReader
	kinds   uint16
	events  []droidEvent
	screens []droidScreen
	byHash  map[string]int // of screens: the first of each state_str
	seen    map[string]int // ids of trajectories
	depths  []int32        // of the views of the screen at hand
	print   []byte
}

// droidEvent is one event. Names of screens are their state_str.
type droidEvent struct {
	tag, start, stop string
	name, text       string // of the call
	raw              string // what it was read from, to tell equals
}

type droidScreen struct {
	tag, text string
	raw       string
}

func (d *droidBot) Decode(raw []byte, out *Decoded) error {
	return d.decodeOne(raw, out, d.DecodeParts)
}

func (d *droidBot) DecodeParts(parts []Part, out *Decoded) error {
	out.reset()
	d.out, d.kinds, d.events, d.screens = out, 0, d.events[:0], d.screens[:0]
	clear(d.byHash)
	clear(d.seen)
	d.readParts(parts, out, d)
	if err := out.complete(droidBotName, d.kinds, "no event and no screen in it", droidBotLacks); err != nil {
		return err
	}
	d.play()
	return nil
}

// value takes a part, or a list of them.
func (d *droidBot) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			d.value(e, base)
		}
		return
	}
	kind, why, _ := droidKind(v)
	d.kinds |= kind
	switch kind {
	case droidEvents:
		d.event(v)
	case droidScreens:
		d.screen(v)
	case 0:
		d.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), wrongFormat(droidBotName, why))
	}
}

func (d *droidBot) event(v jsonscan.Value) {
	arena, event := &d.out.arena, v.Get("event")
	e := droidEvent{tag: d.out.id(v.Get("tag")), start: v.Get("start_state").Str(arena), stop: v.Get("stop_state").Str(arena), raw: v.RawStr()}
	if e.name = event.Get("event_type").Str(arena); e.name == "" { // an event of an extension: TouchEvent(...)
		e.name, _, _ = strings.Cut(v.Get("event_str").Str(arena), "(")
	}
	e.text = d.callText(e.name, event)
	d.events = append(d.events, e)
}

// callText returns the canonical text of an event: its other members are its arguments.
func (d *droidBot) callText(name string, event jsonscan.Value) string {
	b := append(appendCallName(d.out.arena.Open(), name), '{')
	n := 0
	for k, m := range event.Members() {
		if k.Is("event_type") || k.Is("log_lines") || !m.Present() {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(d.out.appendVerbatim(b, k), ':')
		if k.Is("view") && m.Kind() == jsonscan.Object {
			b = d.out.appendMembers(b, m, "text", "content_description", "resource_id", "class", "bounds")
		} else {
			b = d.out.appendCompact(b, m)
		}
	}
	return d.out.arena.Close(append(b, "}}"...))
}

// screen takes a screen. Of several with one state_str the first counts.
func (d *droidBot) screen(v jsonscan.Value) {
	hash := v.Get("state_str").Str(&d.out.arena)
	s := droidScreen{tag: d.out.id(v.Get("tag")), raw: v.RawStr()}
	i, again := d.byHash[hash]
	if again {
		d.out.Copied++
		if was := &d.screens[i]; cmp.Or(compareTags(s.tag, was.tag), strings.Compare(s.raw, was.raw)) >= 0 {
			return
		}
	} else {
		i = len(d.screens)
		d.byHash[hash] = i
		d.screens = append(d.screens, s)
	}
	s.text = d.views(v.Get("views"))
	d.screens[i] = s
}

// views returns the text of a screen.
func (d *droidBot) views(list jsonscan.Value) string {
	b, n := d.out.arena.Open(), 0
	d.depths = d.depths[:0]
	for v := range list.Elems() {
		depth := int32(0)
		if parent, ok := v.Get("parent").Int(); ok && parent >= 0 && parent < int64(len(d.depths)) {
			depth = min(d.depths[parent]+1, maxIndent)
		}
		d.depths = append(d.depths, depth)
		if v.Kind() != jsonscan.Object || v.Get("visible").Kind() == jsonscan.False {
			continue
		}
		if n++; n > 1 {
			b = append(b, '\n')
		}
		for range depth {
			b = append(b, '\t')
		}
		b = d.view(b, v)
	}
	return d.out.arena.Close(b)
}

// maxIndent bounds the text of a tree that is a chain.
const maxIndent = 100

func (d *droidBot) view(b []byte, v jsonscan.Value) []byte {
	from, to := v.Get("bounds").At(0), v.Get("bounds").At(1)
	e := element{
		class: v.Get("class"), text: v.Get("text"), about: v.Get("content_description"), id: v.Get("resource_id"),
		corners: [4]jsonscan.Value{from.At(0), from.At(1), to.At(0), to.At(1)},
	}
	for _, key := range [...]string{"checked", "selected", "focused", "checkable", "clickable", "long_clickable", "scrollable", "editable"} {
		e.flag(key, v.Get(key).Kind() == jsonscan.True)
	}
	e.flag("password", v.Get("is_password").Kind() == jsonscan.True)
	e.flag("disabled", v.Get("enabled").Kind() == jsonscan.False)
	return d.out.appendElement(b, &e)
}

// play makes the trajectories.
func (d *droidBot) play() {
	slices.SortFunc(d.events, func(a, b droidEvent) int {
		return cmp.Or(compareTags(a.tag, b.tag), strings.Compare(a.start, b.start), strings.Compare(a.stop, b.stop), strings.Compare(a.raw, b.raw))
	})
	all := len(d.events)
	d.events = slices.CompactFunc(d.events, func(a, b droidEvent) bool { return a.tag == b.tag && a.raw == b.raw })
	d.out.Copied += int64(all - len(d.events))
	run, open := d.runID(), false
	for i := range d.events {
		e := &d.events[i]
		if open && d.events[i-1].stop != e.start {
			d.close()
			open = false
		}
		if !open {
			d.open(run, e)
		}
		if open = d.turn(e); !open {
			d.close()
		}
	}
	if open {
		d.close()
	}
}

// runID names a run by what its events say, which no file's name has part in.
func (d *droidBot) runID() string {
	d.print = d.print[:0]
	for i := range d.events {
		e := &d.events[i]
		for _, s := range [...]string{e.tag, e.start, e.stop} {
			d.print = append(append(d.print, s...), 0)
		}
	}
	sum := sha256.Sum256(d.print)
	return d.out.arena.Close(hex.AppendEncode(append(d.out.arena.Open(), droidBotName+"-"...), sum[:8]))
}

// open begins a trajectory at an event.
func (d *droidBot) open(run string, e *droidEvent) {
	tag := e.tag
	if s := d.screenOf(e.start); s != nil {
		tag = s.tag
	}
	d.begin(d.out.trajectory(droidBotName, ""), d.out)
	id := d.out.arena.Close(append(append(append(d.out.arena.Open(), run...), '/'), tag...))
	d.t.ID, d.t.TaskID, d.t.Observed = d.out.ownID(id, d.seen[id]), run, turnmill.ObservedTrue
	d.seen[id]++
	d.started = true
}

func (d *droidBot) close() {
	d.acts.finish()
	d.t.Domain = turnmill.DomainAndroid
	d.out.finish(d.t, d.opts)
}

// turn makes a turn of an event; it tells whether there is a screen after it.
func (d *droidBot) turn(e *droidEvent) bool {
	d.agent()
	d.state = ""
	if s := d.screenOf(e.start); s != nil {
		d.state = s.text
	}
	d.call(call{name: e.name, text: e.text, answer: -1})
	after := d.screenOf(e.stop)
	if after != nil {
		d.answer(result{text: after.text, mute: after.text == ""})
	}
	d.end()
	return after != nil
}

// screenOf returns the screen of a state_str; nil when there is none.
func (d *droidBot) screenOf(hash string) *droidScreen {
	if i, ok := d.byHash[hash]; ok && hash != "" {
		return &d.screens[i]
	}
	return nil
}

// compareTags orders tags: numbers by their value, before all others, which go by their bytes.
func compareTags(a, b string) int {
	switch m, n := digits(a), digits(b); {
	case m && n:
		x, y := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(len(x)-len(y), strings.Compare(x, y), strings.Compare(a, b))
	case m:
		return -1
	case n:
		return 1
	}
	return strings.Compare(a, b)
}
