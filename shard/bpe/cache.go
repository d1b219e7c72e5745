package bpe

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	shortBytes = 15      // longest pre-token of the short cache
	longBytes  = 1 << 10 // and of the long one

	shortBits = 18 // entries of the short cache, 32 bytes each
	longBits  = 16 // slots of the long cache, 16 bytes each
	keyBytes  = 2 << 20
	keyIDs    = 1 << 19

	// EncoderBytes is the memory that one Encoder holds, scratch included, whatever it has encoded.
	EncoderBytes = 32<<shortBits + 16<<longBits + keyBytes + 4*keyIDs + 4<<20

	hashMul = 0x9E3779B97F4A7C15
)

// shortCache maps pre-tokens of 2 to 15 bytes to up to four ids. The whole key stands in the entry, so a
// hit is exact. Two entries, one cache line, share a place; the newer one stands first.
//
//	lo   bytes 0-7
//	hi   bytes 8-14, length in the top byte (never 0 in use)
//	ids  id 0 | id 1 << 21 | id 2 << 42
//	more id 3 | four lengths of 4 bits << 21 | count << 37
type shortCache struct {
	entries []shortEntry
	shift   uint
}

type shortEntry struct{ lo, hi, ids, more uint64 }

const idMask = 1<<21 - 1

func newShortCache(bits uint) shortCache {
	return shortCache{entries: make([]shortEntry, 1<<bits), shift: 64 - (bits - 1)}
}

// shortKey returns the two words of text[i:i+n], 2 <= n <= 15.
func shortKey(text []byte, i, n int) (lo, hi uint64) {
	if i+16 <= len(text) {
		lo = binary.LittleEndian.Uint64(text[i:])
		hi = binary.LittleEndian.Uint64(text[i+8:])
		if n <= 8 {
			return lo & (^uint64(0) >> (64 - 8*uint(n))), uint64(n) << 56
		}
		return lo, hi&(1<<(8*uint(n-8))-1) | uint64(n)<<56
	}
	var b [16]byte
	copy(b[:], text[i:i+n])
	return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]) | uint64(n)<<56
}

// place returns the number of the first of the two entries where a key may stand.
func (c *shortCache) place(lo, hi uint64) int {
	h := (lo ^ bits.RotateLeft64(hi*hashMul, 29)) * hashMul
	return int(h>>c.shift) * 2
}

// get returns the entry of a key, or nil.
func (c *shortCache) get(lo, hi uint64) *shortEntry {
	p := c.place(lo, hi)
	pairOf := c.entries[p : p+2]
	if e := &pairOf[0]; e.lo == lo && e.hi == hi {
		return e
	}
	if e := &pairOf[1]; e.lo == lo && e.hi == hi {
		return e
	}
	return nil
}

// put stores the ids of a key that get did not find; more than four are not stored.
func (c *shortCache) put(m *Model, lo, hi uint64, ids []int32) {
	if len(ids) > 4 {
		return
	}
	e := shortEntry{lo: lo, hi: hi, more: uint64(len(ids)) << 37}
	for k, id := range ids {
		if k < 3 {
			e.ids |= uint64(id) << (21 * k)
		} else {
			e.more |= uint64(id)
		}
		e.more |= uint64(m.tokenLen(id)) << (21 + 4*k)
	}
	p := c.place(lo, hi)
	c.entries[p+1] = c.entries[p]
	c.entries[p] = e
}

// longCache maps pre-tokens of 16 bytes to 1 KB to their ids. Keys and ids lie in arenas of fixed size;
// when one is full, everything is forgotten.
type longCache struct {
	slots []longSlot
	used  int
	keys  []byte
	ids   []int32
}

type longSlot struct {
	key, id uint32 // where the key and the ids begin
	bytes   uint16 // length of the key, 0 for an empty slot
	count   uint16
	hash    uint32
}

func newLongCache(bits uint, keys, ids int) longCache {
	return longCache{slots: make([]longSlot, 1<<bits), keys: make([]byte, 0, keys), ids: make([]int32, 0, ids)}
}

// longHash mixes eight bytes at a time; text has at least eight.
func longHash(text []byte) uint32 {
	h := uint64(len(text)) * hashMul
	for i := 0; i+8 <= len(text); i += 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(text[i:]), 0xD6E8FEB86659FD93)
		h = hi ^ lo
	}
	hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(text[len(text)-8:]), hashMul)
	return uint32((hi ^ lo) >> 32)
}

// find returns the slot of text, or the empty one where it belongs.
func (c *longCache) find(text []byte, hash uint32) *longSlot {
	mask := len(c.slots) - 1
	for h := int(hash) & mask; ; h = (h + 1) & mask {
		s := &c.slots[h]
		if s.bytes == 0 || s.hash == hash && bytes.Equal(c.keys[s.key:s.key+uint32(s.bytes)], text) {
			return s
		}
	}
}

// get returns the ids of text, valid until the next put; nil when they are not known.
func (c *longCache) get(text []byte, hash uint32) []int32 {
	s := c.find(text, hash)
	if s.bytes == 0 {
		return nil
	}
	return c.ids[s.id : s.id+uint32(s.count)]
}

// put stores the ids of a text that get did not find.
func (c *longCache) put(text []byte, hash uint32, ids []int32) {
	if len(text) > cap(c.keys) || len(ids) > cap(c.ids) {
		return
	}
	if c.used > len(c.slots)/2 || len(c.keys)+len(text) > cap(c.keys) || len(c.ids)+len(ids) > cap(c.ids) {
		clear(c.slots)
		c.used, c.keys, c.ids = 0, c.keys[:0], c.ids[:0]
	}
	s := c.find(text, hash)
	*s = longSlot{uint32(len(c.keys)), uint32(len(c.ids)), uint16(len(text)), uint16(len(ids)), hash}
	c.keys = append(c.keys, text...)
	c.ids = append(c.ids, ids...)
	c.used++
}
