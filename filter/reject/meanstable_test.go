package reject

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// TestMeansTable: five rows of three domains by hand. web: (4+2)/2 = 3 is 50, and one failed of three makes 33.3; os
// has none; shop, no domain of the seven, comes last.
func TestMeansTable(t *testing.T) {
	m := Means{}
	m.Add("shop", judge.Valid, judge.Scores{5, 5, 5, 5, 5})
	m.Add(turnmill.DomainOS, judge.Truncated, judge.Scores{})
	m.Add(turnmill.DomainWeb, judge.Valid, judge.Scores{4, 4, 4, 4, 4})
	m.Add(turnmill.DomainWeb, judge.MissingDimension, judge.Scores{})
	m.Add(turnmill.DomainWeb, judge.Valid, judge.Scores{1, 2, 2, 2, 3})
	var got strings.Builder
	if err := m.WriteTable(&got); err != nil {
		t.Fatal(err)
	}
	const want = `
domain        rows  scored  score  floor  format  factuality  consistency  realism  quality
web              3       2   50.0   33.3    37.5        50.0         50.0     50.0     62.5
os               1       0      -    0.0       -           -            -        -        -
shop             1       1  100.0  100.0   100.0       100.0        100.0    100.0    100.0
over samples     5       3   66.7   40.0    58.3        66.7         66.7     66.7     75.0
over domains                 75.0   44.4    68.8        75.0         75.0     75.0     81.3
`
	if got.String() != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want[1:])
	}
}

// TestPropertyFloor: a floor is the mean with each failed judgement as five ones.
func TestPropertyFloor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, worst := Means{}, Means{}
		for range rapid.IntRange(1, 12).Draw(r, "rows") {
			domain := rapid.SampledFrom(turnmill.Domains()).Draw(r, "domain")
			s := judge.Scores{1, 1, 1, 1, 1}
			state := rapid.SampledFrom([]judge.State{judge.Valid, judge.Refused, judge.None}).Draw(r, "state")
			if state == judge.Valid {
				for d := range s {
					s[d] = uint8(rapid.IntRange(1, 5).Draw(r, "score"))
				}
			}
			m.Add(domain, state, s)
			worst.Add(domain, judge.Valid, s)
		}
		samples, domains := m.Floors()
		one, each := worst.Overall()
		if samples.Cmp(one) != 0 || domains.Cmp(each) != 0 {
			r.Fatalf("floors %v %v, means of the worst %v %v", samples, domains, one, each)
		}
		if score, _ := m.Overall(); score != nil && score.Cmp(samples) < 0 || samples.Cmp(new(big.Rat)) < 0 {
			r.Fatalf("the mean %v is below its floor %v", score, samples)
		}
	})
}
