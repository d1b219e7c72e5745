package frame

import (
	"encoding/binary"
	"math/bits"
)

// text consumes the inside of a string up to and with its closing quote. A backslash makes the next byte
// plain, which is all that the end of a string depends on.
func (m *machine) text(b []byte, i int) int {
	for {
		i += plain(b[i:])
		switch {
		case i >= len(b):
			return len(b)
		case b[i] != '\\':
			if m.state == inKey {
				m.state = dueColon
			} else {
				m.close()
			}
			return i + 1
		case i+1 == len(b):
			m.state += inEscapedKey - inKey // the plain byte is in the next window
			return len(b)
		}
		i += 2
	}
}

// plain returns the number of bytes before the first quote or backslash, 8 at a time.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// Zero bytes of quote and slash get their high bit; a borrow marks wrongly above a true hit only.
		if hit := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b) && b[i] != '"' && b[i] != '\\'; i++ {
	}
	return i
}

// digit is the part of a number that a byte belongs to. RFC 8259, section 6.
type digit uint8

const (
	minus digit = iota
	zero
	integer
	point
	fraction
	exponent
	sign
	power
	noDigit
)

// last tells whether a number may end with this part.
func (d digit) last() bool { return d == zero || d == integer || d == fraction || d == power }

// next returns the part that c belongs to when it follows d, or noDigit.
func (d digit) next(c byte) digit {
	isDigit := c >= '0' && c <= '9'
	switch {
	case isDigit && d == minus && c == '0':
		return zero
	case isDigit && (d == minus || d == integer):
		return integer
	case isDigit && (d == point || d == fraction):
		return fraction
	case isDigit && d >= exponent:
		return power
	case c == '.' && (d == zero || d == integer):
		return point
	case (c == 'e' || c == 'E') && (d == zero || d == integer || d == fraction):
		return exponent
	case (c == '+' || c == '-') && d == exponent:
		return sign
	}
	return noDigit
}

// startScalar takes the first byte of a number or literal. NaN and the infinities pass: whether they count
// is the decoder's to say.
func (m *machine) startScalar(c byte) bool {
	m.state = inWord
	switch c {
	case 't':
		m.rest = "rue"
	case 'f':
		m.rest = "alse"
	case 'n':
		m.rest = "ull"
	case 'N':
		m.rest = "aN"
	case 'I':
		m.rest = "nfinity"
	default:
		m.state, m.digit = inNumber, minus
		if c != '-' {
			m.digit = minus.next(c)
		}
		return m.digit != noDigit
	}
	return true
}

// scalar consumes one more byte of a number or literal, or ends the number before it.
func (m *machine) scalar(b []byte, i int) int {
	c := b[i]
	if m.state == inWord {
		if c != m.rest[0] {
			m.bad(c, m.size+int64(i), "the rest of a literal")
			return i
		}
		if m.rest = m.rest[1:]; m.rest == "" {
			m.close()
		}
		return i + 1
	}
	switch d := m.digit.next(c); {
	case d != noDigit:
		m.digit = d
	case m.digit == minus && c == 'I':
		m.state, m.rest = inWord, "nfinity"
	case m.digit.last():
		m.close()
		return i // the byte belongs to what follows
	default:
		m.bad(c, m.size+int64(i), "a digit")
		return i
	}
	return i + 1
}
