package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// decompress returns a page of so many bytes. dst is memory to use. What is damaged gives an error, and no more
// than size bytes where the codec tells beforehand.
func decompress(dst, b []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	if codec != format.Uncompressed && cap(dst) < size {
		dst = make([]byte, size)
	}
	var out []byte
	var err error
	switch codec {
	case format.Uncompressed:
		out = b
	case format.Lz4Raw: // parquet-go doubles its buffer until damaged data fits, which it never does
		out, err = lz4Block(dst[:0], b, size)
	default:
		if n, k := binary.Uvarint(b); codec == format.Snappy && (k <= 0 || n != uint64(size)) {
			return nil, fmt.Errorf("a page of %d bytes in one that says %d", n, size)
		}
		err = guard(func() (err error) {
			out, err = pq.LookupCompressionCodec(codec).Decode(dst[:size], b)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s data: %w", codec, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("%s data of %d bytes where a page says %d", codec, len(out), size)
	}
	return out, nil
}

// guard calls into parquet-go, which panics on damaged data in places. Its callers hold nothing that a call
// leaves half done, so a panic there is an error like the others.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be decoded: %v", r)
		}
	}()
	return f()
}

var errLZ4 = errors.New("a sequence is damaged")

// lz4Block appends a block of LZ4 to dst, which holds nothing yet, up to size bytes.
//
//	| literals<<4 | match-4, lengths of 15 go on in further bytes | literals | offset, 2 bytes | ...
func lz4Block(dst, b []byte, size int) ([]byte, error) {
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(b) > 0 && n <= size {
			c := b[0]
			b = b[1:]
			if n += int(c); c < 255 {
				return n, true
			}
		}
		return 0, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(b) || n > size-len(dst) {
			return nil, errLZ4
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 { // the last sequence has literals alone
			return dst, nil
		}
		if len(b) < 2 {
			return nil, errLZ4
		}
		offset := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || offset == 0 || offset > len(dst) || n > size-len(dst) {
			return nil, errLZ4
		}
		for n > 0 { // a match may reach into what it makes
			from := len(dst) - offset
			k := min(n, offset)
			dst = append(dst, dst[from:from+k]...)
			n -= k
		}
	}
	return dst, nil
}
