package mask

import (
	"encoding/binary"
	"math/bits"
)

const (
	minSlots    = 1 << 10 // 16 KiB
	idleMeasure = 64      // measures that need little before a large table is given back
	mostListed  = 1 << 16 // keys of a list that is kept for the next measure
)

// Sides of a turn, as bits of slot.sides.
const (
	sideAction      = 1
	sideObservation = 2
)

// slot is one distinct word of the turn in hand, 16 bytes. Slots of earlier turns count as free, so
// clearing the table is adding one to wordSet.turn.
type slot struct {
	key   uint64
	turn  uint32
	sides uint32
}

// wordSet counts distinct words of both sides by their 64-bit keys, open addressing, at most half full.
// Keys of up to 8 bytes of text are the text itself, mixed one to one; longer ones are hashes: with a
// million distinct long words the chance that any two meet is about 3 in 10^8. Keys are the same in every
// process.
type wordSet struct {
	slots  []slot
	shift  uint // 64 - log2(len(slots))
	turn   uint32
	used   int
	count  [4]int // distinct words by side
	shared int

	listing bool     // keep list
	list    []uint64 // keys of the first mostSeen words, in the order in which they were met first

	idle idleness
}

// idleness watches how much of a table its rounds need.
type idleness struct {
	rounds, peak int // since the table was last needed, and the most words in them
}

// slots returns how many slots a table of n, of which used were taken, has in the next round: an outlier's is given
// back in the end.
func (d *idleness) slots(used, n int) int {
	d.peak = max(d.peak, used)
	switch {
	case n == 0:
		return minSlots
	case used*16 > n || n == minSlots:
		*d = idleness{}
	default:
		if d.rounds++; d.rounds == idleMeasure {
			n = max(minSlots, 1<<bits.Len(uint(4*d.peak)))
			*d = idleness{}
		}
	}
	return n
}

// reset empties the set and gives back a table that an outlier left behind.
func (s *wordSet) reset() {
	if n := s.idle.slots(s.used, len(s.slots)); n != len(s.slots) {
		s.resize(n)
	}
	s.used, s.count, s.shared = 0, [4]int{}, 0
	if s.list = s.list[:0]; cap(s.list) > mostListed {
		s.list = nil
	}
	if s.turn++; s.turn == 0 { // the count has come round: old slots would look new
		clear(s.slots)
		s.turn = 1
	}
}

func (s *wordSet) resize(n int) {
	s.slots = make([]slot, n)
	s.shift = 64 - uint(bits.Len(uint(n-1)))
}

// add enters one occurrence of a word.
func (s *wordSet) add(key uint64, side uint32) {
	slots := s.slots
	mask := uint64(len(slots) - 1)
	for i := key >> s.shift; ; i++ {
		p := &slots[i&mask]
		if p.turn != s.turn {
			*p = slot{key, s.turn, side}
			s.count[side&3]++
			if s.listing && s.used < mostSeen {
				s.list = append(s.list, key)
			}
			if s.used++; s.used*2 > len(slots) {
				s.grow()
			}
			return
		}
		if p.key == key {
			if p.sides&side == 0 {
				p.sides |= side
				s.count[side&3]++
				s.shared++
			}
			return
		}
	}
}

// sides returns the sides that have a word, 0 when none has.
func (s *wordSet) sides(key uint64) uint32 {
	mask := uint64(len(s.slots) - 1)
	for i := key >> s.shift; ; i++ {
		p := &s.slots[i&mask]
		if p.turn != s.turn {
			return 0
		}
		if p.key == key {
			return p.sides
		}
	}
}

func (s *wordSet) grow() {
	old := s.slots
	s.resize(2 * len(old))
	mask := uint64(len(s.slots) - 1)
	for _, p := range old {
		if p.turn != s.turn {
			continue
		}
		i := p.key >> s.shift
		for s.slots[i&mask].turn == s.turn {
			i++
		}
		s.slots[i&mask] = p
	}
}

// lowerBits lower-cases eight ASCII word characters at once: it maps A-Z to a-z, leaves a-z and 0-9, and
// takes _ to 0x7F, which no word holds. Mixed words write _ as 0x7F too, so both ways give one key.
const lowerBits = 0x2020202020202020

// keyOf returns the key of the word b[from:to], at least one byte. fold is lowerBits for words of ASCII
// only, and 0 for bytes that are lower-cased already.
func keyOf(b []byte, from, to int, fold uint64) uint64 {
	n := to - from
	if n > 8 {
		return keyOfLong(b[from:to], fold)
	}
	var w uint64
	drop := uint(64 - 8*n)
	switch {
	case from+8 <= len(b):
		w = (binary.LittleEndian.Uint64(b[from:]) | fold) << drop >> drop
	case to >= 8:
		w = (binary.LittleEndian.Uint64(b[to-8:]) | fold) >> drop
	default:
		for i, c := range b[from:to] {
			w |= uint64(c) << (8 * i)
		}
		w |= fold << drop >> drop
	}
	// Words hold no NUL, so w tells length and text apart; both steps can be undone, so the key does too.
	return (w ^ w>>32) * 0x9E3779B97F4A7C15
}

func keyOfLong(word []byte, fold uint64) uint64 {
	h := uint64(len(word)) * 0xA0761D6478BD642F
	for p := 0; p+8 < len(word); p += 8 {
		hi, lo := bits.Mul64(h^(binary.LittleEndian.Uint64(word[p:])|fold), 0xD6E8FEB86659FD93)
		h = hi ^ lo
	}
	last := binary.LittleEndian.Uint64(word[len(word)-8:]) | fold // overlaps the block before
	hi, lo := bits.Mul64(h^last, 0xE7037ED1A0B428DB)
	return hi ^ lo
}
