package bpe

import "unicode/utf8"

// charTable lets the merges of a pre-token begin with whole characters instead of bytes, which gives the
// same ids where no token holds a border between two characters and a part of another character: then what
// merges across the border are whole characters only, and each is made before it is used.
//
//	今天    bytes e4 bb 8a e5 a4 a9: five pairs, two merges a character     characters 今 天: one pair
type charTable struct {
	ids     []int32              // by code point below U+10000: its token, or -1; nil when all merges begin with bytes
	crossed [1 << 16 / 64]uint64 // by the bytes before and after a border: a token crosses it with a part of a character
}

// newCharTable looks at each token that merges make. It needs a merge list of which reachable knows that
// each token is made in one way and before it is used.
func newCharTable(m *Model) *charTable {
	t := &charTable{}
	if m.reach == nil {
		return t
	}
	for _, id := range m.merges.products {
		word := m.textOf(id)
		if r, n := utf8.DecodeRune(word); n == len(word) && n > 1 && r < 1<<16 && m.reach[id>>6]>>(id&63)&1 == 1 {
			t.put(r, id)
			continue
		}
		if utf8.RuneStart(word[0]) && endsWhole(word) {
			continue
		}
		for i := 1; i < len(word); i++ {
			if utf8.RuneStart(word[i]) {
				at := int(word[i-1])<<8 | int(word[i])
				t.crossed[at>>6] |= 1 << (at & 63)
			}
		}
	}
	return t
}

func (t *charTable) bytes() int { return 4*len(t.ids) + 8*len(t.crossed) }

func (t *charTable) put(r rune, id int32) {
	if t.ids == nil {
		t.ids = make([]int32, 1<<16)
		for i := range t.ids {
			t.ids[i] = -1
		}
	}
	t.ids[r] = id
}

// endsWhole tells whether a part of a text ends where a character does.
func endsWhole(word []byte) bool {
	i := len(word) - 1
	for i > 0 && !utf8.RuneStart(word[i]) {
		i--
	}
	return utf8.FullRune(word[i:])
}

// symbols appends the symbols with which merges of text begin. wide tells that one is longer than a byte.
func (m *Model) symbols(dst []int32, text []byte) (_ []int32, wide bool) {
	for i := 0; i < len(text); {
		n := 1
		if text[i] >= utf8.RuneSelf && m.chars.ids != nil {
			var r rune
			if r, n = utf8.DecodeRune(text[i:]); n > 1 && r < 1<<16 && m.chars.apart(text, i) && m.chars.apart(text, i+n) {
				if id := m.chars.ids[r]; id >= 0 {
					dst, wide = append(dst, id), true
					i += n
					continue
				}
			}
		}
		for _, b := range text[i : i+n] {
			dst = append(dst, m.byteID[b])
		}
		i += n
	}
	return dst, wide
}

// apart tells whether only whole characters merge across the border before text[i].
func (t *charTable) apart(text []byte, i int) bool {
	if i == 0 || i == len(text) {
		return true
	}
	at := int(text[i-1])<<8 | int(text[i])
	return t.crossed[at>>6]>>(at&63)&1 == 0
}
