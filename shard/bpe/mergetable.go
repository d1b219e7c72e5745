package bpe

import (
	"math/bits"
	"slices"
)

// mergeTable maps a pair of ids to the rank of its merge: open addressing over words of
//
//	| left 21 bits | right 21 bits | rank 22 bits |        all ones: empty
//
// at most two thirds full, 2 MB for the 151,387 merges of Qwen3. Pairs that do not merge are most of the
// questions; a filter of four bits a slot, small enough to stay near the core, answers most of those.
type mergeTable struct {
	slots    []uint64
	shift    uint
	filter   []uint64
	products []int32  // by rank
	base     int32    // where it is not 0, products[rank] is base+rank, and need not be read
	firsts   []uint32 // by two bytes: the rank of the merge of their tokens
}

const (
	noRank    = 1<<22 - 1
	emptySlot = 1<<64 - 1
)

// init makes room for n merges.
func (t *mergeTable) init(n int) {
	size := 1 << bits.Len(uint(n+n/2+1))
	t.slots = makeSlots(size)
	t.shift = uint(64 - bits.Len(uint(size-1)))
	t.filter = makeTable[uint64]((4*size + 63) / 64)
	t.products = makeTable[int32](n)[:0]
}

// add appends a merge with the next rank. It reports false when the pair is there already.
func (t *mergeTable) add(left, right, product int32) bool {
	key := uint64(left)<<21 | uint64(right)
	hash := key * hashMul
	h := int(hash >> t.shift)
	for ; t.slots[h] != emptySlot; h = (h + 1) & (len(t.slots) - 1) {
		if t.slots[h]>>22 == key {
			return false
		}
	}
	bit := hash >> (t.shift - 2)
	t.filter[bit>>6] |= 1 << (bit & 63)
	t.slots[h] = key<<22 | uint64(len(t.products))
	t.products = append(t.products, product)
	return true
}

// finish lays out the first round, in which all symbols are bytes, and looks how products are numbered.
func (t *mergeTable) finish(byteID *[256]int32) {
	t.firsts = slices.Repeat([]uint32{noRank}, 1<<16)
	if len(t.products) > 0 {
		t.base = t.products[0]
	}
	for rank, id := range t.products {
		if id != t.base+int32(rank) {
			t.base = 0
			break
		}
	}
	for a, left := range byteID {
		for b, right := range byteID {
			t.firsts[a<<8|b] = t.rank(left, right)
		}
	}
}

// first returns the rank of the merge of two bytes, or noRank.
func (t *mergeTable) first(a, b byte) uint32 { return t.firsts[int(a)<<8|int(b)] }

// product returns what the merge of a rank makes.
func (t *mergeTable) product(rank uint32) int32 {
	if t.base != 0 {
		return t.base + int32(rank)
	}
	return t.products[rank]
}

// rank returns the rank of a pair's merge, or noRank.
func (t *mergeTable) rank(left, right int32) uint32 {
	key := uint64(left)<<21 | uint64(right)
	hash := key * hashMul
	bit := hash >> ((t.shift - 2) & 63)
	if t.filter[bit>>6]>>(bit&63)&1 == 0 {
		return noRank
	}
	mask := len(t.slots) - 1
	for h := int(hash >> (t.shift & 63)); ; h = (h + 1) & mask {
		s := t.slots[h&mask]
		if s>>22 == key {
			return uint32(s & noRank)
		}
		if s == emptySlot {
			return noRank
		}
	}
}

// makes tells whether a merge makes id.
func (t *mergeTable) makes(id int32) bool { return slices.Contains(t.products, id) }

func (t *mergeTable) bytes() int {
	return 8*(len(t.slots)+len(t.filter)) + 4*(cap(t.products)+len(t.firsts))
}
