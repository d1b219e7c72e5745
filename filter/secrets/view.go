package secrets

import "strings"

// view is a window of a text as a reader would see it, with the way back. Escapes of JSON, of shells and of JSON in
// JSON are what they stand for, terminal codes are gone.
type view struct {
	text []byte
	from []int32 // of each byte of text: where it begins in the field
	to   []int32 // and ends
}

func (v *view) reset() { v.text, v.from, v.to = v.text[:0], v.from[:0], v.to[:0] }

func (v *view) add(c byte, from, to int) {
	v.text, v.from, v.to = append(v.text, c), append(v.from, int32(from)), append(v.to, int32(to))
}

// span returns the bytes of the field that a range of the view stands for.
func (v *view) span(from, to int) (int, int) { return int(v.from[from]), int(v.to[to-1]) }

const escape = 0x1b

// opaque stands in a view for what can be no part of a secret: an escape of a character beyond ASCII.
const opaque = 0x00

// fill makes v the view of raw[from:to].
func (v *view) fill(raw string, from, to int) {
	v.reset()
	for i := from; i < to; {
		switch c := raw[i]; c {
		case escape:
			i += ansiLen(raw[i+1:to]) + 1
		case '\r':
			i++ // of a line end, or to its start again
		case '\\':
			i = v.backslash(raw, i, to)
		default:
			v.add(c, i, i+1)
			i++
		}
	}
}

// backslash adds what a run of backslashes and the character after it stand for, and returns where they end. How
// many backslashes there are says how deep a text is nested, which is of no account here.
func (v *view) backslash(raw string, from, to int) int {
	at := from
	for at < to && raw[at] == '\\' {
		at++
	}
	if at == to {
		v.add('\\', from, at)
		return at
	}
	switch c := raw[at]; c {
	case '"', '\'', '/', '`':
		v.add(c, from, at+1)
		return at + 1
	case 'n':
		v.add('\n', from, at+1)
		return at + 1
	case 'r':
		if at+1 == to || raw[at+1] != '\\' { // else of a line end
			v.add('\n', from, at+1)
		}
		return at + 1
	case 't', 'b', 'f':
		if c == 't' || (at-from)%2 == 1 { // in JSON \b is one escape; \\b is not
			v.add('\t', from, at+1)
			return at + 1
		}
	case 'u':
		if n, ok := hexByte(raw, at+1, to, 4); ok {
			return v.code(raw, n, from, at+5, to)
		}
	case 'x':
		if n, ok := hexByte(raw, at+1, to, 2); ok {
			return v.code(raw, n, from, at+3, to)
		}
	case '0':
		if strings.HasPrefix(raw[at:to], "033[") {
			return v.code(raw, escape, from, at+3, to)
		}
	case 'e':
		if strings.HasPrefix(raw[at:to], "e[") {
			return v.code(raw, escape, from, at+1, to)
		}
	}
	v.add('\\', from, at)
	return at
}

// code adds a character that was written as its number, which ends at end; ESC takes its sequence with it.
func (v *view) code(raw string, n, from, end, to int) int {
	switch {
	case n == escape:
		return end + ansiLen(raw[end:to])
	case n < 0x80:
		v.add(byte(n), from, end)
	default:
		v.add(opaque, from, end)
	}
	return end
}

// hexByte reads so many hex digits.
func hexByte(raw string, at, to, digits int) (n int, ok bool) {
	if at+digits > to {
		return 0, false
	}
	for _, c := range []byte(raw[at : at+digits]) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// ansiLen returns how much of s, which follows an ESC, belongs to its sequence: ECMA-48, and titles of xterm.
func ansiLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[':
		for i := 1; i < len(s) && i < 64; i++ {
			if c := s[i]; c >= 0x40 && c <= 0x7e {
				return i + 1
			} else if c < 0x20 || c > 0x3f {
				break
			}
		}
		return 0 // cut, or none
	case ']':
		for i := 1; i < len(s) && i < 256; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == '\n' || s[i] == '"' {
				break
			}
		}
		return 0
	case '(', ')':
		if len(s) > 1 && s[1] >= '0' && s[1] < 0x7f && s[1] != '\\' {
			return 2
		}
		return 0
	case '=', '>', '7', '8':
		return 1
	}
	return 0
}
