package figures

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// drawTurn makes a turn that the mask decided about.
func drawTurn(t *rapid.T) *Turn {
	a, o := rapid.Int64Range(0, 40).Draw(t, "a"), rapid.Int64Range(0, 40).Draw(t, "o")
	turn := &Turn{
		Domain:      rapid.SampledFrom([]string{"mcp", "swe", "web", "unknown"}).Draw(t, "domain"),
		Tool:        rapid.SampledFrom([]string{"", "ls", "cat"}).Draw(t, "tool"),
		ActionWords: a, ObservationWords: o, SharedWords: rapid.Int64Range(0, min(a, o)).Draw(t, "b"),
		ActionChars: rapid.Int64Range(0, 300).Draw(t, "la"), ObservationChars: rapid.Int64Range(0, 600).Draw(t, "lo"),
		Category: turnmill.Category(rapid.IntRange(0, turnmill.NumCategories-1).Draw(t, "category")), Keep: 0.5,
		Decided: true, Status: "target", TargetTokens: rapid.Int64Range(1, 500).Draw(t, "tokens"),
	}
	turn.Kept = rapid.Bool().Draw(t, "kept")
	return turn
}

// ownTable holds thresholds that lie on no grid by themselves.
var ownTable = Bounds{
	Overlap: []turnmill.Ratio{{Num: 7, Den: 10}, {Num: 335, Den: 1000}}, Novelty: []turnmill.Ratio{{Num: 3, Den: 10}},
	LengthRatio: []turnmill.Ratio{{Num: 1, Den: 1}, {Num: 13, Den: 10}}, Short: []int64{100, 77},
}

// above compares n/d with a threshold by big numbers.
func above(n, d int64, at turnmill.Ratio) int {
	return big.NewRat(n, d).Cmp(big.NewRat(int64(at.Num), int64(at.Den)))
}

// TestPlaces: on every grid, and however a turn came there, its places tell on which side of each threshold its
// statistics lie.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := drawTurn(t)
		j := NewJoint(ownTable, false)
		j.Add("mcp", turn)
		for level := range levels {
			if level > 0 {
				j.coarsen()
			}
			if again := NewJoint(ownTable, false); true {
				again.level, again.Grid = level, gridOf(level, ownTable)
				again.Add("mcp", turn)
				if diff := cmp.Diff(again.Cells("mcp"), j.Cells("mcp"), cmp.AllowUnexported(Wide{})); diff != "" {
					t.Fatalf("level %d: moved there (-added +moved):\n%s", level, diff)
				}
			}
			cells := j.Cells("mcp")
			if len(cells) != 1 || cells[0].Turns != 1 || cells[0].Length != turn.ObservationChars {
				t.Fatalf("level %d: cells %+v", level, cells)
			}
			overlap, novelty, ratio, short := j.Grid.Places(cells[0].Key)
			share := func(what string, place uint32, grid []turnmill.Ratio, n, d int64) {
				if d == 0 {
					if place != 0 {
						t.Fatalf("%s: place %d of an undefined statistic", what, place)
					}
					return
				}
				for i, at := range grid {
					if got, want := place >= uint32(i)+1, above(n, d, at) >= 0; place == 0 || got != want {
						t.Fatalf("level %d: %s %d/%d at place %d: >= %v is %v", level, what, n, d, place, at, want)
					}
				}
			}
			fresh := turn.ObservationWords - turn.SharedWords
			share("overlap", overlap, j.Grid.Overlap, turn.SharedWords, turn.ActionWords)
			share("novelty", novelty, j.Grid.Novelty, fresh, turn.ObservationWords)
			lo, la := turn.ObservationChars, turn.ActionChars
			if (ratio == 0) != (lo == 0 && la == 0) {
				t.Fatalf("length ratio %d/%d at place %d", lo, la, ratio)
			}
			for i, at := range j.Grid.LengthRatio {
				want := 1 // unbounded
				if la > 0 {
					want = above(lo, la, at)
				}
				if got := cmp2(ratio, uint32(2*i+2)); ratio > 0 && got != want {
					t.Fatalf("level %d: length ratio %d/%d at place %d: %d to %v, want %d", level, lo, la, ratio, got, at, want)
				}
			}
			for i, at := range j.Grid.Short {
				if got, want := short <= uint32(i), lo <= at; got != want {
					t.Fatalf("level %d: length %d at place %d: <= %d is %v", level, lo, short, at, want)
				}
			}
		}
	})
}

