package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// account is what became of records, trajectories or turns. In is out, dropped and rejected together: the
// manifest counts it apart.
type account struct {
	out      int64
	dropped  map[string]int64
	rejected map[string]int64
}

// figures are the counters of a run.
type figures struct {
	records, trajectories, turns account
	rows                         int64
	notes                        map[string]int64 // repairs and notices of all domains
}

// torture is one hard input and what has to come of it.
type torture struct {
	name  string
	why   string // the numbers below
	data  []byte
	flags []string // of cpt and ingest alike
	code  int      // exit code of cpt and of ingest, when they are the same
	want  figures
	lines int // of unified output: trajectories and documents that were read
	holds []string
}

func counted(n int64) account { return account{out: n} }

func dropped(out int64, reason string, n int64) account {
	return account{out: out, dropped: map[string]int64{reason: n}}
}

func rejected(out int64, reason string, n int64) account {
	return account{out: out, rejected: map[string]int64{reason: n}}
}

func (a account) in() int64 {
	n := a.out
	for _, k := range []map[string]int64{a.dropped, a.rejected} {
		for _, c := range k {
			n += c
		}
	}
	return n
}

func reasons(m map[turnmill.Reason]int64) map[string]int64 {
	if len(m) == 0 {
		return nil
	}
	out := map[string]int64{}
	for k, n := range m {
		out[string(k)] = n
	}
	return out
}

// took returns an account of a manifest, and fails when its own in is not the sum.
func took(t *testing.T, what string, a *stats.Account) account {
	t.Helper()
	got := account{out: a.Out, dropped: reasons(a.Dropped), rejected: reasons(a.Rejected)}
	if got.in() != a.In {
		t.Errorf("%s: in %d, but out, dropped and rejected are %d", what, a.In, got.in())
	}
	return got
}

func figuresOf(t *testing.T, c *stats.Counts) figures {
	t.Helper()
	l := c.Ledger.Total
	f := figures{
		records: took(t, "records", &l.Records), trajectories: took(t, "trajectories", &l.Trajectories),
		turns: took(t, "turns", &l.Turns), rows: c.Tokens.Rows,
	}
	took(t, "loss tokens", &l.LossTokens)
	for _, domains := range []map[turnmill.Domain]map[string]int64{c.Repairs, c.Notices} {
		for _, names := range domains {
			for name, n := range names {
				f.notes = sum(f.notes, map[string]int64{name: n})
			}
		}
	}
	return f
}

// sum adds b to a.
func sum(a, b map[string]int64) map[string]int64 {
	if len(b) == 0 {
		return a
	}
	if a = maps.Clone(a); a == nil {
		a = map[string]int64{}
	}
	for k, n := range b {
		a[k] += n
	}
	return a
}

func (a account) plus(b account) account {
	return account{a.out + b.out, sum(a.dropped, b.dropped), sum(a.rejected, b.rejected)}
}

func (f figures) plus(g figures) figures {
	return figures{f.records.plus(g.records), f.trajectories.plus(g.trajectories), f.turns.plus(g.turns), f.rows + g.rows, sum(f.notes, g.notes)}
}

func diff(want, got figures) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(figures{}, account{}))
}

