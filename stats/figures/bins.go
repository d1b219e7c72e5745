package figures

import "math"

// shareBins are the steps of a share: half a point each, and one bin for what is exactly all.
const shareBins = 200

// Shares is the distribution of a statistic from 0 to 1: Bins[i] counts i/200 <= x < (i+1)/200, by integers.
type Shares struct {
	Bins      [shareBins + 1]int64
	Undefined int64
}

// Add adds n/d.
func (s *Shares) Add(n, d int64) {
	if d == 0 {
		s.Undefined++
		return
	}
	s.Bins[shareBins*n/d]++
}

// Count returns how many are defined.
func (s *Shares) Count() (n int64) {
	for _, c := range s.Bins {
		n += c
	}
	return n
}

// Quantile returns where the q-th part of all that are defined ends, to half a point from below, or NaN where
// there are none.
func (s *Shares) Quantile(q float64) float64 {
	i := quantile(s.Bins[:], q)
	if i < 0 {
		return math.NaN()
	}
	return float64(i) / shareBins
}

// Bins of a length ratio: each doubling in 32 parts, from 2^-20 to 2^20.
const (
	ratioParts = 32
	ratioEnd   = 20
	ratioBins  = 2*ratioEnd*ratioParts + 2
)

// Ratios is the distribution of a length ratio. The first bin holds what is smaller than all others, zero
// included, the last what is larger; Unbounded are observations after an empty action.
type Ratios struct {
	Bins                 [ratioBins]int64
	Undefined, Unbounded int64
}

// Add adds n/d.
func (r *Ratios) Add(n, d int64) {
	switch {
	case d == 0 && n == 0:
		r.Undefined++
	case d == 0:
		r.Unbounded++
	default:
		r.Bins[ratioBin(float64(n)/float64(d))]++
	}
}

func ratioBin(x float64) int {
	part, exp := math.Frexp(x) // x = part * 2^exp, part from 1/2 to 1
	i := 1 + (exp-1+ratioEnd)*ratioParts + int((part-0.5)*2*ratioParts)
	if x == 0 || i < 1 {
		return 0
	}
	return min(i, ratioBins-1)
}

// ratioFrom is the lower end of a bin.
func ratioFrom(i int) float64 {
	if i == 0 {
		return 0
	}
	i--
	return math.Ldexp(1+float64(i%ratioParts)/ratioParts, i/ratioParts-ratioEnd)
}

// Count returns how many are defined and bounded.
func (r *Ratios) Count() (n int64) {
	for _, c := range r.Bins {
		n += c
	}
	return n
}

// Quantile returns where the q-th part ends, at most a thirtieth of itself too low, or NaN.
func (r *Ratios) Quantile(q float64) float64 {
	i := quantile(r.Bins[:], q)
	if i < 0 {
		return math.NaN()
	}
	return ratioFrom(i)
}

// Octaves returns the distribution by quarters of a doubling, from 2^from to 2^to, with what lies outside in the
// first and last.
func (r *Ratios) Octaves(from, to int) []int64 {
	const parts = 4
	out := make([]int64, (to-from)*parts)
	for i, n := range r.Bins {
		k := 0
		if i > 0 {
			k = (i-1)/(ratioParts/parts) - (from+ratioEnd)*parts
		}
		out[min(max(k, 0), len(out)-1)] += n
	}
	return out
}

// quantile returns the bin in which the q-th part of the counts ends, or -1.
func quantile(bins []int64, q float64) int {
	var all int64
	for _, n := range bins {
		all += n
	}
	if all == 0 {
		return -1
	}
	want := max(int64(math.Ceil(q*float64(all))), 1)
	var sum int64
	for i, n := range bins {
		if sum += n; sum >= want {
			return i
		}
	}
	return len(bins) - 1
}
