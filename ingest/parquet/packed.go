package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

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
