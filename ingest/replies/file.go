package replies

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// File is one file of recorded answers.
type File struct {
	Name string // as in the plan
	Path string // where it is now
}

// FileSum is what a file was found to hold.
type FileSum struct {
	Path    string // the file's Name
	Bytes   int64  // stored
	SHA256  string // of all stored bytes
	Rows    int64  // lines, or elements of an array; rejected ones included
	Replies int64
}

// Limits bound the reading of a file; 0 means the limits of frame.
type Limits struct {
	MaxRecord int64 // bytes of a row
	MaxWindow int64 // bytes, zstd
}

// scan reads a file from its start to its end: visit gets every framed row, or what was rejected in its place. It
// returns a file whose decompressed bytes can be read at any place.
func scan(f File, l Limits, visit func(frame.Record, error) error) (_ *os.File, sum FileSum, err error) {
	sum.Path = f.Name
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, sum, err
	}
	random := file
	defer func() {
		if random != file || err != nil {
			file.Close()
		}
		if err != nil && random != file {
			random.Close()
		}
	}()
	hash := sha256.New()
	size := new(counted)
	stored := bufio.NewReaderSize(io.TeeReader(file, io.MultiWriter(hash, size)), 256<<10)
	head, err := stored.Peek(4)
	if err != nil && err != io.EOF {
		return nil, sum, err
	}
	kind := frame.Sniff(head)
	if l.MaxWindow == 0 {
		l.MaxWindow = frame.DefaultMaxWindow
	}
	plain, err := frame.Decompress(stored, kind, l.MaxWindow)
	if err != nil {
		return nil, sum, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer plain.Close()
	text := io.Reader(plain)
	if kind != frame.None { // rows are read back by place, which compressed bytes do not have
		if random, err = temporary(); err != nil {
			random = file
			return nil, sum, err
		}
		text = io.TeeReader(plain, random)
	}
	if err := rows(text, l, &sum, visit); err != nil {
		return nil, sum, fmt.Errorf("%s: %w", f.Name, err)
	}
	if _, err := io.Copy(io.Discard, stored); err != nil { // a framer need not read what follows its array
		return nil, sum, err
	}
	sum.Bytes, sum.SHA256 = int64(*size), hex.EncodeToString(hash.Sum(nil))
	return random, sum, nil
}

// rows frames a text: one array where it starts with a bracket, else a value a line.
func rows(text io.Reader, l Limits, sum *FileSum, visit func(frame.Record, error) error) error {
	in := bufio.NewReaderSize(text, 64<<10)
	layout := frame.Lines
	if head, err := in.Peek(1 << 10); err != nil && err != io.EOF {
		return err
	} else if begins(head) == '[' {
		layout = frame.Array
	}
	f := frame.New(layout, in, frame.Options{MaxRecord: l.MaxRecord})
	for {
		rec, err := f.Next()
		var bad *turnmill.RecordError
		switch {
		case err == nil || errors.As(err, &bad):
			if err := visit(rec, err); err != nil {
				return err
			}
		case err == io.EOF:
			sum.Rows = f.Count()
			return nil
		default:
			return err
		}
	}
}

// begins returns the first byte that is no blank and no part of a byte order mark.
func begins(head []byte) byte {
	for _, c := range head {
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		default:
			return c
		}
	}
	return 0
}

// temporary makes a file that no name leads to, so that nothing of it outlives the process.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "turnmill-replies-*")
	if err != nil {
		return nil, fmt.Errorf("%w; try TMPDIR on a disk with room", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// counted counts what is written to it.
type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
