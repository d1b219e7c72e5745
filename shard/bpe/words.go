package bpe

import (
	"encoding/binary"
	"math/bits"
)

// wordTable finds entries of the vocabulary by the bytes that they stand for: open addressing over words of
//
//	| hash 43 bits | id 21 bits |        all ones: empty
//
// at most two thirds full. The text itself lies in the model and is compared.
type wordTable struct {
	slots []uint64
}

// init makes room for n entries.
func (t *wordTable) init(n int) {
	t.slots = makeSlots(1 << bits.Len(uint(n+n/2+1)))
}

// add enters a token whose text is known; no two have the same, which the caller makes sure of.
func (t *wordTable) add(m *Model, id int32) {
	h := hashBytes(m.textOf(id))
	i := int(h>>21) & (len(t.slots) - 1)
	for t.slots[i] != emptySlot {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = h&^idMask | uint64(id)
}

// get returns the token that stands for word, or -1.
func (t *wordTable) get(m *Model, word []byte) int32 { return t.find(m, word, hashBytes(word)) }

// find is get with the hash of word at hand.
func (t *wordTable) find(m *Model, word []byte, h uint64) int32 {
	mask := len(t.slots) - 1
	for i := int(h>>21) & mask; ; i = (i + 1) & mask {
		s := t.slots[i&mask]
		if s == emptySlot {
			return -1
		}
		if (s^h)&^uint64(idMask) == 0 && string(m.textOf(int32(s&idMask))) == string(word) {
			return int32(s & idMask)
		}
	}
}

// wordID returns the token that a whole pre-token is without a look at merges, or -1.
func (m *Model) wordID(word []byte, hash uint64) int32 {
	if !m.whole && m.reach == nil {
		return -1
	}
	id := m.words.find(m, word, hash)
	if id >= 0 && !m.whole && m.reach[id>>6]>>(id&63)&1 == 0 {
		return -1
	}
	return id
}

// hashBytes mixes eight bytes at a time.
func hashBytes(b []byte) uint64 {
	const mul = 0xD6E8FEB86659FD93
	h := uint64(len(b)) * hashMul
	for ; len(b) > 8; b = b[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(b), mul)
		h = hi ^ lo
	}
	var last uint64
	switch n := len(b); {
	case n == 8:
		last = binary.LittleEndian.Uint64(b)
	case n >= 4:
		last = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	case n > 0:
		last = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	hi, lo := bits.Mul64(h^last, hashMul)
	return hi ^ lo
}
