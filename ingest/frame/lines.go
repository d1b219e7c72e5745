package frame

import (
	"bytes"
	"io"
)

// nextLine cuts at LF and nowhere else: U+2028, U+2029 and U+0085 may stand inside JSON strings. Blank
// lines are passed over, a CR before the LF is a blank, and the last line needs no LF.
func (f *Framer) nextLine() (Record, error) {
	s := &f.src
	if !f.skipPadding() {
		return Record{}, s.err
	}
	seen := 0
	for {
		w := s.window()
		if i := bytes.IndexByte(w[seen:], '\n'); i >= 0 {
			return f.line(seen+i, 1)
		}
		seen = len(w)
		if int64(seen) > f.max {
			return Record{}, f.skipLine()
		}
		if s.more() {
			continue
		}
		if s.err == io.EOF {
			return f.line(seen, 0)
		}
		pos := f.position(int64(seen))
		s.drop()
		return Record{}, f.cut(pos)
	}
}

// line hands out the n bytes at the window's front, and consumes them and an LF of feed bytes.
func (f *Framer) line(n, feed int) (Record, error) {
	s := &f.src
	if int64(n) > f.max {
		return Record{}, f.skipLine()
	}
	rec := Record{Data: trimEnd(s.window()[:n], &f.notes), Line: s.line, Offset: s.offset}
	s.r += n + feed
	s.offset += int64(n + feed)
	s.line += int64(feed)
	return rec, nil
}

// skipLine consumes a line that is too large, without keeping it. Its size counts up to the LF.
func (f *Framer) skipLine() error {
	s := &f.src
	pos := f.position(0)
	for {
		w := s.window()
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			pos.Bytes += int64(i)
			s.advance(i + 1)
			return f.tooLarge(pos)
		}
		pos.Bytes += int64(len(w))
		s.drop()
		if !s.more() {
			return f.tooLarge(pos)
		}
	}
}
