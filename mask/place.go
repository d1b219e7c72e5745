package mask

import (
	"encoding/binary"
	"unicode/utf8"
)

// place finds bytes of a decoded string where they stand in the text that holds it. It goes on from the byte that was
// asked for last, so that a string is walked through once and nothing is kept of it.
//
//	text     ... "caf\u00e9\nbar" ...
//	raw            |---|-----|-|--|          between the quotes; at is where that begins in the text
//	decoded        c a f é   ⏎  b a r        find(3) is the backslash before u00e9, find(5) the one before n
type place struct {
	raw []byte
	at  int

	decoded, pos int // bytes passed, of the decoded string and of raw
}

// find returns where byte x of the decoded string begins, which is its end for x = its length. x begins a character
// and is no less than in the call before.
func (p *place) find(x int) int {
	for p.decoded < x && p.pos < len(p.raw) {
		if p.decoded+8 <= x && p.pos+8 <= len(p.raw) && plainBlock(p.raw[p.pos:]) {
			p.decoded, p.pos = p.decoded+8, p.pos+8
			continue
		}
		raw, decoded := p.step(p.raw[p.pos:])
		p.decoded, p.pos = p.decoded+decoded, p.pos+raw
	}
	return p.at + p.pos
}

// plainBlock tells whether the next eight bytes are ASCII without a backslash.
func plainBlock(b []byte) bool {
	w := binary.LittleEndian.Uint64(b)
	slash := w ^ ones*'\\'
	return (w|(slash-ones)&^slash)&highs == 0
}

// step returns the bytes that the first character takes as it is spelt, and decoded. The text is a valid JSON
// string's; what jsonscan mends, a byte that is not UTF-8 or half a surrogate pair, is three bytes.
func (p *place) step(b []byte) (raw, decoded int) {
	if b[0] != '\\' {
		r, n := utf8.DecodeRune(b)
		return n, utf8.RuneLen(r)
	}
	if len(b) < 6 || b[1] != 'u' {
		return min(2, len(b)), 1
	}
	switch r := hex4(b[2:]); {
	case r>>10 == 0xD800>>10 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' && hex4(b[8:])>>10 == 0xDC00>>10:
		return 12, 4
	case r < utf8.RuneSelf:
		return 6, 1
	case r < 0x800:
		return 6, 2
	}
	return 6, 3
}

// hex4 returns the number that four hexadecimal digits spell.
func hex4(b []byte) (n rune) {
	for _, c := range b[:4] {
		n <<= 4
		switch {
		case c <= '9':
			n |= rune(c - '0')
		default:
			n |= rune(c|0x20-'a') + 10
		}
	}
	return n
}

// origin returns where byte at of a text of level decoded strings stands in the text that each was given.
func (s *splitter) origin(level, at int) int {
	for level--; level >= 0; level-- {
		at = s.places[level].find(at)
	}
	return at
}
