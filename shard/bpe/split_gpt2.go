package bpe

// gpt2 is next for gpt2Regex. The alternatives, in order:
//
//	's|'t|'re|'ve|'m|'ll|'d                  contraction, in lower case only
//	 ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+   a run of one class, one space before
//	\s+(?!\S) | \s+                          blanks; the last one is left to what follows
func (s *splitter) gpt2(text []byte, i int) int {
	if text[i] == '\'' {
		if end := contraction(text, i, false); end > 0 {
			return end
		}
	}
	c, n := s.class(text, i)
	if text[i] == ' ' && i+1 < len(text) {
		if d, m := s.class(text, i+1); d != 'S' {
			c, n = d, 1+m
		}
	}
	if c == 'S' {
		return s.blanks(text, i)
	}
	return s.run(text, i+n, c)
}
