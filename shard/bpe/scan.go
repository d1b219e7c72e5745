package bpe

import (
	"bytes"
	"unicode/utf8"
)

// nextToken returns the end of the pre-token that begins at text[i]; i < len(text), and text is one piece
// between added tokens: the rule about blanks at the end looks at the piece's end (regular expression
// `\s+(?!\S)`). The alternatives of qwen2Regex, in order:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)    contraction
//	[^\r\n\p{L}\p{N}]?\p{L}+        word, with one other character before it
//	\p{N}                           digit
//	 ?[^\s\p{L}\p{N}]+[\r\n]*       others, one space before, line ends behind
//	\s*[\r\n]+                      blanks up to their last line end
//	\s+(?!\S) | \s+                 blanks; the last one is left to what follows
func nextToken(text []byte, i int) int {
	c, n := class(text, i)
	next := i + n
	switch c {
	case 'L':
		return skipLetters(text, next)
	case 'N':
		return next
	case 'R':
		return blanks(text, i)
	case 'o':
		if text[i] == '\'' {
			if end := contraction(text, i); end > 0 {
				return end
			}
		}
		if next < len(text) {
			if d, m := class(text, next); d == 'L' {
				return skipLetters(text, next+m)
			}
		}
		return others(text, next)
	}
	// A blank: it may begin a word, or, when it is a space, a run of others.
	if next == len(text) {
		return next
	}
	d, m := class(text, next)
	switch {
	case d == 'L':
		return skipLetters(text, next+m)
	case d == 'o' && text[i] == ' ':
		return others(text, next+m)
	}
	return blanks(text, i)
}

// class returns the class of the character at text[i], L, N, S, R or o, and its length.
func class(text []byte, i int) (byte, int) {
	if c := byteClass[text[i]]; c != 'W' {
		return c, 1
	}
	r, n := utf8.DecodeRune(text[i:])
	return classOf(r), n
}

// classOf returns the class of a character above U+007F.
func classOf(r rune) byte {
	if r >= classLimit {
		return 'o'
	}
	return classBlocks[int(classIndex[r>>6])<<6|int(r&63)]
}

// skipLetters returns the end of the letters that begin at text[i].
func skipLetters(text []byte, i int) int {
	for i < len(text) {
		c := byteClass[text[i]]
		if c == 'L' {
			i++
			continue
		}
		if c != 'W' {
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		if classOf(r) != 'L' {
			break
		}
		i += n
	}
	return i
}

// others returns the end of the others that begin at text[i] and of the line ends behind them.
func others(text []byte, i int) int {
	for i < len(text) {
		c, n := class(text, i)
		if c != 'o' {
			break
		}
		i += n
	}
	for i < len(text) && byteClass[text[i]] == 'R' {
		i++
	}
	return i
}

// blanks returns the end of the pre-token of blanks that begins at text[i], where no word and no others
// follow the first of them.
func blanks(text []byte, i int) int {
	end, last, line := i, i, 0 // the run's end, its last character, the end of its last line end
	for end < len(text) {
		c, n := class(text, end)
		if c != 'S' && c != 'R' {
			break
		}
		last = end
		end += n
		if c == 'R' {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case end == len(text) || last == i:
		return end
	}
	return last
}

// contraction returns the end of the contraction at text[i], an apostrophe, or 0. Without regard to case,
// U+017F (long s) is an s too; no other character beyond ASCII folds into these.
func contraction(text []byte, i int) int {
	rest := text[i+1:]
	if len(rest) == 0 {
		return 0
	}
	switch rest[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 1 && rest[1]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 1 && rest[1]|0x20 == 'l' {
			return i + 3
		}
	}
	if bytes.HasPrefix(rest, []byte("ſ")) {
		return i + 3
	}
	return 0
}
