package figures

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// Rank is the place of a turn among all from which examples are chosen: the first eight bytes, big endian, of
//
//	SHA-256( "example" 0x00 seed 0x00 id 0x00 index )
//
// It has nothing to do with the draw of the mask, whose kept turns would otherwise be all that is shown.
func Rank(seed, id string, index int32) uint64 {
	var room [256]byte
	b := append(room[:0], "example\x00"...)
	b = append(b, seed...)
	b = append(b, 0)
	b = append(b, id...)
	b = append(b, 0)
	sum := sha256.Sum256(strconv.AppendInt(b, int64(index), 10))
	return binary.BigEndian.Uint64(sum[:])
}

// Kind is what an example is of: a category of a domain, a border, a tool. Its text is unique.
type Kind struct {
	Of   string // domain, source, agent, tool
	Name string
	What string // a category, border:..., dropped:..., context:..., repetitive
}

// Keep returns how many examples of the kind are kept.
func (k Kind) Keep() int {
	if k.Of == Domain.String() {
		return 4
	}
	return 1
}

// Reservoir keeps the examples with the least ranks of each kind. The kinds are those seen first, up to a limit
// for kinds of domains, and for all others.
type Reservoir[E any] struct {
	limit int
	kinds map[Kind]*kept[E]
	order []Kind
	of    [2]int // kinds of domains, and others
}

type kept[E any] struct{ examples []Example[E] }

// Example is one chosen turn; among equal ranks the one that came first is chosen.
type Example[E any] struct {
	Rank  uint64
	Value E
}

// NewReservoir returns an empty one for twice so many kinds.
func NewReservoir[E any](limit int) *Reservoir[E] {
	return &Reservoir[E]{limit: limit, kinds: map[Kind]*kept[E]{}}
}

// Reset empties it.
func (r *Reservoir[E]) Reset() {
	clear(r.kinds)
	r.order, r.of = r.order[:0], [2]int{}
}

// See makes a kind known, if there is room, and tells whether it is. The texts of a kind that is new are copied.
func (r *Reservoir[E]) See(k Kind) bool {
	if r.kinds[k] != nil {
		return true
	}
	class := 0
	if k.Of != Domain.String() {
		class = 1
	}
	if r.of[class] >= r.limit {
		return false
	}
	k = Kind{strings.Clone(k.Of), strings.Clone(k.Name), strings.Clone(k.What)}
	r.kinds[k] = &kept[E]{}
	r.order = append(r.order, k)
	r.of[class]++
	return true
}

// Wants tells whether an example of a known kind with this rank would be kept.
func (r *Reservoir[E]) Wants(k Kind, rank uint64) bool {
	c := r.kinds[k]
	if c == nil {
		return false
	}
	n := len(c.examples)
	return n < k.Keep() || rank < c.examples[n-1].Rank
}

// Put keeps an example that Wants says yes to.
func (r *Reservoir[E]) Put(k Kind, rank uint64, value E) {
	c := r.kinds[k]
	i, _ := slices.BinarySearchFunc(c.examples, rank, func(e Example[E], rank uint64) int {
		if e.Rank == rank {
			return -1 // behind those of its rank
		}
		return cmp.Compare(e.Rank, rank)
	})
	c.examples = slices.Insert(c.examples, i, Example[E]{rank, value})
	if len(c.examples) > k.Keep() {
		c.examples = c.examples[:k.Keep()]
	}
}

// Kinds returns the kinds in the order of first sight.
func (r *Reservoir[E]) Kinds() []Kind { return r.order }

// Of returns the examples of a kind, the least rank first.
func (r *Reservoir[E]) Of(k Kind) []Example[E] {
	if c := r.kinds[k]; c != nil {
		return c.examples
	}
	return nil
}
