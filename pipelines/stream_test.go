package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill/ingest/frame"
)

// streamOf returns o for the bytes as standard input.
func streamOf(t testing.TB, o Options, stored []byte) Options {
	t.Helper()
	return with(t, o, func(o *Options) {
		o.Inputs, o.Partitions, o.Stdin = []string{"-"}, 0, bytes.NewReader(stored)
	})
}

// streamFiles are texts of every layout and compression, whole and damaged.
func streamFiles() []testFile {
	g := &generator{rng: rand.New(rand.NewPCG(7, 7))}
	records := g.copyOf(demoRecords(), 0)
	records, text := records[:12], g.damaged(lines(records[20:36]), 2)
	return []testFile{
		{"lines", text},
		{"lines.gz", append(gzipped(text[:9000]), gzipped(text[9000:])...)},
		{"lines.zst", framed(pieces(text, 5000))},
		{"crlf", chats()},
		{"blanks before, between and after", append(append([]byte("\xef\xbb\xbf\n \r\n"), bytes.ReplaceAll(lines(records[:9]), []byte("\n"), []byte("\n\n\t\n"))...), "\n\n"...)},
		{"array", array(records)},
		{"array.gz", gzipped(array(records))},
		{"values", array2values(records)},
		{"values without a line feed", bytes.ReplaceAll(array2values(records), []byte("\n"), nil)},
		{"values.zst", framed(pieces(array2values(records), 4000))},
		{"whole", g.sweAgent("tide-gauge", 30)},
		{"whole.zst", zstdFrame(g.sweAgent("tide-gauge", 30))},
		{"cut.gz", cutEnd(gzipped(text), 900)},
		{"cut.zst", cutEnd(framed(pieces(text, 5000)), 700)},
		{"cut lines", text[:len(text)-len(text)/3]},
		{"cut array", cutEnd(array(records), 1500)},
		{"unknown format", []byte("Remember to feed the cat.\n")},
		{"empty", nil},
		{"empty.gz", gzipped(nil)},
		{"blanks", []byte("\n \r\n")},
		{"a head of gzip", gzipped(text)[:12]},
	}
}

// TestStream: standard input gives the rows, turns, rejects and counts of a file with the same bytes; it is cut
// at the first record that starts --partition-bytes after the border before.
func TestStream(t *testing.T) {
	for _, f := range streamFiles() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, []testFile{{"in", f.data}})
			file := options(t, filepath.Join(dir, "in"))
			m := mustRun(t, file)
			want := contentOf(t, file.Output, m)
			var starts []int64
			for _, size := range []int64{1, 9000} {
				o := streamOf(t, file, f.data)
				o.PartitionBytes, o.Workers = size, 1+int(size%2)
				got := mustRun(t, o)
				sameContent(t, fmt.Sprint("partitions of ", size), want, contentOf(t, o.Output, got))
				if diff := cmp.Diff(m.Counts, got.Counts); diff != "" {
					t.Errorf("partitions of %d: counts (-file +stream):\n%s", size, diff)
				}
				cuts := borders(t, o.Output, f.data)
				if starts == nil {
					starts = cuts // each record has a partition of its own
				}
				if diff := cmp.Diff(wantedCuts(starts, size), cuts); diff != "" {
					t.Errorf("partitions of %d start at (-want +got):\n%s", size, diff)
				}
				if size > 1 {
					mustCheckStream(t, o, f.data)
				}
			}
		})
	}
}

// wantedCuts returns where partitions start, of records that start there.
func wantedCuts(starts []int64, size int64) []int64 {
	cuts := starts[:1:1]
	for _, at := range starts[1:] {
		if at-cuts[len(cuts)-1] >= size {
			cuts = append(cuts, at)
		}
	}
	return cuts
}

// borders tests that the partitions of a stream tile its text, and begin where records may, and returns where.
func borders(t *testing.T, root string, stored []byte) (cuts []int64) {
	t.Helper()
	var plain []byte
	if text, err := frame.Decompress(bytes.NewReader(stored), frame.Sniff(stored), 1<<27); err == nil {
		plain, _ = io.ReadAll(text) // as far as it goes
		text.Close()
	}
	at, n := int64(0), partitionsOf(t, root)
	for i := range n {
		c, err := readCommit(root, i)
		if err != nil || len(c.Inputs) != 1 || c.Last != (i == n-1) {
			t.Fatalf("commit %d of %d: %v, %+v", i, n, err, c)
		}
		r := c.Inputs[0]
		if r.From != at || r.SHA256 != hexSum(plain[r.From:r.To]) || r.Records == 0 && n > 1 {
			t.Errorf("partition %d has %d records, bytes %d to %d, after %d, with %s", i, r.Records, r.From, r.To, at, r.SHA256)
		}
		if at > 0 && plain[at] != '{' && plain[at-1] != '\n' {
			t.Errorf("partition %d starts with %.40q after %q", i, plain[at:], plain[at-1])
		}
		cuts, at = append(cuts, at), r.To
	}
	return cuts
}

