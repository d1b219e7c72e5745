package frame

import (
	"bytes"
	"io"
)

const (
	// grain is the size of a fresh buffer: large enough that reading costs little a byte, small enough
	// that many framers may be open.
	grain = 256 << 10
	// keepGrains is the size of buffer that is never given back.
	keepGrains = 4
	// emptyReads is how often a reader may return nothing before it counts as broken.
	emptyReads = 100
)

// source is the window of the input that a framer looks at. Indices into window stay right when more
// appends to it; advance moves the window on.
//
//	buf   | consumed | window, not yet consumed | free |
//	      0          r                          w      len(buf)
type source struct {
	in     io.Reader
	buf    []byte
	r, w   int
	offset int64 // of buf[r] in the input
	line   int64 // of buf[r], from 1
	limit  int   // the largest record; the buffer holds one grain more
	grain  int   // grain, less in tests
	recent int   // size of recent records, decaying
	err    error // from in, sticky; io.EOF at the end
}

func (s *source) window() []byte { return s.buf[s.r:s.w] }

// more reads on. It returns false when the input has ended or failed, which err then tells.
func (s *source) more() bool {
	if s.err != nil {
		return false
	}
	if s.w == len(s.buf) {
		s.room()
	}
	for range emptyReads {
		// One grain at a time stays in the cache, and leaves a large buffer empty enough to give back.
		n, err := s.in.Read(s.buf[s.w:min(len(s.buf), s.w+s.grain)])
		s.w += n
		s.err = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// ensure reads on until the window has n bytes or the input ends.
func (s *source) ensure(n int) {
	for s.w-s.r < n && s.more() {
	}
}

// room makes room behind the window: by moving it to the front, or else by growing.
func (s *source) room() {
	if s.r == 0 {
		// A record is known to be too large at the first byte beyond the limit.
		s.resize(min(max(2*len(s.buf), s.grain), max(s.limit, len(s.buf))+s.grain))
		return
	}
	s.w = copy(s.buf, s.buf[s.r:s.w])
	s.r = 0
}

func (s *source) resize(size int) {
	old := s.window()
	s.buf = make([]byte, size)
	s.r, s.w = 0, copy(s.buf, old)
}

// relax gives a large buffer back when the records of late, the last of size last, need much less. The
// memory of it decays, so a run of large records does not allocate for each.
func (s *source) relax(last int) {
	s.recent = max(last, s.recent-s.recent/8)
	if size := len(s.buf); size > keepGrains*s.grain && s.recent < size/4 && s.w-s.r < size/4 {
		s.resize(max(s.grain, 2*max(s.recent, s.w-s.r)))
	}
}

// advance consumes n bytes.
func (s *source) advance(n int) {
	s.line += int64(bytes.Count(s.buf[s.r:s.r+n], []byte{'\n'}))
	s.r += n
	s.offset += int64(n)
}

// drop consumes the whole window.
func (s *source) drop() { s.advance(s.w - s.r) }
