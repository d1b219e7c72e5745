package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// unpacker decompresses the pages of a file. It serves one goroutine; what a codec needs is made when a page
// wants it, and kept. The codecs of parquet-go that are not here hold no state, and tell the size beforehand.
type unpacker struct {
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
	input  bytes.Reader
}

// decompress returns a page of so many bytes. dst is memory to use. What is damaged gives an error, and takes
// memory for no more than size bytes: a page may hold a thousand times, and with zstd and Brotli a million
// times, what it says.
func (u *unpacker) decompress(dst, b []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	var out []byte
	var err error
	switch codec {
	case format.Uncompressed:
		out = b
	case format.Lz4Raw: // parquet-go doubles its buffer until damaged data fits, which it never does
		out, err = lz4Block(room(dst, size), b, size)
	case format.Gzip:
		out, err = u.inflate(dst, b, size, u.openGzip)
	case format.Brotli:
		out, err = u.inflate(dst, b, size, u.openBrotli)
	case format.Zstd:
		out, err = u.unzstd(dst, b, size)
	default:
		if n, k := binary.Uvarint(b); codec == format.Snappy && (k <= 0 || n != uint64(size)) {
			return nil, fmt.Errorf("a page of %d bytes in one that says %d", n, size)
		}
		err = guard(func() (err error) {
			out, err = pq.LookupCompressionCodec(codec).Decode(room(dst, size)[:size], b)
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

// room returns no bytes with room for size, those of dst if they are enough.
func room(dst []byte, size int) []byte {
	if cap(dst) < size {
		return make([]byte, 0, size)
	}
	return dst[:0]
}

var errFull = errors.New("more bytes than the page says")

// firstRoom is what a page gets before anything of it has been seen to be there.
const firstRoom = 1 << 20

// inflate reads all that a codec's reader makes of b, and no more than size bytes. Its memory grows with what
// comes, since a damaged header may say anything.
func (u *unpacker) inflate(dst, b []byte, size int, open func(io.Reader) (io.Reader, error)) ([]byte, error) {
	u.input.Reset(b)
	defer u.input.Reset(nil)
	r, err := open(&u.input)
	if err != nil {
		return nil, err
	}
	dst = room(dst, min(size, firstRoom))
	for len(dst) < size {
		if len(dst) == cap(dst) {
			dst = append(make([]byte, 0, min(size, 2*cap(dst))), dst...)
		}
		n, err := r.Read(dst[len(dst):min(size, cap(dst))])
		dst = dst[:len(dst)+n]
		switch {
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return nil, err
		}
	}
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return nil, errFull
	case err != io.EOF:
		return nil, err
	}
	return dst, nil
}

func (u *unpacker) openGzip(in io.Reader) (r io.Reader, err error) {
	if u.gzip == nil {
		u.gzip = new(gzip.Reader)
	}
	return u.gzip, u.gzip.Reset(in)
}

func (u *unpacker) openBrotli(in io.Reader) (io.Reader, error) {
	if u.brotli == nil {
		u.brotli = brotli.NewReader(in)
	}
	return u.brotli, u.brotli.Reset(in)
}

// unzstd decodes a page at once. A block of four bytes may stand for 128 KiB, and nothing for more.
func (u *unpacker) unzstd(dst, b []byte, size int) ([]byte, error) {
	const leastBlock, mostBlock = 4, 128 << 10
	if int64(size) > int64(len(b)/leastBlock+1)*mostBlock {
		return nil, fmt.Errorf("%d bytes, which cannot be the %d that the page says", len(b), size)
	}
	if u.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		u.zstd = d
	}
	dst = room(dst, size)
	out, err := u.zstd.DecodeAll(b, dst[:0:size])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errFull
	}
	return out, err
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
