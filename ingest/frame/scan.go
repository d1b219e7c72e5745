package frame

import (
	"bytes"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxKey bounds the first key, and the blanks around it, by which the start of a record is recognised
// after damage.
const maxKey = 4 << 10

// scan walks over the value at the window's front. It returns the offset in the window of the value's end
// or of its damage. While f.walk.size is within the limit the window still holds the whole value; beyond
// it nothing is kept.
func (f *Framer) scan() (int, status) {
	s, m := &f.src, &f.walk
	m.reset()
	f.solid = s.offset
	i := 0
	for {
		n, st := m.run(s.window()[i:])
		i += n
		if st != hungry {
			return i, st
		}
		if m.size > f.max {
			f.pass(i)
			i = 0
		}
		if !s.more() {
			return i, m.finish(s.err == io.EOF)
		}
	}
}

// take hands out the value that scan found to end at i.
func (f *Framer) take(pos turnmill.Pos, i int) (Record, error) {
	rec := Record{Data: f.src.window()[:i], Line: pos.Line, Offset: pos.Offset}
	f.src.advance(i)
	if f.walk.size > f.max {
		pos.Bytes = f.walk.size
		return Record{}, f.tooLarge(pos)
	}
	return rec, nil
}

// damage rejects what was passed since pos, for the reason that scan found.
func (f *Framer) damage(pos turnmill.Pos) error {
	pos.Bytes = f.solid - pos.Offset
	switch err := f.walk.err; {
	case f.walk.size > f.max:
		return f.tooLarge(pos)
	case err.Short && f.src.err != io.EOF:
		return f.cut(pos)
	default:
		return reject(pos, syntaxReason(err), err, "")
	}
}

// pass consumes n bytes and notes where the last of them ends that is no padding.
func (f *Framer) pass(n int) {
	w := f.src.window()[:n]
	for len(w) > 0 && (w[len(w)-1] == 0 || blank(w[len(w)-1])) {
		w = w[:len(w)-1]
	}
	if len(w) > 0 {
		f.solid = f.src.offset + int64(len(w))
	}
	f.src.advance(n)
}

// find passes bytes until c is at the window's front. It returns false at the end of the input.
func (f *Framer) find(c byte) bool {
	for {
		w := f.src.window()
		if i := bytes.IndexByte(w, c); i >= 0 {
			f.pass(i)
			return true
		}
		f.pass(len(w))
		if !f.src.more() {
			return false
		}
	}
}

// doubt returns the offset in the window from which another record may start, given damage at i: that of
// the last string before the damage, because a string that lacks its closing quote takes in what follows.
// It is above zero unless the value's start is no longer in the window.
func (f *Framer) doubt(i int) int {
	switch {
	case f.walk.size > f.max:
		return i
	case f.walk.quote < 0:
		return max(1, i)
	}
	return max(1, int(f.walk.quote))
}

// firstKey returns the first key of the object at the start of b, with its quotes, or nil.
func firstKey(b []byte) []byte {
	i := skipBlanks(b, 1)
	if len(b) == 0 || b[0] != '{' || i >= len(b) || b[i] != '"' {
		return nil
	}
	for j := i + 1; j < len(b) && j-i < maxKey; j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return b[i : j+1]
		}
	}
	return nil
}

// startsObject tells whether b starts with an object whose first key is key.
func startsObject(b, key []byte) bool {
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	i := skipBlanks(b, 1)
	if len(b)-i < len(key) || string(b[i:i+len(key)]) != string(key) {
		return false
	}
	i = skipBlanks(b, i+len(key))
	return i < len(b) && b[i] == ':'
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

func syntaxReason(err *jsonscan.SyntaxError) turnmill.Reason {
	switch {
	case err.Deep:
		return turnmill.ReasonTooDeep
	case err.Short:
		return turnmill.ReasonTruncated
	}
	return turnmill.ReasonBadJSON
}
