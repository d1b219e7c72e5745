package formats

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// pythonString decodes the Python string literal that text begins with, as repr prints it, and returns what
// follows it. open is true when the text ends inside the literal, or begins none: value is what stands there.
func (d *Decoded) pythonString(text string) (value, rest string, open bool) {
	if text == "" {
		return "", "", true
	}
	quote := text[0]
	if quote != '\'' && quote != '"' { // no literal: where it would end is not known
		return text, "", true
	}
	b := d.arena.Open()
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == quote:
			return d.arena.Close(b), text[i+1:], false
		case c != '\\':
			b = append(b, c)
			i++
		default:
			var n int
			b, n = appendPythonEscape(b, text[i:])
			i += n
		}
	}
	return d.arena.Close(b), "", true
}

// appendPythonEscape decodes the escape that s begins with. One that is cut, or unknown, stays as it stands.
func appendPythonEscape(b []byte, s string) ([]byte, int) {
	if len(s) < 2 {
		return append(b, s...), len(s)
	}
	digits := 0
	switch s[1] {
	case '\\', '\'', '"':
		return append(b, s[1]), 2
	case 'n':
		return append(b, '\n'), 2
	case 'r':
		return append(b, '\r'), 2
	case 't':
		return append(b, '\t'), 2
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits > 0 && len(s) >= 2+digits {
		if code, err := strconv.ParseUint(s[2:2+digits], 16, 32); err == nil && code <= utf8.MaxRune {
			return utf8.AppendRune(b, rune(code)), 2 + digits
		}
	}
	return append(b, s[:2]...), 2
}

// mcpPrint is what Python prints of an MCP result.
type mcpPrint struct {
	text   string // its text blocks, joined by line feeds
	others int    // its other blocks
	failed string // isError, true or false; "" when the print was cut before it
	cut    bool   // the print ends too early
}

// printedResult reads the print of an MCP result. ok is false for any other text.
//
//	meta=None content=[TextContent(type='text', text='4A', annotations=None)] isError=False
func (d *Decoded) printedResult(s string) (p mcpPrint, ok bool) {
	rest, ok := strings.CutPrefix(s, "meta=")
	_, rest, found := strings.Cut(rest, "content=[")
	if !ok || !found {
		return p, false
	}
	d.pieces = d.pieces[:0]
	for !p.cut && !strings.HasPrefix(rest, "]") {
		rest = strings.TrimPrefix(rest, ", ")
		name, inside, found := strings.Cut(rest, "(")
		if !found || strings.ContainsAny(name, " ='\"") {
			p.cut = true
			break
		}
		if inside, ok = strings.CutPrefix(inside, "type='text', text="); ok {
			var text string
			text, inside, p.cut = d.pythonString(inside)
			d.pieces = append(d.pieces, text)
		} else {
			p.others++
		}
		if !p.cut {
			rest, p.cut = skipArguments(inside)
		}
	}
	p.text = d.join(d.pieces, "\n")
	switch _, flag, _ := strings.Cut(rest, "isError="); {
	case p.cut:
	case strings.HasPrefix(flag, "True"):
		p.failed = "true"
	case strings.HasPrefix(flag, "False"):
		p.failed = "false"
	}
	return p, true
}

// skipArguments returns what follows the bracket that closes the arguments of a printed constructor.
func skipArguments(s string) (rest string, cut bool) {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return s[i+1:], false
			}
		case '\'', '"':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return "", true
}
