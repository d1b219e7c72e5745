package pipelines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnmill/turnmill/stats"
)

// auditOptions are those of an audit without a tokenizer.
func auditOptions(t testing.TB, inputs ...string) Options {
	t.Helper()
	o := options(t, inputs...)
	o.Pipeline, o.Tokenizer = pipelineAudit, ""
	return o
}

// places are the columns of a turn that depend on rows.
var places = cmpopts.IgnoreFields(stats.TurnRow{}, "Shard", "Row", "TokenStart", "TokenEnd", "ActionStart", "ActionEnd")

// TestAuditSaysWhatCPTDoes: with the tokenizer of a run an audit has its turns, places apart, and its counts;
// without one it has the same decisions.
func TestAuditSaysWhatCPTDoes(t *testing.T) {
	corpus := mixedCorpus(t)
	for _, mode := range []string{"turn", "token", "weight", "span", "changed", "off"} {
		t.Run(mode, func(t *testing.T) {
			o := options(t, corpus)
			o.Partitions, o.Mask, o.Beyond = 3, mode, "on"
			if mode == "weight" {
				o.Profile = "weighted"
			}
			want := mustRun(t, o)
			rows := allTurns(t, o.Output, 3)

			with := with(t, o, func(o *Options) { o.Pipeline = pipelineAudit })
			got := mustRun(t, with)
			if diff := cmp.Diff(rows, allTurns(t, with.Output, 3), places, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("turns with a tokenizer (-cpt +audit):\n%.2000s", diff)
			}
			if diff := cmp.Diff(want.Counts, got.Counts); diff != "" {
				t.Errorf("counts with a tokenizer (-cpt +audit):\n%s", diff)
			}
			mustCheck(t, with)

			bare := auditOptions(t, corpus)
			bare.Partitions, bare.Mask = 3, mode
			m := mustRun(t, bare)
			plain := allTurns(t, bare.Output, 3)
			rows = withoutWindows(rows)
			if diff := cmp.Diff(rows, plain, places, cmpopts.EquateNaNs(), ignoreTokens(mode)); diff != "" {
				t.Errorf("turns without a tokenizer (-cpt +audit):\n%.2000s", diff)
			}
			if m.Counts.Tokens != (stats.Tokens{}) {
				t.Errorf("tokens %+v without a tokenizer", m.Counts.Tokens)
			}
			mustCheck(t, bare)
		})
	}
}

// withoutWindows gives turns that were dropped because of a row's length or loss the status that they have
// without rows, and leaves one window of each document.
func withoutWindows(rows []stats.TurnRow) (plain []stats.TurnRow) {
	for _, r := range rows {
		if r.Category == "" && r.Turn > 0 {
			continue
		}
		switch r.Reason {
		case "turn_too_long", "no_loss", "system_too_long":
			r.Status, r.Reason = "target", ""
			if !r.Kept {
				r.Status, r.Reason = "context", "masked"
			}
		}
		plain = append(plain, r)
	}
	return plain
}

// ignoreTokens leaves out what follows from tokens; in mode token that is the draw as well.
func ignoreTokens(mode string) cmp.Option {
	names := []string{"ObservationTokens", "TargetTokens", "TrainedTokens"}
	switch mode {
	case "token":
		names = append(names, "Kept", "Status", "Reason")
	case "span", "changed":
		names = append(names, "KeptSpans")
	}
	return cmpopts.IgnoreFields(stats.TurnRow{}, names...)
}

// TestAuditDeterminism: the same bytes for any number of workers, in one process or in three steps.
func TestAuditDeterminism(t *testing.T) {
	base := auditOptions(t, mixedCorpus(t))
	base.Partitions, base.Workers = 5, 1
	mustRun(t, base)
	want := digest(t, base.Output)
	for _, workers := range []int{2, 7} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			o := with(t, base, func(o *Options) { o.Workers = workers })
			mustRun(t, o)
			sameFiles(t, "other workers", want, digest(t, o.Output))
		})
	}
	t.Run("plan, run, merge", func(t *testing.T) {
		o := with(t, base, nil)
		if _, err := PlanCPT(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		mustRunPart(t, later(o), 3, 1, 0, 4, 2)
		if _, err := Merge(context.Background(), later(o)); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, "three steps", want, digest(t, o.Output))
	})
	for name := range want {
		if strings.HasPrefix(name, "train/") || name == "dataset_dict.json" {
			t.Errorf("an audit has written %s", name)
		}
	}
}

// TestAuditOfStandardInput: standard input is cut, audited and checked as any other.
func TestAuditOfStandardInput(t *testing.T) {
	text := lines(demoRecords())
	o := auditOptions(t, "-")
	o.PartitionBytes, o.Stdin = 40_000, strings.NewReader(string(text))
	m := mustRun(t, o)
	if len(m.Files) < 6 || m.Counts.Ledger.Total.Turns.In == 0 {
		t.Fatalf("%d files, turns %+v", len(m.Files), m.Counts.Ledger.Total.Turns)
	}
	file := filepath.Join(t.TempDir(), "in.jsonl")
	write(t, file, text)
	c := checkOptions(&o, false)
	c.Inputs = []string{file}
	if _, err := Check(context.Background(), c); err != nil {
		t.Error(err)
	}
}

// TestAuditForged: check finds what is changed in an audit's turns, and takes no row for granted.
func TestAuditForged(t *testing.T) {
	o := auditOptions(t, demoCorpus(t))
	mustRun(t, o)
	for _, c := range []struct {
		name   string
		want   func(*stats.TurnRow) bool
		change func(*stats.TurnRow)
		says   string
	}{
		{"masked as target", maskedTurn, func(r *stats.TurnRow) { r.Status, r.Reason = "target", "" }, "do not go together"},
		{"kept", maskedTurn, func(r *stats.TurnRow) { r.Kept = true }, "the draw says false"},
		{"category", target, func(r *stats.TurnRow) { r.Category = "echo" }, "the table gives"},
		{"tokens", target, func(r *stats.TurnRow) { r.TargetTokens = 3 }, "without a tokenizer"},
		{"a place", target, func(r *stats.TurnRow) { r.Shard = "train/data-p00000-00000.arrow" }, "an audit has no rows"},
		{"dropped", target, func(r *stats.TurnRow) { r.Status, r.Reason = "dropped", "no_loss" }, "do not go together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := forge(t, o.Output)
			f.turn(c.want, c.change)
			f.sign()
			_, err := Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory})
			wantError(t, err, "turns/p00000.parquet", c.says)
		})
	}
}

// TestAuditRestarts: an OUT of cpt is another plan's, and an audit that is told so throws its rows away.
func TestAuditRestarts(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	o.Pipeline, o.Tokenizer = pipelineAudit, ""
	_, err := Audit(context.Background(), o)
	wantUsage(t, err, "pipeline: was \"cpt\", now \"audit\"", "tokenizer", "--restart")
	o.Restart = true
	mustRun(t, o)
	if _, err := os.Stat(filepath.Join(o.Output, "train")); !os.IsNotExist(err) {
		t.Errorf("train is still there: %v", err)
	}
	mustCheck(t, o)
}
