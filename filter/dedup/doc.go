// Package dedup tells which trajectories and documents are the same, or nearly. It holds no state: a Method makes a
// Print of each, the caller finds prints that share a key, and the method compares their bodies.
//
//	trajectory --Print--> keys   what two of them may share: equal keys make a candidate
//	                      body   what two candidates are compared by
//
//	Turns   observation --> chunks that the run has not shown yet --> their four least hashes     same run, other export
//	Near    texts --> shingles of words --> their 256 least hashes --> MinHash --> bands of keys   nearly the same words
//
// Words are runs of letters and digits of ASCII and of characters above it, capitals of ASCII, Latin-1, Greek and Cyrillic
// as small letters; spaces and punctuation above ASCII part words, ideographs and kana are words of their own. No table of
// Unicode is asked, so that a print is the same on every machine.
package dedup

import "github.com/turnmill/turnmill"

// Print is what a trajectory or document is known by. Its slices may be used again.
type Print struct {
	Input uint64 // the input that it is read from, for methods that ask; the caller's to set
	Keys  [][2]uint64
	Body  []uint64
}

// Reset empties p and keeps its memory.
func (p *Print) Reset() { p.Keys, p.Body = p.Keys[:0], p.Body[:0] }

// Method makes prints and compares them. It serves one goroutine.
type Method interface {
	// Trajectory appends the print of t to p; nothing where t is too small to be told from others.
	Trajectory(t *turnmill.Trajectory, p *Print)
	// Document does so for a document.
	Document(d *turnmill.Document, p *Print)
	// Same tells whether two bodies are of the same run, or near enough. The order does not matter.
	Same(a, b []uint64) bool
}
