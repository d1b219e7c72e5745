package report

import (
	"fmt"
	"html/template"
	"math"
	"math/big"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// Drawings are made of numbers and of words of this package alone, so that nothing in them has to be escaped.
// Each says in its label what it shows.

// bar draws the shares of the seven categories as one stripe.
func bar(shares [turnmill.NumCategories]float64, label string) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="%s">`, label)
	x := 0.0
	for _, c := range barOrder {
		w := 100 * shares[c]
		if w > 0 {
			fmt.Fprintf(&b, `<rect class="c-%s" x="%s" width="%s" height="4"/>`, c, short(x), short(w))
		}
		x += w
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// barOrder puts what is kept first and what is least kept last.
var barOrder = [...]turnmill.Category{turnmill.CategoryRetrieval, turnmill.CategoryExpansion, turnmill.CategoryAction, turnmill.CategoryOther,
	turnmill.CategoryTransform, turnmill.CategoryBoilerplate, turnmill.CategoryEcho}

// short writes a coordinate with as few digits as do.
func short(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	s = strings.TrimRight(s, "0")
	return strings.TrimSuffix(s, ".")
}

// Sizes of a distribution's drawing.
const (
	histWidth  = 240
	histHeight = 60
)

// histogram draws counts side by side, the largest as high as the drawing. lines are places from 0 to 1 where the
// table has a bound, ticks the words below the axis.
func histogram(counts []int64, lines []float64, ticks [3]string, label string) template.HTML {
	var most int64 = 1
	for _, n := range counts {
		most = max(most, n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="hist" viewBox="0 -2 %d %d" role="img" aria-label="%s"><path d="M0 %d`, histWidth, histHeight+16, label, histHeight)
	step := float64(histWidth) / float64(len(counts))
	at := 0
	for i, n := range counts {
		h := int(math.Round(histHeight * float64(n) / float64(most)))
		if n > 0 && h == 0 {
			h = 1 // one turn among many is seen
		}
		if h != at {
			fmt.Fprintf(&b, "V%d", histHeight-h)
			at = h
		}
		fmt.Fprintf(&b, "H%s", short(step*float64(i+1)))
	}
	fmt.Fprintf(&b, `V%dz"/>`, histHeight)
	for _, x := range lines {
		fmt.Fprintf(&b, `<path class="bound" d="M%s -2V%d"/>`, short(x*histWidth), histHeight)
	}
	fmt.Fprintf(&b, `<path class="axis" d="M0 %dH%d"/>`, histHeight, histWidth)
	for i, text := range ticks {
		anchor := [...]string{"start", "middle", "end"}[i]
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="%s">%s</text>`, i*histWidth/2, histHeight+11, anchor, text)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// shareHistogram draws a share in forty steps of two and a half points; what is exactly all is in the last.
func shareHistogram(s *figures.Shares, lines []float64, label string) template.HTML {
	const steps = 40
	counts := make([]int64, steps)
	for i, n := range s.Bins {
		counts[min(i*steps/(len(s.Bins)-1), steps-1)] += n
	}
	return histogram(counts, lines, [3]string{"0", "50%", "100%"}, label)
}

// Octaves of a length ratio that are drawn.
const octaveFrom, octaveTo = -6, 6

// ratioHistogram draws a length ratio by quarters of a doubling.
func ratioHistogram(r *figures.Ratios, lines []float64, label string) template.HTML {
	var places []float64
	for _, x := range lines {
		if at := (math.Log2(x) - octaveFrom) / (octaveTo - octaveFrom); x > 0 && at >= 0 && at <= 1 {
			places = append(places, at)
		}
	}
	return histogram(r.Octaves(octaveFrom, octaveTo), places, [3]string{"1/64", "1", "64"}, label)
}

// densityShades are steps of darkness.
const densityShades = 6

// shades returns the least count of each shade, the darkest for the largest: by the logarithm, in whole numbers,
// since logarithms differ from machine to machine in the last digit.
//
//	shade k: the least c with c^5 >= most^k
func shades(most int64) (least [densityShades]int64) {
	power := func(n int64, k int) *big.Int { return new(big.Int).Exp(big.NewInt(n), big.NewInt(int64(k)), nil) }
	for k := range least {
		bound := power(most, k)
		low, high := int64(1), max(most, 1)
		for low < high {
			if mid := low + (high-low)/2; power(mid, densityShades-1).Cmp(bound) >= 0 {
				high = mid
			} else {
				low = mid + 1
			}
		}
		least[k] = low
	}
	return least
}

// density draws how many turns lie where between novelty, to the right, and overlap, upwards, with the bounds of the
// table as lines. Shades grow with the logarithm.
func density(g *figures.Group, novelty, overlap []float64, label string) template.HTML {
	n := len(g.Density)
	var most int64
	for i := range g.Density {
		for _, c := range g.Density[i] {
			most = max(most, c)
		}
	}
	least := shades(most)
	var paths [densityShades]strings.Builder
	for x := range n {
		for y := range n {
			if c := g.Density[x][y]; c > 0 {
				shade := densityShades - 1
				for c < least[shade] {
					shade--
				}
				fmt.Fprintf(&paths[shade], "M%d %dh1v1h-1z", x, n-1-y)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="density" viewBox="-1.6 -0.4 %d %d" role="img" aria-label="%s"><path class="frame" d="M0 0H%dV%dH0z"/>`, n+2, n+3, label, n, n)
	for i := range paths {
		if paths[i].Len() > 0 {
			fmt.Fprintf(&b, `<path class="d%d" d="%s"/>`, i, paths[i].String())
		}
	}
	for _, x := range novelty {
		fmt.Fprintf(&b, `<path class="bound" d="M%s 0V%d"/>`, short(x*float64(n-1)), n)
	}
	for _, y := range overlap {
		fmt.Fprintf(&b, `<path class="bound" d="M0 %sH%d"/>`, short(float64(n)-float64(y*float64(n-1))), n)
	}
	fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle">novelty</text><text transform="translate(-0.4 %s) rotate(-90)" text-anchor="middle">overlap</text></svg>`,
		short(float64(n)/2), short(float64(n)+1.4), short(float64(n)/2))
	return template.HTML(b.String())
}

// band draws a realised share against what was expected: the band of two deviations, the expected value, and a dot.
func band(expected, deviation, realised float64) template.HTML {
	two, three := float64(2*deviation), float64(3*deviation) // rounded, so that no machine fuses them with sums
	to := max(expected+three, realised+deviation, expected*1.5)
	from := max(min(expected-three, realised-deviation, expected*0.5), 0)
	if to <= from {
		return ""
	}
	x := func(v float64) string { return short(100 * min(max((v-from)/(to-from), 0), 1)) }
	width := 100 * (min(expected+two, to) - max(expected-two, from)) / (to - from)
	return template.HTML(fmt.Sprintf(`<svg class="band" viewBox="0 0 100 10" aria-hidden="true"><path class="axis" d="M0 5H100"/><rect x="%s" y="2" width="%s" height="6"/><path class="bound" d="M%s 0V10"/><circle cx="%s" cy="5" r="2.5"/></svg>`,
		x(max(expected-two, from)), short(width), x(expected), x(realised)))
}
