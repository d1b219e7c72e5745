package frame

import (
	"bytes"
	"iter"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Part is a stretch of a line: a whole JSON object, or what is none.
type Part struct {
	From, To int
	Err      error // nil for an object; else a *jsonscan.SyntaxError, its offset counted from From
}

// Limits of a split. Together they keep it linear in the length of the line.
const (
	splitWork  = 16 // bytes parsed or searched for each byte of the line
	splitAhead = 64 // parts after a candidate that must hold for it to count
	splitTries = 8  // candidates with the first key of the damaged record
	splitNear  = 4  // candidates next to the damage, on either side
)

// Split appends to dst the parts of a line that is not one JSON value: objects that were written without a
// line feed between them, and the stretches of text that are no object, a cut record being the usual one.
//
//	{"id":1}{"id":2}            two objects
//	{"id":1,"x":"ab{"id":2}     a cut record and the object that ran into it
//	2026-01-01 INFO {"id":      one bad part: nothing whole in it
//
// The parts tile the line but for padding between them, which is counted in notes as a Framer counts it; a
// line of several parts is counted there as spliced. An object inside a bad stretch counts only if the rest
// of the line after it makes sense as well, because the inner objects of a damaged record are no records. doc
// is scratch, and says whether NaN passes.
func Split(dst []Part, line []byte, doc *jsonscan.Doc, notes *turnmill.Notes) []Part {
	s := splitter{line: line, doc: doc, work: splitWork*len(line) + 1024}
	before := len(dst)
	dst = s.split(dst)
	s.tidy(dst[before:], notes)
	return dst
}

type splitter struct {
	line   []byte
	doc    *jsonscan.Doc
	work   int          // what is left of the bound
	failed map[int]bool // candidates that do not count; each is tried once
	seen   turnmill.Notes
}

func (s *splitter) split(dst []Part) []Part {
	for at := s.skip(0); at < len(s.line); at = s.skip(at) {
		end, err := s.object(at)
		if err == nil {
			dst = append(dst, Part{From: at, To: end})
			at = end
			continue
		}
		parts, ok := s.recover(nil, at, err)
		if !ok {
			parts = []Part{{From: at, To: len(s.line), Err: err}}
		}
		dst = append(dst, parts...)
		at = parts[len(parts)-1].To
	}
	return dst
}

// tidy cuts the padding off bad parts and counts what lies between the parts.
func (s *splitter) tidy(parts []Part, notes *turnmill.Notes) {
	at := 0
	for i := range parts {
		p := &parts[i]
		if p.Err != nil {
			p.To = p.From + len(trimEnd(s.line[p.From:p.To], &s.seen))
		}
		afterNUL := false
		padding(s.line[at:p.From], notes, &afterNUL)
		at = p.To
	}
	afterNUL := false
	padding(s.line[at:], notes, &afterNUL)
	if len(parts) > 1 {
		notes[turnmill.NoteSplicedLine]++
	}
}

// skip returns the offset of the first byte at or after at that is no padding.
func (s *splitter) skip(at int) int {
	afterNUL := false
	n := padding(s.line[at:], &s.seen, &afterNUL)
	s.work -= n
	return at + n
}

// object parses the object at the offset at and returns its end.
func (s *splitter) object(at int) (int, *jsonscan.SyntaxError) {
	v, n, err := s.doc.ParsePrefix(s.line[at:])
	s.work -= n + 1
	if syntax, ok := err.(*jsonscan.SyntaxError); ok {
		return 0, syntax
	}
	if v.Kind() != jsonscan.Object {
		return 0, &jsonscan.SyntaxError{Msg: "not one JSON value, and the text starts with no object but with: " + v.Kind().String()}
	}
	return at + n, nil
}

// recover finds where objects go on after the bad text at the offset at. It returns the bad part and the
// parts that it vouches for.
func (s *splitter) recover(parts []Part, at int, err *jsonscan.SyntaxError) ([]Part, bool) {
	for p, twin := range s.candidates(at, err) {
		if s.failed[p] {
			continue
		}
		if all, ok := s.follow(append(parts, Part{From: at, To: p, Err: err}), p, twin); ok {
			return all, true
		}
		if s.failed == nil {
			s.failed = map[int]bool{}
		}
		s.failed[p] = true
	}
	return nil, false
}

// follow tells whether the text from the offset at on makes sense to the end of the line, or far enough
// ahead: objects, and cut ones that another whole object follows. The first is whole unless cut is true.
func (s *splitter) follow(parts []Part, at int, cut bool) ([]Part, bool) {
	for first := true; at < len(s.line) && len(parts) <= splitAhead; first = false {
		end, err := s.object(at)
		if err == nil {
			parts = append(parts, Part{From: at, To: end})
			at = s.skip(end)
			continue
		}
		if first && !cut || s.work < 0 {
			return nil, false
		}
		if all, ok := s.recover(parts, at, err); ok {
			return all, true
		}
		if first || s.line[at] != '{' || !err.Short {
			return nil, false
		}
		return append(parts, Part{From: at, To: len(s.line), Err: err}), true // cut by the line's end
	}
	return parts, true
}

// candidates yields offsets after at where an object may start, the likeliest first: the damage itself,
// where a bracket stands; objects with the first key of the damaged one, which come with true; then any
// object near the damage. When the line's end was the damage, only the first key can tell a record from
// the inner objects of a cut one.
func (s *splitter) candidates(at int, err *jsonscan.SyntaxError) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		key := firstKey(s.line[at:])
		twin := func(p int) bool { return key != nil && startsObject(s.line[p:], key) }
		damage := at + err.Offset
		if !err.Short && damage > at && s.line[damage] == '{' && !yield(damage, twin(damage)) {
			return
		}
		if key != nil && !s.forward(at, splitTries, twin, func(p int) bool { return yield(p, true) }) {
			return
		}
		if err.Short {
			return
		}
		near := func(p int) bool { return yield(p, false) }
		if s.backward(at, damage, near) {
			s.forward(damage, splitNear, func(p int) bool { return p+1 < len(s.line) && s.line[p+1] == '"' }, near)
		}
	}
}

// forward yields up to tries offsets after from where a bracket stands that fits. It returns false when
// yield did.
func (s *splitter) forward(from, tries int, fits, yield func(int) bool) bool {
	for p := from + 1; tries > 0 && s.work > 0 && p < len(s.line); p++ {
		k := bytes.IndexByte(s.line[p:], '{')
		if k < 0 {
			s.work -= len(s.line) - p
			break
		}
		s.work -= k + 1
		if p += k; fits(p) {
			if tries--; !yield(p) {
				return false
			}
		}
	}
	return true
}

// backward yields the last objects between at and damage, the last one first.
func (s *splitter) backward(at, damage int, yield func(int) bool) bool {
	for p, n := damage, 0; n < splitNear && p > at+1; n++ {
		k := bytes.LastIndex(s.line[at+1:p], []byte(`{"`))
		s.work -= p - (at + 1 + max(k, 0))
		if k < 0 {
			break
		}
		if p = at + 1 + k; !yield(p) {
			return false
		}
	}
	return true
}
