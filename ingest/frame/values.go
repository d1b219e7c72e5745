package frame

import (
	"bytes"

	"github.com/turnmill/turnmill"
)

// nextValue frames JSON values that stand one after another, pretty-printed or not.
func (f *Framer) nextValue() (Record, error) {
	if !f.skipPadding() {
		return Record{}, f.src.err
	}
	pos := f.position(0)
	i, st := f.scan()
	if st == complete {
		return f.take(pos, i)
	}
	return Record{}, f.skipValue(pos, i)
}

// skipValue passes a value with damage at i, up to the next line that starts with a bracket or the end of
// the input.
func (f *Framer) skipValue(pos turnmill.Pos, i int) error {
	if f.walk.size <= f.max {
		if p := f.swallowed(f.src.window(), i); p > 0 {
			f.pass(p)
			return f.damage(pos)
		}
	}
	f.pass(f.doubt(i))
	for f.find('\n') {
		f.pass(1)
		f.src.ensure(1)
		if w := f.src.window(); len(w) > 0 && (w[0] == '{' || w[0] == '[') {
			break
		}
	}
	return f.damage(pos)
}

// swallowed looks before the damage at w[i] for the start of a record that a cut one has taken in: at
// the start of a line, with the same first key, and itself ending where the damage lies. Zero means that
// there is none.
//
//	{"id":1,"notes":[
//	{"id":2}              w[i] is the bracket of the next line: a comma was due
//	{"id":3}
func (f *Framer) swallowed(w []byte, i int) int {
	key := firstKey(w)
	budget := 4 * i // keeps the search linear
	for p := 0; budget > 0; {
		k := bytes.IndexByte(w[p:i], '\n')
		if k < 0 {
			break
		}
		p += k + 1
		if p == i || w[p] != '{' && w[p] != '[' || key != nil && !startsObject(w[p:i], key) {
			continue
		}
		f.probe.reset()
		n, st := f.probe.run(w[p:i])
		if budget -= n; st == complete && onlyPadding(w[p+n:i]) {
			return p
		}
	}
	return 0
}

func onlyPadding(b []byte) bool {
	after := true
	return padding(b, new(turnmill.Notes), &after) == len(b)
}
