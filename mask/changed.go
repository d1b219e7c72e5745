package mask

import (
	"sort"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/volatile"
)

// mostNodes is how many nodes of a tree are aligned. Where more are left between what two trees begin and end with,
// all of them count as changed.
const mostNodes = 1 << 18

// aligner finds the nodes of a tree that another one does not have.
//
//	before   a b c d e f        anchors: nodes that either tree has once, as many as stand in one order
//	after    a c X d e Y f      between two anchors nodes are matched from both ends, then as a bag
//	             ^     ^        changed
//
// Equal heads and tails are taken off first, byte by byte and then node by node. A node that moved past an anchor has
// changed. Clocks that went on match at last. All of it takes n log n steps for n nodes, and memory for mostNodes.
type aligner struct {
	before, after []node
	changed       []bool // of after
	line, other   []byte

	seen  map[uint64]sighting
	bag   map[uint64]int
	piles []int32 // of the patience sort: the last anchor of each
	from  []int32 // the anchor before each anchor
}

// sighting says how often a key stands in either tree, and where last.
type sighting struct {
	times [2]int32
	at    [2]int32
}

// anchor pairs a node of each tree.
type anchor struct{ before, after int32 }

// spans appends the stretches of after that differ from before, as bytes. A node goes with its line feed.
func (a *aligner) spans(dst []turnmill.Span, before, after string) []turnmill.Span {
	head, tail := common(before, after)
	from, to := head, len(after)-tail
	a.before = a.appendNodes(a.before[:0], before, from, len(before)-tail, mostNodes, oneLine(before))
	a.after = a.appendNodes(a.after[:0], after, from, to, mostNodes, oneLine(after))
	if len(a.before) > mostNodes || len(a.after) > mostNodes {
		a.release()
		return append(dst, turnmill.Span{Start: int32(from), End: int32(to)})
	}
	a.align(before, after, from)
	start := int32(from)
	for i, n := range a.after { // no more than mostNodes, which are fewer than mostSpans
		if last := len(dst) - 1; !a.changed[i] {
			start = n.end
			continue
		} else if last >= 0 && dst[last].End == start {
			dst[last].End = n.end
		} else {
			dst = append(dst, turnmill.Span{Start: start, End: n.end})
		}
		start = n.end
	}
	if len(a.before)+len(a.after) > 1<<14 {
		a.release()
	}
	return dst
}

func (a *aligner) release() { *a = aligner{} }

// common returns the bytes of the lines that two texts begin and end with, no line counted twice.
func common(x, y string) (head, tail int) {
	most := min(len(x), len(y))
	i := 0
	for i < most && x[i] == y[i] {
		if x[i] == '\n' {
			head = i + 1
		}
		i++
	}
	if i == len(x) && i == len(y) {
		return i, 0
	}
	for i = 1; i <= most-head && x[len(x)-i] == y[len(y)-i]; i++ {
		if x[len(x)-i] == '\n' {
			tail = i - 1
		}
	}
	return head, tail
}

// align marks the nodes of after that have changed.
func (a *aligner) align(before, after string, from int) {
	x, y := a.before, a.after
	a.changed = append(a.changed[:0], make([]bool, len(y))...)
	if a.seen == nil {
		a.seen, a.bag = map[uint64]sighting{}, map[uint64]int{}
	}
	gap := gap{a: a, texts: [2]string{before, after}, from: int32(from), to: anchor{int32(len(x)), int32(len(y))}}
	gap.ends()
	low := anchor{gap.at.before, gap.at.after}
	high := gap.to
	for _, next := range a.anchors(low, high) {
		gap.at, gap.to = low, next
		gap.fill()
		low = anchor{next.before + 1, next.after + 1}
	}
	gap.at, gap.to = low, high
	gap.fill()
}

// anchors returns the longest chain of nodes that stand once in either tree, between two places, in one order.
func (a *aligner) anchors(low, high anchor) []anchor {
	clear(a.seen)
	see := func(side int, nodes []node, from, to int32) {
		for i := from; i < to; i++ {
			s := a.seen[nodes[i].key]
			s.times[side]++
			s.at[side] = i
			a.seen[nodes[i].key] = s
		}
	}
	see(0, a.before, low.before, high.before)
	see(1, a.after, low.after, high.after)
	var once []anchor
	for i := low.after; i < high.after; i++ {
		if s := a.seen[a.after[i].key]; s.times == [2]int32{1, 1} && a.after[i].key != nothing {
			once = append(once, anchor{s.at[0], i})
		}
	}
	return a.rising(once)
}

