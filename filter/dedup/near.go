package dedup

import (
	"slices"

	"github.com/turnmill/turnmill"
)

// Near tells texts of nearly the same words, by the Jaccard index of their shingles: runs of five words in one action,
// observation or document. A shorter text is one shingle. System prompts have no say.
//
//	shingles --> the 256 least hashes       all of them where there are no more: then the index is exact, else an
//	         |                              estimate whose standard error is 0.025 at 0.8
//	         +-> 128 MinHash values --> bands of as many rows as still find a pair at the threshold in 995 of 1,000 cases
//
// (Broder, On the resemblance and containment of documents, 1997; the bands are those of Leskovec, Rajaraman and
// Ullman, Mining of Massive Datasets, section 3.4.)
type Near struct {
	Threshold turnmill.Ratio // least index of two that are near

	rows   int
	words  []uint64
	hashes []uint64
	mins   [minHashes]uint64
}

// The sizes of a print.
const (
	shingleWords = 5
	leastHashes  = 256
	minHashes    = 128
)

// Trajectory prints actions and observations.
func (m *Near) Trajectory(t *turnmill.Trajectory, p *Print) {
	m.hashes = m.hashes[:0]
	for i := range t.Turns {
		m.shingle(t.Turns[i].Action)
		m.shingle(t.Turns[i].Observation)
	}
	m.print(p)
}

// Document prints a text.
func (m *Near) Document(d *turnmill.Document, p *Print) {
	m.hashes = m.hashes[:0]
	m.shingle(d.Text)
	m.print(p)
}

// shingle adds the shingles of a text.
func (m *Near) shingle(text string) {
	m.words = words(m.words[:0], text, false)
	if n := len(m.words); n > 0 && n < shingleWords {
		m.add(join(m.words))
	}
	for i := shingleWords; i <= len(m.words); i++ {
		m.add(join(m.words[i-shingleWords : i]))
	}
}

// add keeps the least hashes, and four times as many before it sorts them out.
func (m *Near) add(h uint64) {
	if len(m.hashes) == 4*leastHashes {
		m.least()
	}
	m.hashes = append(m.hashes, h)
}

func (m *Near) least() {
	slices.Sort(m.hashes)
	m.hashes = slices.Compact(m.hashes)
	m.hashes = m.hashes[:min(len(m.hashes), leastHashes)]
}

func (m *Near) print(p *Print) {
	m.least()
	if len(m.hashes) == 0 {
		return
	}
	p.Body = append(p.Body, m.hashes...)
	for k := range m.mins {
		seed := mix(uint64(k) + 1)
		least := ^uint64(0)
		for _, h := range m.hashes {
			least = min(least, mix(h^seed))
		}
		m.mins[k] = least
	}
	if m.rows == 0 {
		m.rows = rowsFor(m.Threshold)
	}
	for band := range minHashes / m.rows {
		p.Keys = append(p.Keys, [2]uint64{join(m.mins[band*m.rows : (band+1)*m.rows]), uint64(band)})
	}
}

// rowsFor returns the most rows of a band with which two texts at the threshold share a band in 995 of 1,000 cases.
func rowsFor(threshold turnmill.Ratio) int {
	t := float64(threshold.Num) / float64(threshold.Den)
	for rows := minHashes; rows > 1; rows-- {
		all := 1.0 // rows agree
		for range rows {
			all = float64(all * t)
		}
		none := 1.0 // of the bands does
		for range minHashes / rows {
			none = float64(none * float64(1-all))
		}
		if none <= 0.005 {
			return rows
		}
	}
	return 1
}

// Same tells whether the index of two texts reaches the threshold.
func (m *Near) Same(a, b []uint64) bool {
	shared, all := Shared(a, b)
	return all > 0 && float64(shared)*float64(m.Threshold.Den) >= float64(all)*float64(m.Threshold.Num)
}

// Shared returns how many of the least hashes of two texts are both's: all is 256, or less where both texts together
// have less. shared/all estimates their Jaccard index, or is it.
func Shared(a, b []uint64) (shared, all int) {
	for len(a)+len(b) > 0 && all < leastHashes {
		all++
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			b = b[1:]
		default:
			shared++
			a, b = a[1:], b[1:]
		}
	}
	return shared, all
}
