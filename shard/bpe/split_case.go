package bpe

import "bytes"

// cased is next for o200kRegex. Classes: U upper and title case, l lower case, x letters without case and
// M marks, which count as both. The alternatives, in order:
//
//	[^\r\n\p{L}\p{N}]?[UxM]*[lxM]+(?i:'s|…)?   word that ends in lower case
//	[^\r\n\p{L}\p{N}]?[UxM]+[lxM]*(?i:'s|…)?   word of upper case
//	\p{N}{1,3}                                 number
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*                 others, one space before, line ends and slashes behind
//	\s*[\r\n]+                                 blanks up to their last line end
//	\s+(?!\S) | \s+                            blanks; the last one is left to what follows
func (s *splitter) cased(text []byte, i int) int {
	c, n := s.class(text, i)
	next := i + n
	switch c {
	case 'N':
		return s.numbers(text, i)
	case 'R':
		return s.blanks(text, i)
	case 'U', 'l', 'x':
		if end := s.lowerWord(text, i); end > 0 {
			return suffixed(text, end)
		}
		return suffixed(text, s.upperEnd(text, i))
	}
	// A prefix: a blank, a mark, another. A word that ends in lower case may go on without it, one of upper
	// case never does, because only a mark could be its first letter, and with a mark it ends in lower case.
	end := s.lowerWord(text, next)
	if end == 0 && c == 'M' {
		end = s.lowerWord(text, i)
	}
	if end > 0 {
		return suffixed(text, end)
	}
	if end = s.upperEnd(text, next); end > next {
		return suffixed(text, end)
	}
	if c == 'o' {
		return tail(text, s.othersAndMarks(text, next))
	}
	if text[i] == ' ' {
		if end = s.othersAndMarks(text, next); end > next {
			return tail(text, end)
		}
	}
	return s.blanks(text, i)
}

// lowerWord returns the end of [UxM]*[lxM]+ at text[i], or 0. The first part takes all it can, and gives
// back to the last character that counts as both when no lower case follows.
func (s *splitter) lowerWord(text []byte, i int) int {
	both := 0 // the end of the last character that counts as both
	for i < len(text) {
		c, n := s.class(text, i)
		switch c {
		case 'U':
		case 'x', 'M':
			both = i + n
		case 'l':
			return s.lowerEnd(text, i+n)
		default:
			return both
		}
		i += n
	}
	return both
}

// lowerEnd returns the end of [lxM]* at text[i].
func (s *splitter) lowerEnd(text []byte, i int) int {
	for i < len(text) {
		c, n := s.class(text, i)
		if c != 'l' && c != 'x' && c != 'M' {
			break
		}
		i += n
	}
	return i
}

// upperEnd returns the end of [UxM]* at text[i]. Where lowerWord found nothing, no lower case follows.
func (s *splitter) upperEnd(text []byte, i int) int {
	for i < len(text) {
		c, n := s.class(text, i)
		if c != 'U' && c != 'x' && c != 'M' {
			break
		}
		i += n
	}
	return i
}

// othersAndMarks returns the end of [^\s\p{L}\p{N}]* at text[i].
func (s *splitter) othersAndMarks(text []byte, i int) int {
	for i < len(text) {
		c, n := s.class(text, i)
		if c != 'o' && c != 'M' {
			break
		}
		i += n
	}
	return i
}

// suffixed returns the end of a word with the contraction behind it.
func suffixed(text []byte, end int) int {
	if end < len(text) && text[end] == '\'' {
		if after := contraction(text, end, true); after > 0 {
			return after
		}
	}
	return end
}

// tail returns the end of [\r\n/]* at text[i].
func tail(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte("\r\n/"), text[i]) >= 0 {
		i++
	}
	return i
}
