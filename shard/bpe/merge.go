package bpe

import "slices"

const (
	// fewSymbols is the length up to which a scan for the lowest rank beats a heap.
	fewSymbols = 1 << placeBits
	placeBits  = 6
	// noKey is above the key of every merge.
	noKey = noRank << placeBits
	// keepSymbols bounds the scratch that a merger keeps after a huge pre-token.
	keepSymbols = 1 << 16
)

// merger turns the bytes of one pre-token into ids: of all adjacent pairs that have a merge, the one with
// the lowest rank is merged, the leftmost of equals, until none is left.
type merger struct {
	m            *Model
	ids          []int32
	keys         [fewSymbols]uint32 // few: rank<<placeBits | place
	next, before [fewSymbols]uint8
	heap         []uint64 // many: rank<<32 | position of the left symbol, least first
	steps        int      // entries that ever came to the heap, for the test of growth
}

// run returns the ids of text, valid until the next call. hash is hashBytes of it.
func (g *merger) run(text []byte, hash uint64) []int32 {
	if id := g.m.wordID(text, hash); id >= 0 {
		g.ids = append(g.ids[:0], id)
		return g.ids
	}
	return g.merge(text)
}

// merge is run without a look at the vocabulary.
func (g *merger) merge(text []byte) []int32 {
	var wide bool
	g.ids, wide = g.m.symbols(slices.Grow(g.ids[:0], len(text)), text)
	if len(g.ids) <= fewSymbols {
		g.few(text, wide)
	} else {
		g.spread(len(text))
		g.many(len(text) + len(text)/4)
	}
	return g.ids
}

// few keeps for each symbol the rank of its merge with the next one and its own place in one number, so that
// the least number is the merge to make. Symbols stay where they begin, linked both ways. The ranks of
// bytes, unless wide says that there are others, need no search.
func (g *merger) few(text []byte, wide bool) {
	t := &g.m.merges
	n := len(g.ids)
	ids := g.ids[:n]
	keys := g.keys[:n]
	for i := range n - 1 {
		var r uint32
		if wide {
			r = t.rank(ids[i], ids[i+1])
		} else {
			r = t.first(text[i], text[i+1])
		}
		keys[i] = r<<placeBits | uint32(i)
		g.next[i], g.before[i+1] = uint8(i+1), uint8(i)
	}
	keys[n-1], g.next[n-1] = noKey, uint8(n)
	for {
		low := least(keys)
		if low >= noKey {
			break
		}
		i := low & (1<<placeBits - 1)
		ids[i] = t.product(low >> placeBits)
		j := g.next[i] & (fewSymbols - 1)
		k := g.next[j]
		keys[j], g.next[i] = noKey, k
		if int(k) < n {
			g.before[k] = uint8(i)
			keys[i] = t.rank(ids[i], ids[k])<<placeBits | i
		} else {
			keys[i] = noKey
		}
		if i > 0 {
			p := g.before[i]
			keys[p] = t.rank(ids[p], ids[i])<<placeBits | uint32(p)
		}
	}
	kept := 0
	for i := 0; i < n; i = int(g.next[i]) {
		ids[kept] = ids[i]
		kept++
	}
	g.ids = ids[:kept]
}

// least returns the least of keys.
func least(keys []uint32) uint32 {
	a, b := uint32(noKey), uint32(noKey)
	for ; len(keys) >= 2; keys = keys[2:] {
		a, b = min(a, keys[0]), min(b, keys[1])
	}
	if len(keys) > 0 {
		a = min(a, keys[0])
	}
	return min(a, b)
}

// spread moves symbols that stand one after the other to the places of their n bytes, as many wants them.
func (g *merger) spread(n int) {
	k := len(g.ids)
	ids := slices.Grow(g.ids, n-k)[:n]
	for at := n; k > 0; {
		k--
		id := ids[k]
		length := g.m.tokenLen(id)
		for i := at - length + 1; i < at; i++ {
			ids[i] = -1
		}
		if length > 1 {
			ids[at-1] = int32(-length)
		}
		at -= length
		ids[at] = id
	}
	g.ids = ids
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
	for i := range n {
		if r := g.pairRank(i); r != noRank {
			g.heap = append(g.heap, uint64(r)<<32|uint64(i))
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
		ids[left] = t.product(rank)
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
