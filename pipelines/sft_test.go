package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/replies"
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

// TestSFTTooLong: a winner whose row does not fit is not kept: the accounts of queries say what the ledger says.
func TestSFTTooLong(t *testing.T) {
	o := toySFT(t)
	o.SeqLen = 300
	m := mustRun(t, o)
	mustCheck(t, o)
	q, total := m.Ledger.Total.Queries, m.SFT.Retention[len(m.SFT.Retention)-1]
	lost := map[turnmill.Reason]int64{}
	for _, a := range m.SFT.Queries {
		for _, r := range []turnmill.Reason{turnmill.ReasonSystemTooLong, turnmill.ReasonTurnTooLong} {
			lost[r] += a.Dropped[r]
		}
	}
	for r, n := range lost {
		if n != q.Dropped[r] {
			t.Errorf("%s: %d queries, the ledger has %d", r, n, q.Dropped[r])
		}
	}
	if q.Out == 0 || len(lost) == 0 || total.Kept != q.Out || total.Kept != m.Tokens.Rows || total.Candidates <= total.Kept {
		t.Errorf("%+v, with %d queries out, %d rows, too long %v", total, q.Out, m.Tokens.Rows, lost)
	}
}

// TestSFTManyUnread: of rows of answers that cannot be read the first are named and all are counted, and check knows it.
func TestSFTManyUnread(t *testing.T) {
	o := toySFT(t)
	o.Limit, o.Partitions = 1, 1
	unread := filepath.Join(t.TempDir(), "unread.jsonl")
	const times = replies.MostRejects*2/3 + 1
	if err := os.WriteFile(unread, []byte(strings.Repeat("{\n{}\n", times)), 0o666); err != nil {
		t.Fatal(err)
	}
	o.SFT.Rollouts = append(o.SFT.Rollouts, unread)
	m := mustRun(t, o)
	mustCheck(t, o)
	if bad := m.SFT.Answers.Rejected; bad[turnmill.ReasonBadJSON] < times || bad[turnmill.ReasonBadField] < times {
		t.Errorf("rows that could not be read: %v, want %d each", bad, times)
	}
}

// TestPitfall33NaNAmongThree: scores that are no numbers never win, whatever the order of the rows, and stand in no file
// but the judge's own words.
func TestPitfall33NaNAmongThree(t *testing.T) {
	rows := []string{
		`{"query":"t@0","rollout":0,"judge":{"format":NaN,"factuality":NaN,"consistency":NaN,"realism":NaN,"quality":NaN}}`,
		`{"query":"t@0","rollout":1,"judge":{"format":3,"factuality":3,"consistency":3,"realism":3,"quality":3}}`,
		`{"query":"t@0","rollout":2,"judge":{"format":Infinity,"factuality":5,"consistency":5,"realism":5,"quality":5}}`,
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, []byte(text))
		return path
	}
	o := DefaultOptions()
	o.Pipeline, o.Mask, o.Template, o.Tokenizer, o.MinTurns = pipelineSFT, "off", drawnTemplate, "demo", 1
	o.Inputs = []string{file("runs.jsonl", `{"id":"t","domain":"terminal","turns":[{"index":0,"action":"ls","observation":"a.txt"}]}`+"\n")}
	o.SFT.Rollouts = []string{file("rollouts.jsonl", `{"query":"t@0","rollouts":["a","b","c"],"finish_reason":"stop"}`+"\n")}
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		o := with(t, o, nil)
		o.SFT.Judgements = []string{file("judged.jsonl", rows[order[0]]+"\n"+rows[order[1]]+"\n"+rows[order[2]]+"\n")}
		mustRun(t, o)
		lines, err := openLines(o.Output, queriesPath(0))
		if err != nil {
			t.Fatal(err)
		}
		line, err := lines.line()
		lines.close()
		if err != nil || !strings.Contains(string(line), `"winner":1,"decided":"alone"`) || !json.Valid(line) {
			t.Errorf("order %v: %s, %v; want rollout 1, in JSON", order, line, err)
		}
		manifest, err := os.ReadFile(filepath.Join(o.Output, "manifest.json"))
		if err != nil || !json.Valid(manifest) || strings.Contains(string(manifest), "NaN") {
			t.Errorf("order %v: NaN in the manifest, or %v", order, err)
		}
		mustCheck(t, o)
	}
}

// TestSFTResume: cancelled after some outcomes and run again, an sft run ends in the bytes of one that was not, on any
// number of workers; and so do its partitions one by one.
func TestSFTResume(t *testing.T) {
	base := toySFT(t)
	mustRun(t, base)
	want := digest(t, base.Output)
	for k := 1; k < 9; k += 3 {
		o := with(t, base, func(o *Options) { o.Workers = k })
		if interrupt(t, o, k) {
			t.Errorf("the run was over before outcome %d", k)
		}
		mustRun(t, o)
		sameFiles(t, fmt.Sprintf("cancelled after outcome %d", k), want, digest(t, o.Output))
	}
	o := with(t, base, nil)
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	later := Options{Output: o.Output, Memory: o.Memory}
	mustRunPart(t, later, 8, 0, 3, 3, 7, 2, 1, 5, 6, 4)
	if _, err := Merge(context.Background(), Options{Output: o.Output, MaxRejectRate: 1, MaxDropRate: 1}); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "partition by partition", want, digest(t, o.Output))
}
