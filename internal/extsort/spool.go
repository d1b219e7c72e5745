package extsort

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// spoolBytes is how much of a spool waits in memory.
const spoolBytes = 1 << 20

// Spool holds bytes that are appended and then read at any place: in memory while they are few, else in a nameless file
// with a tail in memory. It serves one goroutine.
type Spool struct {
	dir  string
	file *os.File
	disk int64  // bytes of file
	tail []byte // after them
}

// NewSpool returns an empty spool with its file, if it comes to one, in dir.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// Len returns how many bytes were appended.
func (s *Spool) Len() int64 { return s.disk + int64(len(s.tail)) }

// DiskBytes returns how many of them lie on disk.
func (s *Spool) DiskBytes() int64 { return s.disk }

// Write appends p.
func (s *Spool) Write(p []byte) (int, error) {
	s.tail = append(s.tail, p...)
	if len(s.tail) < spoolBytes {
		return len(p), nil
	}
	if s.file == nil {
		var err error
		if s.file, err = Nameless(s.dir); err != nil {
			return 0, err
		}
	}
	if _, err := s.file.WriteAt(s.tail, s.disk); err != nil {
		return 0, fmt.Errorf("writing in %s: %w", s.dir, err)
	}
	s.disk += int64(len(s.tail))
	s.tail = s.tail[:0]
	return len(p), nil
}

// ReadAt reads what was appended, as io.ReaderAt does.
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	if at < s.disk {
		k, err := s.file.ReadAt(p[:min(int64(len(p)), s.disk-at)], at)
		if err != nil {
			return k, err
		}
		n = k
	}
	if from := at + int64(n) - s.disk; from >= 0 && from < int64(len(s.tail)) {
		n += copy(p[n:], s.tail[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close gives memory and disk back.
func (s *Spool) Close() error {
	var err error
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	s.file, s.tail, s.disk = nil, nil, 0
	return err
}
