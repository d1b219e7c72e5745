package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// Decoding of pages is ours: parquet-go trusts what they claim, and takes memory for it or reads past it. Each
// function proves that what it needs is there, and none makes room for more values than a page's header says.

var (
	errValues = errors.New("a page ends before its values do")
	errMore   = errors.New("a page has other values than its header says")
	errPacked = errors.New("packed values are damaged")
)

// span is a text's place in the bytes of its page.
type span struct{ from, to uint32 }

// values are those of a page or dictionary: numbers, or texts. A number is its bits.
type values struct {
	numbers []uint64
	data    []byte
	spans   []span
}

func (v *values) reset() { v.numbers, v.data, v.spans = v.numbers[:0], nil, v.spans[:0] }

func (v *values) len() int { return max(len(v.numbers), len(v.spans)) }

// storage is how a column stores its values.
type storage struct {
	physic format.Type
	length int // of fixed bytes
}

// fixed returns the size of a value, or 0 where it varies or is a bit.
func (s storage) fixed() int {
	switch s.physic {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return s.length
	}
	return 0
}

// number tells whether a value is one, rather than a text.
func (s storage) number() bool {
	return s.physic != format.ByteArray && s.physic != format.FixedLenByteArray && s.physic != format.Int96
}

// plain reads n values that stand one after another.
func (v *values) plain(s storage, b []byte, n int) error {
	v.reset()
	switch size := s.fixed(); {
	case s.physic == format.Boolean:
		if len(b) < (n+7)/8 {
			return errValues
		}
		for i := range n {
			v.numbers = append(v.numbers, uint64(b[i/8]>>(i%8)&1))
		}
	case s.physic == format.ByteArray:
		return v.texts(b, n)
	case size == 0 || len(b)/size < n:
		return errValues
	case size == 4 && s.number():
		for i := range n {
			v.numbers = append(v.numbers, uint64(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case size == 8 && s.number():
		for i := range n {
			v.numbers = append(v.numbers, binary.LittleEndian.Uint64(b[8*i:]))
		}
	default:
		v.data = b
		for i := range n {
			v.spans = append(v.spans, span{uint32(i * size), uint32((i + 1) * size)})
		}
	}
	return nil
}

// texts reads n texts, each behind its length in four bytes.
func (v *values) texts(b []byte, n int) error {
	v.data = b
	at := 0
	for range n {
		if len(b)-at < 4 {
			return errValues
		}
		size := int(binary.LittleEndian.Uint32(b[at:]))
		if at += 4; size > len(b)-at {
			return errValues
		}
		v.spans = append(v.spans, span{uint32(at), uint32(at + size)})
		at += size
	}
	return nil
}

// encoded reads n values in one of the other encodings that need no dictionary.
func (v *values) encoded(s storage, encoding format.Encoding, b []byte, n int) error {
	v.reset()
	switch {
	case encoding == format.RLE && s.physic == format.Boolean:
		if len(b) < 4 {
			return errValues
		}
		flags, _, err := hybrid[byte](nil, b[4:], 1, n)
		for _, f := range flags {
			v.numbers = append(v.numbers, uint64(f))
		}
		return err
	case encoding == format.DeltaBinaryPacked && (s.physic == format.Int32 || s.physic == format.Int64):
		var err error
		v.numbers, _, err = deltas(v.numbers, b, n)
		return err
	case encoding == format.DeltaLengthByteArray && s.physic == format.ByteArray:
		return v.deltaLengths(b, n)
	case encoding == format.DeltaByteArray && !s.number() && s.physic != format.Int96:
		return v.deltaTexts(b, n)
	case encoding == format.ByteStreamSplit && s.fixed() > 0:
		return v.streams(s, b, n)
	}
	return fmt.Errorf("encoding %s of %s is not read", encoding, s.physic)
}

// deltaLengths reads texts whose lengths come first, as differences.
func (v *values) deltaLengths(b []byte, n int) error {
	lengths, rest, err := deltas(nil, b, n)
	if err != nil {
		return err
	}
	v.data = rest
	at := 0
	for _, size := range lengths {
		if size > uint64(len(rest)-at) {
			return errValues
		}
		v.spans = append(v.spans, span{uint32(at), uint32(at + int(size))})
		at += int(size)
	}
	return nil
}

// mostExpanded is how many bytes the texts of a page may have that repeat the beginnings of others.
const mostExpanded = 256 << 20

// deltaTexts reads texts that begin as the one before does: how much of it first, then what follows.
func (v *values) deltaTexts(b []byte, n int) error {
	prefixes, rest, err := deltas(nil, b, n)
	if err != nil {
		return err
	}
	var tails values
	if err := tails.deltaLengths(rest, n); err != nil {
		return err
	}
	var last span
	for i, p := range prefixes {
		tail := tails.data[tails.spans[i].from:tails.spans[i].to]
		if p > uint64(last.to-last.from) {
			return errPacked
		}
		if len(v.data)+int(p)+len(tail) > mostExpanded {
			return fmt.Errorf("a page whose texts have more than %d bytes", mostExpanded)
		}
		from := uint32(len(v.data))
		v.data = append(v.data, v.data[last.from:last.from+uint32(p)]...)
		v.data = append(v.data, tail...)
		last = span{from, uint32(len(v.data))}
		v.spans = append(v.spans, last)
	}
	return nil
}

// streams reads values of which all first bytes come first, then all second ones.
func (v *values) streams(s storage, b []byte, n int) error {
	size := s.fixed()
	if len(b)/size < n {
		return errValues
	}
	each := len(b) / size
	joined := make([]byte, 0, n*size)
	for i := range n {
		for k := range size {
			joined = append(joined, b[k*each+i])
		}
	}
	return v.plain(s, joined, n)
}

// hybrid appends n numbers of a width to dst, runs of one and packed ones by turns, and returns what is left.
//
//	| count<<1, number |  | groups of 8 <<1 | 1, packed numbers |
func hybrid[T byte | uint32](dst []T, b []byte, width, n int) ([]T, []byte, error) {
	if width > 32 {
		return dst, b, errPacked
	}
	for n > 0 {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return dst, b, errValues
		}
		b = b[k:]
		if head&1 == 1 {
			take := n
			if groups := head >> 1; groups < uint64(n+7)/8 {
				take = int(groups) * 8
			}
			if len(b) < (take*width+7)/8 {
				return dst, b, errValues
			}
			for i := range take {
				dst = append(dst, T(unpack(b, uint(i*width), uint(width))))
			}
			if take == 0 {
				return dst, b, errPacked
			}
			b = b[packedBytes(head>>1, width, len(b)):]
			n -= take
			continue
		}
		size := (width + 7) / 8
		if len(b) < size || head == 0 {
			return dst, b, errValues
		}
		var number uint32
		for i := range size {
			number |= uint32(b[i]) << (8 * i)
		}
		b = b[size:]
		for range min(uint64(n), head>>1) {
			dst = append(dst, T(number))
			n--
		}
	}
	return dst, b, nil
}

// packedBytes returns how many of the bytes that are left so many groups of 8 numbers take. The last group
// may be cut.
func packedBytes(groups uint64, width, left int) int {
	if width == 0 || groups >= uint64(left) {
		return left * min(width, 1)
	}
	return min(left, int(groups)*width)
}

// unpack returns the number of a width that starts at a bit, the lowest bits first.
func unpack(b []byte, bit, width uint) uint64 {
	at, shift := bit/8, bit%8
	var low uint64
	if uint(len(b)) >= at+8 {
		low = binary.LittleEndian.Uint64(b[at:])
	} else {
		for i := uint(len(b)); i > at; i-- {
			low = low<<8 | uint64(b[i-1])
		}
	}
	low >>= shift
	if shift+width > 64 {
		low |= uint64(b[at+8]) << (64 - shift)
	}
	if width == 64 {
		return low
	}
	return low & (1<<width - 1)
}

// oldPacked appends n levels in the encoding of the first files: the highest bits first.
func oldPacked(dst, b []byte, width, n int) ([]byte, []byte, error) {
	size := (n*width + 7) / 8
	if len(b) < size {
		return dst, b, errValues
	}
	for i := range n {
		var level byte
		for k := i * width; k < (i+1)*width; k++ {
			level = level<<1 | b[k/8]>>(7-k%8)&1
		}
		dst = append(dst, level)
	}
	return dst, b[size:], nil
}

// deltas appends n numbers that are stored as differences, and returns what is left.
//
//	| numbers a block, parts of it, count, first |  | least difference, widths of the parts, packed parts | ...
func deltas(dst []uint64, b []byte, n int) ([]uint64, []byte, error) {
	var head [4]uint64
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return dst, b, errValues
		}
		head[i], b = v, b[k:]
	}
	block, parts, total, number := head[0], head[1], head[2], unzigzag(head[3])
	if total != uint64(n) {
		return dst, b, errMore
	}
	if parts == 0 || parts > 1<<10 || block > 1<<20 || block%parts != 0 || block/parts%8 != 0 || block == 0 {
		return dst, b, errPacked
	}
	if n == 0 {
		return dst, b, nil
	}
	dst = append(dst, number)
	for left := n - 1; left > 0; {
		least, k := binary.Uvarint(b)
		if k <= 0 || uint64(len(b)-k) < parts {
			return dst, b, errValues
		}
		widths := b[k : k+int(parts)]
		b = b[k+int(parts):]
		for _, width := range widths {
			if left == 0 {
				break
			}
			take := min(left, int(block/parts))
			size := int(block/parts) * int(width) / 8
			if width > 64 || len(b) < (take*int(width)+7)/8 {
				return dst, b, errValues
			}
			for i := range take {
				number += unzigzag(least) + unpack(b, uint(i)*uint(width), uint(width))
				dst = append(dst, number)
			}
			b = b[min(size, len(b)):]
			left -= take
		}
	}
	return dst, b, nil
}

func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// levels appends n levels up to a largest one. Old data pages put their size before.
func levels(dst, b []byte, most, n int, encoding format.Encoding, sized bool) ([]byte, []byte, error) {
	width := bits.Len(uint(most))
	if encoding == format.BitPacked {
		return oldPacked(dst, b, width, n)
	}
	rest := []byte(nil)
	if sized {
		if len(b) < 4 {
			return dst, b, errValues
		}
		size := uint64(binary.LittleEndian.Uint32(b))
		if size > uint64(len(b)-4) {
			return dst, b, errValues
		}
		b, rest = b[4:4+size], b[4+size:]
	}
	dst, _, err := hybrid(dst, b, width, n)
	if err != nil {
		return dst, rest, err
	}
	for _, l := range dst {
		if int(l) > most {
			return dst, rest, errLevels
		}
	}
	return dst, rest, nil
}
