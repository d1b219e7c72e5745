package judge

import "strings"

// more tells whether there is a byte at i; when there is none, the object is cut.
func (s *scanner) more(i int) bool {
	if i >= len(s.text) {
		s.cut = true
	}
	return i < len(s.text) && !s.spent
}

// at returns the byte at i, 0 at the end of the text.
func (s *scanner) at(i int) byte {
	if i >= len(s.text) {
		return 0
	}
	return s.text[i]
}

// expect tells whether c stands at i.
func (s *scanner) expect(i int, c byte) bool { return s.more(i) && s.text[i] == c }

// step counts n bytes as looked at.
func (s *scanner) step(n int) {
	if s.steps += n; s.steps > s.limit {
		s.spent = true
	}
}

// blanks returns the position of the first byte at or after i that is not blank.
func (s *scanner) blanks(i int) int {
	from := i
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\n' || s.text[i] == '\t' || s.text[i] == '\r') {
		i++
	}
	s.step(i - from + 1)
	return i
}

// key reads a key and returns its text without quotes.
func (s *scanner) key(i int) (string, int, bool) {
	if !s.more(i) {
		return "", i, false
	}
	if c := s.text[i]; c == '"' || c == '\'' && s.lax {
		end, ok := s.quoted(i)
		if !ok {
			return "", end, false
		}
		return s.text[i+1 : end-1], end, true
	}
	if !s.lax {
		return "", i, false
	}
	end := s.run(i, isWord)
	return s.text[i:end], end, end > i
}

// quoted reads the string at i and returns the position after its closing quote. A single quote closes a
// string only before a comma, a colon or a closing bracket: else it is an apostrophe.
func (s *scanner) quoted(i int) (int, bool) {
	quote := s.text[i]
	from := i
	if quote == '\'' && s.single > 0 && i >= s.single {
		s.cut = true
		return len(s.text), false
	}
	for i++; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\':
			i++
		case c == quote:
			if quote == '\'' && !s.closes(i) {
				continue
			}
			s.step(i + 1 - from)
			return i + 1, !s.spent
		case c < ' ' && !s.lax:
			s.step(i - from)
			return i, false
		}
	}
	s.step(len(s.text) - from)
	if quote == '\'' {
		s.single = from + 1
	}
	s.cut = true
	return len(s.text), false
}

// closes tells whether the single quote at i closes a string. At the end of the text none does.
func (s *scanner) closes(i int) bool {
	i = s.blanks(i + 1)
	return i < len(s.text) && strings.IndexByte(",:}]", s.text[i]) >= 0
}

// plain reads a number or a word, and returns the position after it.
func (s *scanner) plain(i int) (value, int, bool) {
	end := s.run(i, isPlain)
	text := s.text[i:end]
	switch {
	case end == len(s.text):
		s.cut = true // the number may go on
		return value{}, end, false
	case isNumber(text):
		return valueAt(numberValue, i, end), end, true
	case text == "true" || text == "false" || text == "null" || text == "NaN" || text == "Infinity" || text == "-Infinity":
		return valueAt(wordValue, i, end), end, true
	case !s.lax || end == i:
		return value{}, end, false
	case isDigit(text[0]):
		return valueAt(stringValue, i, end), end, true // 4/5
	}
	return valueAt(wordValue, i, end), end, true
}

// run returns the position of the first byte at or after i that is not of a class.
func (s *scanner) run(i int, class func(byte) bool) int {
	from := i
	for i < len(s.text) && class(s.text[i]) {
		i++
	}
	s.step(i - from + 1)
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '-'
}

func isPlain(c byte) bool { return isWord(c) || c == '+' || c == '.' || c == '/' }

// isNumber tells whether text is a number as JSON writes it.
func isNumber(text string) bool {
	text = strings.TrimPrefix(text, "-")
	whole := digits(text)
	if whole == 0 || whole > 1 && text[0] == '0' {
		return false
	}
	text = text[whole:]
	if strings.HasPrefix(text, ".") {
		n := digits(text[1:])
		if n == 0 {
			return false
		}
		text = text[1+n:]
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		return text != "" && digits(text) == len(text)
	}
	return text == ""
}

// digits returns how many digits text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}
