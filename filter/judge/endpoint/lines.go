package endpoint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads a file of lines from an offset on.
type lines struct {
	file   io.ReaderAt
	offset int64 // after the last line returned
	rest   int64 // bytes after the last line feed, at the end
	buf    []byte
	start  int // of buf: the byte at offset
	chunk  int // bytes read at a time, at first
}

// What is read at a time: of a whole journal, and of one entry.
const (
	readChunk  = 256 << 10
	entryChunk = 4 << 10
)

func newLines(f io.ReaderAt) *lines { return &lines{file: f, chunk: readChunk} }

// next returns a line without its line feed, valid until the next call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	for from := l.start; ; {
		if i := bytes.IndexByte(l.buf[from:], '\n'); i >= 0 {
			line := l.buf[l.start : from+i]
			l.start += len(line) + 1
			l.offset += int64(len(line) + 1)
			return line, nil
		}
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
		l.start, from = 0, len(l.buf)
		l.buf = append(l.buf, make([]byte, max(l.chunk, from))...)
		n, err := l.file.ReadAt(l.buf[from:], l.offset+int64(from))
		l.buf = l.buf[:from+n]
		if n == 0 && err != nil {
			l.rest = int64(len(l.buf))
			return nil, err
		}
	}
}

// readLine returns the line at an offset.
func readLine(f io.ReaderAt, offset int64) ([]byte, error) {
	l := lines{file: f, chunk: entryChunk, offset: offset}
	line, err := l.next()
	if err == io.EOF {
		err = errors.New("the file is shorter than when it was opened")
	}
	return line, err
}

// readBounded appends a line with its line feed to buf. Of a longer one than limit the rest is skipped.
func readBounded(r *bufio.Reader, buf []byte, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(buf)+len(part) > limit; !long {
			buf = append(buf, part...)
		}
		switch {
		case err == nil:
			return buf, long, nil
		case errors.Is(err, io.EOF) && (len(buf) > 0 || long):
			return buf, long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return buf, long, err
		}
	}
}
