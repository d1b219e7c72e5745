package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// ErrChanged marks errors that say that an input is no longer what was planned.
var ErrChanged = errors.New("input changed")

// readBytes is how much is read from a file at a time where nobody else decides.
const readBytes = 256 << 10

// Range reads a stretch of a file's stored bytes and hashes them. It serves one goroutine.
type Range struct {
	file   *os.File
	hash   hash.Hash
	at, to int64
}

// OpenRange opens the stored bytes from <= offset < to of a file. A file that ends before to gives an error
// that is ErrChanged, now or while reading.
func OpenRange(path string, from, to int64) (*Range, error) {
	if from < 0 || to < from {
		return nil, fmt.Errorf("%s: no such range of bytes: %d to %d", path, from, to)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; try to put the file back, or to plan anew with --restart", err)
	}
	r := &Range{file: file, hash: sha256.New(), at: from, to: to}
	info, err := file.Stat()
	if err == nil && info.Size() < to {
		err = r.changed(info.Size())
	}
	if err == nil {
		_, err = file.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *Range) changed(size int64) error {
	return fmt.Errorf("%s: %w: it has %d bytes, at least %d were planned; try to put the file back, or to plan anew with --restart",
		r.file.Name(), ErrChanged, size, r.to)
}

// Read reads on. It ends with io.EOF at the range's end.
func (r *Range) Read(p []byte) (int, error) {
	if r.at == r.to {
		return 0, io.EOF
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.to-r.at)])
	r.hash.Write(p[:n])
	r.at += int64(n)
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		return 0, r.changed(r.at)
	}
	return 0, err
}

// Sum returns the SHA-256 of the whole range in hex. It reads what has not been read yet, as after a
// failure of decompression.
func (r *Range) Sum() (string, error) {
	buf := make([]byte, min(readBytes, r.to-r.at))
	for {
		if _, err := r.Read(buf); err == io.EOF {
			return hex.EncodeToString(r.hash.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
	}
}

// Close closes the file.
func (r *Range) Close() error { return r.file.Close() }
