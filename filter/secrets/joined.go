package secrets

import "unicode/utf8"

// columns are the widths at which terminals and mail wrap, and one less.
var columns = [...]int{60, 64, 70, 72, 75, 76, 78, 79, 80, 90, 96, 99, 100, 110, 119, 120, 130, 131, 132, 140, 150, 158, 159, 160, 180, 199, 200, 240}

// isColumn tells the columns.
var isColumn = func() (is [256]bool) {
	for _, n := range columns {
		is[n] = true
	}
	return is
}()

// leastWrapped is the least width, in characters, of a line that is taken for a wrapped one.
const leastWrapped = 20

// join makes j the view v without its soft line ends: those between two characters of a token, with the blanks or
// the mark of continuation at the start of the next line. With full, a line has to be as wide as a terminal, or as
// the line after it; else any line will do that is not short.
func (j *view) join(v *view, full bool) (joined bool) {
	j.reset()
	start, was := 0, 0 // of the line; width of the one before
	for i := 0; i < len(v.text); i++ {
		c := v.text[i]
		if c != '\n' {
			j.add(c, int(v.from[i]), int(v.to[i]))
			continue
		}
		line := v.text[start:i]
		width := utf8.RuneCount(line)
		next := i + 1
		if n := len(line); n > 0 && line[n-1] == '\\' { // a shell's own mark
			if last := len(j.text) - 1; last > 0 && tokenByte(j.text[last-1]) && width >= leastWrapped {
				if next = skipMark(v.text, next); next < len(v.text) && tokenByte(v.text[next]) {
					j.text, j.from, j.to = j.text[:last], j.from[:last], j.to[:last]
					joined, start, was, i = true, i+1, width, next-1
					continue
				}
			}
		} else if n > 0 && tokenByte(line[n-1]) && width >= leastWrapped && (!full || width < len(isColumn) && isColumn[width] || width == was || width == widthAt(v.text, next)) {
			if next = skipMark(v.text, next); next < len(v.text) && tokenByte(v.text[next]) {
				joined, start, was, i = true, i+1, width, next-1
				continue
			}
		}
		j.add(c, int(v.from[i]), int(v.to[i]))
		start, was = i+1, width
	}
	return joined
}

// widthAt is the width of the line that begins at i.
func widthAt(text []byte, i int) int {
	end := i
	for end < len(text) && text[end] != '\n' {
		end++
	}
	return utf8.RuneCount(text[i:end])
}

// skipMark returns where a line goes on after indentation and a mark of continuation: > | or the box's bar.
func skipMark(text []byte, i int) int {
	i = skipBlanks(text, i)
	switch {
	case i < len(text) && (text[i] == '>' || text[i] == '|'):
		i = skipBlanks(text, i+1)
	case i+2 < len(text) && text[i] == 0xe2 && text[i+1] == 0x94 && (text[i+2] == 0x82 || text[i+2] == 0x83): // U+2502, U+2503
		i = skipBlanks(text, i+3)
	}
	return i
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// tokenByte tells the bytes of which issuers make tokens.
func tokenByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '-' || c == '+' || c == '/' || c == '=' || c == '.' || c == '~'
}

// wordByte tells letters, digits and the underscore.
func wordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
}
