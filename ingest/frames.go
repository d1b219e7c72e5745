package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/turnmill/turnmill/ingest/frame"
)

// Frames returns where the frames of a zstd file start.
func Frames(path string) ([]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return frame.Frames(f, info.Size()), nil
}

// FrameRange reads the lines of some frames of a zstd file: those that start after an LF which lies in the
// range, and at the start of the file. So every line of the file belongs to one range, wherever frames end
// inside lines:
//
//	frames   |  from ...                 to|  next range ...
//	lines    ...tail of another LF one LF two, cut here ... end LF
//	              skipped ^               read on ------------ ^
type FrameRange struct {
	// Skipped is how many decompressed bytes of the first frame belong to the range before.
	Skipped int64

	stored *Range
	text   io.ReadCloser
	read   func(io.Reader) io.Reader // wraps stored bytes, for a meter
	path   string
	from   int64
	next   int64 // where the range after this one starts; -1: this is the last
	size   int64
	window int64
	buf    []byte
	rest   []byte // of buf, not handed out
	owns   bool   // a line starts in the range
	tail   bool   // reading on in the next range
	base   int64  // stored bytes between the range's start and where text starts
	err    error
}

// OpenFrames opens the frames from <= offset < to of a zstd file of size stored bytes. meter, which may be
// nil, wraps what reads stored bytes.
func OpenFrames(path string, from, to, size, window int64, meter func(io.Reader) io.Reader) (*FrameRange, error) {
	stored, err := OpenRange(path, from, to)
	if err != nil {
		return nil, err
	}
	if meter == nil {
		meter = func(r io.Reader) io.Reader { return r }
	}
	f := &FrameRange{stored: stored, read: meter, path: path, from: from, next: to, size: size, window: window, buf: make([]byte, 64<<10), owns: from == 0}
	if to >= size {
		f.next = -1
	}
	if f.text, err = frame.Decompress(meter(stored), frame.Zstd, window); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	if from > 0 {
		f.skip()
	}
	return f, nil
}

// skip passes the end of the line that started in the range before. An error waits for Read.
func (f *FrameRange) skip() {
	for f.err == nil {
		var n int
		n, f.err = f.text.Read(f.buf)
		if i := bytes.IndexByte(f.buf[:n], '\n'); i >= 0 {
			f.Skipped += int64(i + 1)
			f.rest, f.owns = f.buf[i+1:n], true
			return
		}
		f.Skipped += int64(n)
	}
}

// Read reads on. Damage of the data gives the error of frame.Decompress.
func (f *FrameRange) Read(p []byte) (int, error) {
	for {
		if len(f.rest) > 0 {
			n := copy(p, f.rest)
			f.rest = f.rest[n:]
			return n, nil
		}
		if f.err == io.EOF && !f.tail && f.owns && f.next >= 0 {
			if f.err = f.readOn(); f.err != nil {
				return 0, f.err
			}
		}
		if f.err != nil {
			return 0, f.err
		}
		var n int
		n, f.err = f.text.Read(f.buf)
		f.err = f.placed(f.err)
		f.rest = f.buf[:n]
		if !f.tail {
			f.owns = f.owns || bytes.IndexByte(f.rest, '\n') >= 0
		} else if i := bytes.IndexByte(f.rest, '\n'); i >= 0 {
			f.rest, f.err = f.rest[:i+1], io.EOF
		}
	}
}

// placed counts the place of damage from the range's start, wherever it was met.
func (f *FrameRange) placed(err error) error {
	var damage *frame.DamageError
	if f.base == 0 || !errors.As(err, &damage) {
		return err
	}
	moved := *damage
	moved.Offset += f.base
	return &moved
}

// readOn opens the frames after the range for the end of its last line.
func (f *FrameRange) readOn() error {
	after, err := OpenRange(f.path, f.next, f.size)
	if err != nil {
		return err
	}
	text, err := frame.Decompress(f.read(after), frame.Zstd, f.window)
	if err != nil {
		return errors.Join(err, after.Close())
	}
	f.tail, f.base = true, f.next-f.from
	f.text = joined{text, errors.Join(f.text.Close(), nil), after}
	return nil
}

// joined closes a decompressor and the file below it.
type joined struct {
	io.ReadCloser
	earlier error
	file    io.Closer
}

func (j joined) Close() error { return errors.Join(j.earlier, j.ReadCloser.Close(), j.file.Close()) }

// Sum returns the SHA-256 of the range's own stored bytes in hex, as Range.Sum does.
func (f *FrameRange) Sum() (string, error) { return f.stored.Sum() }

// Close closes the file.
func (f *FrameRange) Close() error { return errors.Join(f.text.Close(), f.stored.Close()) }

// zstdMagic begins every zstd frame that holds data. RFC 8878, section 3.1.1.
var zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}

// NextFrame returns where the first sound frame of a zstd file starts after an offset and before another, so
// that damage costs no more than the frame that it lies in. It goes by the magic number and by a chain of
// blocks that ends in the file, since the structure before is not to be trusted.
func NextFrame(path string, after, before int64) (at int64, found bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, false, err
	}
	buf := make([]byte, readBytes)
	for at = after + 1; at < before; {
		n, err := file.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return 0, false, err
		}
		i := bytes.Index(buf[:n], zstdMagic)
		switch {
		case i < 0 && err == io.EOF:
			return 0, false, nil
		case i < 0:
			at += int64(n - len(zstdMagic) + 1)
			continue
		}
		if at += int64(i); at < before && frame.Sound(file, at, info.Size()) {
			return at, true, nil
		}
		at++
	}
	return 0, false, nil
}
