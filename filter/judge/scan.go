package judge

import "strings"

// maxDepth bounds nesting; stepsPerByte bounds the work on a text, so that no text is quadratic. Texts that are
// no attack take one to three steps a byte.
const (
	maxDepth     = 512
	stepsPerByte = 32
)

// valueKind says what stands where a value is expected.
type valueKind uint8

const (
	noValue valueKind = iota
	numberValue
	stringValue // without its quotes
	wordValue   // true, null, NaN ...
	objectValue
	arrayValue
)

// value is one value of an object, as a range of the text.
type value struct {
	kind       valueKind
	start, end int32
}

// valueAt returns a value that stands in text[start:end].
func valueAt(kind valueKind, start, end int) value { return value{kind, int32(start), int32(end)} }

// dimensionValues are the values of an object's dimension keys.
type dimensionValues struct {
	values [NumDimensions]value
	twice  [NumDimensions]bool // two values that differ in their text
	any    bool
}

// object is one object of a text that is whole.
type object struct {
	start, end int
	fenced     bool            // it opens a code fence
	own        dimensionValues // under its own keys
	scores     dimensionValues // under the keys of the object that it has under "scores"
	hasScores  bool
	score      value // under the key "score"
}

// bears tells whether the object has scores to read.
func (o *object) bears() bool { return o.hasScores || o.own.any }

// dimensions returns the values to read: those under "scores" where that is an object.
func (o *object) dimensions() *dimensionValues {
	if o.hasScores {
		return &o.scores
	}
	return &o.own
}

// scanner finds the objects of a text. Strictly it takes JSON, and the words NaN and Infinity, which Python
// writes. Lax, it also takes single quotes, bare keys and words, commas before a closing bracket, raw control
// characters in strings and 4/5 without quotes. It changes no text: what is repaired is read, not rewritten,
// so nothing inside a string can be mistaken for a key.
type scanner struct {
	text  string
	lax   bool
	steps int // bytes looked at
	limit int

	whole  *object // the last outermost object with scores; a fenced one goes before any other
	inner  object  // the last one within another that has none, or that is broken; its end is 0 when there is none
	starts []int   // of all outermost objects with scores, in order
	skip   []int   // starts of outermost objects that are not looked for

	open   []*object // by depth: what is being read
	within object    // the last one with scores inside it
	visits []visit   // objects of the attempt that runs, in order
	known  [][]visit // of earlier attempts that broke
	cut    bool      // an object goes on to the end of the text
	scores bool      // and so does one that has a dimension or scores among its keys
	single int       // from here on no single quote closes a string; 0 until one is found that none closes
	spent  bool      // the limit was reached: there may be more objects
}

// visit is one object within a broken one: whole up to end, or broken too, for which end is -1. It need not be
// read again when its own turn comes.
type visit struct{ start, end int }

// mostKnown bounds the broken objects whose visits are remembered. A text that needs more pays in steps.
const mostKnown = 8

// scan finds the objects of text[from:], positions counted from the start of text, but for those that begin at
// a position in skip.
func scan(text string, from int, lax bool, skip []int) *scanner {
	s := &scanner{text: text, lax: lax, limit: stepsPerByte*(len(text)-from) + 1024, skip: skip}
	for at := from; !s.spent; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		if at += i; s.visited(&at) {
			continue
		}
		s.visits, s.within.end = s.visits[:0], 0
		o, ok := s.object(at, 0)
		if ok && o.bears() {
			s.take(o, from)
		} else if s.within.end > 0 {
			s.inner = s.within
		}
		if at = o.end; !ok {
			s.remember()
			at = o.start + 1
		}
	}
	return s
}

// visited tells whether the object at a position was read before, and then moves the position behind it.
func (s *scanner) visited(at *int) bool {
	for i, visits := range s.known {
		for len(visits) > 0 && visits[0].start < *at {
			visits = visits[1:]
		}
		if s.known[i] = visits; len(visits) > 0 && visits[0].start == *at {
			*at = max(visits[0].end, *at+1)
			return true
		}
	}
	return false
}

