package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// diff tells what of a conversation has been seen. A trace repeats all of it with each request: each text,
// call and result counts once, and as often as one history holds it.
type diff struct {
	on    bool // else everything is new
	marks []mark
	next  int // where the next mark is likely to be
}

// mark is something seen: what it is, and its id or, without one, its text.
type mark struct {
	kind byte
	key  string
	used bool // it stands in the history at hand
}

func (d *diff) reset() { d.on, d.marks, d.next = false, d.marks[:0], 0 }

// rewind begins a new history.
func (d *diff) rewind() {
	for i := range d.marks {
		d.marks[i].used = false
	}
	d.next = 0
}

// settle begins a reply, all of which is new.
func (d *diff) settle() {
	for i := range d.marks {
		d.marks[i].used = true
	}
	d.next = len(d.marks)
}

// fresh tells whether something is new, and keeps it.
func (d *diff) fresh(kind byte, key string) bool {
	if !d.on {
		return true
	}
	for i := range d.marks {
		at := (d.next + i) % len(d.marks) // most histories have the order of the one before
		if m := &d.marks[at]; !m.used && m.kind == kind && m.key == key {
			m.used, d.next = true, at+1
			return false
		}
	}
	d.marks = append(d.marks, mark{kind, key, true})
	d.next = len(d.marks)
	return true
}

// old tells whether something has been seen, in whatever history.
func (d *diff) old(kind byte, key string) bool {
	for i := range d.marks {
		if m := &d.marks[i]; m.kind == kind && m.key == key {
			return true
		}
	}
	return false
}

// These hand on what is new.

func (t *talk) system(text string) {
	if t.diff.fresh('s', text) {
		t.instruct(text)
	}
}

func (t *talk) user(w words) {
	if t.diff.fresh('u', w.text) {
		t.person(w)
	}
}

func (t *talk) agentText(text string) {
	t.got = true
	if text == "" || !t.diff.fresh('a', text) {
		return
	}
	t.agent()
	t.say(t.out.withoutThinking(text, &t.think))
}

func (t *talk) reasoned(who role, text string) {
	t.got = true
	if !t.diff.fresh('t', text) {
		return
	}
	if who != roleAgent {
		t.aside.block(text)
		return
	}
	t.agent()
	t.think.block(text)
}

func (t *talk) nonText(p jsonscan.Value) {
	if t.diff.fresh('n', p.RawStr()) {
		t.out.note(turnmill.NoteNonTextPart)
	}
}

func (t *talk) called(k call) {
	t.got = true
	before := t.out.Notes
	if t.frozen || t.diff.on {
		k.text = t.out.arena.Close(t.out.appendCall(t.out.arena.Open(), &k))
		k.args = jsonscan.Value{}
	}
	key := k.id
	if key == "" {
		key = k.text
	}
	if !t.diff.fresh('c', key) {
		t.out.Notes = before // what was mended in it has been counted
		return
	}
	t.agent()
	t.call(k)
}

func (t *talk) answered(r result) {
	t.got = true
	key := r.id
	if key == "" {
		key = r.text
	}
	if t.diff.fresh('r', key) {
		t.answer(r)
	}
}
