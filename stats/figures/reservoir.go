package figures

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
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

// RankRecord is the place of a record, or of a trajectory of it, among all from which examples are chosen: as Rank, of
//
//	SHA-256( "record" 0x00 seed 0x00 path 0x00 frame 0x00 offset 0x00 id )
func RankRecord(seed, path string, frame, offset int64, id string) uint64 {
	var room [512]byte
	b := append(room[:0], "record\x00"...)
	b = append(b, seed...)
	b = append(b, 0)
	b = append(b, path...)
	b = strconv.AppendInt(append(b, 0), frame, 10)
	b = strconv.AppendInt(append(b, 0), offset, 10)
	b = append(b, 0)
	sum := sha256.Sum256(append(b, id...))
	return binary.BigEndian.Uint64(sum[:])
}

// Kind is what an example is of: a category of a domain, a border, a tool. Its text is unique.
type Kind struct {
	Of   string // domain, source, agent, tool, provenance; record, trajectory, note: Name is a domain, or ""
	Name string
	What string // a category, border:..., dropped:..., context:..., repetitive; rejected:..., note:...
}

// Keep returns how many examples of the kind are kept.
func (k Kind) Keep() int {
	switch k.Of {
	case Domain.String():
		return 4
	case Source.String(), Agent.String(), Tool.String(), Provenance.String():
		return 1
	}
	return 3
}

// class parts kinds that have a limit each, so that the many of one do not take the room of another: those of domains,
// categories of others, and what else others have.
func (k Kind) class() int {
	if k.Of == Domain.String() {
		return 0
	}
	if _, category := turnmill.ParseCategory(k.What); category {
		return 1
	}
	return 2
}

// Reservoir keeps the examples with the least ranks of each kind. The kinds are those seen first, up to a limit
// for each class.
type Reservoir[E any] struct {
	limit    int
	borrowed bool // texts of kinds are the caller's until Reset
	kinds    map[Kind]*Kept[E]
	order    []Kind
	of       [3]int     // kinds by class
	spare    []*Kept[E] // of kinds before Reset
}

// Kept holds the examples of one kind, the least rank first.
type Kept[E any] struct {
	Examples []Example[E]
	most     int
}

// Example is one chosen turn; among equal ranks the one that came first is chosen.
type Example[E any] struct {
	Rank  uint64
	Value E
}

// NewReservoir returns an empty one for three times so many kinds.
func NewReservoir[E any](limit int) *Reservoir[E] {
	return &Reservoir[E]{limit: limit, kinds: map[Kind]*Kept[E]{}}
}

// NewPassing returns an empty one without a limit, which borrows the texts of kinds until Reset and uses its memory
// again.
func NewPassing[E any]() *Reservoir[E] {
	return &Reservoir[E]{limit: math.MaxInt, borrowed: true, kinds: map[Kind]*Kept[E]{}}
}

// mostSpare is how many kinds' memory is kept over a Reset.
const mostSpare = 1 << 10

// Reset empties it.
func (r *Reservoir[E]) Reset() {
	if len(r.kinds)+len(r.spare) > mostSpare {
		*r = Reservoir[E]{limit: r.limit, borrowed: r.borrowed, kinds: map[Kind]*Kept[E]{}}
		return
	}
	for _, c := range r.kinds {
		clear(c.Examples)
		c.Examples = c.Examples[:0]
		r.spare = append(r.spare, c)
	}
	clear(r.kinds)
	r.order, r.of = r.order[:0], [3]int{}
}

// At makes a kind known, if there is room, and returns what is kept of it, or nil.
func (r *Reservoir[E]) At(k Kind) *Kept[E] {
	if c := r.kinds[k]; c != nil {
		return c
	}
	class := k.class()
	if r.of[class] >= r.limit {
		return nil
	}
	if !r.borrowed {
		k = Kind{strings.Clone(k.Of), strings.Clone(k.Name), strings.Clone(k.What)}
	}
	var c *Kept[E]
	if n := len(r.spare); n > 0 {
		c, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		c = &Kept[E]{}
	}
	c.most = k.Keep()
	r.kinds[k] = c
	r.order = append(r.order, k)
	r.of[class]++
	return c
}

// Wants tells whether an example with this rank would be kept.
func (c *Kept[E]) Wants(rank uint64) bool {
	n := len(c.Examples)
	return n < c.most || rank < c.Examples[n-1].Rank
}

// Put keeps an example that Wants says yes to.
func (c *Kept[E]) Put(rank uint64, value E) {
	i, _ := slices.BinarySearchFunc(c.Examples, rank, func(e Example[E], rank uint64) int {
		if e.Rank == rank {
			return -1 // behind those of its rank
		}
		return cmp.Compare(e.Rank, rank)
	})
	c.Examples = slices.Insert(c.Examples, i, Example[E]{rank, value})
	if len(c.Examples) > c.most {
		c.Examples = c.Examples[:c.most]
	}
}

// Kinds returns the kinds in the order of first sight.
func (r *Reservoir[E]) Kinds() []Kind { return r.order }

// Of returns the examples of a kind, the least rank first.
func (r *Reservoir[E]) Of(k Kind) []Example[E] {
	if c := r.kinds[k]; c != nil {
		return c.Examples
	}
	return nil
}
