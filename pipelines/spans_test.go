package pipelines

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// TestSpansDeterminism: the same bytes for any number of workers, and after a resume.
func TestSpansDeterminism(t *testing.T) {
	for _, mode := range []string{"span", "changed"} {
		t.Run(mode, func(t *testing.T) {
			base := spansRun(t, mode)
			base.Workers = 1
			mustRun(t, base)
			want := digest(t, base.Output)
			for _, workers := range []int{2, 7} {
				o := with(t, base, func(o *Options) { o.Workers = workers })
				mustRun(t, o)
				sameFiles(t, fmt.Sprint(workers, " workers"), want, digest(t, o.Output))
			}
			for _, name := range []string{commitPath(1), "manifest.json"} {
				if err := os.Remove(filepath.Join(base.Output, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
			}
			mustRun(t, base)
			sameFiles(t, "resumed", want, digest(t, base.Output))
			mustCheck(t, base)
		})
	}
}

// TestSpansFollowTheDraw: turns that a mode without spans keeps are kept, whole; of the others spans alone carry loss,
// and what was to be expected is near what came out.
func TestSpansFollowTheDraw(t *testing.T) {
	for _, objective := range []string{"world-model", "all"} {
		plain := spansRun(t, "turn")
		plain.Objective = objective
		mustRun(t, plain)
		before := allTurns(t, plain.Output, 4)
		for _, mode := range []string{"span", "changed"} {
			o := with(t, plain, func(o *Options) { o.Mask = mode })
			m := mustRun(t, o)
			parts, expected := 0, 0.0
			for i, r := range allTurns(t, o.Output, 4) {
				b := before[i]
				if mode == "span" && (r.Kept != b.Kept || r.Keep != b.Keep) || r.Category != b.Category || r.KeptSpans == nil && r.Keep != b.Keep && r.Shard != "" {
					t.Fatalf("%s: turn %+v, in mode turn %+v", mode, r, b)
				}
				n := spanTokens(r.KeptSpans)
				switch {
				case r.KeptSpans == nil && r.TrainedTokens != b.TrainedTokens && b.Reason != "no_loss",
					r.KeptSpans != nil && r.Kept && r.TrainedTokens != r.TargetTokens,
					r.KeptSpans != nil && !r.Kept && float64(r.TrainedTokens) != n:
					t.Fatalf("%s: %d of %d tokens trained: %+v", mode, r.TrainedTokens, r.TargetTokens, r)
				}
				if inPart(&r) {
					parts++
				}
				if decided(&r, true) {
					expected += n + r.Keep*(float64(r.TargetTokens)-n)
				}
			}
			if parts < 5 {
				t.Errorf("%s: %d turns are trained in part", mode, parts)
			}
			if got := expectedOf(m.Counts); math.Abs(got-expected) > 0.01 {
				t.Errorf("%s: %v tokens are expected, the turns say %v", mode, got, expected)
			}
		}
	}
}

// expectedOf adds up what the mask statistics expect.
func expectedOf(c *stats.Counts) (tokens float64) {
	for d := range c.Mask {
		tokens += expectedIn(c, d)
	}
	return tokens
}

// expectedIn is expectedOf for one domain.
func expectedIn(c *stats.Counts, d turnmill.Domain) (tokens float64) {
	for category := range turnmill.Category(turnmill.NumCategories) {
		if m := c.Mask[d][category.String()]; m != nil {
			tokens += m.ExpectedShare * float64(m.TargetTokens)
		}
	}
	return tokens
}
