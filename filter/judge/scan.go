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
	start, end int
}

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

	whole  []object    // outermost objects
	inner  []object    // outermost whole ones of objects that are broken elsewhere
	known  map[int]int // starts within broken objects: the end, or -1 where it is broken too
	cut    bool        // an object goes on to the end of the text
	scores bool        // and so does one that has a dimension or scores among its keys
	spent  bool        // the limit was reached: there may be more objects
}

// scan finds the objects of text[from:], positions counted from the start of text.
func scan(text string, from int, lax bool) *scanner {
	s := &scanner{text: text, lax: lax, limit: stepsPerByte*(len(text)-from) + 1024, known: map[int]int{}}
	for at := from; !s.spent; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		if end, ok := s.known[at]; ok {
			at = max(end, at+1)
			continue
		}
		mark := len(s.inner)
		o, ok := s.object(at, 0)
		if !ok {
			for _, in := range s.inner[mark:] {
				s.known[in.start] = in.end
			}
			at++
			continue
		}
		s.inner = s.inner[:mark]
		o.fenced = opensFence(text[from:at])
		s.whole = append(s.whole, o)
		at = o.end
	}
	return s
}

// last returns the last object with scores, a fenced one before any other.
func last(objects []object) *object {
	var found *object
	for i := range objects {
		if o := &objects[i]; o.bears() && (o.fenced || found == nil || !found.fenced) {
			found = o
		}
	}
	return found
}

// opensFence tells whether text ends with the opening of a code fence, with or without a language.
func opensFence(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	text = strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	return strings.HasSuffix(text, "```")
}

// object reads the object at i.
func (s *scanner) object(i, depth int) (object, bool) {
	o := object{start: i}
	mark := len(s.inner)
	end, ok := s.members(&o, i+1, depth)
	if !ok {
		s.known[i] = -1
		if s.cut && o.bears() {
			s.scores = true
		}
		return o, false
	}
	o.end = end
	s.inner = append(s.inner[:mark], o)
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
		return value{objectValue, i, o.end}, &o, o.end, ok
	case c == '[':
		end, ok := s.elements(i+1, depth)
		return value{arrayValue, i, end}, nil, end, ok
	case c == '"' || c == '\'' && s.lax:
		end, ok := s.quoted(i)
		return value{stringValue, i + 1, end - 1}, nil, end, ok
	}
	v, ok := s.plain(i)
	return v, nil, v.end, ok
}
