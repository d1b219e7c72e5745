package frame

import (
	"fmt"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxOpen is how many arrays and objects a scan may have open. It bounds the bracket stack, one bit a
// level, on endless input; decoders allow far fewer.
const maxOpen = 1 << 20

// machine finds the end of one JSON value, over as many windows as it takes. It checks structure and
// scalars, so that damage shows close to where it lies, but lets pass what keeps the end in sight and the
// decoder refuses by itself: control characters and unknown escapes in strings.
type machine struct {
	state state
	open  []uint64 // bracket stack, one bit a level, 1 = object
	depth int
	size  int64  // bytes consumed
	quote int64  // offset in the value of the last string that began; -1 before any
	digit digit  // the part of a number that was read last
	rest  string // what is left of a literal
	err   *jsonscan.SyntaxError
}

type state uint8

const (
	dueValue state = iota
	dueValueOrEnd
	dueKey
	dueKeyOrEnd
	dueColon
	dueCommaOrEnd
	inKey
	inString
	inEscapedKey
	inEscaped
	inNumber
	inWord
	ended
)

// status is what a scan of some bytes found.
type status uint8

const (
	hungry status = iota // the value goes on after these bytes
	complete
	damaged
)

func (m *machine) reset() { *m = machine{open: m.open[:0], quote: -1} }

// run consumes b, which follows what was consumed before. It returns how many bytes it took: all of them
// when the value goes on, those before its end, or those before the damage that err names.
func (m *machine) run(b []byte) (int, status) {
	i := 0
	for i < len(b) && m.err == nil && m.state != ended {
		switch m.state {
		case inString, inKey:
			i = m.text(b, i)
		case inEscaped, inEscapedKey:
			m.state -= inEscapedKey - inKey
			i++
		case inNumber, inWord:
			i = m.scalar(b, i)
		default:
			if blank(b[i]) || m.structure(b[i], m.size+int64(i)) {
				i++
			}
		}
	}
	m.size += int64(i)
	switch {
	case m.err != nil:
		return i, damaged
	case m.state == ended:
		return i, complete
	}
	return i, hungry
}

// finish says that no byte follows. A number may end there, if the end is the input's own and no failure.
func (m *machine) finish(sound bool) status {
	if sound && m.state == inNumber && m.depth == 0 && m.digit.last() {
		m.state = ended
	}
	if m.state == ended {
		return complete
	}
	what := "a value"
	switch {
	case m.state >= inKey && m.state <= inEscaped:
		what = fmt.Sprintf("the string that starts at byte %d", m.quote)
	case m.depth > 0:
		what = m.inside()
	}
	m.err = &jsonscan.SyntaxError{Offset: int(m.size), Msg: "the text ends inside " + what, Short: true}
	return damaged
}

// structure takes one byte outside strings and scalars. It returns false when the byte is damage.
func (m *machine) structure(c byte, at int64) bool {
	switch m.state {
	case dueValue, dueValueOrEnd:
		if c == ']' && m.state == dueValueOrEnd {
			m.pop()
			return true
		}
		return m.start(c, at)
	case dueKey, dueKeyOrEnd:
		switch {
		case c == '"':
			m.state, m.quote = inKey, at
			return true
		case c == '}' && m.state == dueKeyOrEnd:
			m.pop()
			return true
		}
		return m.bad(c, at, "a key")
	case dueColon:
		if c == ':' {
			m.state = dueValue
			return true
		}
		return m.bad(c, at, "a colon")
	default: // dueCommaOrEnd
		object := m.object()
		switch {
		case c == ',' && object:
			m.state = dueKey
			return true
		case c == ',':
			m.state = dueValue
			return true
		case object && c == '}', !object && c == ']':
			m.pop()
			return true
		}
		return m.bad(c, at, "a comma or the end of "+m.inside())
	}
}

// start takes the first byte of a value.
func (m *machine) start(c byte, at int64) bool {
	switch c {
	case '{', '[':
		if m.depth >= maxOpen {
			m.err = &jsonscan.SyntaxError{Offset: int(at), Msg: fmt.Sprintf("more than %d arrays and objects open", maxOpen), Deep: true}
			return false
		}
		m.push(c == '{')
		return true
	case '"':
		m.state, m.quote = inString, at
		return true
	}
	if m.startScalar(c) {
		return true
	}
	return m.bad(c, at, "a value")
}

func (m *machine) push(object bool) {
	word, bit := m.depth/64, uint64(1)<<(m.depth%64)
	if word == len(m.open) {
		m.open = append(m.open, 0)
	}
	if m.depth++; object {
		m.open[word] |= bit
		m.state = dueKeyOrEnd
	} else {
		m.open[word] &^= bit
		m.state = dueValueOrEnd
	}
}

func (m *machine) pop() {
	m.depth--
	m.close()
}

// close ends a value.
func (m *machine) close() {
	if m.state = dueCommaOrEnd; m.depth == 0 {
		m.state = ended
	}
}

// object tells whether the innermost open bracket is that of an object.
func (m *machine) object() bool {
	top := m.depth - 1
	return m.open[top/64]>>(top%64)&1 == 1
}

func (m *machine) inside() string {
	if m.object() {
		return "an object"
	}
	return "an array"
}

func (m *machine) bad(c byte, at int64, due string) bool {
	what := fmt.Sprintf("byte 0x%02X", c)
	if c >= 0x20 && c < 0x7F {
		what = "'" + string(rune(c)) + "'"
	}
	m.err = &jsonscan.SyntaxError{Offset: int(at), Msg: what + " where " + due + " is due"}
	return false
}
