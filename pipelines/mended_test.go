package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestRestartLeavesOthersFiles: --restart throws away what a run has written and nothing else, and never an input.
func TestRestartLeavesOthersFiles(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	notes := filepath.Join(o.Output, "train", "notes.txt")
	write(t, notes, []byte("mine"))
	o.Seed, o.Restart = "other", true
	mustRun(t, o)
	if data, err := os.ReadFile(notes); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	inside := filepath.Join(o.Output, "train", "mine.jsonl")
	write(t, inside, lines(demoRecords()[:3]))
	o.Inputs = []string{inside}
	_, err := CPT(t.Context(), o)
	wantUsage(t, err, "--output", "lies in it", "another --output")
	if _, err := os.Stat(inside); err != nil {
		t.Error(err)
	}
}

// TestRestartLeavesNothing: of whatever pipeline a run was, what one of fewer partitions does not write again is gone.
func TestRestartLeavesNothing(t *testing.T) {
	cpt := options(t, demoCorpus(t))
	for name, o := range map[string]Options{"cpt": cpt, "audit": auditOptions(t, cpt.Inputs...), "sft": toySFT(t)} {
		t.Run(name, func(t *testing.T) {
			o.Partitions = 3
			mustRun(t, o)
			o.Partitions, o.Restart = 1, true
			mustRun(t, o)
			fresh := with(t, o, func(o *Options) { o.Restart = false })
			mustRun(t, fresh)
			sameFiles(t, "restarted", digest(t, fresh.Output), digest(t, o.Output))
			mustCheck(t, o)
		})
	}
}

// TestUnsoundPlan: a plan that no turnmill writes is named as such by whatever reads it, and never panics.
func TestUnsoundPlan(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	plan := filepath.Join(o.Output, "plan.json")
	good, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to string }{
		{"no partitions", `"partitions": 1,`, `"partitions": 0,`},
		{"partitions below 0", `"partitions": 1,`, `"partitions": -5,`},
		{"too many partitions", `"partitions": 1,`, `"partitions": 100000000,`},
		{"seq-len", `"seq-len": `, `"seq-len": -`},
		{"objective", `"objective": "world-model"`, `"objective": "reward"`},
		{"state", `"state": "always"`, `"state": ""`},
		{"shard-bytes", `"shard-bytes": `, `"shard-bytes": -`},
		{"a format", `"format": "turnmill"`, `"format": "nope"`},
		{"a layout", `"layout": "lines"`, `"layout": "rows"`},
		{"a range", `"from": 0,`, `"from": -1,`},
		{"a line", `"line": 1`, `"line": 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("the plan has no %s", c.from)
			}
			write(t, plan, []byte(bad))
			_, checked := Check(t.Context(), checkOptions(&o, true))
			ran := Run(t.Context(), Options{Output: o.Output, Memory: o.Memory}, 0)
			_, merged := Merge(t.Context(), Options{Output: o.Output, MaxRejectRate: 1})
			for what, err := range map[string]error{"check": checked, "run": ran, "merge": merged} {
				if !errors.Is(err, turnmill.ErrCorrupt) || !strings.Contains(err.Error(), "plan.json") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestCheckStreamInputs: what stands for standard input has to be a file, and a cancelled check says so.
func TestCheckStreamInputs(t *testing.T) {
	o := options(t, "-")
	o.Stdin = bytes.NewReader(lines(demoRecords()[:5]))
	mustRun(t, o)
	c := checkOptions(&o, false)
	for _, inputs := range [][]string{{t.TempDir()}, {"nowhere"}, {"a", "b"}} {
		c.Inputs = inputs
		_, err := Check(t.Context(), c)
		wantUsage(t, err, "--inputs")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the machine goes down")
	cancel(why)
	c.Inputs = nil
	if _, err := Check(ctx, c); !errors.Is(err, why) {
		t.Errorf("check: %v", err)
	}
	if _, err := Merge(ctx, Options{Output: o.Output, MaxRejectRate: 1}); !errors.Is(err, why) {
		t.Errorf("merge: %v", err)
	}
}

// TestRejectsAreCharged: a file of nothing but rejects goes through in jobs, as records do.
func TestRejectsAreCharged(t *testing.T) {
	dir := t.TempDir()
	record := string(bytes.TrimSpace(lines(demoRecords()[:1])))
	write(t, dir+"/a.json", []byte("["+record+strings.Repeat(",", 300_000)+record+"]"))
	o := options(t, dir)
	o.MaxRejectRate, o.Workers, o.Memory = 1, 1, 300<<20
	before := heapPeak()
	m := mustRun(t, o)
	if got := m.Ledger.Total.Records.AllRejected(); got < 100_000 {
		t.Fatalf("%d rejects: the test proves nothing", got)
	}
	if grown := heapPeak() - before; grown > 250<<20 {
		t.Errorf("the process grew by %d MiB", grown>>20)
	}
}

// heapPeak is what the process has asked of the system.
func heapPeak() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// TestFewerWorkers: too little memory for every worker takes workers away, and changes nothing else.
func TestFewerWorkers(t *testing.T) {
	o := options(t, demoCorpus(t))
	want := mustRun(t, o)
	again := with(t, o, func(o *Options) { o.Workers, o.Memory = 64, 256<<20 })
	var log bytes.Buffer
	again.Logger = jsonLogger(&log)
	if got := mustRun(t, again); fmt.Sprint(got.Files) != fmt.Sprint(want.Files) {
		t.Error("the files differ")
	}
	var line struct {
		Msg     string
		Workers int
	}
	for d := json.NewDecoder(&log); line.Msg != "fewer workers, for what --memory holds"; {
		if err := d.Decode(&line); err != nil {
			t.Fatalf("the log does not say so: %v", err)
		}
	}
	if line.Workers < 1 || line.Workers > 63 {
		t.Errorf("%d workers", line.Workers)
	}
}

// TestRecordID: only the suffix that numbers a record's trajectories is left out of the draw.
func TestRecordID(t *testing.T) {
	for id, want := range map[string]string{
		"a": "a", "a#2": "a", "a#31": "a", "a#1": "a#1", "a#0": "a#0", "a#02": "a#02", "a#": "a#", "#2": "", "a#2#3": "a#2",
		"a#-2": "a#-2", "a#+2": "a#+2", "a#x": "a#x", "owner/repo#1": "owner/repo#1", "a#99999999999999999999": "a#99999999999999999999",
	} {
		if got := recordID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func jsonLogger(b *bytes.Buffer) *slog.Logger { return slog.New(slog.NewJSONHandler(b, nil)) }
