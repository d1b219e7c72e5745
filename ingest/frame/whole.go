package frame

import (
	"bytes"
	"io"

	"github.com/turnmill/turnmill"
)

// whole hands out the input as one record, JSON or not: a byte order mark at its start and NUL runs at
// both ends are left out, blanks are kept. Nothing but blanks is no record.
func (f *Framer) whole() (Record, error) {
	s := &f.src
	for int64(len(s.window())) <= f.max && s.more() {
	}
	if int64(len(s.window())) > f.max {
		return Record{}, f.skipWhole()
	}
	w := s.window()
	if s.err != io.EOF {
		if len(w) == 0 {
			return Record{}, s.err
		}
		pos := f.position(int64(len(w)))
		s.drop()
		return Record{}, f.cut(pos)
	}
	data := f.trimNUL(w)
	if bytes.HasPrefix(data, []byte(bom)) {
		f.notes[turnmill.NoteBOM]++
		data = f.trimNUL(data[len(bom):])
	}
	// Slicing from the left is what lowers the capacity.
	rec := Record{Data: data, Offset: s.offset + int64(cap(w)-cap(data))}
	s.drop()
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return Record{}, io.EOF
	}
	return rec, nil
}

// trimNUL cuts one NUL run off either end.
func (f *Framer) trimNUL(b []byte) []byte {
	for _, trim := range []func([]byte, string) []byte{bytes.TrimLeft, bytes.TrimRight} {
		if t := trim(b, "\x00"); len(t) < len(b) {
			f.notes[turnmill.NoteNULPadding]++
			b = t
		}
	}
	return b
}

func (f *Framer) skipWhole() error {
	s := &f.src
	pos := f.position(0)
	for {
		pos.Bytes += int64(len(s.window()))
		s.drop()
		if !s.more() {
			return f.tooLarge(pos)
		}
	}
}
