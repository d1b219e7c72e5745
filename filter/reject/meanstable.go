package reject

import (
	"io"
	"maps"
	"math/big"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// Floor returns the mean on the scale of 0 to 100 were each failed judgement the worst there is, exactly: what the
// domain's mean cannot be below. Nil without judgements.
func (m *Mean) Floor() *big.Rat {
	score, all := m.Score(), m.Samples+m.Failed
	switch {
	case all == 0:
		return nil
	case score == nil:
		return new(big.Rat)
	}
	return score.Mul(score, big.NewRat(m.Samples, all))
}

// Floors returns Overall with Floor in place of Score: over samples and over domains.
func (m Means) Floors() (samples, domains *big.Rat) {
	var all Mean
	sum, n := new(big.Rat), int64(0)
	for _, d := range m.Domains() {
		if floor := m[d].Floor(); floor != nil {
			all.Samples += m[d].Samples
			all.Failed += m[d].Failed
			all.Sixtieths += m[d].Sixtieths
			sum.Add(sum, floor)
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	return all.Floor(), sum.Mul(sum, big.NewRat(1, n))
}

// Domains returns those that have judgements, the seven in the report's order, then others by name.
func (m Means) Domains() []turnmill.Domain {
	known := turnmill.Domains()
	order := slices.DeleteFunc(slices.Clone(known), func(d turnmill.Domain) bool { return m[d] == nil })
	for _, d := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, d) {
			order = append(order, d)
		}
	}
	return order
}

// WriteTable writes a row for each domain, then the two means: samples, those with a score, the mean, its floor, the
// mean of each dimension, all on the scale of 0 to 100.
func (m Means) WriteTable(w io.Writer) error {
	head := []string{"domain", "rows", "scored", "score", "floor"}
	for d := range judge.NumDimensions {
		head = append(head, judge.Dimension(d).String())
	}
	text := [][]string{head}
	var all Mean
	for _, d := range m.Domains() {
		mean := m[d]
		row := []string{string(d), grouped(mean.Samples + mean.Failed), grouped(mean.Samples), tenth(mean.Score()), tenth(mean.Floor())}
		for i := range judge.NumDimensions {
			row = append(row, tenth(mean.Dimension(judge.Dimension(i))))
		}
		text = append(text, row)
		all.Samples += mean.Samples
		all.Failed += mean.Failed
	}
	samples, domains := m.Overall()
	low, lowest := m.Floors()
	over := []string{"over samples", grouped(all.Samples + all.Failed), grouped(all.Samples), tenth(samples), tenth(low)}
	each := []string{"over domains", "", "", tenth(domains), tenth(lowest)}
	for i := range judge.NumDimensions {
		samples, domains := m.Dimension(judge.Dimension(i))
		over, each = append(over, tenth(samples)), append(each, tenth(domains))
	}
	return writeTable(w, append(text, over, each))
}

// Dimension returns Overall for one dimension.
func (m Means) Dimension(d judge.Dimension) (samples, domains *big.Rat) {
	var all Mean
	sum, n := new(big.Rat), int64(0)
	for _, domain := range m.Domains() {
		all.Dimensions[d] += m[domain].Dimensions[d]
		all.Counts[d] += m[domain].Counts[d]
		if x := m[domain].Dimension(d); x != nil {
			sum.Add(sum, x)
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	return all.Dimension(d), sum.Mul(sum, big.NewRat(1, n))
}

// tenth writes a figure with one digit after the point, half away from zero; "-" where there is none.
func tenth(r *big.Rat) string {
	if r == nil {
		return "-"
	}
	return r.FloatString(1)
}
