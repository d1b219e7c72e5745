package main

import "strings"

// text writes a text, indented, cut to some lines and without control characters that would steer the
// terminal. In colour its words have theirs, and the margin that of what becomes of the text.
func (p *painter) text(style, s string, marks []int, lost bool) {
	if lost {
		p.printf(style, "    (in no row; turnmill show INPUT has it)\n")
		return
	}
	if s == "" {
		p.printf(style, "    (empty)\n")
		return
	}
	if !p.colour {
		marks = nil
	}
	all := markedLines(strings.TrimSuffix(s, "\n"), marks)
	for i, line := range all {
		if p.lines > 0 && i == p.lines {
			p.printf(plain, "    ... %d more lines\n", len(all)-i)
			return
		}
		if marks == nil {
			p.printf(style, "    ")
		} else {
			p.printf(style, "  ▏ ")
		}
		p.line(style, line)
	}
}

// line writes one line of a text, cut to a width.
func (p *painter) line(style string, line []stretch) {
	const width = 160
	left, more := width, 0
	for _, s := range line {
		text := []rune(visible(s.text))
		if p.lines > 0 && len(text) > left {
			more += len(text) - left
			text = text[:left]
		}
		left -= len(text)
		switch {
		case len(text) == 0:
		case s.kind > 0:
			p.printf(kinds[s.kind], "%s", string(text))
		default:
			p.printf(style, "%s", string(text))
		}
	}
	if more > 0 {
		p.printf(style, " ... %d more characters", more)
	}
	p.printf(plain, "\n")
}

// stretch is part of a line with the kind of its mark.
type stretch struct {
	text string
	kind int
}

// markedLines cuts a text into lines, and each at its marks: pairs of bytes and kind.
func markedLines(text string, marks []int) [][]stretch {
	all := [][]stretch{nil}
	add := func(piece string, kind int) {
		for i, part := range strings.Split(piece, "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			if part != "" {
				all[len(all)-1] = append(all[len(all)-1], stretch{part, kind})
			}
		}
	}
	for i := 0; i+1 < len(marks); i += 2 {
		n := min(marks[i], len(text))
		add(text[:n], marks[i+1])
		text = text[n:]
	}
	if text != "" {
		add(text, 0)
	}
	return all
}

// visible shows control characters as symbols; a line feed is one too.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7F:
			return 0x2421
		case r >= 0x80 && r < 0xA0:
			return 0xFFFD
		}
		return r
	}, s)
}
