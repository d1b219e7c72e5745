package pipelines

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
	"github.com/turnmill/turnmill/stats"
)

// TestSpansOfRecordedRuns counts, for each domain of recorded runs, the tokens that each mode is expected to train.
// docs/masking.md has the figures.
func TestSpansOfRecordedRuns(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: it names a directory with recorded runs")
	}
	modes := [...]string{"turn", "span", "changed"}
	var counts [len(modes)]*stats.Counts
	for i, mode := range modes {
		o := auditOptions(t, root)
		o.Tokenizer, o.Mask, o.MinTurns, o.MaxRejectRate, o.SeqLen = "demo", mode, 1, 1, 262_144
		counts[i] = mustRun(t, o).Counts
		mustCheck(t, o)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-9s %6s %9s %9s %9s %9s\n", "domain", "turns", "tokens", modes[0], modes[1], modes[2])
	for _, d := range turnmill.Domains() {
		var turns, tokens int64
		for _, m := range counts[0].Mask[d] {
			turns, tokens = turns+m.Turns, tokens+m.TargetTokens
		}
		fmt.Fprintf(&b, "%-9s %6d %9d", d, turns, tokens)
		for _, c := range counts {
			fmt.Fprintf(&b, " %9.0f", math.Round(expectedIn(c, d)))
		}
		b.WriteString("\n")
	}
	golden.Check(t, *update, "spans.txt", b.Bytes())
}
