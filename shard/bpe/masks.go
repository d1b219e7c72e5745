package bpe

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// blockBytes is the number of bytes that are looked at together: one for each bit of a word.
const blockBytes = 64

// masks holds a bit for each of 64 bytes in each class of ASCII; a byte of a longer character is in none.
//
//	bytes   l e t ' s   r u n !
//	letter  1 1 1 0 1 0 1 1 1 0      lowest bit first
//	space   0 0 0 0 0 1 0 0 0 0
type masks struct {
	letter, upper, digit, space, tab, line, other, quote uint64 // in the order of the bits below
	control                                              uint64
}

// Bits of a byte's code. A slash has the bit of upper case besides the one of others, a quote two bits as
// well; control is a class of its own only where the family asks for it (DeepSeek).
const (
	bitLetter = iota
	bitUpper
	bitDigit
	bitSpace
	bitTab // blanks but the space and line ends
	bitLine
	bitOther
	bitQuote // or control, without bitOther
)

// code returns the bits of a byte in a family.
func (s *splitter) code(b byte) byte {
	if b >= utf8.RuneSelf {
		return 0
	}
	switch s.bytes[b] {
	case 'L', 'U', 'l':
		if b >= 'A' && b <= 'Z' {
			return 1<<bitLetter | 1<<bitUpper
		}
		return 1 << bitLetter
	case 'N':
		return 1 << bitDigit
	case 'S', 'R':
		switch b {
		case ' ':
			return 1 << bitSpace
		case '\r', '\n':
			return 1 << bitLine
		}
		return 1 << bitTab
	case 'P':
		return 1 << bitOther
	case 'o':
		switch {
		case s.kind == deepseekKind:
			return 1 << bitQuote
		case b == '\'':
			return 1<<bitOther | 1<<bitQuote
		case b == '/':
			return 1<<bitOther | 1<<bitUpper
		}
		return 1 << bitOther
	}
	return 0
}

// codeTable is what classify needs of a family.
type codeTable struct {
	codes  [0x80]byte
	spread [256]uint64 // bit b of the code of a byte at bit 8*b
}

func newCodeTable(s *splitter) *codeTable {
	var t codeTable
	for b := range t.codes {
		t.codes[b] = s.code(byte(b))
		for bit := range 8 {
			t.spread[b] |= uint64(t.codes[b]>>bit&1) << (8 * bit)
		}
	}
	return &t
}

// classify writes the masks of a block.
func classify(m *masks, t *codeTable, b *[blockBytes]byte) {
	if hasAVX2 {
		classifyAVX2(&t.codes, b, m)
	} else {
		classifyWords(m, &t.spread, b)
	}
	m.control = m.quote &^ m.other
	m.quote &= m.other
}

// classifyWords takes eight bytes at a time, which give a word with a byte for each class; the eight words
// are then turned like a matrix: halves, quarters and single bytes change places.
func classifyWords(m *masks, t *[256]uint64, b *[blockBytes]byte) {
	a0, a1, a2, a3 := eight(t, b, 0), eight(t, b, 8), eight(t, b, 16), eight(t, b, 24)
	a4, a5, a6, a7 := eight(t, b, 32), eight(t, b, 40), eight(t, b, 48), eight(t, b, 56)

	const lo32 = 0x00000000FFFFFFFF
	a0, a4 = a0&lo32|a4<<32, a0>>32|a4&^lo32
	a1, a5 = a1&lo32|a5<<32, a1>>32|a5&^lo32
	a2, a6 = a2&lo32|a6<<32, a2>>32|a6&^lo32
	a3, a7 = a3&lo32|a7<<32, a3>>32|a7&^lo32

	const lo16 = 0x0000FFFF0000FFFF
	a0, a2 = a0&lo16|a2&lo16<<16, a0>>16&lo16|a2&^lo16
	a1, a3 = a1&lo16|a3&lo16<<16, a1>>16&lo16|a3&^lo16
	a4, a6 = a4&lo16|a6&lo16<<16, a4>>16&lo16|a6&^lo16
	a5, a7 = a5&lo16|a7&lo16<<16, a5>>16&lo16|a7&^lo16

	const lo8 = 0x00FF00FF00FF00FF
	m.letter, m.upper = a0&lo8|a1&lo8<<8, a0>>8&lo8|a1&^lo8
	m.digit, m.space = a2&lo8|a3&lo8<<8, a2>>8&lo8|a3&^lo8
	m.tab, m.line = a4&lo8|a5&lo8<<8, a4>>8&lo8|a5&^lo8
	m.other, m.quote = a6&lo8|a7&lo8<<8, a6>>8&lo8|a7&^lo8
}

// eight adds up the codes of b[i:i+8].
func eight(t *[256]uint64, b *[blockBytes]byte, i int) uint64 {
	w := binary.LittleEndian.Uint64(b[i : i+8])
	return t[byte(w)] | t[byte(w>>8)]<<1 | t[byte(w>>16)]<<2 | t[byte(w>>24)]<<3 |
		t[byte(w>>32)]<<4 | t[byte(w>>40)]<<5 | t[byte(w>>48)]<<6 | t[byte(w>>56)]<<7
}

// ascii returns the number of bytes before the first one that is in no class, 64 when there is none.
func (m *masks) ascii() int {
	return bits.TrailingZeros64(^(m.letter | m.digit | m.space | m.tab | m.line | m.other | m.control))
}

// cut takes all but the first n bytes out of every class.
func (m *masks) cut(n int) {
	keep := uint64(1)<<n - 1
	m.letter &= keep
	m.upper &= keep
	m.digit &= keep
	m.space &= keep
	m.tab &= keep
	m.line &= keep
	m.other &= keep
	m.quote &= keep
	m.control &= keep
}