func manifest(t *testing.T, out string) *pipelines.Manifest {
	t.Helper()
	m := &pipelines.Manifest{}
	if err := json.Unmarshal(readFile(t, out, "manifest.json"), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// cpt is the command line of a case; --min-turns 1 keeps runs of one turn.
func (c *torture) cpt(input, out string) []string {
	return append([]string{"cpt", input, "-o", out, "--tokenizer", "demo", "--min-turns", "1", "--progress", "none"}, c.flags...)
}

// TestTorture takes every hard input through cpt, both checks and ingest.
func TestTorture(t *testing.T) {
	for _, c := range tortures() {
		t.Run(c.name, func(t *testing.T) {
			input := writeTemp(t, "input", c.data)
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, c.code, c.cpt(input, out)...)
			if d := diff(c.want, figuresOf(t, manifest(t, out).Counts)); d != "" {
				t.Errorf("%s\nmanifest (-want +got):\n%s", c.why, d)
			}
			mustRun(t, exitDone, "check", out)
			mustRun(t, exitDone, "check", out, "--inputs", input)
			c.ingest(t, input)
		})
	}
}

// ingest looks at the unified form: valid JSON, one line a trajectory whoever splits it, and read back as
// it was written.
func (c *torture) ingest(t *testing.T, input string) {
	t.Helper()
	flags := c.flags
	if i := slices.Index(flags, "--seq-len"); i >= 0 { // the one flag of the cases that ingest has not
		flags = slices.Delete(slices.Clone(flags), i, i+2)
	}
	r := cli(append([]string{"ingest", input}, flags...)...)
	if r.code != c.code {
		t.Errorf("ingest: exit code %d, want %d\n%s", r.code, c.code, r.errors)
	}
	if got := len(splitLines(r.out)); got != c.lines {
		t.Errorf("ingest wrote %d lines for a reader that splits at every line end of Unicode, want %d", got, c.lines)
	}
	for line := range strings.Lines(r.out) {
		if !json.Valid([]byte(line)) || !utf8.ValidString(line) {
			t.Errorf("ingest wrote a line that is not JSON in UTF-8: %.200q", line)
		}
	}
	for _, s := range c.holds {
		if !strings.Contains(r.out, s) {
			t.Errorf("the unified form does not hold %q", s)
		}
	}
	if c.lines == 0 {
		return
	}
	again := mustRun(t, exitDone, "ingest", writeTemp(t, "unified.jsonl", []byte(r.out)))
	if again.out != r.out {
		t.Error("ingest of the unified form does not give the same bytes")
	}
}

// splitLines splits as Python's str.splitlines does, the greediest reader of lines.
func splitLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) })
}

// TestTortureTogether reads all inputs that need no flag as one directory: nothing may depend on what else
// is read, so every counter is the sum.
func TestTortureTogether(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	var want figures
	files := 0
	for _, c := range tortures() {
		if len(c.flags) > 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, c.name), c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		want = want.plus(c.want)
		files++
	}
	all := torture{flags: []string{"--partitions", "7", "--max-reject-rate", "1"}}
	mustRun(t, exitDone, all.cpt(dir, out)...)
	m := manifest(t, out)
	if d := diff(want, figuresOf(t, m.Counts)); d != "" {
		t.Errorf("%d inputs together (-sum +got):\n%s", files, d)
	}
	if len(m.Inputs) != files {
		t.Errorf("the manifest lists %d inputs, want %d", len(m.Inputs), files)
	}
	mustRun(t, exitDone, "check", out)
	mustRun(t, exitDone, "check", out, "--inputs", dir)
}

// TestTortureRejects reads back what was lost: the bytes at the place that a reject names are the record.
func TestTortureRejects(t *testing.T) {
	large := terminal("large", text(100_000))
	data := jsonLines(terminal("a", `"1"`), large, "not JSON", terminal("b", `"2"`), `{"foo":1}`)
	input := writeTemp(t, "runs.jsonl", data)
	r := mustRun(t, exitThreshold, "ingest", input, "--max-record", "64KiB")
	type reject struct {
		Kind, Status, Reason, Path string
		Line, Offset, Bytes        int64
	}
	var got []reject
	for line := range strings.Lines(r.errors) {
		if strings.HasPrefix(line, "error: ") {
			continue
		}
		var j reject
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatalf("stderr: %v in %q", err, line)
		}
		got = append(got, j)
	}
	var want []reject
	for _, lost := range []struct {
		reason, record string
		line           int64
	}{{"record_too_large", large, 2}, {"bad_json", "not JSON", 3}, {"wrong_format", `{"foo":1}`, 5}} {
		want = append(want, reject{"record", "rejected", lost.reason, "0/runs.jsonl", lost.line,
			int64(bytes.Index(data, []byte(lost.record))), int64(len(lost.record))})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rejects (-want +got):\n%s", d)
	}
}