// remember keeps the visits of an attempt that broke.
func (s *scanner) remember() {
	if len(s.visits) < 2 { // the first is the attempt itself
		return
	}
	if len(s.known) == mostKnown {
		s.known = s.known[1:]
	}
	s.known = append(s.known, append([]visit(nil), s.visits[1:]...))
}

// take keeps an outermost object with scores.
func (s *scanner) take(o *object, from int) {
	s.starts = append(s.starts, o.start)
	for len(s.skip) > 0 && s.skip[0] < o.start {
		s.skip = s.skip[1:]
	}
	if len(s.skip) > 0 && s.skip[0] == o.start {
		return
	}
	if o.fenced = opensFence(s.text[from:o.start]); o.fenced || s.whole == nil || !s.whole.fenced {
		in := *o
		s.whole = &in
	}
}

// opensFence tells whether text ends with the opening of a code fence, with or without a language.
func opensFence(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	text = strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	return strings.HasSuffix(text, "```")
}

// object reads the object at i. It is valid until the next one at its depth is read.
func (s *scanner) object(i, depth int) (*object, bool) {
	for len(s.open) <= depth {
		s.open = append(s.open, new(object))
	}
	o := s.open[depth]
	*o = object{start: i}
	mark := len(s.visits)
	s.visits = append(s.visits, visit{i, -1})
	end, ok := s.members(o, i+1, depth)
	if !ok {
		s.scores = s.scores || s.cut && o.bears()
		return o, false
	}
	o.end = end
	s.visits = append(s.visits[:mark], visit{i, end})
	if depth > 0 && o.bears() {
		s.within = *o
	}
	return o, true
}

// members reads what stands between the braces, and returns the position after the closing one.
func (s *scanner) members(o *object, i, depth int) (int, bool) {
	for first := true; ; first = false {
		i = s.blanks(i)
		if s.at(i) == '}' && (first || s.lax) {
			return i + 1, true
		}
		key, next, ok := s.key(i)
		if !ok {
			return next, false
		}
		o.note(key)
		if i = s.blanks(next); !s.expect(i, ':') {
			return i, false
		}
		v, in, next, ok := s.value(s.blanks(i+1), depth+1)
		if !ok {
			return next, false
		}
		o.put(s.text, key, v, in)
		switch i = s.blanks(next); s.at(i) {
		case ',':
			i++
		case '}':
			return i + 1, true
		default:
			return i, s.expect(i, '}')
		}
	}
}

// elements reads what stands between the brackets of an array.
func (s *scanner) elements(i, depth int) (int, bool) {
	for first := true; ; first = false {
		i = s.blanks(i)
		if s.at(i) == ']' && (first || s.lax) {
			return i + 1, true
		}
		_, _, next, ok := s.value(i, depth+1)
		if !ok {
			return next, false
		}
		switch i = s.blanks(next); s.at(i) {
		case ',':
			i++
		case ']':
			return i + 1, true
		default:
			return i, s.expect(i, ']')
		}
	}
}

// value reads the value at i. The object is nil unless the value is one.
func (s *scanner) value(i, depth int) (value, *object, int, bool) {
	if depth > maxDepth || !s.more(i) {
		return value{}, nil, i, false
	}
	switch c := s.text[i]; {
	case c == '{':
		o, ok := s.object(i, depth)
		return valueAt(objectValue, i, o.end), o, o.end, ok
	case c == '[':
		end, ok := s.elements(i+1, depth)
		return valueAt(arrayValue, i, end), nil, end, ok
	case c == '"' || c == '\'' && s.lax:
		end, ok := s.quoted(i)
		return valueAt(stringValue, i+1, end-1), nil, end, ok
	}
	v, end, ok := s.plain(i)
	return v, nil, end, ok
}
