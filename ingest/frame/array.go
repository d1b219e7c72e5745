package frame

import (
	"bytes"
	"errors"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// place is where in a top-level array the window's front stands.
type place uint8

const (
	beforeArray  place = iota
	firstElement       // after the opening bracket
	dueElement         // after a comma
	afterElement
	afterArray
)

// nextElement frames the elements of a top-level array, and of further arrays after it, as joined files
// have them. A comma too few, or one too many before the closing bracket, costs nothing.
func (f *Framer) nextElement() (Record, error) {
	s := &f.src
	for {
		if !f.skipPadding() {
			return Record{}, f.endArray()
		}
		switch c := s.window()[0]; {
		case f.place == beforeArray || f.place == afterArray:
			if c != '[' {
				if err := f.notArray(); err != nil {
					return Record{}, err
				}
				continue
			}
			f.place = firstElement
		case c == ']':
			f.place = afterArray
		case c == ',' && f.place == afterElement:
			f.place = dueElement
		case c == ',':
			pos := f.position(1)
			s.advance(1)
			f.place = dueElement
			return Record{}, reject(pos, turnmill.ReasonBadJSON, errors.New("a comma where a value is due"), "")
		default:
			return f.element()
		}
		s.advance(1)
	}
}

// endArray says what the end of the input means here.
func (f *Framer) endArray() error {
	open := f.place != beforeArray && f.place != afterArray
	if !open || f.src.err != io.EOF {
		return f.src.err
	}
	f.place = afterArray
	return reject(f.position(0), turnmill.ReasonTruncated,
		errors.New("the input ends before the array's closing bracket"), "to fetch or write the file again")
}

// notArray rejects text outside the array, up to the next element if its end came too early. When that
// element follows at once nothing is lost, and the error is nil.
func (f *Framer) notArray() error {
	pos := f.position(0)
	msg := "text where a top-level array is due"
	if f.place == afterArray {
		msg = "text after the end of the array"
	}
	f.walk.reset()
	f.walk.err = &jsonscan.SyntaxError{Msg: msg}
	if !f.sibling(f.key) {
		return f.rest(pos)
	}
	if f.src.offset == pos.Offset {
		return nil
	}
	return f.damage(pos)
}

// rest rejects everything from pos to the end of the input as one record.
func (f *Framer) rest(pos turnmill.Pos) error {
	s := &f.src
	for ok := true; ok; ok = s.more() {
		f.pass(len(s.window()))
	}
	f.place = afterArray
	return f.damage(pos)
}

func (f *Framer) element() (Record, error) {
	pos := f.position(0)
	i, st := f.scan()
	w := f.src.window()
	if st == complete {
		f.place = afterElement
		if f.key == nil && f.walk.size <= f.max {
			f.key = bytes.Clone(firstKey(w[:i]))
		}
		return f.take(pos, i)
	}
	key := f.key
	if key == nil && f.walk.size <= f.max {
		key = bytes.Clone(firstKey(w))
	}
	f.pass(f.doubt(i))
	if !f.sibling(key) {
		return Record{}, f.rest(pos)
	}
	return Record{}, f.damage(pos)
}

// sibling passes bytes up to the comma before the next element, which is recognised as an object that has
// the first key of the others. It returns false when there is none; without a key nothing is passed.
func (f *Framer) sibling(key []byte) bool {
	if key == nil {
		return false
	}
	for f.find(',') {
		f.src.ensure(maxKey)
		w := f.src.window()
		w = w[:min(len(w), maxKey)]
		if startsObject(w[skipBlanks(w, 1):], key) {
			f.place = afterElement
			return true
		}
		f.pass(1)
	}
	return false
}
