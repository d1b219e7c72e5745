package dedup

import (
	"math/bits"
	"slices"

	"github.com/turnmill/turnmill"
)

// Turns tells the same run in two exports. Exports differ in what they put around calls, in blanks, in the system
// prompt, in lines at the start or end of every observation (a prompt, the open file, an exit code), and in turns at the
// end that one of them lacks. What the environment said is the same:
//
//	observation --> chunks: its lines, long ones cut at content --> those that the run has not shown yet
//	            --> the four least hashes of them                     a line around every answer is new once
//	action      --> a bit for each of its words                       of a call in an envelope, all bits are in the envelope's
//
// A turn without a new chunk says nothing and is passed over. Two turns agree when half of the lesser one's
// hashes are the other's, and three fifths of the lesser action's bits. Two runs are the same when the turns that agree, in
// order, are four fifths of the longer run, its last turn aside, and three or more; two are enough where both runs have
// two and enough new chunks.
type Turns struct {
	words  []uint64
	chunks []uint64
	seen   map[uint64]struct{}
	lcs    [2][]int
}

// turnWords is the size of a turn in a body: new chunks (16 bits) and words of the action (48), then the least hashes,
// 0 where there are fewer.
const turnWords = 1 + leastChunks

// leastChunks is how many of a turn's chunks are kept, keyChunks how many of those are keys.
const (
	leastChunks = 4
	keyChunks   = 2
)

// longChunk is after how many words a chunk may end inside of a line: at a word whose hash is a multiple of chunkEvery.
const (
	longChunk  = 12
	chunkEvery = 4
)

// fewTurns is how many turns two runs must have in common; pairChunks how many new chunks two turns have that are all
// of a run and enough.
const (
	fewTurns   = 3
	pairChunks = 8
)

// Trajectory prints a run of two or more telling turns.
func (m *Turns) Trajectory(t *turnmill.Trajectory, p *Print) {
	if m.seen == nil {
		m.seen = map[uint64]struct{}{}
	}
	clear(m.seen)
	body, keys := len(p.Body), len(p.Keys)
	for i := range t.Turns {
		m.turn(&t.Turns[i], p)
	}
	if len(p.Body)-body < 2*turnWords {
		p.Body, p.Keys = p.Body[:body], p.Keys[:keys]
	}
}

// Document prints nothing: a document has no turns.
func (m *Turns) Document(*turnmill.Document, *Print) {}

func (m *Turns) turn(t *turnmill.Turn, p *Print) {
	m.words = words(m.words[:0], t.Observation, true)
	m.chunks = m.chunks[:0]
	from := 0
	chunk := func(to int) {
		if to-from > 1 || to-from == 1 && m.words[from] != 0 {
			h := join(m.words[from:to])
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
			chunk(i)
			from = i + 1
		case i+1-from >= longChunk && w%chunkEvery == 0:
			chunk(i + 1)
		}
	}
	chunk(len(m.words))
	if len(m.chunks) == 0 {
		return
	}
	n := min(len(m.chunks), 1<<16-1)
	m.words = words(m.words[:0], t.Action, false)
	action := uint64(0)
	for _, w := range m.words {
		action |= 1 << (16 + w%48)
	}
	slices.Sort(m.chunks)
	p.Body = append(p.Body, action|uint64(n))
	for k := range leastChunks {
		h := uint64(0)
		if k < len(m.chunks) {
			h = max(m.chunks[k], 1)
		}
		if p.Body = append(p.Body, h); h != 0 && k < keyChunks {
			p.Keys = append(p.Keys, [2]uint64{h})
		}
	}
}

// Same compares two runs turn by turn.
func (m *Turns) Same(a, b []uint64) bool {
	na, nb := len(a)/turnWords, len(b)/turnWords
	longer, shorter := max(na, nb), min(na, nb)
	if shorter < 2 || 5*shorter < 4*(longer-1) {
		return false
	}
	for i := range m.lcs {
		m.lcs[i] = slices.Grow(m.lcs[i][:0], nb+1)[:nb+1]
		clear(m.lcs[i])
	}
	for i := range na {
		above, now := m.lcs[0], m.lcs[1]
		x := a[i*turnWords : (i+1)*turnWords]
		for k := range nb {
			if y := b[k*turnWords : (k+1)*turnWords]; agree(x, y) {
				now[k+1] = above[k] + 1
			} else {
				now[k+1] = max(above[k+1], now[k])
			}
		}
		m.lcs[0], m.lcs[1] = now, above
	}
	common := m.lcs[0][nb]
	if common >= fewTurns && 5*common >= 4*(longer-1) {
		return true
	}
	return common == 2 && longer == 2 && newChunks(a) >= pairChunks && newChunks(b) >= pairChunks
}

func newChunks(body []uint64) (n int) {
	for i := 0; i < len(body); i += turnWords {
		n += int(body[i] & (1<<16 - 1))
	}
	return n
}

// agree tells whether two turns are the same.
func agree(x, y []uint64) bool {
	a, b := x[0]>>16, y[0]>>16
	if 5*bits.OnesCount64(a&b) < 3*min(bits.OnesCount64(a), bits.OnesCount64(b)) {
		return false
	}
	nx, ny, shared := 0, 0, 0
	for _, h := range x[1:] {
		if h != 0 {
			nx++
			if slices.Contains(y[1:], h) {
				shared++
			}
		}
	}
	for _, h := range y[1:] {
		if h != 0 {
			ny++
		}
	}
	return shared > 0 && 2*shared >= min(nx, ny)
}
