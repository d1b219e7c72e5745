package bpe

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// normalizer brings text to NFC with the tables of nfc_tables.go, which are those of the library: Unicode
// 9, so later marks stay where they are. No joiner is put into long runs of marks (that would be the
// stream-safe form). The zero value is ready.
//
// Nearly all text is NFC already. A walk looks for characters that may change (marks, and starters that
// decompose or join the one before them); each run of them, with the starter before it, is a stretch that
// is normalized alone. Nothing outside a stretch can change.
//
//	c a f e ◌́ ◌̣   s h o p
//	      |-----|             one stretch: U+1EB9 U+0301
type normalizer struct {
	chars []uint64 // of the stretch: class<<56 | place<<21 | code point, so that sorting is stable
	out   []byte   // its normalized text
}

// stretch is a part of a text that NFC changes: text[from:to] becomes norm.
type stretch struct {
	from, to int
	norm     []byte // valid until the next call of changed
}

// append appends text in NFC.
func (z *normalizer) append(dst, text []byte) []byte {
	from := 0
	for s, ok := z.changed(text, 0); ok; s, ok = z.changed(text, from) {
		dst = append(append(dst, text[from:s.from]...), s.norm...)
		from = s.to
	}
	return append(dst, text[from:]...)
}

// changed returns the first stretch at or after from, where a stretch may begin, that NFC changes.
func (z *normalizer) changed(text []byte, from int) (stretch, bool) {
	for i := from; ; {
		at, before := firstUnsteady(text, i)
		if at == len(text) {
			return stretch{}, false
		}
		end := unsteadyEnd(text, at)
		z.normalize(text[before:end])
		if string(z.out) != string(text[before:end]) {
			return trim(text, stretch{before, end, z.out}), true
		}
		i = end
	}
}

// trim takes the characters off both ends of a stretch that are the same before and after. What is behind
// it is NFC then, and may be looked at again alone.
func trim(text []byte, s stretch) stretch {
	n := 0
	for n < len(s.norm) && n < s.to-s.from && text[s.from+n] == s.norm[n] {
		n++
	}
	for n > 0 && (n < len(s.norm) && !utf8.RuneStart(s.norm[n]) || s.from+n < s.to && !utf8.RuneStart(text[s.from+n])) {
		n--
	}
	s.from, s.norm = s.from+n, s.norm[n:]
	for len(s.norm) > 0 && s.to > s.from {
		i, k := lastStart(text, s.to), lastStart(s.norm, len(s.norm))
		if i < s.from || string(text[i:s.to]) != string(s.norm[k:]) {
			break
		}
		s.to, s.norm = i, s.norm[:k]
	}
	return s
}

// firstUnsteady returns the offset of the first character at or after from that may change, len(text) when
// there is none, and the offset of the character before it, but not less than from.
func firstUnsteady(text []byte, from int) (at, before int) {
	for i := from; i < len(text); {
		if i+8 <= len(text) {
			// Eight bytes below 0xC0: ASCII, or inner bytes of a character that was found steady.
			if w := binary.LittleEndian.Uint64(text[i:]); w&(w<<1)&0x8080808080808080 == 0 {
				i += 8
				continue
			}
		}
		if nfcSteady[text[i]] == '1' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if property(r) != 0 {
			return i, max(from, lastStart(text, i))
		}
		i += n
	}
	return len(text), from
}

// lastStart returns the offset of the character that ends before text[i], or 0.
func lastStart(text []byte, i int) int {
	for i > 0 {
		if i--; utf8.RuneStart(text[i]) {
			break
		}
	}
	return i
}

// unsteadyEnd returns the end of the characters that may change, from text[i] on.
func unsteadyEnd(text []byte, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if property(r) == 0 {
			break
		}
		i += n
	}
	return i
}

// property returns what nfcBlocks says about a character.
func property(r rune) byte {
	if r >= nfcLimit {
		return 0
	}
	return nfcBlocks[int(nfcIndex[r>>6])<<6|int(r&63)]
}

// normalize writes the NFC of one stretch to z.out.
func (z *normalizer) normalize(text []byte) {
	z.decompose(text)
	z.sortMarks()
	z.compose()
	z.out = z.out[:0]
	for _, c := range z.chars {
		z.out = utf8.AppendRune(z.out, rune(c&0x1FFFFF))
	}
}

// decompose writes the full decomposition to z.chars. Syllables of Hangul stay whole: the letters that may
// follow join a syllable without taking it apart.
func (z *normalizer) decompose(text []byte) {
	z.chars = z.chars[:0]
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		i += n
		k, ok := slices.BinarySearch(nfcDecomposed[:], uint32(r))
		if !ok {
			z.put(r)
			continue
		}
		from := 0
		if k > 0 {
			from = int(nfcDecomposedEnds[k-1])
		}
		for _, d := range nfcDecomposedText[from:nfcDecomposedEnds[k]] {
			z.put(d)
		}
	}
}

func (z *normalizer) put(r rune) {
	class := property(r)
	if class == 255 {
		class = 0
	}
	z.chars = append(z.chars, uint64(class)<<56|uint64(len(z.chars))<<21|uint64(r))
}

// sortMarks brings each run of marks into the order of their classes; equals keep their order.
func (z *normalizer) sortMarks() {
	for i := 0; i < len(z.chars); i++ {
		j := i
		for j < len(z.chars) && z.chars[j]>>56 != 0 {
			j++
		}
		if j > i+1 {
			slices.Sort(z.chars[i:j])
		}
		i = j
	}
}

// compose joins each starter with the characters behind it that it composes with: those that no
// character of the same or a higher class, and no starter, keeps apart from it.
func (z *normalizer) compose() {
	kept := z.chars[:0]
	starter := -1      // place in kept
	var highest uint64 // class of the last one kept behind the starter
	for _, c := range z.chars {
		class := c >> 56
		if starter >= 0 && (starter == len(kept)-1 || highest < class) {
			if r := pair(rune(kept[starter]&0x1FFFFF), rune(c&0x1FFFFF)); r != 0 {
				kept[starter] = uint64(r)
				continue
			}
		}
		if class == 0 {
			starter = len(kept)
		}
		highest = class
		kept = append(kept, c)
	}
	z.chars = kept
}

// pair returns what two characters compose to, or 0.
func pair(a, b rune) rune {
	const l, v, t, s = 0x1100, 0x1161, 0x11A7, 0xAC00 // first letters, vowels, last letters less one, syllables
	switch {
	case a >= l && a < l+19 && b >= v && b < v+21:
		return s + ((a-l)*21+b-v)*28
	case a >= s && a < s+19*21*28 && (a-s)%28 == 0 && b > t && b < t+28:
		return a + b - t
	}
	k, ok := slices.BinarySearch(nfcPairs[:], uint64(a)<<32|uint64(b))
	if !ok {
		return 0
	}
	return rune(nfcComposed[k])
}

// shrink lets go of the scratch of a huge stretch.
func (z *normalizer) shrink() {
	const keep = 1 << 16
	if cap(z.chars) > keep {
		z.chars = nil
	}
	if cap(z.out) > keep {
		z.out = nil
	}
}
