package ingest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
)

// Cut is a place where a file of lines may be cut: its start, just after an LF, or its end.
type Cut struct {
	Offset int64
	Line   int64 // one more than the LFs before it
}

// CutLines returns for each wished offset, in ascending order, the first place at or after it where a plain
// file of lines may be cut. Several wishes inside one long line give the same cut; those after the last LF
// give the file's end. The file is read once, as far as the last cut.
func CutLines(path string, targets []int64) ([]Cut, error) {
	if !slices.IsSorted(targets) {
		return nil, fmt.Errorf("%s: offsets to cut at are not in ascending order: %v", path, targets)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; try to check its permissions", err)
	}
	defer file.Close()
	c := cutter{line: 1, buf: make([]byte, readBytes)}
	cuts := make([]Cut, 0, len(targets))
	for _, target := range targets {
		cut, err := c.next(file, target)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, cut)
	}
	return cuts, nil
}

// cutter counts lines on the way through a file.
type cutter struct {
	buf  []byte
	rest []byte // read, not yet passed
	at   int64  // of rest in the file
	line int64  // that at is in
	last bool   // at is a place to cut
}

// next passes bytes up to the first place to cut at or after target.
func (c *cutter) next(r io.Reader, target int64) (Cut, error) {
	for c.at < target || c.at > 0 && !c.last {
		if len(c.rest) == 0 {
			n, err := r.Read(c.buf)
			if c.rest = c.buf[:n]; n > 0 {
				continue
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return Cut{}, err
			}
			continue
		}
		// The LF that ends a line before a cut at target is the byte before target.
		n := int(min(max(0, target-1-c.at), int64(len(c.rest))))
		if i := bytes.IndexByte(c.rest[n:], '\n'); i >= 0 {
			n += i + 1
		} else {
			n = len(c.rest)
		}
		c.pass(n)
	}
	return Cut{c.at, c.line}, nil
}

func (c *cutter) pass(n int) {
	c.line += int64(bytes.Count(c.rest[:n], []byte{'\n'}))
	c.last = n > 0 && c.rest[n-1] == '\n'
	c.rest = c.rest[n:]
	c.at += int64(n)
}
