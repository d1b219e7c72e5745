package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

// appendDecoded appends the text between a string's quotes, decoded and mended.
func appendDecoded(dst, text []byte, flags uint8) []byte {
	if flags&flagBadUTF8 != 0 {
		return appendMended(dst, text)
	}
	// Decoding never lengthens a text of whole characters, so the write offset stays at or behind the read
	// offset and both stay inside buffers of the same length.
	n := len(dst)
	dst = slices.Grow(dst, len(text))
	out := dst[n : n+len(text)]
	i, j := 0, 0
	for {
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i : i+8 : i+8])
			binary.LittleEndian.PutUint64(out[j:j+8:j+8], w)
			slash := w ^ (ones * '\\')
			if m := (slash - ones) &^ slash & highs; m != 0 {
				k := bits.TrailingZeros64(m) >> 3
				i, j = i+k, j+k
				break
			}
			i, j = i+8, j+8
		}
		for i < len(text) && text[i] != '\\' {
			out[j] = text[i]
			i, j = i+1, j+1
		}
		if i >= len(text) {
			return dst[:n+j]
		}
		// JSON inside a string is full of \\\" and \\n: take escapes that touch in one go.
		for i < len(text) && text[i] == '\\' {
			if c := text[i+1]; c != 'u' {
				out[j] = unescapeByte(c)
				i, j = i+2, j+1
				continue
			}
			r, k := unescape(text[i:])
			j += utf8.EncodeRune(out[j:], r)
			i += k
		}
	}
}

// unescapeByte returns what a backslash and c stand for.
func unescapeByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unescape returns the character of the \u escape at the start of b, or U+FFFD for a lone surrogate, and
// the bytes that it takes.
func unescape(b []byte) (rune, int) {
	r := hex4(b, 2)
	if r >= 0xD800 && r < 0xDC00 {
		if low := lowSurrogate(b, 6); low >= 0 {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
		}
	}
	if r >= 0xD800 && r < 0xE000 {
		return utf8.RuneError, 6
	}
	return r, 6
}

// appendMended is appendDecoded for texts with bytes that are not UTF-8: each becomes U+FFFD, so the
// result may be the longer one.
func appendMended(dst, text []byte) []byte {
	for len(text) > 0 {
		if text[0] != '\\' {
			r, n := utf8.DecodeRune(text)
			dst, text = utf8.AppendRune(dst, r), text[n:]
			continue
		}
		if text[1] != 'u' {
			dst, text = append(dst, unescapeByte(text[1])), text[2:]
			continue
		}
		r, n := unescape(text)
		dst, text = utf8.AppendRune(dst, r), text[n:]
	}
	return dst
}

// AppendVerbatim appends the value's bytes, changed in two ways only: bytes that are not UTF-8 and lone
// surrogate escapes become U+FFFD, and escapes of printable non-ASCII characters are decoded. It returns
// how many escapes it decoded.
func (v Value) AppendVerbatim(dst []byte) ([]byte, int) {
	raw := v.Raw()
	if !bytes.Contains(raw, []byte(`\u`)) && validUTF8(raw) {
		return append(dst, raw...), 0
	}
	decoded := 0
	for len(raw) > 0 {
		i := 0
		for i < len(raw) && raw[i] != '\\' && raw[i] < utf8.RuneSelf {
			i++
		}
		dst = append(dst, raw[:i]...)
		if raw = raw[i:]; len(raw) == 0 {
			break
		}
		if raw[0] != '\\' {
			r, n := utf8.DecodeRune(raw)
			dst, raw = utf8.AppendRune(dst, r), raw[n:]
			continue
		}
		if raw[1] != 'u' {
			dst, raw = append(dst, raw[:2]...), raw[2:]
			continue
		}
		r, n := unescape(raw)
		switch {
		case r == utf8.RuneError && hex4(raw, 2) != utf8.RuneError:
			dst = utf8.AppendRune(dst, r)
		case r >= utf8.RuneSelf && unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
			decoded++
		default:
			dst = append(dst, raw[:n]...)
		}
		raw = raw[n:]
	}
	return dst, decoded
}
