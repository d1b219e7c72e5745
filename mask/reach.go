package mask

import (
	"math"
	"slices"

	"github.com/turnmill/turnmill"
)

// space is everything that a turn's statistics can be, cut at the thresholds of one table into finitely
// many cells inside which the table cannot tell turns apart.
//
//	threshold   0         1/2         7/10        1
//	position    0    1     2     3     4     5    6     even: exactly there, odd: strictly between
//
// The length ratio has no upper end: one more position lies beyond its last threshold, and unbounded (an
// empty action) beyond that. Position undefined stands for 0/0.
type space struct {
	table *Table
	cuts  [numStatistics][]turnmill.Ratio // ascending, distinct; 0 first, and 1 last for the two shares
}

const undefined = -1

// point is one cell: a position for each statistic, and whether the observation is short.
type point struct {
	at    [numStatistics]int
	short bool
}

func newSpace(t *Table) *space {
	zero, one := turnmill.Ratio{Den: 1}, turnmill.Ratio{Num: 1, Den: 1}
	s := &space{table: t}
	s.cuts = [numStatistics][]turnmill.Ratio{overlap: {zero, one}, novelty: {zero, one}, lengthRatio: {zero}}
	for i := range t.Rows {
		for k, at := range t.Rows[i].bounds() {
			if at.Den != 0 {
				on := boundKinds[k].on
				s.cuts[on] = append(s.cuts[on], *at)
			}
		}
	}
	for on := range s.cuts {
		slices.SortFunc(s.cuts[on], compareRatios)
		s.cuts[on] = slices.CompactFunc(s.cuts[on], func(a, b turnmill.Ratio) bool { return compareRatios(a, b) == 0 })
	}
	return s
}

func compareRatios(a, b turnmill.Ratio) int { return compareProducts(a.Num, b.Den, b.Num, a.Den) }

// last returns the position of the last threshold.
func (s *space) last(on statistic) int { return 2 * (len(s.cuts[on]) - 1) }

// unbounded is the length ratio's position for an empty action.
func (s *space) unbounded() int { return s.last(lengthRatio) + 2 }

// compare is Counts.compare for every turn of a cell.
func (s *space) compare(p point) func(on statistic, at turnmill.Ratio) (int, bool) {
	return func(on statistic, at turnmill.Ratio) (int, bool) {
		i, _ := slices.BinarySearchFunc(s.cuts[on], at, compareRatios)
		return p.at[on] - 2*i, p.at[on] != undefined
	}
}

// each visits every cell that holds a turn.
func (s *space) each(visit func(p point)) {
	for ol := undefined; ol <= s.last(overlap); ol++ {
		for nov := undefined; nov <= s.last(novelty); nov++ {
			for ratio := undefined; ratio <= s.unbounded(); ratio++ {
				for _, short := range []bool{false, true} {
					p := point{at: [numStatistics]int{overlap: ol, novelty: nov, lengthRatio: ratio}, short: short}
					if s.possible(p) {
						visit(p)
					}
				}
			}
		}
	}
}

// possible tells whether integers 0 <= b <= a, o and la >= a, lo >= o put a turn into the cell: a text has
// at most as many words as characters, and can have fewer by any number. Without a limit on lo all ratios
// that agree with each other can be had at once; short turns need a search.
func (s *space) possible(p point) bool {
	ol, nov, ratio := p.at[overlap], p.at[novelty], p.at[lengthRatio]
	switch {
	case ol == undefined && nov != undefined && nov != s.last(novelty): // no action words: all are new
		return false
	case nov == undefined && ol != undefined && ol != 0: // no observation words: none comes back
		return false
	case ol != undefined && nov != undefined && (ol == 0) != (nov == s.last(novelty)): // b = 0
		return false
	case ratio == undefined: // two empty texts
		return ol == undefined && nov == undefined && p.short
	case ratio == 0: // an empty observation
		return nov == undefined && p.short
	case ratio == s.unbounded(): // an empty action, and some observation
		return ol == undefined && (!p.short || s.table.Short >= 1)
	}
	return !p.short || s.possibleShort(p)
}

// possibleShort is possible for non-empty texts of which the observation is short. More characters allow
// more words, and the largest lo that the ratio allows comes with the largest la; so one pair is enough.
func (s *space) possibleShort(p point) bool {
	lo, la, ok := s.longest(p.at[lengthRatio])
	if !ok {
		return false
	}
	if p.at[overlap] <= 0 {
		return true // b = 0, and a and o are 0 or 1 as the cell asks
	}
	for b := uint64(1); b <= lo; b++ {
		from, to := s.ends(overlap, p.at[overlap])
		a, ok := leastWhole(b, from, to)
		if !ok || a > la {
			continue
		}
		from, to = s.ends(novelty, p.at[novelty]) // of the old words the share is b/o = 1 - novelty
		if o, ok := leastWhole(b, complement(to), complement(from)); ok && o <= lo {
			return true
		}
	}
	return false
}

// ends returns the thresholds around a position, twice the same one on a threshold, and the zero Ratio
// beyond the last.
func (s *space) ends(on statistic, position int) (from, to turnmill.Ratio) {
	from = s.cuts[on][position/2]
	if next := (position + 1) / 2; next < len(s.cuts[on]) {
		to = s.cuts[on][next]
	}
	return from, to
}

// longest returns the largest lo <= Short for which some la puts lo/la at the position, and the largest
// such la.
func (s *space) longest(position int) (lo, la uint64, ok bool) {
	from, to := s.ends(lengthRatio, position)
	for lo = uint64(s.table.Short); lo > 0; lo-- {
		switch {
		case from == to: // la = lo/from; the position is no zero
			la = lo * from.Den / from.Num
			ok = compareProducts(lo, from.Den, from.Num, la) == 0
		case from.Num == 0:
			la, ok = math.MaxInt64, true
		default: // la < lo/from
			la = (lo*from.Den+from.Num-1)/from.Num - 1
			ok = la > 0 && (to.Den == 0 || compareProducts(lo, to.Den, to.Num, la) < 0)
		}
		if ok {
			return lo, la, true
		}
	}
	return 0, 0, false
}

// leastWhole returns the least integer x for which b/x is strictly between from and to, or equal to both
// when they are the same; 0 < b, to <= 1.
func leastWhole(b uint64, from, to turnmill.Ratio) (x uint64, ok bool) {
	if compareRatios(from, to) == 0 {
		x = b * to.Den / to.Num
		return x, x*to.Num == b*to.Den
	}
	x = b*to.Den/to.Num + 1 // x > b/to
	return x, compareProducts(b, from.Den, from.Num, x) > 0
}

func complement(r turnmill.Ratio) turnmill.Ratio {
	return turnmill.Ratio{Num: r.Den - r.Num, Den: r.Den}
}
