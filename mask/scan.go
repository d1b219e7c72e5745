package mask

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scan enters all words of a stretch of text. A stretch begins and ends where a word does.
func (m *Measurer) scan(b []byte, side uint32) {
	for i := 0; i < len(b); {
		if i = m.scanASCII(b, i, side); i < len(b) {
			i = m.scanRunes(b, i, side)
		}
	}
}

// scanASCII enters words from i on, 64 bytes at a time: a bit set says which bytes belong to words, and its
// edges are the words' borders. It stops before the first byte that is not ASCII, at the start of the word
// that touches it, or at the end of b.
func (m *Measurer) scanASCII(b []byte, i int, side uint32) int {
	start := -1 // of a word that the block before left open
	for i < len(b) {
		var word, high uint64
		n := 64
		if len(b)-i >= 64 {
			word, high = wordBits((*[64]byte)(b[i:]))
		} else {
			var tail [64]byte
			n = copy(tail[:], b[i:])
			word, high = wordBits(&tail)
		}
		open := uint64(0)
		if start >= 0 {
			open = 1
		}
		stop := bits.TrailingZeros64(high) // 64 when all is ASCII
		word &= 1<<stop - 1
		edges := word ^ (word<<1 | open)
		if stop < 64 {
			edges &^= 1 << stop // whether a word ends here is not for this loop to say
		}
		if start >= 0 && edges != 0 {
			m.words.add(keyOf(b, start, i+bits.TrailingZeros64(edges), lowerBits), side)
			edges &= edges - 1
			start = -1
		}
		for edges != 0 {
			start = i + bits.TrailingZeros64(edges)
			if edges &= edges - 1; edges == 0 {
				break
			}
			m.words.add(keyOf(b, start, i+bits.TrailingZeros64(edges), lowerBits), side)
			edges &= edges - 1
			start = -1
		}
		if stop < 64 {
			if start >= 0 {
				return start
			}
			return i + stop
		}
		i += n
	}
	if start >= 0 {
		m.words.add(keyOf(b, start, len(b), lowerBits), side)
	}
	return len(b)
}

// wordBits returns a bit for each byte of a block: whether it is one of 0-9 A-Z a-z _, and whether it is
// above 0x7F. It looks no further than the eight bytes in which it meets the first of those.
func wordBits(block *[64]byte) (word, high uint64) {
	for k := 0; k < 64 && high == 0; k += 8 {
		w := binary.LittleEndian.Uint64(block[k : k+8])
		low := w &^ highs // sums below stay inside their byte
		letter := low | lowerBits
		is := (letter + ones*(0x80-'a')) &^ (letter + ones*(0x80-'z'-1))
		is |= (low + ones*(0x80-'0')) &^ (low + ones*(0x80-'9'-1))
		is |= ^((low ^ ones*'_') + ones*0x7F)
		// The product gathers the top bits of the eight bytes in the top byte.
		word |= (is &^ w & highs) * 0x0002040810204081 >> 56 << k
		high |= (w & highs) * 0x0002040810204081 >> 56 << k
	}
	return word, high
}

// scanRunes enters words from i on, one code point at a time, until a separator is followed by eight
// bytes of ASCII. i is no place inside a word.
func (m *Measurer) scanRunes(b []byte, i int, side uint32) int {
	var w mixedWord
	run, last := 0, 0 // pairing characters just before i, and where the last one starts
	for i < len(b) {
		r, n := decodeRune(b, i)
		kind := kindOf(r)
		if kind == kindPairing {
			m.endWord(&w, b, i, side)
			if run > 0 {
				m.words.add(keyOf(b, last, i+n, 0), side) // two characters are at most 8 bytes
			}
			run, last = run+1, i
			i += n
			continue
		}
		if run == 1 {
			m.words.add(keyOf(b, last, i, 0), side)
		}
		run = 0
		if kind >= kindWord {
			m.extend(&w, b, i, i+n, r, kind)
			i += n
			continue
		}
		m.endWord(&w, b, i, side)
		if i += n; allASCII(b[i:]) {
			return i
		}
	}
	if run == 1 {
		m.words.add(keyOf(b, last, i, 0), side)
	}
	m.endWord(&w, b, i, side)
	return i
}

// mixedWord is the word that scanRunes is in. It stands in the text until a character shows up that has
// another lower case; from then on its lower case is gathered in Measurer.word.
type mixedWord struct {
	open, gathered bool
	start          int
}

// extend adds the character b[from:to].
func (m *Measurer) extend(w *mixedWord, b []byte, from, to int, r rune, kind uint8) {
	if !w.open {
		*w = mixedWord{open: true, start: from}
	}
	if kind == kindWord && r != '_' {
		if w.gathered {
			m.word = append(m.word, b[from:to]...)
		}
		return
	}
	if !w.gathered {
		w.gathered = true
		m.word = append(m.word[:0], b[w.start:from]...)
	}
	if r == '_' {
		m.word = append(m.word, '_'|0x20) // as lowerBits has it
	} else {
		m.word = utf8.AppendRune(m.word, r+lower[kind])
	}
}

// endWord enters the word that ends before i, if there is one.
func (m *Measurer) endWord(w *mixedWord, b []byte, i int, side uint32) {
	switch {
	case !w.open:
		return
	case w.gathered:
		m.words.add(keyOf(m.word, 0, len(m.word), 0), side)
	default:
		m.words.add(keyOf(b, w.start, i, 0), side)
	}
	*w = mixedWord{}
}

// decodeRune is utf8.DecodeRune without the checks that valid text makes needless.
func decodeRune(b []byte, i int) (r rune, n int) {
	c := b[i]
	switch {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c < 0xE0 && i+1 < len(b):
		return rune(c&0x1F)<<6 | rune(b[i+1]&0x3F), 2
	case c < 0xF0 && i+2 < len(b):
		return rune(c&0x0F)<<12 | rune(b[i+1]&0x3F)<<6 | rune(b[i+2]&0x3F), 3
	}
	return utf8.DecodeRune(b[i:])
}

// allASCII tells whether the next eight bytes are ASCII, or fewer than eight are left.
func allASCII(b []byte) bool {
	return len(b) < 8 || binary.LittleEndian.Uint64(b)&highs == 0
}
