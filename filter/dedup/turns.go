package dedup

import (
	"math/bits"
	"slices"

	"github.com/turnmill/turnmill"
)

// Turns tells the same run in two exports. Exports differ in what they put around calls, in blanks, in the system
// prompt, in lines at the start or end of every observation (a prompt, the open file, an exit code), in words that they
// have for silence, and in turns at the end that one of them lacks. What the environment said is the same:
//
//	observation --> chunks: its lines, long ones cut at content --> those that the run has not shown yet
//	            --> the four least hashes of them                     a line around every answer is new once
//	action      --> a bit for each of its words                       those of a call are in those of its envelope
//	            --> of a long one, the four least hashes of two words
//
// Two turns agree when three fifths of the lesser one's chunks are the other's, and three fifths of the lesser action's
// bits; a turn that shows nothing new agrees with one that shows little. Two runs are the same when nine tenths of the
// shorter one's turns agree in their order, the longer one has a tenth or one more, and of the chunks that their hashes
// can tell nine tenths are the same, six or more. Runs of one source in one input are runs of their own, whatever they have in common.
type Turns struct {
	words  []uint64
	chunks []uint64
	seen   map[uint64]struct{}
}

// A body is a hash of source and input, then for each turn a word with the number of new chunks (15 bits), whether
// the action is long (1) and the bits of its words (48); then the least hashes of chunks and action, 0 where there are fewer.
const (
	turnWords   = 1 + 2*leastChunks
	leastChunks = 4
	keyChunks   = 2 // of a turn are keys
	chunkBits   = 1<<15 - 1
	longBit     = 1 << 15
)

// longChunk is after how many words a chunk may end inside of a line: at a word whose hash is a multiple of chunkEvery.
// An action of longAction words or more has all bits set, or nearly.
const (
	longChunk  = 12
	chunkEvery = 4
	longAction = 24
)

// fewTurns and fewChunks are how much two runs must have in common, littleChunks how much there may be to words for
// silence, with a prompt after them.
const (
	fewTurns     = 2
	fewChunks    = 6
	littleChunks = 3
	lookAhead    = 8 // turns that one run has and the other lacks, in one place
)

// Trajectory prints a run of two or more turns.
func (m *Turns) Trajectory(t *turnmill.Trajectory, p *Print) {
	if len(t.Turns) < fewTurns {
		return
	}
	if m.seen == nil {
		m.seen = map[uint64]struct{}{}
	}
	clear(m.seen)
	m.words = words(m.words[:0], t.Source, false)
	p.Body = append(p.Body, join(append(m.words, p.Input)))
	for i := range t.Turns {
		m.turn(&t.Turns[i], p)
	}
}

// Document prints nothing: a document has no turns.
func (m *Turns) Document(*turnmill.Document, *Print) {}

func (m *Turns) turn(t *turnmill.Turn, p *Print) {
	m.chunk(t.Observation)
	head := uint64(min(len(m.chunks), chunkBits))
	from := len(p.Body)
	p.Body = append(p.Body, 0)
	for k, h := range m.least(p) {
		if h != 0 && k < keyChunks {
			p.Keys = append(p.Keys, [2]uint64{h})
		}
	}
	m.words = words(m.words[:0], t.Action, false)
	m.chunks = m.chunks[:0]
	for i, w := range m.words {
		head |= 1 << (16 + w%48)
		if i > 0 {
			m.chunks = append(m.chunks, join(m.words[i-1:i+1]))
		}
	}
	if len(m.words) >= longAction {
		head |= longBit
	}
	m.least(p)
	p.Body[from] = head
}

