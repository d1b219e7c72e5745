package figures

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// Dimension is one of the five ways in which turns are grouped.
type Dimension int

// The dimensions.
const (
	Domain Dimension = iota
	Source
	Agent
	Tool
	Provenance // who answered, as the source says it
	NumDimensions
)

// provenances are the names of that dimension: observed, simulated, not said.
var provenances = [...]string{"true", "false", ""}

// String returns the dimension's name: a column's, but for provenance, which is that of observed.
func (d Dimension) String() string {
	return [...]string{"domain", "source", "agent", "tool", "provenance"}[d]
}

// shown is how many names of a dimension have figures of their own; the rest goes together.
var shown = [NumDimensions]int{Domain: 12, Source: 16, Agent: 12, Tool: 30, Provenance: len(provenances)}

// nameBytes is the longest name that is kept as it is.
const nameBytes = 200

// Name returns a name as the figures hold it: a long one cut, with a hash of the whole.
func Name(s string) string {
	if len(s) <= nameBytes {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	cut := nameBytes - 40
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "... sha256:" + hex.EncodeToString(sum[:8])
}

// named is how many names are counted at once, before the rarest give way.
const named = 8192

// Names counts the names of a dimension, as far as memory goes: with more than 8,192 of them the counts of the
// rarest are let go (Misra and Gries), so that a name which has one turn in 4,096 is never lost.
type Names struct {
	counts [NumDimensions]map[string]int64
	Lossy  [NumDimensions]bool
}

// NewNames returns empty counts.
func NewNames() *Names {
	n := &Names{}
	for d := range n.counts {
		n.counts[d] = map[string]int64{}
	}
	return n
}

// Add counts the names of one turn.
func (n *Names) Add(names [NumDimensions]string) {
	for d, name := range names {
		m := n.counts[d]
		if _, known := m[name]; known {
			m[name]++
			continue
		}
		if len(name) > nameBytes {
			name = Name(name)
		}
		if _, known := m[name]; !known {
			name = strings.Clone(name)
		}
		if m[name]++; len(m) > named {
			n.thin(Dimension(d))
		}
	}
}

// thin halves the names of a dimension: the count of the first that has to go is taken from all.
func (n *Names) thin(d Dimension) {
	m := n.counts[d]
	n.Lossy[d] = true
	all := make([]int64, 0, len(m))
	for _, c := range m {
		all = append(all, c)
	}
	slices.Sort(all)
	less := all[len(all)-1-named/2]
	for name, c := range m {
		if c <= less {
			delete(m, name)
		} else {
			m[name] = c - less
		}
	}
}

// top returns the names with most turns, the report's domains in its order and before others, and how many there
// are in all.
func (n *Names) top(d Dimension) (names []string, all int) {
	m := n.counts[d]
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
	all = len(names)
	names = names[:min(len(names), shown[d])]
	if d == Domain {
		rank := func(name string) int {
			if i := slices.Index(turnmill.Domains(), turnmill.Domain(name)); i >= 0 {
				return i
			}
			return len(turnmill.Domains())
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	}
	return names, all
}
