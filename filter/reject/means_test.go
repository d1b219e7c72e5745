package reject

import (
	"math/big"
	"testing"

	"github.com/turnmill/turnmill/filter/judge"
)

// TestMeans: two domains of different size, so that both means differ; a failed judgement is in neither.
func TestMeans(t *testing.T) {
	m, other := Means{}, Means{}
	m.Add("mcp", judge.Valid, judge.Scores{5, 5, 5, 5, 5})     // 100
	m.Add("mcp", judge.Valid, judge.Scores{3, 3, 3, 3, 3})     // 50
	m.Add("mcp", judge.Unparsable, judge.Scores{})             // counted, in no mean
	other.Add("mcp", judge.Valid, judge.Scores{4, 3, 3, 3, 3}) // 55
	other.Add("web", judge.Valid, judge.Scores{1, 1, 1, 1, 1}) // 0
	other.Add("os", judge.Refused, judge.Scores{})
	m.Merge(other)
	for _, tt := range []struct {
		name string
		got  *big.Rat
		want string
	}{
		{"mcp", m["mcp"].Score(), "205/3"},
		{"mcp format", m["mcp"].Dimension(judge.Format), "75/1"},
		{"mcp quality", m["mcp"].Dimension(judge.Quality), "200/3"},
		{"web", m["web"].Score(), "0/1"},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if m["os"].Score() != nil || m["os"].Dimension(judge.Format) != nil || m["os"].Failed != 1 || m["mcp"].Failed != 1 {
		t.Errorf("os %+v, mcp %+v", m["os"], m["mcp"])
	}
	samples, domains := m.Overall()
	if samples.String() != "205/4" || domains.String() != "205/6" {
		t.Errorf("over samples %s, over domains %s, want 205/4 and 205/6", samples, domains)
	}
	if a, b := (Means{}).Overall(); a != nil || b != nil {
		t.Errorf("no samples, and means %v, %v", a, b)
	}
}

// TestMeansCompat: under the released evaluator's arithmetic a missing dimension is left out, so that the mean
// over the four others is higher than with a low fifth.
func TestMeansCompat(t *testing.T) {
	m := Means{}
	m.Add("swe", judge.Valid, judge.Scores{5, 5, 5, 5, 0})
	m.Add("swe", judge.Valid, judge.Scores{5, 5, 0, 1, 0})
	if got := m["swe"].Score().String(); got != "250/3" { // means 5 and 11/3
		t.Errorf("got %s, want 250/3", got)
	}
	if m["swe"].Counts != [5]int64{2, 2, 1, 2, 0} || m["swe"].Dimension(judge.Quality) != nil {
		t.Errorf("%+v", m["swe"])
	}
}
