package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// closeKeys counts repeated keys of the object that ends. Equal 64-bit hashes count as equal keys: the
// count may be wrong where somebody built a collision, Get never is.
func (d *Doc) closeKeys() {
	base := d.bases[len(d.bases)-1]
	d.bases = d.bases[:len(d.bases)-1]
	keys := d.keys[base:]
	if len(keys) > 12 {
		slices.Sort(keys)
		for j := 1; j < len(keys); j++ {
			if keys[j] == keys[j-1] {
				d.repairs.DuplicateKey++
			}
		}
	} else {
		for j := 1; j < len(keys); j++ {
			if slices.Contains(keys[:j], keys[j]) {
				d.repairs.DuplicateKey++
			}
		}
	}
	d.keys = d.keys[:base]
}

// hash mixes 8 bytes at a time; it decides only which keys are counted as repeated.
func hash(b []byte) uint64 {
	h := uint64(len(b)) * 0x9E3779B97F4A7C15
	for len(b) >= 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(b), 0xD6E8FEB86659FD93)
		h, b = hi^lo, b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	hi, lo := bits.Mul64(h^tail^0xA0761D6478BD642F, 0xE7037ED1A0B428DB)
	return hi ^ lo
}
