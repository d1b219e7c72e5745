package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill/ingest/frame"
)

// limitFiles are inputs of every kind, one with damage in it, two that are rejected, one that is cut off. Each
// holds as many records as limitRecords says, for the framer.
func limitFiles() []testFile {
	g := &generator{rng: rand.New(rand.NewPCG(6, 6))}
	r := g.copyOf(demoRecords(), 0)
	damaged := append([]byte("\xef\xbb\xbf\n"), lines(r[:4])...)
	damaged = append(damaged, "\n{\"id\":\"cut\n\r\n{\"other\":1}\n"...)
	return []testFile{
		{"a.jsonl", append(damaged, lines(r[4:7])...)},
		{"b.jsonl.gz", append(gzipped(lines(r[7:9])), gzipped(lines(r[9:11]))...)},
		{"c.jsonl.zst", framed(pieces(lines(r[11:16]), 700))},
		{"d-notes.txt", []byte("Remember to feed the cat.\n")},
		{"e-array.json", array(r[16:19])},
		{"f-empty.jsonl", nil},
		{"g.traj", g.sweAgent("tide-gauge", 4)},
		{"h-cut.jsonl.gz", cutEnd(gzipped(lines(r[19:21])), 9)}, // cut after the last line
		{"i-array.json.zst", framed(pieces(array(r[21:24]), 500))},
		{"j.jsonl", bytes.TrimSuffix(lines(r[24:27]), []byte("\n"))},
		{"k-rows.parquet", parquetFile(r[20:24], 3)},
	}
}

const limitRecords = 9 + 4 + 5 + 1 + 3 + 1 + 1 + 3 + 3 + 3 + 4

// TestLimit: the first N records of the plan, exactly, whatever kinds of files they lie in; what they give is
// the start of what all give; and check knows that no more had to come.
func TestLimit(t *testing.T) {
	all := options(t, writeFiles(t, limitFiles()))
	all.Partitions = 4
	m := mustRun(t, all)
	if n := m.Ledger.Total.Records.In; n != limitRecords {
		t.Fatalf("%d records in, want %d", n, limitRecords)
	}
	want := contentOf(t, all.Output, m)
	for n := int64(1); n <= limitRecords+1; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			o := with(t, all, func(o *Options) { o.Limit, o.Workers = n, 1+int(n%3) })
			m := mustRun(t, o)
			if in := m.Ledger.Total.Records.In; in != min(n, limitRecords) {
				t.Errorf("%d records in", in)
			}
			got := contentOf(t, o.Output, m)
			starts(t, n, want.Rows["train"], got.Rows["train"], func(a, b string) bool { return a == b })
			starts(t, n, want.Turns, got.Turns, func(a, b string) bool { return a == b })
			starts(t, n, want.Rejects, got.Rejects, func(a, b rejectLine) bool {
				return a.Reason == b.Reason && a.ID == b.ID && a.Path == b.Path && a.Bytes == b.Bytes
			})
			mustCheck(t, o)
			if _, err := Check(context.Background(), checkOptions(&o, false)); err != nil {
				t.Errorf("check: %v", err)
			}
		})
	}
}

// starts tests that got is the start of want.
func starts[T any](t *testing.T, n int64, want, got []T, same func(a, b T) bool) {
	t.Helper()
	if len(got) > len(want) || n > limitRecords && len(got) != len(want) {
		t.Errorf("%d of %d", len(got), len(want))
		return
	}
	for i := range got {
		if !same(want[i], got[i]) {
			t.Errorf("%d is %.200v, want %.200v", i, got[i], want[i])
			return
		}
	}
}

// TestLimitBeyondEverything: it changes the plan and nothing else.
func TestLimitBeyondEverything(t *testing.T) {
	all := options(t, mixedCorpus(t))
	all.Partitions = 3
	mustRun(t, all)
	o := with(t, all, func(o *Options) { o.Limit = 1 << 40 })
	m := mustRun(t, o)
	sameFiles(t, "a limit beyond everything", parts(digest(t, all.Output)), parts(digest(t, o.Output)))
	if m.Config.Limit != 1<<40 {
		t.Errorf("limit %d in the config", m.Config.Limit)
	}
	mustCheck(t, o)
}

