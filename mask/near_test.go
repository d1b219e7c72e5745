package mask

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

func TestBorders(t *testing.T) {
	table := Default()
	var names []string
	for _, b := range table.Borders() {
		names = append(names, b.Name(&table))
	}
	want := []string{
		"echo: overlap >= 70%", "echo: novelty < 30%", "boilerplate: overlap >= 50%", "boilerplate: novelty < 50%",
		"transform: novelty < 50%", "transform: length ratio < 1", "retrieval: novelty >= 60%", "retrieval: length ratio > 1",
		"expansion: overlap >= 50%", "expansion: novelty >= 50%", "expansion: length ratio > 1.5",
		"action: novelty >= 50%", "action: length ratio <= 1", "short: 100 characters",
	}
	if !slices.Equal(names, want) {
		t.Errorf("borders %q, want %q", names, want)
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Counts
		want []string // border -> category beyond
	}{
		{"echo at 70%", Counts{10, 9, 7, 100, 120}, []string{"echo: overlap >= 70% -> boilerplate"}},
		{"just below 70%", Counts{100, 90, 69, 1000, 1200}, []string{"echo: overlap >= 70% -> echo"}},
		{"far away", Counts{10, 10, 10, 100, 300}, nil},
		{"novelty 60%", Counts{3, 5, 2, 100, 300}, []string{"retrieval: novelty >= 60% -> expansion"}},
		{"no words", Counts{8, 0, 0, 67, 95}, nil},
		// Only the short limit makes it an action.
		{"short at 100", Counts{10, 20, 9, 80, 100}, []string{"short: 100 characters -> other"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := Default()
			var got []string
			for _, b := range table.Borders() {
				if beyond, near := b.Near(&table, tt.c); near {
					got = append(got, b.Name(&table)+" -> "+beyond.String())
				}
			}
			for _, w := range tt.want {
				if !slices.Contains(got, w) {
					t.Errorf("near %q, want %q among them", got, w)
				}
			}
			if len(tt.want) == 0 && len(got) > 0 {
				t.Errorf("near %q, want none", got)
			}
		})
	}
}

// A turn near a border has a neighbour beyond it: moving that bound by the distance that counts as near gives
// the category that Near names.
func TestNearMovesTheBound(t *testing.T) {
	table := Default()
	rapid.Check(t, func(t *rapid.T) {
		a, o := rapid.IntRange(0, 60).Draw(t, "a"), rapid.IntRange(0, 60).Draw(t, "o")
		c := Counts{a, o, rapid.IntRange(0, min(a, o)).Draw(t, "b"), int64(a) + rapid.Int64Range(0, 90).Draw(t, "la"), int64(o) + rapid.Int64Range(0, 90).Draw(t, "lo")}
		now, _ := Classify(&table, c)
		for _, b := range table.Borders() {
			beyond, near := b.Near(&table, c)
			if !near {
				continue
			}
			if beyond == now {
				t.Fatalf("%+v: beyond %s is %s, where it is", c, b.Name(&table), beyond)
			}
			found := false
			for _, shift := range []float64{-1, 1} {
				if got, _ := Classify(moved(table, b, shift), c); got == beyond {
					found = true
				}
			}
			if !found {
				t.Fatalf("%+v: no shift of %s gives %s", c, b.Name(&table), beyond)
			}
		}
	})
}

// moved returns the table with one border just more than a near distance away.
func moved(t Table, b Border, sign float64) *Table {
	t.Rows = slices.Clone(t.Rows)
	if b.Row < 0 {
		t.Short += int64(sign * (nearRatio*float64(t.Short) + 1))
		return &t
	}
	at := t.Rows[b.Row].bounds()[b.bound]
	far := nearShare
	if b.on == lengthRatio {
		far = nearRatio * at.Float()
	}
	*at = turnmill.Ratio{Num: uint64((at.Float() + sign*far*1.001) * 1e6), Den: 1e6}
	return &t
}
