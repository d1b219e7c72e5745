package verify

import (
	"slices"
	"strings"
)

// word is a piece of a line: an attribute (name=value, name: value), or a bare word, quoted text or mark.
type word struct {
	name string // of an attribute or bare word
	text string
}

// normal returns the pieces of a line with single spaces between them: without volatile attributes, each with the
// comma before it (after it, where none is before), without the line's number, and with the attributes of an HTML
// tag in the order of their spelling. Quoted text stays as it is.
func (r trees) normal(line string) string {
	if r.numbers {
		line = dropNumber(line)
	}
	var out []string
	tag := -1      // index in out of the open tag's first attribute
	comma := false // the next comma goes too
	for rest := line; ; {
		var w word
		if w, rest = r.next(rest); w.text == "" {
			break
		}
		last := len(out) - 1
		switch {
		case comma && w.text == ",":
		case !r.volatile[w.name]:
			out = append(out, w.text)
		case last >= 0 && out[last] == ",":
			out = out[:last]
		default:
			comma = true
			continue
		}
		comma = false
		switch {
		case len(w.text) > 1 && w.text[0] == '<' && w.text[1] != '/':
			tag = len(out)
		case tag >= 0 && (w.text == ">" || w.text == "/>"):
			slices.Sort(out[tag : len(out)-1])
			tag = -1
		}
	}
	return strings.Join(out, " ")
}

// dropNumber removes "[12] ", "12: ", "12. " and "12 " from the start of a line.
func dropNumber(line string) string {
	body := strings.TrimPrefix(line, "[")
	digits := len(body) - len(strings.TrimLeft(body, "0123456789"))
	if digits == 0 {
		return line
	}
	after := body[digits:]
	if len(body) < len(line) {
		cut, closed := strings.CutPrefix(after, "]")
		if !closed {
			return line
		}
		return strings.TrimLeft(cut, " ")
	}
	cut := strings.TrimLeft(strings.TrimLeft(after, ".:"), " ")
	if cut == after {
		return line
	}
	return cut
}

// next cuts one piece off a line; an empty one says that nothing is left.
func (r trees) next(s string) (word, string) {
	s = strings.TrimLeft(s, " \t\r")
	if s == "" {
		return word{}, ""
	}
	if n := quotedLen(s); n > 0 {
		return word{text: s[:n]}, s[n:]
	}
	n := nameLen(s)
	if n == 0 {
		n = markLen(s)
		return word{text: s[:n]}, s[n:]
	}
	name, rest := s[:n], s[n:]
	if value, ok := strings.CutPrefix(rest, "="); ok {
		v := valueLen(value)
		return word{name, name + "=" + value[:v]}, value[v:]
	}
	if value, ok := strings.CutPrefix(rest, ": "); ok && r.volatile[name] {
		value = strings.TrimLeft(value, " ")
		v := valueLen(value)
		return word{name, name + ": " + value[:v]}, value[v:]
	}
	return word{name: name, text: name}, rest
}

// markLen is the length of what is no name: "<tag", "</tag", "/>" or a single character.
func markLen(s string) int {
	if s[0] == '<' {
		n := 1
		if strings.HasPrefix(s, "</") {
			n = 2
		}
		return n + nameLen(s[n:])
	}
	if strings.HasPrefix(s, "/>") {
		return 2
	}
	for i := range s {
		if i > 0 {
			return i // the first code point
		}
	}
	return len(s)
}

// nameLen is the length of the name that s begins with: letters, digits, "_", "-", ".", and all that is not
// ASCII. A colon belongs to it before a letter, as in aria:label and android:id.
func nameLen(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80, c == '_', c == '-', c == '.', '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z':
		case c == ':' && i > 0 && i+1 < len(s) && 'a' <= s[i+1]|0x20 && s[i+1]|0x20 <= 'z':
		default:
			return i
		}
	}
	return len(s)
}

// valueLen is the length of an attribute's value: quoted text, something in brackets ([0,0][5,5] in two), or
// all up to a blank, a comma or a closing bracket.
func valueLen(s string) int {
	if n := quotedLen(s); n > 0 {
		return n
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 && (i+1 == len(s) || strings.IndexByte("([{", s[i+1]) < 0) {
				return i + 1
			}
		case ' ', '\t', ',', '>':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// quotedLen is the length of the quoted text that s begins with, quotes included; 0 when there is none, or no end
// that a blank, a mark or the line's end follows: so that an apostrophe inside is one.
func quotedLen(s string) int {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if i+1 == len(s) || strings.IndexByte(" \t,>)]};/", s[i+1]) >= 0 {
				return i + 1
			}
		}
	}
	return 0
}
