package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// validUTF8 is utf8.Valid, two to four times as fast on text that is not ASCII.
func validUTF8(b []byte) bool {
	i := 0
	for i+8 <= len(b) {
		// The lowest byte of w comes first: a character of three bytes is 10xxxxxx 10xxxxxx 1110xxxx here.
		w := binary.LittleEndian.Uint64(b[i : i+8 : i+8])
		switch high := w & highs; {
		case high == 0:
			i = skipASCII(b, i+8)
		case w&0xC0C0F0_C0C0F0 == 0x8080E0_8080E0 && plainLead(w) && plainLead(w>>24):
			i += 6
		case w&0x80 == 0:
			i += bits.TrailingZeros64(high) >> 3
		case w&0xC0E0 == 0x80C0 && w&0x1E != 0: // C0 and C1 would be overlong
			i += 2
		case w&0xC0C0F0 == 0x8080E0 && plainLead(w):
			i += 3
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return false
			}
			i += n
		}
	}
	return utf8.Valid(b[i:])
}

// plainLead tells whether the first byte of a character of three bytes allows every second byte: all but
// E0 (overlong forms) and ED (surrogates) do.
func plainLead(w uint64) bool { return w&15 != 0 && w&15 != 13 }

// skipASCII returns an offset at or after i up to which b is ASCII.
func skipASCII(b []byte, i int) int {
	for i+16 <= len(b) {
		if (binary.LittleEndian.Uint64(b[i:i+8:i+8])|binary.LittleEndian.Uint64(b[i+8:i+16:i+16]))&highs != 0 {
			break
		}
		i += 16
	}
	return i
}

// countBad returns how many bytes of b are not UTF-8, each of which becomes one U+FFFD.
func countBad(b []byte) int {
	bad := 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		b = b[n:]
	}
	return bad
}
