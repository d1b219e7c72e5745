package bpe

// deepseek is next for the three of deepseekRegexes, one after the other. The first takes numbers out, the
// second runs of kana and Han, and what they leave is cut for itself: no pre-token crosses such a border,
// and blanks before one are at the end of their text. The last one's alternatives, P being [\p{P}\p{S}] and
// L being [\p{L}\p{M}]:
//
//	[ASCII punctuation][A-Za-z]+    word after a sign
//	[^\r\n\p{L}P]?L+                word, with one other character before it
//	 ?P+[\r\n]*                     signs, one space before, line ends behind
//	\s*[\r\n]+                      blanks up to their last line end
//	\s+(?!\S) | \s+                 blanks; the last one is left to what follows
//
// The rest, class o, is matched by nothing unless a word follows: a run of it is one pre-token. Inside kana
// and Han the classes are k for L, q for P, u for the rest.
func (s *splitter) deepseek(text []byte, i int) int {
	c, n := s.class(text, i)
	next := i + n
	switch c {
	case 'L', 'k', 'q':
		return s.run(text, next, c)
	case 'N':
		return s.numbers(text, i)
	case 'u':
		return s.unmatched(text, i, 'u', 'k')
	case 'o':
		return s.unmatched(text, i, 'o', 'L')
	case 'R':
		return s.blanks(text, i)
	case 'P':
		if n == 1 && next < len(text) && isASCIILetter(text[next]) {
			for next++; next < len(text) && isASCIILetter(text[next]); {
				next++
			}
			return next
		}
		return lineEnds(text, s.run(text, next, 'P'))
	}
	if next == len(text) {
		return next
	}
	d, m := s.class(text, next)
	switch {
	case d == 'L':
		return s.run(text, next+m, 'L')
	case d == 'P' && text[i] == ' ':
		return lineEnds(text, s.run(text, next+m, 'P'))
	}
	return s.blanks(text, i)
}

// unmatched returns the end of the pre-token that begins with text[i] of class rest: a word, when letters
// follow at once, else all of the class up to the one that begins a word.
func (s *splitter) unmatched(text []byte, i int, rest, letter byte) int {
	_, n := s.class(text, i)
	for at := i; ; {
		next := at + n
		if next == len(text) {
			return next
		}
		var c byte
		c, n = s.class(text, next)
		switch {
		case c == letter && at == i:
			return s.run(text, next+n, letter)
		case c == letter:
			return at
		case c != rest:
			return next
		}
		at = next
	}
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isKanaOrHan tells whether the second expression takes r.
func isKanaOrHan(r rune) bool { return r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3040 && r <= 0x30FF }

// inKanaOrHan maps a class to the one that stands for it there. The range holds no numbers and no blanks.
func inKanaOrHan(c byte) byte {
	switch c {
	case 'L':
		return 'k'
	case 'P':
		return 'q'
	}
	return 'u'
}
