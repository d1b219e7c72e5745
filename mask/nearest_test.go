package mask

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

func TestNearestBorder(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Counts
		want string // "": no border parts it from another category
		at   float64
	}{
		{"echo above 70%", Counts{100, 90, 75, 1000, 1200}, "echo: overlap >= 70% -> boilerplate", 0.05},
		{"just below 70%", Counts{100, 90, 69, 1000, 1200}, "echo: overlap >= 70% -> echo", 0.01},
		{"no words", Counts{8, 0, 0, 67, 95}, "", 0},
		{"short at 100", Counts{10, 20, 9, 80, 100}, "short: 100 characters -> other", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := Default()
			n, ok := NearestBorder(&table, table.Borders(), tt.c)
			got := ""
			if ok {
				got = n.Border.Name(&table) + " -> " + n.Beyond.String()
			}
			if got != tt.want || distance(n.Apart, tt.at) > 1e-9 {
				t.Errorf("nearest %q at %v, want %q at %v", got, n.Apart, tt.want, tt.at)
			}
		})
	}
}

// TestNearestIsNear: where a turn stands near some border, the nearest one is among those; and nothing is nearer.
func TestNearestIsNear(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, o := rapid.IntRange(0, 60).Draw(r, "a"), rapid.IntRange(0, 60).Draw(r, "o")
		c := Counts{a, o, rapid.IntRange(0, min(a, o)).Draw(r, "b"), int64(a) + rapid.Int64Range(0, 200).Draw(r, "la"), int64(o) + rapid.Int64Range(0, 200).Draw(r, "lo")}
		table := Default()
		n, ok := NearestBorder(&table, table.Borders(), c)
		for _, b := range table.Borders() {
			beyond, near := b.Near(&table, c)
			if !near {
				continue
			}
			if !ok {
				r.Fatalf("%+v: near %s, and no border is the nearest", c, b.Name(&table))
			}
			if _, nearToo := n.Border.Near(&table, c); !nearToo {
				r.Fatalf("%+v: near %s (beyond it %v), and the nearest is %s, which is not near", c, b.Name(&table), beyond, n.Border.Name(&table))
			}
		}
		if now, _ := Classify(&table, c); ok && n.Beyond == now {
			r.Fatalf("%+v: beyond %s it stays %v", c, n.Border.Name(&table), now)
		}
	})
}

func TestRunnerUp(t *testing.T) {
	table := Default()
	for c, want := range map[Counts]turnmill.Category{
		{10, 9, 8, 100, 120}:   turnmill.CategoryBoilerplate,
		{10, 20, 9, 80, 200}:   turnmill.CategoryOther,
		{100, 90, 69, 10, 100}: turnmill.CategoryOther,
	} {
		if got := RunnerUp(&table, c); got != want {
			t.Errorf("%+v: runner-up %v, want %v", c, got, want)
		}
	}
}