// TestStreamIsCut: of equal lines each partition has as many as pass its size, no more.
func TestStreamIsCut(t *testing.T) {
	line := lines([]testRecord{demoRecords()[0]})
	n := int64(len(line))
	for _, c := range []struct{ size, perPartition int64 }{{1, 1}, {n - 1, 1}, {n, 1}, {n + 1, 2}, {2*n - 1, 2}, {2 * n, 2}, {7*n - 3, 7}} {
		o := streamOf(t, options(t), bytes.Repeat(line, 14))
		o.PartitionBytes = c.size
		mustRun(t, o)
		if got := partitionsOf(t, o.Output); int64(got) != 14/c.perPartition {
			t.Errorf("lines of %d bytes, --partition-bytes %d: %d partitions of 14 lines, want %d", n, c.size, got, 14/c.perPartition)
		}
		for i := range partitionsOf(t, o.Output) {
			if commit, err := readCommit(o.Output, i); err != nil || commit.Inputs[0].Line != 1+int64(i)*c.perPartition {
				t.Errorf("partition %d starts in line %d (%v)", i, commit.Inputs[0].Line, err)
			}
		}
	}
}

// TestStreamReads: however few bytes a read gives, the same comes out.
func TestStreamReads(t *testing.T) {
	text := damagedLines()[:80_000]
	o := streamOf(t, options(t), text)
	o.PartitionBytes = 20_000
	mustRun(t, o)
	want := digest(t, o.Output)
	for name, wrap := range map[string]func(io.Reader) io.Reader{"a byte": iotest.OneByteReader, "a half": iotest.HalfReader, "data with the end": iotest.DataErrReader} {
		again := streamOf(t, o, text)
		again.Stdin = wrap(again.Stdin)
		mustRun(t, again)
		sameFiles(t, name+" a read", want, digest(t, again.Output))
	}
}

// TestStreamShow: rows of a run of standard input are shown.
func TestStreamShow(t *testing.T) {
	o := streamOf(t, options(t), lines(demoRecords()))
	o.PartitionBytes = 9000
	m := mustRun(t, o)
	for _, row := range []int64{0, m.Counts.Tokens.Rows - 1} {
		s, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: row})
		if err != nil || len(s.Turns) == 0 || s.Tokens == 0 {
			t.Errorf("row %d: %+v, %v", row, s, err)
		}
	}
}

// TestStreamRefused: what standard input cannot be used for, and why.
func TestStreamRefused(t *testing.T) {
	o := streamOf(t, options(t), lines(demoRecords()))
	refused := func(set func(*Options), want ...string) {
		t.Helper()
		bad := o
		set(&bad)
		_, err := CPT(context.Background(), bad)
		wantUsage(t, err, want...)
		if treeInfo(t, o.Output) != nil {
			t.Errorf("%v: the output directory is there", err)
		}
	}
	refused(func(o *Options) { o.Inputs = []string{"-", "a.jsonl"} }, `input "-"`, "read alone", "cat a.jsonl b.jsonl")
	refused(func(o *Options) { o.Inputs = []string{"-", "-"} }, `input "-"`, "read alone")
	refused(func(o *Options) { o.Partitions = 3 }, "--partitions", "try --partition-bytes")
	refused(func(o *Options) { o.Stdin = nil }, `input "-"`, "not open")
	_, err := PlanCPT(context.Background(), o)
	wantUsage(t, err, `input "-"`, "no second reading", "use turnmill cpt")
	_, err = Ingest(context.Background(), IngestOptions{Inputs: []string{"-", "a"}, Format: "auto", Domain: "auto", Stdin: strings.NewReader("")}, io.Discard)
	wantUsage(t, err, `input "-"`, "read alone")

	mustRun(t, o)
	before := treeInfo(t, o.Output)
	wantUsage(t, Run(context.Background(), Options{Output: o.Output, Memory: o.Memory}, 0), "standard input", "feed the same bytes to turnmill cpt")
	sameTree(t, o.Output, before)
	for _, inputs := range [][]string{{"a", "b"}, {filepath.Join(t.TempDir(), "nowhere")}} {
		c := checkOptions(&o, false)
		c.Inputs = inputs
		_, err = Check(context.Background(), c)
		wantUsage(t, err, "--inputs")
	}
	if _, err := Merge(context.Background(), Options{Output: o.Output, MaxRejectRate: 1, MaxDropRate: 1}); err != nil {
		t.Errorf("merge of a run of standard input that is done: %v", err)
	}
}

// TestStreamIngest: ingest reads standard input as it reads the file.
func TestStreamIngest(t *testing.T) {
	for _, f := range streamFiles() {
		dir := writeFiles(t, []testFile{{"in", f.data}})
		ingest := func(input string) (string, string, int64) {
			var out bytes.Buffer
			var rejects strings.Builder
			o := IngestOptions{Inputs: []string{input}, Format: "auto", Domain: "auto", MaxRecord: 1 << 20, MaxWindow: 1 << 27, Stdin: bytes.NewReader(f.data),
				Rejected: func(line []byte) error { rejects.Write(line); return nil }}
			counts, err := Ingest(context.Background(), o, &out)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			return out.String(), strings.ReplaceAll(rejects.String(), "0/-", "0/in"), counts.Ledger.Total.Records.In
		}
		lines, rejects, n := ingest(filepath.Join(dir, "in"))
		gotLines, gotRejects, gotN := ingest("-")
		if lines != gotLines || n != gotN || strings.Count(rejects, "\n") != strings.Count(gotRejects, "\n") {
			t.Errorf("%s: %d records, %d bytes, rejects %s; the file gives %d, %d, %s", f.name, gotN, len(gotLines), gotRejects, n, len(lines), rejects)
		}
	}
}
