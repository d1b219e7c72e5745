package bpe

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	shortBytes = 15      // longest pre-token of the short caches
	longBytes  = 1 << 10 // and of the long one
	fewIDs     = 4       // most ids of an entry of the short caches

	nearBits  = 14 // entries of the near cache, 32 bytes each: half of a usual L2 cache
	shortBits = 18 // and of the short cache behind it
	longBits  = 16 // slots of the long cache, 16 bytes each
	keyBytes  = 2 << 20
	keyIDs    = 1 << 19

	// EncoderBytes is the memory that one Encoder holds, scratch included, whatever it has encoded.
	EncoderBytes = 32<<nearBits + 32<<shortBits + 16<<longBits + keyBytes + 4*keyIDs + 4<<20

	hashMul = 0x9E3779B97F4A7C15
)

// shortKey is a pre-token of 1 to 15 bytes, whole, so that a hit is exact.
//
//	lo  bytes 0-7
//	hi  bytes 8-14, length in the top byte, never 0
type shortKey struct{ lo, hi uint64 }

// keyMask cuts 16 bytes down to n of them and adds the length. The last one is that of longer pre-tokens,
// for which no entry is ever made.
type keyMask struct{ lo, hi, length uint64 }

func keyMasks() (masks [shortBytes + 2]keyMask) {
	for n := range masks {
		m := &masks[n]
		m.lo, m.length = ^uint64(0), uint64(n)<<56
		if n < 8 {
			m.lo = 1<<(8*n) - 1
		} else {
			m.hi = 1<<(8*(n-8)) - 1
		}
		m.hi &= 1<<56 - 1
	}
	return masks
}

// key returns the key of text[i:i+n], where n is the number of bytes that the mask lets through.
func (m *keyMask) key(text []byte, i int) shortKey {
	var last [16]byte
	p := last[:]
	if i+16 <= len(text) {
		p = text[i : i+16]
	} else {
		copy(p, text[i:])
	}
	return shortKey{binary.LittleEndian.Uint64(p) & m.lo, binary.LittleEndian.Uint64(p[8:])&m.hi | m.length}
}

// place returns a number in which the top bits say where a key may stand.
func (k shortKey) place() uint64 { return (k.lo ^ bits.RotateLeft64(k.hi*hashMul, 29)) * hashMul }

// shortValue holds up to four ids.
//
//	ids   id 0 | id 1 << 21 | id 2 << 42
//	more  id 3 | four lengths of 4 bits << 21 | count << 37
//
// A value with the top bit of more set stands for ids that lie in the encoder's spill: ids is where they
// begin, the rest of more is their count.
type shortValue struct{ ids, more uint64 }

// An entry of the short cache may say that the ids are elsewhere, in the long cache unless forgotten there.
const (
	idMask    = 1<<21 - 1
	spilled   = 1 << 63
	elsewhere = 1 << 62
)

// shortValueOf packs ids, at most fewIDs.
func (m *Model) shortValueOf(ids []int32) (v shortValue) {
	v.more = uint64(len(ids)) << 37
	for k, id := range ids {
		if k < 3 {
			v.ids |= uint64(id) << (21 * k)
		} else {
			v.more |= uint64(id)
		}
		v.more |= uint64(m.tokenLen(id)) << (21 + 4*k)
	}
	return v
}

type shortEntry struct {
	key   shortKey
	value shortValue
}

// nearCache has one place for each key. It is small enough to stay near the core, and what it forgets the
// short cache still knows.
type nearCache struct {
	entries *[1 << nearBits]shortEntry
	shift   uint // 64 less the number of bits in use; tests use fewer than nearBits
}

func newNearCache(bits uint) nearCache {
	return nearCache{entries: (*[1 << nearBits]shortEntry)(makeTable[shortEntry](1 << nearBits)), shift: 64 - bits}
}

// warmNear returns what the near cache of a new encoder holds: entries of the vocabulary that are pre-tokens
// as they are, first ids first, because training makes frequent words early.
func warmNear(m *Model) *[1 << nearBits]shortEntry {
	const most = 2 << nearBits
	c := newNearCache(nearBits)
	masks := keyMasks()
	for id := range min(int32(len(m.lens)), most) {
		word := m.textOf(id)
		if len(word) == 0 || len(word) > shortBytes || m.wordID(word, hashBytes(word)) != id {
			continue
		}
		key := masks[len(word)].key(word, 0)
		if e := c.at(key); e.key == (shortKey{}) {
			*e = shortEntry{key, m.shortValueOf([]int32{id})}
		}
	}
	return c.entries
}

// at returns the entry where a key may stand.
func (c *nearCache) at(k shortKey) *shortEntry {
	return &c.entries[k.place()>>(c.shift&63)&(1<<nearBits-1)]
}

// shortCache maps pre-tokens to ids. Two entries, one cache line, share a place; the newer one stands first.
type shortCache struct {
	entries []shortEntry
	shift   uint
}

func newShortCache(bits uint) shortCache {
	return shortCache{entries: makeTable[shortEntry](1 << bits), shift: 64 - (bits - 1)}
}

// get returns the value of a key, count 0 where there is none.
func (c *shortCache) get(k shortKey) shortValue {
	p := int(k.place()>>c.shift) * 2
	two := c.entries[p : p+2]
	if two[0].key == k {
		return two[0].value
	}
	if two[1].key == k {
		return two[1].value
	}
	return shortValue{}
}

// put stores the value of a key that get did not find.
func (c *shortCache) put(k shortKey, v shortValue) {
	p := int(k.place()>>c.shift) * 2
	c.entries[p+1] = c.entries[p]
	c.entries[p] = shortEntry{k, v}
}

// longCache maps pre-tokens of 16 bytes to 1 KB, and shorter ones of more than four ids, to their ids. Keys and ids lie in arenas of fixed size;
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
	return longCache{slots: makeTable[longSlot](1 << bits), keys: makeTable[byte](keys)[:0], ids: makeTable[int32](ids)[:0]}
}

// find returns the slot of text, or the empty one where it belongs.
func (c *longCache) find(text []byte, hash uint64) *longSlot {
	tag := uint32(hash >> 32)
	mask := len(c.slots) - 1
	for h := int(tag) & mask; ; h = (h + 1) & mask {
		s := &c.slots[h]
		if s.bytes == 0 || s.hash == tag && bytes.Equal(c.keys[s.key:s.key+uint32(s.bytes)], text) {
			return s
		}
	}
}

// get returns the ids of text, valid until the next put; nil when they are not known.
func (c *longCache) get(text []byte, hash uint64) []int32 {
	s := c.find(text, hash)
	if s.bytes == 0 {
		return nil
	}
	return c.ids[s.id : s.id+uint32(s.count)]
}

// put stores the ids of a text that get did not find.
func (c *longCache) put(text []byte, hash uint64, ids []int32) {
	if len(text) > cap(c.keys) || len(ids) > cap(c.ids) {
		return
	}
	if c.used > len(c.slots)/2 || len(c.keys)+len(text) > cap(c.keys) || len(c.ids)+len(ids) > cap(c.ids) {
		clear(c.slots)
		c.used, c.keys, c.ids = 0, c.keys[:0], c.ids[:0]
	}
	s := c.find(text, hash)
	*s = longSlot{uint32(len(c.keys)), uint32(len(c.ids)), uint16(len(text)), uint16(len(ids)), uint32(hash >> 32)}
	c.keys = append(c.keys, text...)
	c.ids = append(c.ids, ids...)
	c.used++
}
