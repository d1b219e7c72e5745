package mask

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// The exhaustive grid: every a and o up to 40, every b, the length ratio below, at and between 1 and 1.5,
// at 1.5 and above, with short and long observations, and both sides empty of characters.

type lengths struct {
	la, lo int64
	ratio  *big.Rat // nil when undefined or unbounded
	empty  bool     // an empty action with some observation: above every bound
}

func gridLengths() []lengths {
	var all []lengths
	for _, p := range [][2]int64{{100, 50}, {60, 60}, {80, 100}, {40, 60}, {20, 90}, // short
		{1000, 500}, {600, 600}, {800, 1000}, {400, 600}, {200, 900}, // long
		{101, 100}, {100, 101}, {67, 100}, {67, 101}, {50, 0}} {
		all = append(all, lengths{la: p[0], lo: p[1], ratio: big.NewRat(p[1], p[0])})
	}
	return append(all, lengths{}, lengths{lo: 40, empty: true}, lengths{lo: 400, empty: true})
}

// facts is what the published table asks of the words of a turn, found with exact fractions; what is
// undefined is false.
type facts struct {
	ol50, ol70                           bool // overlap at least
	nov50, nov60, novBelow50, newBelow30 bool
}

func naiveFacts(a, o, b int) (f facts) {
	if a > 0 {
		ol := big.NewRat(int64(b), int64(a))
		f.ol50, f.ol70 = ol.Cmp(big.NewRat(50, 100)) >= 0, ol.Cmp(big.NewRat(70, 100)) >= 0
	}
	if o > 0 {
		nov := big.NewRat(int64(o-b), int64(o))
		f.nov50, f.nov60 = nov.Cmp(big.NewRat(50, 100)) >= 0, nov.Cmp(big.NewRat(60, 100)) >= 0
		f.novBelow50, f.newBelow30 = nov.Cmp(big.NewRat(50, 100)) < 0, nov.Cmp(big.NewRat(30, 100)) < 0
	}
	return f
}

// naiveCategory follows the published table and the chosen order.
func naiveCategory(f facts, l lengths) turnmill.Category {
	longer := l.empty || l.ratio != nil && l.ratio.Cmp(big.NewRat(1, 1)) > 0
	muchLonger := l.empty || l.ratio != nil && l.ratio.Cmp(big.NewRat(3, 2)) > 0
	shorter := l.ratio != nil && l.ratio.Cmp(big.NewRat(1, 1)) < 0
	switch {
	case f.ol70 && f.newBelow30:
		return turnmill.CategoryEcho
	case f.ol50 && f.novBelow50:
		return turnmill.CategoryBoilerplate
	case f.novBelow50 && shorter:
		return turnmill.CategoryTransform
	case f.nov60 && longer:
		return turnmill.CategoryRetrieval
	case f.ol50 && f.nov50 && muchLonger:
		return turnmill.CategoryExpansion
	case f.nov50 && (l.ratio != nil && !longer || l.lo <= 100):
		return turnmill.CategoryAction
	}
	return turnmill.CategoryOther
}

// naiveKeep is the loss decision in five lines, without categories.
func naiveKeep(a, o, b int, l lengths) turnmill.Ratio {
	switch {
	case o == 0 || 2*(o-b) >= o:
		return turnmill.Ratio{Num: 1, Den: 1}
	case a > 0 && 10*b >= 7*a && 10*(o-b) < 3*o:
		return turnmill.Ratio{Num: 1, Den: 20}
	case a > 0 && 2*b >= a:
		return turnmill.Ratio{Num: 1, Den: 10}
	case l.la > 0 && l.lo < l.la:
		return turnmill.Ratio{Num: 1, Den: 2}
	}
	return turnmill.Ratio{Num: 1, Den: 1}
}