// rising returns the longest part of the anchors that rises on both sides, by patience sorting; they rise in after.
func (a *aligner) rising(once []anchor) []anchor {
	a.piles, a.from = a.piles[:0], a.from[:0]
	for i, p := range once {
		at := sort.Search(len(a.piles), func(k int) bool { return once[a.piles[k]].before >= p.before })
		before := int32(-1)
		if at > 0 {
			before = a.piles[at-1]
		}
		a.from = append(a.from, before)
		if at == len(a.piles) {
			a.piles = append(a.piles, int32(i))
		} else {
			a.piles[at] = int32(i)
		}
	}
	if len(a.piles) == 0 {
		return nil
	}
	chain := make([]anchor, len(a.piles))
	for i, k := a.piles[len(a.piles)-1], len(chain)-1; k >= 0; i, k = a.from[i], k-1 {
		chain[k] = once[i]
	}
	return chain
}

// gap is what lies between two anchors: nodes [at, to) of either tree.
type gap struct {
	a      *aligner
	texts  [2]string
	from   int32 // where the first node of either tree begins
	at, to anchor
}

// ends takes equal nodes off both ends.
func (g *gap) ends() {
	x, y := g.a.before, g.a.after
	for g.at.before < g.to.before && g.at.after < g.to.after && x[g.at.before].key == y[g.at.after].key {
		g.at.before, g.at.after = g.at.before+1, g.at.after+1
	}
	for g.at.before < g.to.before && g.at.after < g.to.after && x[g.to.before-1].key == y[g.to.after-1].key {
		g.to.before, g.to.after = g.to.before-1, g.to.after-1
	}
}

// fill matches the nodes of the gap and marks those of after that are left.
func (g *gap) fill() {
	g.ends()
	if g.at.after == g.to.after {
		return
	}
	bag := g.a.bag
	x, y := g.a.before[g.at.before:g.to.before], g.a.after[g.at.after:g.to.after]
	for _, n := range x {
		bag[n.key]++
	}
	left := false
	for i, n := range y {
		if bag[n.key] > 0 {
			bag[n.key]--
		} else if n.key != nothing {
			g.a.changed[int(g.at.after)+i] = true
			left = true
		}
	}
	if left {
		g.clocks()
	}
	for _, n := range x {
		delete(bag, n.key)
	}
}

// aheadOf is how many nodes of before are looked through for the clock of one of after.
const aheadOf = 64

// clocks takes back the mark of nodes in which a clock went on and nothing else happened.
func (g *gap) clocks() {
	a, next := g.a, g.at.before
	for i := g.at.after; i < g.to.after; i++ {
		if !a.changed[i] {
			continue
		}
		now, timed := g.timed(1, a.after, i)
		if !timed {
			continue
		}
		a.other = append(a.other[:0], now...)
		for k := next; k < min(next+aheadOf, g.to.before); k++ {
			if a.bag[a.before[k].key] == 0 { // it has a match
				if k == next {
					next++
				}
				continue
			}
			if was, timed := g.timed(0, a.before, k); timed && volatile.SameClock(was, a.other) {
				a.changed[i], next = false, k+1
				break
			}
		}
	}
}

// timed returns a node's text without what is volatile, and whether a time may stand in it.
func (g *gap) timed(side int, nodes []node, i int32) ([]byte, bool) {
	from := g.from
	if i > 0 {
		from = nodes[i-1].end
	}
	line := g.texts[side][from:nodes[i].end]
	if len(line) > longVolatile || !hasTime(line) {
		return nil, false
	}
	stable, _ := g.a.stable(line)
	return stable, true
}

// hasTime looks for a colon between two digits.
func hasTime(line string) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := 1; i+1 < len(line); i++ {
		if line[i] == ':' && digit(line[i-1]) && digit(line[i+1]) {
			return true
		}
	}
	return false
}
