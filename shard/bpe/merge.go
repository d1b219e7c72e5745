package bpe

import "slices"

const (
	// fewSymbols is the length up to which a scan for the lowest rank beats a heap.
	fewSymbols = 64
	// keepSymbols bounds the scratch that a merger keeps after a huge pre-token.
	keepSymbols = 1 << 16
)

// merger turns the bytes of one pre-token into ids: of all adjacent pairs that have a merge, the one with
// the lowest rank is merged, the leftmost of equals, until none is left.
type merger struct {
	m     *Model
	ids   []int32
	ranks []uint32
	heap  []uint64 // rank<<32 | position of the left symbol, least first
	steps int      // entries that ever came to the heap, for the test of growth
}

// run returns the ids of text, valid until the next call.
func (g *merger) run(text []byte) []int32 {
	g.ids = slices.Grow(g.ids[:0], len(text))
	for _, b := range text {
		g.ids = append(g.ids, g.m.byteID[b])
	}
	if len(text) <= fewSymbols {
		g.few()
	} else {
		g.many(len(text) + len(text)/4)
	}
	return g.ids
}

// few keeps the rank of each pair beside its left symbol and closes the gap after each merge.
func (g *merger) few() {
	t, ids := &g.m.merges, g.ids
	ranks := g.ranks[:0]
	for i := 1; i < len(ids); i++ {
		ranks = append(ranks, t.rank(ids[i-1], ids[i]))
	}
	for {
		at, low := 0, uint32(noRank)
		for i, r := range ranks {
			if r < low {
				at, low = i, r
			}
		}
		if low == noRank {
			break
		}
		ids[at] = t.products[low]
		ids = append(ids[:at+1], ids[at+2:]...)
		ranks = append(ranks[:at], ranks[at+1:]...)
		if at < len(ranks) {
			ranks[at] = t.rank(ids[at], ids[at+1])
		}
		if at > 0 {
			ranks[at-1] = t.rank(ids[at-1], ids[at])
		}
	}
	g.ids, g.ranks = ids, ranks
}

// many keeps a heap of candidates. The symbols stay at the places of their bytes: a symbol of n bytes has
// its id at the first of them, -n at the last one if that is another, and something negative between, so
// that both neighbours are found from one array.
//
//	ids    [ t ] [ th  -2 ] [ ing -1 -3 ]
//
// A candidate whose pair has changed since is passed over; it cannot come back, because symbols only grow.
// room is the size of the heap, at least one for each byte; with a quarter more, a pre-token takes 14 bytes
// of scratch for each of its own.
func (g *merger) many(room int) {
	t, ids := &g.m.merges, g.ids
	n := int32(len(ids))
	if cap(g.heap) < room {
		g.heap = make([]uint64, 0, room)
	}
	g.heap = g.heap[:0]
	for i := int32(1); i < n; i++ {
		if r := t.rank(ids[i-1], ids[i]); r != noRank {
			g.heap = append(g.heap, uint64(r)<<32|uint64(i-1))
		}
	}
	g.steps = len(g.heap)
	g.heapify()
	for len(g.heap) > 0 {
		top := g.pop()
		left, rank := int32(uint32(top)), uint32(top>>32)
		if g.pairRank(left) != rank {
			continue
		}
		right := left + int32(g.m.tokenLen(ids[left]))
		after := right + int32(g.m.tokenLen(ids[right]))
		ids[right] = -1
		ids[after-1] = left - after
		ids[left] = t.products[rank]
		g.push(g.pairRank(left), left)
		if left > 0 {
			before := left - 1
			if ids[before] < 0 {
				before = left + ids[before]
			}
			g.push(g.pairRank(before), before)
		}
	}
	kept := ids[:0]
	for i := int32(0); i < n; {
		id := ids[i]
		i += int32(g.m.tokenLen(id))
		kept = append(kept, id)
	}
	g.ids = kept
}

// pairRank returns the rank of the merge of the symbol at a place and the next one; noRank when no symbol
// begins there, or it is the last.
func (g *merger) pairRank(at int32) uint32 {
	id := g.ids[at]
	if id < 0 {
		return noRank
	}
	right := int(at) + g.m.tokenLen(id)
	if right >= len(g.ids) {
		return noRank
	}
	return g.m.merges.rank(id, g.ids[right])
}

// heapify brings g.heap into order, without the candidates that have become void.
func (g *merger) heapify() {
	g.heap = slices.DeleteFunc(g.heap, func(e uint64) bool { return g.pairRank(int32(uint32(e))) != uint32(e>>32) })
	for i := len(g.heap)/2 - 1; i >= 0; i-- {
		g.down(i)
	}
}

// push puts a candidate into the heap, unless the pair has no merge.
func (g *merger) push(rank uint32, left int32) {
	if rank == noRank {
		return
	}
	g.steps++
	if len(g.heap) == cap(g.heap) {
		g.heapify() // there are fewer pairs than bytes, so what is above that number comes free
	}
	e := uint64(rank)<<32 | uint64(left)
	g.heap = append(g.heap, e)
	i := len(g.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if g.heap[up] <= e {
			break
		}
		g.heap[i] = g.heap[up]
		i = up
	}
	g.heap[i] = e
}

func (g *merger) pop() uint64 {
	top, last := g.heap[0], len(g.heap)-1
	g.heap[0] = g.heap[last]
	g.heap = g.heap[:last]
	if last > 1 {
		g.down(0)
	}
	return top
}

// down moves entry i to its place among the entries below it.
func (g *merger) down(i int) {
	h, e := g.heap, g.heap[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if e <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = e
}

// shrink lets go of the scratch of a huge pre-token.
func (g *merger) shrink() {
	if cap(g.ids) > keepSymbols {
		g.ids = nil
	}
	if cap(g.heap) > 2*keepSymbols {
		g.heap = nil
	}
}