func TestClassifyGrid(t *testing.T) {
	table := Default()
	seen := map[turnmill.Category]int{}
	sizes := gridLengths()
	for a := range 41 {
		for o := range 41 {
			for b := range min(a, o) + 1 {
				f := naiveFacts(a, o, b)
				checkJaccard(t, a, o, b)
				for _, l := range sizes {
					c := Counts{a, o, b, l.la, l.lo}
					category, keep := Classify(&table, c)
					if want := naiveCategory(f, l); category != want {
						t.Fatalf("%+v: %v, want %v", c, category, want)
					}
					if want := naiveKeep(a, o, b, l); keep != want {
						t.Fatalf("%+v: keep %v, want %v", c, keep, want)
					}
					rows := Matching(&table, c)
					if (len(rows) == 0) != (category == turnmill.CategoryOther) || len(rows) > 0 && table.Rows[rows[0]].Category != category {
						t.Fatalf("%+v: %v, but rows %v match", c, category, rows)
					}
					checkAlgebra(t, c, category, keep, rows, &table)
					seen[category]++
				}
			}
		}
	}
	if len(seen) != turnmill.NumCategories {
		t.Errorf("the grid reaches %v, want all seven categories", seen)
	}
}

// checkAlgebra holds what follows from the definition: the rows that can meet, and what each implies.
func checkAlgebra(t *testing.T, c Counts, category turnmill.Category, keep turnmill.Ratio, rows []int, table *Table) {
	t.Helper()
	a, o, b := c.ActionWords, c.ObservationWords, c.SharedWords
	union := a + o - b
	if o > 0 && 2*(o-b) >= o && keep.Num != keep.Den {
		t.Fatalf("%+v: novelty of half or more keeps %v", c, keep)
	}
	var upper, lower int
	holds := map[turnmill.Category]bool{}
	for _, i := range rows {
		holds[table.Rows[i].Category] = true
		if table.Rows[i].Keep.Num == table.Rows[i].Keep.Den {
			upper++
		} else {
			lower++
		}
	}
	switch {
	case upper > 0 && lower > 0:
		t.Fatalf("%+v: rows %v from both halves", c, rows)
	case holds[turnmill.CategoryEcho] && !holds[turnmill.CategoryBoilerplate]:
		t.Fatalf("%+v: echo without boilerplate", c)
	case category == turnmill.CategoryEcho && (13*b <= 7*union || 10*o < 7*a || 7*o >= 10*a):
		t.Fatalf("%+v: echo needs Jac > 7/13 and 0.7 <= o/a < 10/7", c)
	case category == turnmill.CategoryBoilerplate && 3*b <= union:
		t.Fatalf("%+v: boilerplate needs Jac > 1/3", c)
	case category == turnmill.CategoryExpansion && o < a:
		t.Fatalf("%+v: expansion needs o >= a", c)
	case category == turnmill.CategoryTransform && o >= a:
		t.Fatalf("%+v: transform needs o < a", c)
	}
}

// checkJaccard holds 1/Jac = 1/OL + 1/P - 1, where P = b/o is the share of the observation that is old.
func checkJaccard(t *testing.T, a, o, b int) {
	t.Helper()
	if b == 0 {
		return
	}
	jac, _ := Counts{ActionWords: a, ObservationWords: o, SharedWords: b}.Jaccard()
	ol, p := float64(b)/float64(a), float64(b)/float64(o)
	if want := ol * p / (ol + p - ol*p); jac < want-1e-12 || jac > want+1e-12 {
		t.Fatalf("a=%d o=%d b=%d: Jaccard %v, want %v", a, o, b, jac, want)
	}
}

// TestCompareLarge checks comparisons whose products do not fit 64 bits.
func TestCompareLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.Int64Min(0).Draw(t, "lo"), rapid.Int64Min(1).Draw(t, "la")
		at := turnmill.Ratio{Num: rapid.Uint64Range(0, 1e15).Draw(t, "num"), Den: rapid.Uint64Range(1, 1e15).Draw(t, "den")}
		if rapid.Bool().Draw(t, "equal") {
			at = reduce(turnmill.Ratio{Num: uint64(n), Den: uint64(d)})
		}
		want := big.NewRat(n, d).Cmp(rat(at))
		if got, ok := (Counts{ActionChars: d, ObservationChars: n}).compare(lengthRatio, at); !ok || got != want {
			t.Fatalf("%d/%d against %d/%d: %d, want %d", n, d, at.Num, at.Den, got, want)
		}
	})
}

func TestClassifyAllocates(t *testing.T) {
	table := Default()
	c := Counts{12, 11, 3, 88, 89}
	if n := testing.AllocsPerRun(100, func() { Classify(&table, c) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
