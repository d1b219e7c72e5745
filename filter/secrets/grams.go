package secrets

import (
	"math"
	"slices"
	"strings"
)

// keyword is a word beside which secrets stand. It is compared without regard to case.
type keyword struct {
	text  string // folded
	rules []*rule
}

// grams finds keywords in linear time, faster than text is decoded. A set of bits says which four bytes, folded, are
// part of a keyword. It is asked at every second byte: a keyword of five bytes and more has two windows in it that
// follow one another, one of which begins at such a place; of a shorter one the windows hold a byte beside it.
//
//	text       . . . g h p _ x Y z        bytes
//	asked at   0   2   4   6   8
//	windows            ghp_               in the set
//	                 ?ghp                 in the set, for each ?
type grams struct {
	bits  [1 << blockBits]uint64 // for each window two bits of one word
	slots [1 << slotBits]uint32  // windows, each at its hash or after it; 0: none
	at    [1 << slotBits][]gramAt
	words []keyword
}

// gramAt says that a window of four bytes begins so many bytes into a keyword; -1: one byte before it.
type gramAt struct{ word, offset int }

// hit is a keyword in a text.
type hit struct {
	at   int // its first byte
	word int
}

// Sizes of the two tables, as powers of two: some ten thousand windows.
const (
	blockBits = 12
	slotBits  = 15
)

// fold makes ASCII letters small, four bytes at once. It makes other bytes equal too (@ and `, for one), which only
// costs a look.
const fold = 0x20202020

// spread returns the word of a window, and its bits.
func spread(g uint32) (word uint32, bits uint64) {
	h := g * 0x9E3779B1
	return h >> (32 - blockBits), 1<<(h>>14&63) | 1<<(h>>8&63)
}

func (g *grams) may(w uint32) bool {
	word, bits := spread(w)
	return g.bits[word]&bits == bits
}

// newGrams makes the set for keywords of three bytes and more.
func newGrams(words []keyword) *grams {
	g := &grams{words: words}
	for i := range words {
		text := foldText(words[i].text)
		words[i].text = text
		switch len(text) {
		case 3:
			for b := range 256 {
				g.add(text+string([]byte{byte(b)}), gramAt{i, 0})
				g.add(string([]byte{byte(b)})+text, gramAt{i, -1})
			}
		case 4:
			g.add(text, gramAt{i, 0})
			for b := range 256 {
				g.add(string([]byte{byte(b)})+text[:3], gramAt{i, -1})
			}
		default:
			at := rarest(text)
			g.add(text[at:at+4], gramAt{i, at})
			g.add(text[at+1:at+5], gramAt{i, at + 1})
		}
	}
	return g
}

func foldText(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] |= 0x20
	}
	return string(b)
}

func (g *grams) add(window string, at gramAt) {
	w := gramOf(window, 0) | fold
	i := g.slot(w)
	if slices.Contains(g.at[i], at) {
		return // two bytes that are one when folded
	}
	g.slots[i], g.at[i] = w, append(g.at[i], at)
	word, bits := spread(w)
	g.bits[word] |= bits
}

// slot returns where a window stands, or would. A folded window is never 0.
func (g *grams) slot(w uint32) uint32 {
	i := w * 0x85EBCA6B >> (32 - slotBits)
	for g.slots[i] != 0 && g.slots[i] != w {
		i = (i + 1) % (1 << slotBits)
	}
	return i
}

// eight reads eight bytes in the order of memory of small machines.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func gramOf(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// letters is how common letters are in text, most common first.
const letters = "etaoinsrhldcumfpgwybvkxjqz"

// rarest returns where the two windows begin that are least common in text.
func rarest(s string) int {
	best, least := 0, math.MaxInt
	for at := 0; at+5 <= len(s); at++ {
		common := 0
		for _, c := range s[at : at+5] {
			if i := strings.IndexRune(letters, c); i >= 0 {
				common += len(letters) - i
			}
		}
		if common < least {
			best, least = at, common
		}
	}
	return best
}

// hits appends the keywords of text[from:], in order of the windows that gave them.
func (g *grams) hits(text string, dst []hit) []hit {
	i := 0
	for ; i+10 <= len(text); i += 8 { // four windows from two words of eight bytes
		x, y := eight(text[i:i+8]), eight(text[i+2:i+10])
		if w := uint32(x) | fold; g.may(w) {
			dst = g.confirm(text, i, w, dst)
		}
		if w := uint32(y) | fold; g.may(w) {
			dst = g.confirm(text, i+2, w, dst)
		}
		if w := uint32(x>>32) | fold; g.may(w) {
			dst = g.confirm(text, i+4, w, dst)
		}
		if w := uint32(y>>32) | fold; g.may(w) {
			dst = g.confirm(text, i+6, w, dst)
		}
	}
	for ; i+4 <= len(text); i += 2 {
		if w := gramOf(text, i) | fold; g.may(w) {
			dst = g.confirm(text, i, w, dst)
		}
	}
	return dst
}

// confirm appends the keywords whose window lies at i.
func (g *grams) confirm(text string, i int, w uint32, dst []hit) []hit {
	for _, c := range g.at[g.slot(w)] {
		at, word := i-c.offset, g.words[c.word].text
		if at < 0 || at+len(word) > len(text) || !foldedEqual(text[at:at+len(word)], word) {
			continue
		}
		dst = append(dst, hit{at, c.word})
	}
	return dst
}

// foldedEqual compares a text with a folded one. A byte that is no letter has to be itself.
func foldedEqual(s, folded string) bool {
	for i := range len(s) {
		if s[i]|0x20 != folded[i] {
			return false
		}
	}
	return true
}