func cmp2(a, b uint32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// TestJointStaysSmall: however many cells there are, the end has few, and does not depend on the order.
func TestJointStaysSmall(t *testing.T) {
	var turns []*Turn
	for i := range int64(350_000) {
		a, o := 20+i%97, 20+(i/97)%89
		turns = append(turns, &Turn{ActionWords: a, ObservationWords: o, SharedWords: min(a, o) * (i % 53) / 53, ActionChars: 40 + i%211, ObservationChars: 20 + (i*7919)%600})
	}
	add := func() *Joint {
		j := NewJoint(ownTable, false)
		for i, turn := range turns {
			j.Add(fmt.Sprint(i%12), turn)
		}
		j.Finish()
		return j
	}
	one := add()
	if one.Count() > mostCells || one.level == 0 {
		t.Errorf("%d cells on level %d", one.Count(), one.level)
	}
	slices.Reverse(turns)
	n := len(turns) % 12
	other := add()
	if n != 350_000%12 || one.level != other.level {
		t.Errorf("level %d, and in the other order %d", one.level, other.level)
	}
	var sum int64
	for d := range 12 {
		for _, c := range other.Cells(fmt.Sprint(d)) {
			sum += c.Turns
		}
	}
	if sum != int64(len(turns)) {
		t.Errorf("%d turns in the cells, %d were added", sum, len(turns))
	}
}

func TestNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cell
		sum := new(big.Int)
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			n := rapid.Int64Range(0, 1<<40).Draw(t, "length")
			c.Squared.AddSquare(n)
			sum.Add(sum, new(big.Int).Mul(big.NewInt(n), big.NewInt(n)))
		}
		norm := big.NewInt(c.Norm())
		if norm.Mul(norm, norm).Cmp(sum) < 0 {
			t.Fatalf("norm %d squared is below %v", c.Norm(), sum)
		}
		if less := big.NewInt(c.Norm() - 1); sum.Sign() > 0 && less.Mul(less, less).Cmp(sum) >= 0 {
			t.Fatalf("norm %d is not the least for %v", c.Norm(), sum)
		}
	})
}

// TestQuantiles: they lie as near to the exact ones as the package says.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Shares
		var r Ratios
		var shares, ratios []float64
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			n, d := rapid.Int64Range(0, 90).Draw(t, "n"), rapid.Int64Range(1, 90).Draw(t, "d")
			r.Add(n, d)
			ratios = append(ratios, float64(n)/float64(d))
			s.Add(min(n, d), d)
			shares = append(shares, float64(min(n, d))/float64(d))
		}
		slices.Sort(shares)
		slices.Sort(ratios)
		for _, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.95, 1} {
			at := max(int(math.Ceil(q*float64(len(shares)))), 1) - 1
			if got, want := s.Quantile(q), shares[at]; got > want+1e-12 || want-got >= 0.005+1e-12 {
				t.Fatalf("quantile %v of shares is %v, want %v or half a point less", q, got, want)
			}
			if got, want := r.Quantile(q), ratios[at]; got > want || want > got*(1+1.0/ratioParts)+1e-5 {
				t.Fatalf("quantile %v of ratios is %v, want %v or a thirtieth less", q, got, want)
			}
		}
	})
	if none := new(Shares); !math.IsNaN(none.Quantile(0.5)) || !math.IsNaN(new(Ratios).Quantile(0.5)) {
		t.Error("a quantile of nothing is a number")
	}
}

// TestNamesKeepTheLarge: what has more than one turn in 4,096 is never lost, however many names there are.
func TestNamesKeepTheLarge(t *testing.T) {
	n := NewNames()
	const all = 200_000
	for i := range all {
		name := fmt.Sprintf("once-%d", i)
		if i%3000 == 0 {
			name = "sometimes" // one in 3,000
		}
		if i%10 == 0 {
			name = "often"
		}
		n.Add([NumDimensions]string{Domain: "mcp", Tool: name})
		if got := len(n.counts[Tool]); got > named+1 {
			t.Fatalf("%d names are held", got)
		}
	}
	names, _ := n.top(Tool)
	if !n.Lossy[Tool] || n.Lossy[Domain] || names[0] != "often" || !slices.Contains(names, "often") {
		t.Errorf("lossy %v, names %q", n.Lossy, names[:3])
	}
	if n.counts[Tool]["often"] == 0 {
		t.Error("a name of every tenth turn is lost")
	}
}

func TestNameIsBounded(t *testing.T) {
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = "aé"[i%3]
	}
	if got := Name(string(long)); len(got) > nameBytes || got == Name(string(long[1:])) {
		t.Errorf("a name of %d bytes, %q", len(got), got)
	}
}

