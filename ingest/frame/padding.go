package frame

import "github.com/turnmill/turnmill"

// bom is the UTF-8 byte order mark. It never starts a JSON value, so it is left out wherever a record may
// start: files joined by cat, and concatenated gzip members, have marks in the middle.
const bom = "\xEF\xBB\xBF"

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// skipPadding consumes blanks, byte order marks and NUL runs, however long they are, and counts the last
// two. It returns false when the input ends or fails before any other byte.
func (f *Framer) skipPadding() bool {
	s := &f.src
	afterNUL := false
	for {
		w := s.window()
		i := padding(w, &f.notes, &afterNUL)
		s.advance(i)
		if w = w[i:]; len(w) >= len(bom) || len(w) > 0 && w[0] != bom[0] {
			return true
		}
		// The window is empty, or may end inside a byte order mark.
		if !s.more() {
			return len(w) > 0
		}
	}
}

// padding returns the length of the padding at the start of b. afterNUL carries a NUL run over from one
// call to the next.
func padding(b []byte, notes *turnmill.Notes, afterNUL *bool) int {
	i := 0
	for i < len(b) {
		c := b[i]
		switch {
		case c == 0:
			if !*afterNUL {
				notes[turnmill.NoteNULPadding]++
			}
		case blank(c):
		case c == bom[0] && len(b) >= i+len(bom) && string(b[i:i+len(bom)]) == bom:
			notes[turnmill.NoteBOM]++
			i += len(bom) - 1
		default:
			return i
		}
		*afterNUL = c == 0
		i++
	}
	return i
}

// trimEnd returns b without the blanks and NUL bytes at its end, and counts the NUL runs among them.
func trimEnd(b []byte, notes *turnmill.Notes) []byte {
	afterNUL := false
	for n := len(b); n > 0; n-- {
		c := b[n-1]
		if c != 0 && !blank(c) {
			return b[:n]
		}
		if c == 0 && !afterNUL {
			notes[turnmill.NoteNULPadding]++
		}
		afterNUL = c == 0
	}
	return b[:0]
}
