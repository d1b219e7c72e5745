package figures

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/turnmill/turnmill"
)

// Joint counts turns in the cells of a grid over overlap, novelty, length ratio and shortness, for each domain.
// Within a cell no table whose bounds lie on the grid can tell turns apart, so that a table which was never run
// can be counted exactly:
//
//	overlap, novelty   t0 <= x < t1 | t1 <= x < t2 | ... | all       bounds are >= and <
//	length ratio       < r0 | = r0 | between | = r1 | ... | > rn     bounds are >, >=, < and <=
//	short              lo <= s0 | s0 < lo <= s1 | ... | > sn         bounds are <=
//
// and a place for what is undefined. The grid is as fine as so many cells allow: where there are more, all turns
// move to the next coarser one, whose thresholds are among those of the finer, so that the result depends on
// the turns alone. The thresholds of the table in force are in every grid.
type Joint struct {
	Grid    Grid
	level   int
	bounds  Bounds
	domains map[string]map[uint64]*Cell
	cells   int
	tokens  bool
}

// Bounds are the thresholds of the table in force.
type Bounds struct {
	Overlap, Novelty, LengthRatio []turnmill.Ratio
	Short                         []int64
}

// Cell is what lies in one cell. Lengths are target tokens, or characters of observations without a tokenizer.
type Cell struct {
	Turns   int64
	Length  int64
	Most    int64 // of one turn
	Squared Wide
}

// Grid holds thresholds, ascending.
type Grid struct {
	Overlap, Novelty, LengthRatio []turnmill.Ratio
	Short                         []int64
}

// Limits of the cells of all domains together: what the report holds, and what is held while turns are added.
const (
	mostCells = 30_000
	heldCells = 300_000
)

// levels are the grids, the finest first, each made of thresholds of the one before: steps of the shares in points, length ratios in hundredths, lengths.
var levels = [...]struct {
	step   uint64
	ratios []uint64
	short  []int64
}{
	{1, []uint64{10, 25, 50, 75, 90, 100, 110, 125, 150, 200, 300, 500, 1000}, []int64{0, 25, 50, 75, 100, 150, 200, 300, 500}},
	{5, []uint64{10, 25, 50, 75, 90, 100, 110, 125, 150, 200, 300, 500, 1000}, []int64{0, 25, 50, 75, 100, 150, 200, 300, 500}},
	{5, []uint64{50, 75, 100, 125, 150, 200, 500}, []int64{0, 50, 100, 200}},
	{10, []uint64{50, 100, 150, 200}, []int64{50, 100, 200}},
	{20, []uint64{50, 100, 150}, []int64{100}},
}

// NewJoint returns an empty one. With tokens, lengths are target tokens.
func NewJoint(in Bounds, tokens bool) *Joint {
	return &Joint{Grid: gridOf(0, in), bounds: in, domains: map[string]map[uint64]*Cell{}, tokens: tokens}
}

// gridOf returns the grid of a level with the table's own thresholds.
func gridOf(level int, in Bounds) Grid {
	l := &levels[level]
	var shares, ratios []turnmill.Ratio
	for at := uint64(0); at <= 100; at += l.step {
		shares = append(shares, turnmill.Ratio{Num: at, Den: 100})
	}
	for _, at := range l.ratios {
		ratios = append(ratios, turnmill.Ratio{Num: at, Den: 100})
	}
	short := slices.Concat(l.short, in.Short)
	slices.Sort(short)
	return Grid{
		Overlap: ascending(shares, in.Overlap), Novelty: ascending(shares, in.Novelty),
		LengthRatio: ascending(ratios, in.LengthRatio), Short: slices.Compact(short),
	}
}

func ascending(a, b []turnmill.Ratio) []turnmill.Ratio {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y turnmill.Ratio) int { return order(x.Num, x.Den, y) })
	return slices.CompactFunc(all, func(x, y turnmill.Ratio) bool { return order(x.Num, x.Den, y) == 0 })
}

// order compares n/d with at, by integers.
func order(n, d uint64, at turnmill.Ratio) int {
	hi1, lo1 := bits.Mul64(n, at.Den)
	hi2, lo2 := bits.Mul64(at.Num, d)
	switch {
	case hi1 != hi2 && hi1 < hi2, hi1 == hi2 && lo1 < lo2:
		return -1
	case hi1 == hi2 && lo1 == lo2:
		return 0
	}
	return 1
}

// Places of a turn on the grid; 0 is undefined.
//
// sharePlace is 1 + the number of the last threshold that is not above n/d.
func sharePlace(grid []turnmill.Ratio, n, d int64) uint32 {
	if d == 0 {
		return 0
	}
	i, found := slices.BinarySearchFunc(grid, turnmill.Ratio{Num: uint64(n), Den: uint64(d)},
		func(at, x turnmill.Ratio) int { return -order(x.Num, x.Den, at) })
	if found {
		i++
	}
	return uint32(i) // grid[0] is 0, so i is 1 at least
}

// ratioPlace is 1 below the first threshold, 2 at it, 3 between it and the next, and so on.
func ratioPlace(grid []turnmill.Ratio, n, d int64) uint32 {
	switch {
	case d == 0 && n == 0:
		return 0
	case d == 0:
		return uint32(2*len(grid) + 1) // unbounded
	}
	i, found := slices.BinarySearchFunc(grid, turnmill.Ratio{Num: uint64(n), Den: uint64(d)},
		func(at, x turnmill.Ratio) int { return -order(x.Num, x.Den, at) })
	if found {
		return uint32(2*i + 2)
	}
	return uint32(2*i + 1)
}