// TestFiguresAddUp: the groups of a dimension have all turns between them, and the cells all that was decided.
func TestFiguresAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.SliceOfN(rapid.Custom(drawTurn), 1, 80).Draw(t, "turns")
		names := NewNames()
		for _, turn := range turns {
			names.Add(turn.Names())
		}
		f := New(names, ownTable, true)
		for i, turn := range turns {
			turn.Record, turn.Trajectory = int64(i/2), int64(i/2)
			f.Add(turn)
		}
		f.Finish()
		for d := range f.Dims {
			var sum, decided int64
			for _, g := range f.Dims[d].All() {
				sum += g.Turns
				all := g.Decided()
				decided += all.Turns
			}
			if sum != f.Whole.Turns || decided != f.Whole.Decided().Turns {
				t.Fatalf("%s: %d turns, %d decided; the whole has %d", Dimension(d), sum, decided, f.Whole.Turns)
			}
		}
		var cells, length int64
		for _, g := range f.Dims[Domain].All() {
			for _, c := range f.Joint.Cells(g.Name) {
				cells += c.Turns
				length += c.Length
			}
		}
		if all := f.Whole.Decided(); cells != all.Turns || length != all.TargetTokens {
			t.Fatalf("cells hold %d turns of length %d, the whole %d of %d", cells, length, all.Turns, all.TargetTokens)
		}
		if want := int64(len(turns)+1) / 2; f.Whole.Records != want || f.Whole.Trajectories != want {
			t.Fatalf("%d records, %d trajectories, want %d", f.Whole.Records, f.Whole.Trajectories, want)
		}
	})
}

// TestReservoirInParts: chosen from parts, and then from what was chosen, the examples are those of the whole.
func TestReservoirInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type turn struct {
			rank  uint64
			kinds []Kind
		}
		whole, parts, part := NewReservoir[int](5), NewReservoir[int](5), NewPassing[int]()
		merge := func() {
			for _, k := range part.Kinds() {
				to := parts.At(k)
				if to == nil {
					continue
				}
				for _, e := range part.Of(k) {
					if to.Wants(e.Rank) {
						to.Put(e.Rank, e.Value)
					}
				}
			}
			part.Reset()
		}
		put := func(r *Reservoir[int], one turn, i int) {
			for _, k := range one.kinds {
				if c := r.At(k); c != nil && c.Wants(one.rank) {
					c.Put(one.rank, i)
				}
			}
		}
		for i := range rapid.IntRange(0, 120).Draw(t, "turns") {
			one := turn{rank: rapid.Uint64Range(0, 60).Draw(t, "rank")}
			for range rapid.IntRange(0, 3).Draw(t, "kinds") {
				k := Kind{rapid.SampledFrom([]string{"domain", "tool"}).Draw(t, "of"), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"), rapid.SampledFrom([]string{"echo", "other"}).Draw(t, "what")}
				if !slices.Contains(one.kinds, k) {
					one.kinds = append(one.kinds, k)
				}
			}
			put(whole, one, i)
			put(part, one, i)
			if rapid.Bool().Draw(t, "cut") {
				merge()
			}
		}
		merge()
		if diff := cmp.Diff(whole.Kinds(), parts.Kinds()); diff != "" {
			t.Fatalf("kinds (-whole +parts):\n%s", diff)
		}
		for _, k := range whole.Kinds() {
			if diff := cmp.Diff(whole.Of(k), parts.Of(k)); diff != "" {
				t.Fatalf("%v (-whole +parts):\n%s", k, diff)
			}
		}
	})
}

func TestOther(t *testing.T) {
	for want, turn := range map[int]Turn{
		OtherWordless:   {ActionWords: 8},
		OtherRepetitive: {ActionWords: 14, ObservationWords: 1, SharedWords: 1},
		OtherBar:        {ActionWords: 9, ObservationWords: 9, SharedWords: 4},
	} {
		if got := otherOf(&turn); got != want {
			t.Errorf("%+v: region %d, want %d", turn, got, want)
		}
	}
}

// TestBound: the tails of a binomial beyond the bound are as rare as it says, for few draws and for many.
func TestBound(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 50, 1000} {
		for _, p := range []float64{0.01, 0.05, 0.1, 0.5, 0.95} {
			for _, doubt := range []float64{20, 1000, 15_000} {
				bound := Bound(float64(n)*p*(1-p), 1, doubt)
				tail := 0.0
				for k := range n + 1 {
					if math.Abs(float64(k)-float64(n)*p) > bound {
						all, _ := math.Lgamma(float64(n + 1))
						some, _ := math.Lgamma(float64(k + 1))
						rest, _ := math.Lgamma(float64(n - k + 1))
						tail += math.Exp(all - some - rest + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
					}
				}
				if tail > 1/doubt {
					t.Errorf("%d draws at %v: %v of the cases lie beyond %v, want 1 in %v at most", n, p, tail, bound, doubt)
				}
			}
		}
	}
	if many, three := Bound(1e6*0.05*0.95, 1, 1000), 3*math.Sqrt(1e6*0.05*0.95); many > 1.4*three || many < three {
		t.Errorf("for a million draws the bound is %v, three deviations are %v", many, three)
	}
}
