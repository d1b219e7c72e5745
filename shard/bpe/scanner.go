package bpe

import "bytes"

// scanner walks JSON that is expected to be sound and plainly spelled. Whatever else it meets makes it bad,
// and then it reads nothing more.
type scanner struct {
	data []byte
	at   int
	bad  bool
	buf  []byte // a string that has escapes
}

// peek returns the next byte that is no blank, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) && !s.bad {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take steps over c, or is bad.
func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.bad = true
		return
	}
	s.at++
}

// object calls value at the value of each member, which it must read.
func (s *scanner) object(value func(key []byte)) {
	s.list('{', '}', func() {
		key := s.string()
		s.take(':')
		s.peek()
		if !s.bad {
			value(key)
		}
	})
}

// array calls value at each element, which it must read.
func (s *scanner) array(value func()) { s.list('[', ']', value) }

func (s *scanner) list(open, end byte, value func()) {
	s.take(open)
	if s.peek() == end {
		s.at++
		return
	}
	for !s.bad {
		s.peek()
		value()
		if s.peek() != ',' {
			break
		}
		s.at++
	}
	s.take(end)
}

// string reads a string, valid until the next one. Of the escapes it knows \" and \\.
func (s *scanner) string() []byte {
	s.take('"')
	if s.bad {
		return nil
	}
	from := s.at
	for i := from; i < len(s.data); i++ {
		switch s.data[i] {
		case '"':
			s.at = i + 1
			return s.data[from:i]
		case '\\':
			return s.escaped(from, i)
		}
	}
	s.bad = true
	return nil
}

// escaped goes on with a string at its first backslash.
func (s *scanner) escaped(from, i int) []byte {
	s.buf = append(s.buf[:0], s.data[from:i]...)
	for ; i < len(s.data); i++ {
		c := s.data[i]
		if c == '"' {
			s.at = i + 1
			return s.buf
		}
		if c == '\\' {
			if i++; i == len(s.data) || s.data[i] != '"' && s.data[i] != '\\' {
				break
			}
			c = s.data[i]
		}
		s.buf = append(s.buf, c)
	}
	s.bad = true
	return nil
}

// number reads a whole number of at most nine digits.
func (s *scanner) number() int {
	n, from := 0, s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' && s.at < from+9 {
		n = 10*n + int(s.data[s.at]-'0')
		s.at++
	}
	if s.at == from || s.data[from] == '0' && s.at > from+1 {
		s.bad = true
	}
	return n
}

// skip steps over a value. It looks at brackets and strings only: what it steps over is read later.
func (s *scanner) skip() {
	if c := s.peek(); c != '{' && c != '[' {
		s.skipScalar(c)
		return
	}
	for depth := 0; s.at < len(s.data) && !s.bad; {
		switch s.data[s.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			s.skipString()
			continue
		}
		if s.at++; depth == 0 {
			return
		}
	}
	s.bad = true
}

// skipScalar steps over a string, a number or a literal that begins with c.
func (s *scanner) skipScalar(c byte) {
	if c == '"' {
		s.skipString()
		return
	}
	for s.at < len(s.data) && bytes.IndexByte([]byte(",]} \n\r\t"), s.data[s.at]) < 0 {
		s.at++
	}
}

func (s *scanner) skipString() {
	for i := s.at + 1; i < len(s.data); i++ {
		switch s.data[i] {
		case '"':
			s.at = i + 1
			return
		case '\\':
			i++
		}
	}
	s.bad = true
}