// shortPlace is the number of thresholds that the length is above.
func shortPlace(grid []int64, n int64) uint32 {
	i, _ := slices.BinarySearch(grid, n)
	return uint32(i)
}

// key joins four places into the number of a cell; Places takes it apart.
func (g *Grid) key(overlap, novelty, ratio, short uint32) uint64 {
	k := uint64(overlap)
	k = k*uint64(len(g.Novelty)+1) + uint64(novelty)
	k = k*uint64(2*len(g.LengthRatio)+2) + uint64(ratio)
	return k*uint64(len(g.Short)+1) + uint64(short)
}

// Places is the inverse of key.
func (g *Grid) Places(key uint64) (overlap, novelty, ratio, short uint32) {
	take := func(n int) uint32 {
		p := key % uint64(n)
		key /= uint64(n)
		return uint32(p)
	}
	short, ratio, novelty = take(len(g.Short)+1), take(2*len(g.LengthRatio)+2), take(len(g.Novelty)+1)
	return uint32(key), novelty, ratio, short
}

// Add adds a turn that the mask decided about.
func (j *Joint) Add(domain string, t *Turn) {
	g := &j.Grid
	key := g.key(
		sharePlace(g.Overlap, t.SharedWords, t.ActionWords),
		sharePlace(g.Novelty, t.ObservationWords-t.SharedWords, t.ObservationWords),
		ratioPlace(g.LengthRatio, t.ObservationChars, t.ActionChars),
		shortPlace(g.Short, t.ObservationChars))
	length := t.ObservationChars
	if j.tokens {
		length = t.TargetTokens
	}
	c := j.cell(domain, key)
	c.Turns++
	c.Length += length
	c.Most = max(c.Most, length)
	c.Squared.AddSquare(length)
	if j.cells > heldCells {
		j.coarsen()
	}
}

func (j *Joint) cell(domain string, key uint64) *Cell {
	cells := j.domains[domain]
	if cells == nil {
		cells = map[uint64]*Cell{}
		j.domains[domain] = cells
	}
	c := cells[key]
	if c == nil {
		c = &Cell{}
		cells[key] = c
		j.cells++
	}
	return c
}

// Finish makes the grid as coarse as the report needs it.
func (j *Joint) Finish() {
	for j.cells > mostCells && j.level < len(levels)-1 {
		j.coarsen()
	}
}

// coarsen moves all turns to the next grid. On the last one there is nothing to do.
func (j *Joint) coarsen() {
	if j.level == len(levels)-1 {
		return
	}
	old, domains := j.Grid, j.domains
	j.level++
	j.Grid, j.domains, j.cells = gridOf(j.level, j.bounds), map[string]map[uint64]*Cell{}, 0
	g := &j.Grid
	overlap, novelty := shareMoves(old.Overlap, g.Overlap), shareMoves(old.Novelty, g.Novelty)
	ratio, short := ratioMoves(old.LengthRatio, g.LengthRatio), shortMoves(old.Short, g.Short)
	for domain, cells := range domains {
		for key, from := range cells { // sums do not depend on the order
			o, n, r, s := old.Places(key)
			to := j.cell(domain, g.key(overlap[o], novelty[n], ratio[r], short[s]))
			to.Turns += from.Turns
			to.Length += from.Length
			to.Most = max(to.Most, from.Most)
			to.Squared.Add(from.Squared)
		}
	}
}

// shareMoves, ratioMoves and shortMoves say where the places of a grid lie in a coarser one.
func shareMoves(old, coarse []turnmill.Ratio) []uint32 {
	moves := []uint32{0}
	for _, at := range old {
		moves = append(moves, sharePlace(coarse, int64(at.Num), int64(at.Den)))
	}
	return moves
}

func ratioMoves(old, coarse []turnmill.Ratio) []uint32 {
	moves := []uint32{0, 1}
	for _, at := range old {
		p := ratioPlace(coarse, int64(at.Num), int64(at.Den))
		after := p
		if p%2 == 0 { // what follows a threshold lies behind it
			after++
		}
		moves = append(moves, p, after)
	}
	return moves
}

func shortMoves(old, coarse []int64) []uint32 {
	var moves []uint32
	for _, at := range old {
		moves = append(moves, shortPlace(coarse, at))
	}
	return append(moves, uint32(len(coarse)))
}

// JointCell is a cell with its number.
type JointCell struct {
	Key uint64
	Cell
}

// Cells returns a domain's cells in the order of their numbers.
func (j *Joint) Cells(domain string) []JointCell {
	var out []JointCell
	for key, c := range j.domains[domain] {
		out = append(out, JointCell{key, *c})
	}
	slices.SortFunc(out, func(a, b JointCell) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Count returns the number of cells of all domains.
func (j *Joint) Count() int { return j.cells }

// Norm is the least whole number whose square is at least the sum of squares: a length for bands that errs on the
// wide side.
func (c *Cell) Norm() int64 {
	n := int64(math.Sqrt(c.Squared.Float()))
	for n > 0 && wideSquare(n-1).atLeast(c.Squared) {
		n--
	}
	for !wideSquare(n).atLeast(c.Squared) {
		n++
	}
	return n
}

func wideSquare(n int64) (w Wide) {
	w.AddSquare(n)
	return w
}

func (w Wide) atLeast(o Wide) bool { return w.hi > o.hi || w.hi == o.hi && w.lo >= o.lo }
