package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

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
		return v.deltaTexts(s, b, n)
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

// deltaTexts reads texts that begin as the one before does: how much of it first, then what follows. Fixed
// bytes may be written so too, and must have their length.
func (v *values) deltaTexts(s storage, b []byte, n int) error {
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
		if p > uint64(last.to-last.from) || s.fixed() > 0 && int(p)+len(tail) != s.fixed() {
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