// chunk cuts a text into the chunks that the run has not shown yet.
func (m *Turns) chunk(text string) {
	m.words, m.chunks = words(m.words[:0], text, true), m.chunks[:0]
	from := 0
	end := func(to int) {
		if to > from {
			h := max(join(m.words[from:to]), 1)
			if _, shown := m.seen[h]; !shown {
				m.seen[h] = struct{}{}
				m.chunks = append(m.chunks, h)
			}
		}
		from = to
	}
	for i, w := range m.words {
		switch {
		case w == 0:
			end(i)
			from = i + 1
		case i+1-from >= longChunk && w%chunkEvery == 0:
			end(i + 1)
		}
	}
	end(len(m.words))
}

// least appends the least hashes of m.chunks to the body and returns them.
func (m *Turns) least(p *Print) []uint64 {
	slices.Sort(m.chunks)
	m.chunks = slices.Compact(m.chunks)
	from := len(p.Body)
	for k := range leastChunks {
		h := uint64(0)
		if k < len(m.chunks) {
			h = max(m.chunks[k], 1)
		}
		p.Body = append(p.Body, h)
	}
	return p.Body[from:]
}

// Same compares two runs turn by turn.
func (m *Turns) Same(a, b []uint64) bool {
	if len(a) == 0 || len(b) == 0 || a[0] == b[0] {
		return false
	}
	a, b = a[1:], b[1:]
	if len(a) > len(b) || len(a) == len(b) && slices.Compare(a, b) > 0 {
		a, b = b, a
	}
	na, nb := len(a)/turnWords, len(b)/turnWords
	if nb-na > 1+nb/10 {
		return false
	}
	of := func(body []uint64, i int) []uint64 { return body[i*turnWords : (i+1)*turnWords] }
	common, shared, told := 0, 0, 0
	for i, k := 0, 0; i < na && k < nb; i, k = i+1, k+1 {
		if !agree(of(a, i), of(b, k)) {
			di, dk := gap(na-i, nb-k, func(di, dk int) bool { return agree(of(a, i+di), of(b, k+dk)) })
			if di+dk == 0 {
				continue
			}
			i, k = i+di, k+dk
		}
		x, y := of(a, i), of(b, k)
		s, n := contained(x[1:1+leastChunks], y[1:1+leastChunks])
		common, shared, told = common+1, shared+s, told+n
	}
	return common >= fewTurns && 10*common >= 9*na && shared >= fewChunks && 10*shared >= 9*told
}

// gap returns how many turns to pass over in one of two runs until they agree again, or 0, 0.
func gap(left, right int, agree func(i, k int) bool) (i, k int) {
	for d := 1; d <= lookAhead; d++ {
		if d < right && agree(0, d) {
			return 0, d
		}
		if d < left && agree(d, 0) {
			return d, 0
		}
	}
	return 0, 0
}

// agree tells whether two turns are the same.
func agree(x, y []uint64) bool {
	if x[0]&y[0]&longBit != 0 {
		if s, n := contained(x[1+leastChunks:], y[1+leastChunks:]); 5*s < 3*n {
			return false
		}
	} else if a, b := x[0]>>16, y[0]>>16; 5*bits.OnesCount64(a&b) < 3*min(bits.OnesCount64(a), bits.OnesCount64(b)) {
		return false
	}
	cx, cy := x[0]&chunkBits, y[0]&chunkBits
	if cx == 0 || cy == 0 {
		return max(cx, cy) <= littleChunks
	}
	s, n := contained(x[1:1+leastChunks], y[1:1+leastChunks])
	return s > 0 && 5*s >= 3*n
}

// contained returns how many of the lesser set's members are in the other, as far as the least hashes of both tell: up
// to the last one of a list that is full.
func contained(x, y []uint64) (shared, n int) {
	last := ^uint64(0)
	for _, list := range [][]uint64{x, y} {
		if h := list[len(list)-1]; h != 0 {
			last = min(last, h)
		}
	}
	nx, ny := 0, 0
	for _, h := range x {
		if h != 0 && h <= last {
			nx++
			if slices.Contains(y, h) {
				shared++
			}
		}
	}
	for _, h := range y {
		if h != 0 && h <= last {
			ny++
		}
	}
	return shared, min(nx, ny)
}
