package pipelines

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toyrollouts"
)

// toySFT returns the options of a run over a toy corpus of 100 trajectories and 300 queries.
func toySFT(t testing.TB) Options {
	t.Helper()
	dir := t.TempDir()
	if err := toyrollouts.Write(dir, 100); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Pipeline, o.Mask, o.Template, o.Tokenizer = pipelineSFT, "off", drawnTemplate, "demo"
	o.Inputs, o.Output = []string{filepath.Join(dir, "runs")}, filepath.Join(t.TempDir(), "out")
	o.SFT.Rollouts, o.SFT.Judgements = []string{filepath.Join(dir, "rollouts")}, []string{filepath.Join(dir, "judgements")}
	o.SFT.Targets, o.Partitions, o.MaxRejectRate, o.MaxDropRate = "all", 9, 1, 1
	return o
}

// TestSFT: 300 queries over seven domains end once each, every ending occurs, check proves the run from its own files
// and from the inputs, and any number of workers gives the same bytes.
func TestSFT(t *testing.T) {
	base := toySFT(t)
	base.Workers = 1
	m := mustRun(t, base)
	q := m.Ledger.Total.Queries
	if q.In != 300 || len(m.Ledger.Domains) != 7 {
		t.Fatalf("%d queries in %d domains, want 300 in 7", q.In, len(m.Ledger.Domains))
	}
	for _, r := range []turnmill.Reason{turnmill.ReasonIncompleteRollouts, turnmill.ReasonBelowThreshold, turnmill.ReasonJudgeUnparsable} {
		if q.Dropped[r] == 0 {
			t.Errorf("no query is dropped for %s", r)
		}
	}
	for _, r := range []turnmill.Reason{turnmill.ReasonRolloutFailed, turnmill.ReasonNotJudged} {
		if q.Rejected[r] == 0 {
			t.Errorf("no query is rejected for %s", r)
		}
	}
	if q.Out == 0 || m.Tokens.Rows != q.Out || m.SFT.Retention[7].Kept != q.Out {
		t.Errorf("%d queries out, %d rows, retention %+v", q.Out, m.Tokens.Rows, m.SFT.Retention)
	}
	want := digest(t, base.Output)
	mustCheck(t, base)
	for _, workers := range []int{2, 7} {
		t.Run(fmt.Sprint("workers ", workers), func(t *testing.T) {
			o := with(t, base, func(o *Options) { o.Workers = workers })
			mustRun(t, o)
			sameFiles(t, "other workers", want, digest(t, o.Output))
		})
	}
}
