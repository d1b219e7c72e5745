package reject

import (
	"maps"
	"math/big"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// sixty is a common multiple of 1 to 5, so that a mean over any number of dimensions is a whole number of
// sixtieths.
const sixty = 60

// Means adds up the scores of valid judgements by domain. It merges, and is exact.
type Means map[turnmill.Domain]*Mean

// Mean holds the sums of one domain.
type Mean struct {
	Samples    int64                      `json:"samples"`    // valid judgements
	Failed     int64                      `json:"failed"`     // others: counted, in no mean
	Sixtieths  int64                      `json:"sixtieths"`  // sum of the samples' means, times 60
	Dimensions [judge.NumDimensions]int64 `json:"dimensions"` // sums of scores
	Counts     [judge.NumDimensions]int64 `json:"counts"`     // samples that have the dimension; fewer than Samples under Compat alone
}

// Add counts one judgement.
func (m Means) Add(domain turnmill.Domain, state judge.State, s judge.Scores) {
	d := m.of(domain)
	mean := s.Mean()
	if state != judge.Valid || mean.Den == 0 {
		d.Failed++
		return
	}
	d.Samples++
	d.Sixtieths += int64(mean.Num * (sixty / mean.Den))
	for i, v := range s {
		if v > 0 {
			d.Dimensions[i] += int64(v)
			d.Counts[i]++
		}
	}
}

// Merge adds the sums of b, which stays as it is.
func (m Means) Merge(b Means) {
	for domain, from := range b {
		to := m.of(domain)
		to.Samples += from.Samples
		to.Failed += from.Failed
		to.Sixtieths += from.Sixtieths
		for i := range to.Dimensions {
			to.Dimensions[i] += from.Dimensions[i]
			to.Counts[i] += from.Counts[i]
		}
	}
}

// of returns the sums of a domain, opened when they are not there.
func (m Means) of(domain turnmill.Domain) *Mean {
	if m[domain] == nil {
		m[domain] = new(Mean)
	}
	return m[domain]
}

// Percent takes a mean on the scale of 1 to 5 to 0 to 100: (x - 1) / 4 * 100. Report, section 5.2.
func Percent(mean *big.Rat) *big.Rat {
	p := new(big.Rat).Sub(mean, big.NewRat(judge.Worst, 1))
	return p.Mul(p, big.NewRat(100, judge.Best-judge.Worst))
}

// Score returns the domain's mean on the scale of 0 to 100, exactly; nil without samples.
func (m *Mean) Score() *big.Rat {
	if m.Samples == 0 {
		return nil
	}
	return Percent(big.NewRat(m.Sixtieths, sixty*m.Samples))
}

// Dimension returns one dimension's mean on the scale of 0 to 100, exactly; nil without samples.
func (m *Mean) Dimension(d judge.Dimension) *big.Rat {
	if m.Counts[d] == 0 {
		return nil
	}
	return Percent(big.NewRat(m.Dimensions[d], m.Counts[d]))
}

// Overall returns both means on the scale of 0 to 100, exactly: over samples, where large domains count more,
// and over domains, where each counts the same. Domains without samples are in neither. Nil without samples.
func (m Means) Overall() (samples, domains *big.Rat) {
	var all Mean
	sum, n := new(big.Rat), int64(0)
	for _, d := range slices.Sorted(maps.Keys(m)) {
		if score := m[d].Score(); score != nil {
			all.Samples += m[d].Samples
			all.Sixtieths += m[d].Sixtieths
			sum.Add(sum, score)
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	return all.Score(), sum.Mul(sum, big.NewRat(1, n))
}
