package bpe

// word is next for the families of Qwen and Llama 3: qwen2Regex, qwen35Regex, llama3Regex. The alternatives,
// in order, L being \p{L} or, in qwen35Regex, [\p{L}\p{M}]:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)    contraction
//	[^\r\nLN]?L+                    word, with one other character before it
//	\p{N} or \p{N}{1,3}             number
//	 ?[^\sLN]+[\r\n]*               others, one space before, line ends behind
//	\s*[\r\n]+                      blanks up to their last line end
//	\s+(?!\S) | \s+                 blanks; the last one is left to what follows
func (s *splitter) word(text []byte, i int) int {
	c, n := s.class(text, i)
	next := i + n
	switch c {
	case 'L':
		return s.run(text, next, 'L')
	case 'N':
		return s.numbers(text, i)
	case 'R':
		return s.blanks(text, i)
	case 'o':
		if text[i] == '\'' {
			if end := contraction(text, i, true); end > 0 {
				return end
			}
		}
	}
	// A blank or another: it may begin a word, or, when it is a space, a run of others.
	if next == len(text) {
		return next
	}
	d, m := s.class(text, next)
	switch {
	case d == 'L':
		return s.run(text, next+m, 'L')
	case c == 'o':
		return lineEnds(text, s.run(text, next, 'o'))
	case d == 'o' && text[i] == ' ':
		return lineEnds(text, s.run(text, next+m, 'o'))
	}
	return s.blanks(text, i)
}
