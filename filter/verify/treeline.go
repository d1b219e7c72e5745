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
	p := pieces{volatile: r.volatile, rest: line}
	for w := p.next(); w.text != ""; w = p.next() {
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

// pieces cuts a line. Once a quote has no end, later ones of its kind have none either: so a line is read once.
type pieces struct {
	volatile map[string]bool
	rest     string
	endless  [256]bool // by quote
}

// next cuts one piece off; an empty one says that nothing is left.
func (p *pieces) next() word {
	p.rest = strings.TrimLeft(p.rest, " \t\r")
	if p.rest == "" {
		return word{}
	}
	if n := p.quoted(p.rest); n > 0 {
		return word{text: p.cut(n)}
	}
	n := nameLen(p.rest)
	if n == 0 {
		return word{text: p.cut(markLen(p.rest))}
	}
	name := p.cut(n)
	if value, ok := strings.CutPrefix(p.rest, "="); ok {
		p.rest = value
		return word{name, name + "=" + p.cut(p.value())}
	}
	if value, ok := strings.CutPrefix(p.rest, ": "); ok && p.volatile[name] {
		p.rest = strings.TrimLeft(value, " ")
		return word{name, name + ": " + p.cut(p.value())}
	}
	return word{name, name}
}

func (p *pieces) cut(n int) string {
	s := p.rest[:n]
	p.rest = p.rest[n:]
	return s
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

// value is the length of an attribute's value: quoted text, something in brackets ([0,0][5,5] in two), or all up
// to a blank, a comma or a closing bracket.
func (p *pieces) value() int {
	s := p.rest
	if n := p.quoted(s); n > 0 {
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

// quoted is the length of the quoted text that s begins with, quotes included; 0 when there is none, or no end
// that a blank, a mark or the line's end follows: so that an apostrophe inside is one.
func (p *pieces) quoted(s string) int {
	if s == "" || s[0] != '"' && s[0] != '\'' || p.endless[s[0]] {
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
	p.endless[s[0]] = true
	return 0
}
