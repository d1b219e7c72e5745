package figures

import (
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// drawBeyond makes a turn with what the mask does not look at.
func drawBeyond(t *rapid.T) *Turn {
	turn := drawTurn(t)
	turn.Index = rapid.Int64Range(0, 30).Draw(t, "index")
	turn.Observed = rapid.SampledFrom(provenances[:]).Draw(t, "observed")
	turn.Instructed, turn.Perturbed = rapid.Bool().Draw(t, "instructed"), rapid.Bool().Draw(t, "perturbed")
	turn.Document = rapid.IntRange(0, 9).Draw(t, "document") == 0
	turn.Decided = rapid.IntRange(0, 4).Draw(t, "decided") > 0
	turn.Judged = rapid.Bool().Draw(t, "judged")
	turn.Leaked = turn.Judged && rapid.Bool().Draw(t, "leaked")
	if turn.Measured = rapid.Bool().Draw(t, "measured"); turn.Measured {
		turn.HasState = rapid.Bool().Draw(t, "state")
		turn.StateShared = rapid.Int64Range(turn.SharedWords, turn.ObservationWords).Draw(t, "state shared")
		turn.Unseen = rapid.Int64Range(0, turn.ObservationWords-turn.StateShared).Draw(t, "unseen")
	}
	return turn
}

// TestBeyondAddsUp: the sums are those of a plain count, for the whole and for each domain.
func TestBeyondAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.SliceOfN(rapid.Custom(drawBeyond), 1, 80).Draw(t, "turns")
		names := NewNames()
		for i, turn := range turns {
			turn.Partition, turn.Trajectory = i/40, int64(i%40/3)
			names.Add(turn.Names())
		}
		f := New(names, ownTable, true)
		for _, turn := range turns {
			f.Add(turn)
		}
		f.Finish()
		compare := func(g *Group, of func(*Turn) bool) {
			want := naiveBeyond(turns, of)
			got := g.Beyond
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Part{}), cmpopts.IgnoreTypes(Shares{})); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", g.Name, diff)
			}
			if got.State.Both.Count()+got.State.Both.Undefined != got.State.Turns || got.State.Action.Count() != got.State.Both.Count() {
				t.Fatalf("%s: the distributions hold %d and %d turns of %d", g.Name, got.State.Action.Count(), got.State.Both.Count(), got.State.Turns)
			}
		}
		compare(f.Whole, func(*Turn) bool { return true })
		for _, g := range f.Dims[Domain].All() {
			compare(g, func(t *Turn) bool { return t.Domain == g.Name })
		}
		for _, g := range f.Dims[Provenance].All() {
			compare(g, func(t *Turn) bool { return t.Observed == g.Name })
		}
	})
}

func naiveBeyond(turns []*Turn, of func(*Turn) bool) Beyond {
	part := func(which func(*Turn) bool) Part {
		var p Part
		seen := map[[2]int64]bool{}
		for _, t := range turns {
			if of(t) && !t.Document && which(t) {
				p.Turns++
				seen[[2]int64{int64(t.Partition), t.Trajectory}] = true
			}
		}
		p.Trajectories = int64(len(seen))
		return p
	}
	count := func(which func(*Turn) bool) int64 { return part(which).Turns }
	measured := func(t *Turn) bool { return t.Decided && t.Measured }
	b := Beyond{
		Measured: count(measured), Unmeasured: count(func(t *Turn) bool { return t.Decided && !t.Measured }),
		Judged: part(func(t *Turn) bool { return t.Decided && t.Judged }), Leaked: part(func(t *Turn) bool { return t.Decided && t.Leaked }),
		All:        part(func(*Turn) bool { return true }),
		Instructed: part(func(t *Turn) bool { return t.Instructed }), Perturbed: part(func(t *Turn) bool { return t.Perturbed }),
	}
	for i, name := range provenances {
		b.Provenance[i] = part(func(t *Turn) bool { return t.Observed == name })
	}
	b.State.Turns = count(func(t *Turn) bool { return measured(t) && t.HasState })
	for _, at := range []turnmill.Ratio{{Num: 3, Den: 10}} {
		below := func(fresh func(*Turn) int64) int64 {
			return count(func(t *Turn) bool {
				return measured(t) && t.HasState && t.ObservationWords > 0 &&
					big.NewRat(fresh(t), t.ObservationWords).Cmp(big.NewRat(int64(at.Num), int64(at.Den))) < 0
			})
		}
		b.State.Bars = append(b.State.Bars, Bar{at,
			below(func(t *Turn) int64 { return t.ObservationWords - t.SharedWords }), below(func(t *Turn) int64 { return t.ObservationWords - t.StateShared })})
	}
	for _, t := range turns {
		if of(t) && !t.Document && measured(t) {
			i := slices.IndexFunc([]bool{t.Index == 0, t.Index == 1, t.Index == 2, t.Index <= 4, t.Index <= 8, t.Index <= 16, true}, func(b bool) bool { return b })
			u := &b.Unseen[i]
			u.Turns, u.Words, u.Unseen = u.Turns+1, u.Words+t.ObservationWords, u.Unseen+t.Unseen
		}
	}
	return b
}
