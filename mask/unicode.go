package mask

import "unicode/utf8"

// Kinds of a code point. Values above kindWord are word characters too, whose lower case lies
// lower[kind] away. The tables hold them as kind + '#'; see gentables.
const (
	kindSeparator = iota // ends words; unassigned code points as well
	kindBlank            // a separator with the property White_Space, which trimming removes
	kindPairing          // Han, Hiragana, Katakana, long-vowel marks: words are adjacent pairs
	kindWord             // other letters, marks, numbers and the underscore
)

const (
	pageBits   = 7
	pageMask   = 1<<pageBits - 1
	tableStart = '#'
)

// kindOf returns the kind of r under Unicode 15.0.0, whatever Go's own tables say.
func kindOf(r rune) uint8 {
	page := uint32(r) >> pageBits
	if page >= uint32(len(pages)) {
		return kindSeparator
	}
	return cells[int(pages[page]-tableStart)<<pageBits|int(r&pageMask)] - tableStart
}

// trim cuts White_Space from both ends of text and nothing else: no control characters, no U+FEFF.
func trim(text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if kindOf(r) != kindBlank {
			break
		}
		text = text[n:]
	}
	for len(text) > 0 {
		r, n := utf8.DecodeLastRune(text)
		if kindOf(r) != kindBlank {
			break
		}
		text = text[:len(text)-n]
	}
	return text
}

// leading returns how many bytes of White_Space trim cuts from the start of a text.
func leading(text []byte) int {
	n := len(text)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if kindOf(r) != kindBlank {
			break
		}
		text = text[size:]
	}
	return n - len(text)
}
