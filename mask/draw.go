package mask

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/turnmill/turnmill"
)

// Draw returns the turn's number in [0, 2^64): the first eight bytes, big endian, of
//
//	SHA-256( seed 0x00 id 0x00 index )     seed and id as their bytes stand, index in decimal
//
// It depends on nothing else, so order, shards and workers change nothing. index is the turn's place in the
// source, before filters.
func Draw(seed, id string, index int) uint64 {
	var room [64]byte
	return draw(seed, id, strconv.AppendInt(room[:1], int64(index), 10))
}

// DrawToken is Draw for one token of a turn: the input gains a zero byte and the token's decimal place
// within the trained span. Mode token.
func DrawToken(seed, id string, index, token int) uint64 {
	var room [64]byte
	b := append(strconv.AppendInt(room[:1], int64(index), 10), 0)
	return draw(seed, id, strconv.AppendInt(b, int64(token), 10))
}

// DrawValidation returns the number in [0, 2^64) by which a trajectory or document goes to the validation
// split: the first eight bytes, big endian, of
//
//	SHA-256( "validation" 0x00 seed 0x00 id )     id without the suffix of a record's further trajectories
//
// so that what comes from one record stays together.
func DrawValidation(seed, id string) uint64 {
	h := sha256.New()
	h.Write([]byte("validation\x00"))
	h.Write(bytesOf(seed))
	h.Write([]byte{0})
	h.Write(bytesOf(id))
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0]))
}

// DrawShuffle returns the number in [0, 2^64) that orders the rows of a shuffled split: the first eight bytes, big
// endian, of
//
//	SHA-256( "shuffle" 0x00 seed 0x00 id 0x00 window )     window in decimal digits
//
// id is the trajectory's or document's, suffix included, and window counts its rows from 0; of an SFT set id is the
// query's, and window 0.
func DrawShuffle(seed, id string, window int64) uint64 {
	h := sha256.New()
	h.Write([]byte("shuffle\x00"))
	h.Write(bytesOf(seed))
	h.Write([]byte{0})
	h.Write(bytesOf(id))
	var end [21]byte
	h.Write(strconv.AppendInt(end[:1], window, 10))
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0]))
}

// draw hashes seed, a zero byte, id, and end, which begins with the second zero byte. The hash stays on the
// stack and the texts are lent, so nothing is allocated.
func draw(seed, id string, end []byte) uint64 {
	h := sha256.New()
	h.Write(bytesOf(seed))
	h.Write(end[:1])
	h.Write(bytesOf(id))
	h.Write(end)
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0]))
}

// Keeps tells whether a draw falls below p: u < p * 2^64, exactly. What is kept at some ratio is kept at
// every larger one. p.Den is not zero.
func Keeps(u uint64, p turnmill.Ratio) bool {
	// u < Num/Den * 2^64 is u*Den < Num*2^64, and the right side has nothing in its low half.
	hi, _ := bits.Mul64(u, p.Den)
	return hi < p.Num
}
