package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a JSON string with the least escapes that RFC 8259 asks for: quote, backslash
// and control characters. Bytes that are not UTF-8 become U+FFFD, each one.
func AppendQuoted(dst []byte, s string) []byte { return appendQuoted(dst, s, 0) }

// AppendQuotedLine is AppendQuoted for files that others split into lines: U+0085, U+2028 and U+2029 are
// escaped too. The other line ends that some languages know are control characters.
func AppendQuotedLine(dst []byte, s string) []byte { return appendQuoted(dst, s, highs) }

// AppendQuotedRaw is AppendQuoted for texts that are read as JSON again: bytes that are not UTF-8 stay, so
// that the reader mends and counts them.
func AppendQuotedRaw(dst, b []byte) []byte { return appendEscaped(dst, b, 0) }

func appendQuoted(dst []byte, s string, line uint64) []byte {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	if !validUTF8(b) {
		b = []byte(string([]rune(s)))
	}
	return appendEscaped(dst, b, line)
}

// appendEscaped stops at each byte that might have to be escaped. With line = highs that goes for the first
// bytes of the line separators too, 0xC2 and 0xE2, and b is UTF-8; else line is 0.
func appendEscaped(dst, b []byte, line uint64) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i : i+8 : i+8])
			c2, e2 := w^(ones*0xC2), w^(ones*0xE2)
			if m := marks(w) | ((c2-ones)&^c2|(e2-ones)&^e2)&line; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 && (line == 0 || b[i] != 0xC2 && b[i] != 0xE2) {
			i++
		}
		if i >= len(b) {
			return append(append(dst, b[from:]...), '"')
		}
		n := 1
		if b[i] >= 0x80 {
			if n = separator(b[i:]); n == 0 {
				i++ // the rest of the character is never a stop
				continue
			}
		}
		dst = appendEscape(append(dst, b[from:i]...), b[i:i+n])
		i += n
		from = i
	}
}

// separator returns the length of the line separator at the start of b, or 0 when it is another character.
func separator(b []byte) int {
	switch {
	case b[0] == 0xC2 && b[1] == 0x85:
		return 2
	case b[0] == 0xE2 && b[1] == 0x80 && b[2]&^1 == 0xA8:
		return 3
	}
	return 0
}

// appendEscape appends the escape of a quote, a backslash, a control character or a line separator.
func appendEscape(dst, char []byte) []byte {
	switch c := char[0]; c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case 0xC2:
		return append(dst, `\u0085`...)
	case 0xE2:
		return append(dst, '\\', 'u', '2', '0', '2', hexDigits[char[2]&15])
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}
