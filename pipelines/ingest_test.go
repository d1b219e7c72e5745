package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIngestThenCPT: the way over the unified form gives the same rows and turns as the direct one.
func TestIngestThenCPT(t *testing.T) {
	for _, c := range []struct {
		name   string
		inputs func(t *testing.T) string
	}{
		{"demo corpus", func(t *testing.T) string { return demoCorpus(t) }},
		{"mixed corpus", func(t *testing.T) string { return mixedCorpus(t) }},
		{"recorded SWE-agent runs", func(t *testing.T) string {
			root := os.Getenv("TURNMILL_DATA")
			if root == "" {
				t.Skip("TURNMILL_DATA is not set: it names a directory with recorded runs")
			}
			return filepath.Join(root, "swe-agent")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := c.inputs(t)
			text, records := unify(t, input)
			file := filepath.Join(t.TempDir(), "unified.jsonl")
			write(t, file, text)
			if again, _ := unify(t, file); !bytes.Equal(text, again) {
				t.Error("the unified form does not come back as it is")
			}
			for _, mode := range []string{"turn", "off"} {
				direct := options(t, input)
				direct.Mask = mode
				over := with(t, direct, func(o *Options) { o.Inputs = []string{file} })
				m, n := mustRun(t, direct), mustRun(t, over)
				if m.Counts.Tokens.Rows == 0 {
					t.Fatal("no rows: nothing is proven")
				}
				if diff := cmp.Diff(trainFiles(digest(t, direct.Output)), trainFiles(digest(t, over.Output))); diff != "" {
					t.Errorf("shards (-direct +over):\n%s", diff)
				}
				if diff := cmp.Diff(turnLines(t, direct.Output), turnLines(t, over.Output)); diff != "" {
					t.Errorf("turns (-direct +over):\n%s", diff)
				}
				if n.Ledger.Total.Records.In != int64(len(records)) || n.Ledger.Total.Records.AllRejected() != 0 {
					t.Errorf("%d records, %d of them rejected, of %d unified lines", n.Ledger.Total.Records.In, n.Ledger.Total.Records.AllRejected(), len(records))
				}
			}
		})
	}
}

// turnLines is the turns table of a run of one partition, but for the ordinals, which count rejects too.
func turnLines(t *testing.T, root string) []string {
	t.Helper()
	var lines []string
	for _, row := range readTurns(t, root, 0) {
		row.Record, row.Trajectory = 0, 0
		lines = append(lines, fmt.Sprintf("%+v", row))
	}
	return lines
}

// TestIngestAccounts: what comes in goes out or is rejected, one reject line each, and the same is in what
// is written.
func TestIngestAccounts(t *testing.T) {
	d := DefaultOptions()
	var out, rejects bytes.Buffer
	o := IngestOptions{Inputs: []string{mixedCorpus(t)}, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow,
		Rejected: func(line []byte) error { rejects.Write(line); return nil }}
	counts, err := Ingest(context.Background(), o, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := counts.Balanced(); err != nil {
		t.Error(err)
	}
	records := counts.Ledger.Total.Records
	if got := int64(bytes.Count(out.Bytes(), []byte("\n"))); got != records.Out || got == 0 {
		t.Errorf("%d lines, %d records out", got, records.Out)
	}
	if got, want := int64(bytes.Count(rejects.Bytes(), []byte("\n"))), records.AllRejected()+records.AllDropped(); got != want || got == 0 {
		t.Errorf("%d reject lines, %d records rejected or dropped", got, want)
	}
	direct := with(t, options(t, o.Inputs...), nil)
	m := mustRun(t, direct)
	if got := m.Ledger.Total.Records; got.In != records.In || !cmp.Equal(got.Rejected, records.Rejected) {
		t.Errorf("cpt: %d in, rejected %v; ingest: %d in, rejected %v", got.In, got.Rejected, records.In, records.Rejected)
	}
	if got := m.Ledger.Total.Turns.In; got != counts.Ledger.Total.Turns.In+m.Ledger.Domains["knowledge"].Turns.In {
		t.Errorf("cpt: %d turns in; ingest: %d", got, counts.Ledger.Total.Turns.In)
	}
}

// TestIngestFails: an error of the writer, or of who takes the rejects, comes back as it is.
func TestIngestFails(t *testing.T) {
	corpus := mixedCorpus(t)
	d := DefaultOptions()
	o := IngestOptions{Inputs: []string{corpus}, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow}
	if _, err := Ingest(context.Background(), o, failingWriter{}); !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %v", err)
	}
	o.Rejected = func([]byte) error { return errFull }
	if _, err := Ingest(context.Background(), o, &bytes.Buffer{}); !errors.Is(err, errFull) {
		t.Errorf("rejects that cannot be taken: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Rejected = func([]byte) error { cancel(); return nil }
	if _, err := Ingest(ctx, o, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Format = "swe_agent"
	_, err := Ingest(context.Background(), o, &bytes.Buffer{})
	wantUsage(t, err, "swe_agent", "swe-agent", "turnmill")
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

// TestRecordedRuns: runs as their harnesses wrote them, of formats that are known and formats that are not,
// give a run that proves itself, whatever comes out of them.
func TestRecordedRuns(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: it names a directory with recorded runs")
	}
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, f := range folders {
		o := options(t, filepath.Join(root, f.Name()))
		o.SeqLen, o.Partitions, o.ShardBytes = 2048, 3, 300_000
		m := mustRun(t, o)
		if r := mustCheck(t, o); r.Turns != m.Ledger.Total.Turns.In {
			t.Errorf("%s: %d turns are checked, the ledger has %d", f.Name(), r.Turns, m.Ledger.Total.Turns.In)
		}
		rows += m.Counts.Tokens.Rows
	}
	if rows == 0 {
		t.Error("no rows: nothing is proven")
	}
}

// TestIngestRowsStop: a record with many rows ends when the run is stopped, not with its last row.
func TestIngestRowsStop(t *testing.T) {
	var turns []string
	for i := range 50 {
		turns = append(turns, fmt.Sprintf(`{"action":"a%d","observation":"b"}`, i))
	}
	record := fmt.Sprintf(`{"id":"a","domain":"terminal","turns":[%s]}`+"\n", strings.Join(turns, ","))
	ctx, cancel := context.WithCancelCause(context.Background())
	stopped, rows := errors.New("stopped"), 0
	out := writerFunc(func(p []byte) (int, error) {
		if rows++; rows == 3 {
			cancel(stopped)
		}
		return len(p), nil
	})
	_, err := Ingest(ctx, IngestOptions{Inputs: []string{"-"}, Format: "auto", Domain: "auto", Stdin: strings.NewReader(record), As: AsWorldBench, MaxRecord: 1 << 20}, out)
	if !errors.Is(err, stopped) || rows != 3 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