// TestLimitLeavesRestUnread: what comes after the last record is not looked at, nor has it to stay.
func TestLimitLeavesRestUnread(t *testing.T) {
	dir := writeFiles(t, limitFiles())
	o := options(t, dir)
	o.Partitions, o.Limit = 2, 11
	mustRun(t, o)
	want := digest(t, o.Output)
	m, err := readPlan(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	last := m.Partitions[1][len(m.Partitions[1])-1]
	if last.Input != 1 || last.Records != 2 {
		t.Errorf("the last range is %+v, want two records of input 1", last)
	}
	plain := with(t, o, func(o *Options) { o.Limit, o.Inputs = 5, []string{filepath.Join(dir, "a.jsonl")} })
	mustRun(t, plain)
	if p, err := readPlan(plain.Output); err != nil || p.Partitions[1][0].Records != 0 || p.Partitions[1][0].To >= p.Inputs[0].Bytes {
		t.Errorf("a plain file is not cut where the limit ends: %+v, %v", p.Partitions, err)
	}
	if err := os.RemoveAll(filepath.Join(o.Output, "commits")); err != nil {
		t.Fatal(err)
	}
	mustRun(t, o)
	sameFiles(t, "again", want, digest(t, o.Output))
}

// TestForgedLimit: a plan that says another limit than was read is found.
func TestForgedLimit(t *testing.T) {
	o := options(t, writeFiles(t, limitFiles()))
	o.Partitions, o.Limit = 3, 16
	lastRange := func(f *forger) *Range {
		p := f.plan.Partitions[len(f.plan.Partitions)-1]
		return &p[len(p)-1]
	}
	testForgeries(t, o, []forgery{
		{name: "one more", forge: func(f *forger) { f.plan.Config.Limit++ }, file: "plan.json"},
		{name: "one less", forge: func(f *forger) { f.plan.Config.Limit-- }, file: "plan.json"},
		{name: "none", forge: func(f *forger) { f.plan.Config.Limit = 0 }, file: "plan.json"},
		{name: "beyond everything", forge: func(f *forger) { f.plan.Config.Limit = 1000 }, file: "plan.json"},
		{name: "the range may give more", forge: func(f *forger) { lastRange(f).Records++ }, inputs: true, file: "plan.json"},
		{name: "the range may give all", forge: func(f *forger) { lastRange(f).Records = 0 }, inputs: true, file: "plan.json"},
	})
}

// TestLimitOfStream: a limit ends standard input as well, at any place of a partition.
func TestLimitOfStream(t *testing.T) {
	records := demoRecords()
	text := lines(records)
	for _, n := range []int64{1, 2, 7, int64(len(records)) - 1, int64(len(records)), int64(len(records)) + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			file := options(t, writeFiles(t, []testFile{{"a.jsonl", text}}))
			file.Limit = n
			m := mustRun(t, file)
			o := streamOf(t, file, text)
			o.PartitionBytes = 9000
			got := mustRun(t, o)
			if in := got.Ledger.Total.Records.In; in != min(n, int64(len(records))) {
				t.Errorf("%d records in", in)
			}
			sameContent(t, "standard input", contentOf(t, file.Output, m), contentOf(t, o.Output, got))
			mustCheckStream(t, o, text)
		})
	}
}

// mustCheckStream checks a run of standard input: its files, then with the same bytes as a file and as a stream.
func mustCheckStream(t *testing.T, o Options, stored []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, stored)
	for _, inputs := range [][]string{nil, {name}, {"-"}} {
		c := checkOptions(&o, false)
		c.Inputs, c.Stdin = inputs, bytes.NewReader(stored)
		if _, err := Check(context.Background(), c); err != nil {
			t.Errorf("check, inputs %v: %v", inputs, err)
		}
	}
	if o.Limit > 0 || frame.Sniff(stored) != frame.None {
		return // what comes after it is not read
	}
	other := map[string][]byte{"fewer": stored[:len(stored)*3/4], "more": append(bytes.Clone(stored), "{}\n"...)}
	for name, text := range other {
		c := checkOptions(&o, false)
		c.Inputs, c.Stdin = []string{"-"}, bytes.NewReader(text)
		if _, err := Check(context.Background(), c); err == nil && len(text) != len(stored) {
			t.Errorf("check passes with %s bytes", name)
		}
	}
}
