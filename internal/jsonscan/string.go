package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Words of eight equal bytes, for work on 8 bytes at a time.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// marks returns a word whose lowest set bit is the top bit of the lowest byte of w that is a quote, a
// backslash or a control character; 0 when there is none. A subtraction borrows only from higher bytes, so
// what is wrong in the marks lies above the lowest one.
func marks(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// string reads the string whose opening quote is at start.
func (d *Doc) string(start int) (int, error) {
	data, i := d.data, start+1
	var flags uint8
	var high uint64 // all bytes of the text, or-ed
	for {
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i : i+8 : i+8])
			if m := marks(w); m != 0 {
				n := bits.TrailingZeros64(m)
				high |= w & (1<<(n&^7) - 1)
				i += n >> 3
				break
			}
			high |= w
			i += 8
		}
		for ; i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= 0x20; i++ {
			high |= uint64(data[i])
		}
		if i >= len(data) {
			return i, d.short(fmt.Sprintf("inside the string that starts at byte %d", start))
		}
		switch data[i] {
		case '"':
			if high&highs != 0 && !validUTF8(data[start:i]) {
				flags |= flagBadUTF8
				d.repairs.BadUTF8 += countBad(data[start:i])
			}
			i++
			d.nodes = append(d.nodes, node{uint32(start), uint32(i), uint32(len(d.nodes)) + 1, String, flags})
			return i, nil
		case '\\':
			flags |= flagEscape
			for i < len(data) && data[i] == '\\' {
				if i+1 < len(data) && shortEscape(data[i+1]) {
					i += 2
					continue
				}
				var err error
				if i, err = d.escape(i); err != nil {
					return i, err
				}
			}
		default:
			return i, badControl(i, data[i])
		}
	}
}

// shortEscape tells whether a backslash and c are a whole escape.
func shortEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// escape checks the escape whose backslash is at i and returns the offset after it; a surrogate pair is
// one escape.
func (d *Doc) escape(i int) (int, error) {
	data := d.data
	if i+1 >= len(data) {
		return len(data), d.short("inside an escape")
	}
	if data[i+1] != 'u' {
		if shortEscape(data[i+1]) {
			return i + 2, nil
		}
		return i, &SyntaxError{Offset: i, Msg: "unknown escape: " + byteName(data[i+1]) + " after a backslash"}
	}
	r := hex4(data, i+2)
	switch {
	case r < 0:
		for j := i + 2; j < len(data); j++ {
			if hexDigit(data[j]) < 0 {
				return i, &SyntaxError{Offset: i, Msg: `\u without four hexadecimal digits`}
			}
		}
		return len(data), d.short("inside an escape")
	case r == 0:
		d.repairs.NUL++
	case r >= 0xD800 && r < 0xDC00 && lowSurrogate(data, i+6) >= 0:
		return i + 12, nil
	case r >= 0xD800 && r < 0xE000:
		d.repairs.LoneSurrogate++
	}
	return i + 6, nil
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c - 'a' + 10)
	case c >= 'A' && c <= 'F':
		return rune(c - 'A' + 10)
	}
	return -1
}

// hex4 returns the value of four hexadecimal digits at i, or a negative number.
func hex4(data []byte, i int) rune {
	if i+4 > len(data) {
		return -1
	}
	// A digit that is none is -1: its sign survives the shifts.
	return hexDigit(data[i])<<12 | hexDigit(data[i+1])<<8 | hexDigit(data[i+2])<<4 | hexDigit(data[i+3])
}

// lowSurrogate returns the low surrogate escaped at i, or -1.
func lowSurrogate(data []byte, i int) rune {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return -1
	}
	if r := hex4(data, i+2); r >= 0xDC00 && r < 0xE000 {
		return r
	}
	return -1
}
