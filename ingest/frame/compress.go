package frame

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compression says how a file is stored.
type Compression uint8

// What Decompress reads.
const (
	None Compression = iota
	Gzip
	Zstd
)

// DefaultMaxWindow is the largest zstd window that is read unless the caller says otherwise: what the zstd
// program itself accepts without a flag.
const DefaultMaxWindow = 128 << 20

// storedBuffer is how many stored bytes are read at a time.
const storedBuffer = 64 << 10

// String returns the compression's name.
func (c Compression) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("compression(%d)", uint8(c))
}

// ParseCompression is the inverse of String.
func ParseCompression(name string) (Compression, error) {
	for c := None; c <= Zstd; c++ {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("no compression is called %q; try none, gzip or zstd", name)
}

// Sniff tells the compression from the first bytes of a file, of which it needs four. File names do not
// count.
func Sniff(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B, 0x08}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}), skippable(head):
		return Zstd
	}
	return None
}

// Decompress returns a reader of the decompressed bytes of r: all members of gzip, all frames of zstd. It
// starts no goroutine. A damaged or cut stream delivers what could be decoded and then a *DamageError; a
// zstd frame that needs a window above maxWindow bytes (0 means DefaultMaxWindow) gives a *WindowError
// before any memory is taken for it. Errors of r itself come through unchanged. Closing frees the decoder
// and leaves r open.
func Decompress(r io.Reader, kind Compression, maxWindow int64) (io.ReadCloser, error) {
	if maxWindow <= 0 {
		maxWindow = DefaultMaxWindow
	}
	switch kind {
	case None:
		return io.NopCloser(r), nil
	case Gzip:
		s := &stored{in: r}
		return &gzipReader{stored: s, buf: bufio.NewReaderSize(s, storedBuffer)}, nil
	case Zstd:
		s := &stored{in: r}
		frames := &zstdFrames{buf: bufio.NewReaderSize(s, storedBuffer), limit: uint64(maxWindow)}
		dec, err := zstd.NewReader(frames, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(max(uint64(maxWindow), zstd.MinWindowSize)))
		if err != nil {
			return nil, err
		}
		return &zstdReader{stored: s, frames: frames, dec: dec}, nil
	}
	return nil, fmt.Errorf("no reader for %s; try a file that is plain, gzip or zstd", kind)
}

// stored reads the stored bytes, counts them, and remembers an error of the file itself, which is no
// damage.
type stored struct {
	in  io.Reader
	n   int64
	err error
}

func (s *stored) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
