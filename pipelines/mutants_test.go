package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/stats"
)

// mutants is how many damaged copies of files TestMutants reads; `make mutants` asks for a thousand.
var mutants = flag.Int("mutants", 240, "damaged copies of files that TestMutants reads")

// publishedFiles returns the files below TURNMILL_DATA by their path, or else the samples of all formats, each
// as a line, over lines and in an array.
func publishedFiles(t testing.TB) (names []string, files map[string][]byte) {
	t.Helper()
	files = map[string][]byte{}
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Log("TURNMILL_DATA is not set: samples stand for published files")
		for _, f := range formats.All() {
			for shape, data := range shapes(f) {
				files["samples/"+f.Name+"-"+shape] = data
			}
		}
		return slices.Sorted(maps.Keys(files)), files
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files below TURNMILL_DATA, %v", len(files), err)
	}
	return slices.Sorted(maps.Keys(files)), files
}

// shapes returns a format's sample in the ways in which files hold records.
func shapes(f formats.Format) map[string][]byte {
	s := f.Doc.Sample
	if f.Text {
		return map[string][]byte{"text": []byte(s + "\n")}
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte("["+s+","+s+"]"), "", " ") != nil {
		return map[string][]byte{"text": []byte(s + "\n")} // several lines
	}
	return map[string][]byte{"lines": []byte(s + "\n" + s + "\n"), "array": b.Bytes()}
}

// mutation is one kind of damage. other is another file.
type mutation struct {
	name string
	make func(r *rand.Rand, data, other []byte) []byte
}

var (
	jsonKey    = regexp.MustCompile(`"([A-Za-z_.-]{1,40})"\s*:`)
	jsonString = regexp.MustCompile(`:\s*"(?:[^"\\]|\\.){0,200}"`)
)

// mutations are what happens to files on their way: transfers that end, disks that fail, other writers, other
// schemas, other encodings.
var mutations = []mutation{
	{"cut", func(r *rand.Rand, data, _ []byte) []byte { return data[:r.IntN(len(data)+1)] }},
	{"bytes flipped", func(r *rand.Rand, data, _ []byte) []byte {
		for range 1 + r.IntN(20) {
			data[r.IntN(len(data))] ^= byte(1 << r.IntN(8))
		}
		return data
	}},
	{"a block lost", func(r *rand.Rand, data, _ []byte) []byte {
		from := r.IntN(len(data))
		return slices.Delete(data, from, min(len(data), from+1+r.IntN(4096)))
	}},
	{"a key renamed", func(r *rand.Rand, data, _ []byte) []byte {
		keys := jsonKey.FindAllSubmatch(data, 500)
		if len(keys) == 0 {
			return data
		}
		key := slices.Concat([]byte(`"`), keys[r.IntN(len(keys))][1], []byte(`"`))
		return bytes.ReplaceAll(data, key, slices.Concat(key[:len(key)-1], []byte(`_2"`)))
	}},
	{"nested once more", func(r *rand.Rand, data, _ []byte) []byte {
		open, end := `{"data":`, "}"
		if r.IntN(2) == 0 {
			open, end = "[", "]"
		}
		if r.IntN(2) == 0 {
			return slices.Concat([]byte(open), data, []byte(end))
		}
		lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		return slices.Concat([]byte(open), bytes.Join(lines, []byte(end+"\n"+open)), []byte(end+"\n"))
	}},
	{"numbers for strings", func(r *rand.Rand, data, _ []byte) []byte {
		n := 1 + r.IntN(9)
		return jsonString.ReplaceAllFunc(data, func(m []byte) []byte {
			if r.IntN(n) > 0 {
				return m
			}
			return []byte(": " + strconv.Itoa(r.IntN(1000)))
		})
	}},
	{"two files joined", func(r *rand.Rand, data, other []byte) []byte {
		between := []string{"", "\n", "\x00\x00\x00", "\uFEFF"}[r.IntN(4)]
		return slices.Concat(data, []byte(between), other)
	}},
	{"CRLF", func(_ *rand.Rand, data, _ []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }},
	{"lines glued", func(r *rand.Rand, data, _ []byte) []byte {
		return bytes.Replace(data, []byte("\n"), nil, 1+r.IntN(3))
	}},
	{"byte order mark", func(_ *rand.Rand, data, _ []byte) []byte { return append([]byte("\uFEFF"), data...) }},
	{"UTF-16", func(r *rand.Rand, data, _ []byte) []byte {
		var out []byte
		little := r.IntN(2) == 0
		for _, u := range utf16.Encode([]rune("\uFEFF" + string(data))) {
			if little {
				out = append(out, byte(u), byte(u>>8))
			} else {
				out = append(out, byte(u>>8), byte(u))
			}
		}
		return out
	}},
	{"gzip, cut", func(r *rand.Rand, data, _ []byte) []byte {
		z := gzipped(data)
		return z[:len(z)-r.IntN(len(z)/2+1)]
	}},
}

// mutant is a damaged copy.
type mutant struct {
	of, by string
	data   []byte
}

func (m *mutant) String() string { return m.of + ", " + m.by }

// maxMutant keeps a single file from taking the time of many.
const maxMutant = 200_000

// mutate returns the i-th damaged copy.
func mutate(i int, names []string, files map[string][]byte) mutant {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	how := mutations[i%len(mutations)]
	pick := func() (string, []byte) {
		for {
			name := names[r.IntN(len(names))]
			if data := files[name]; len(data) > 0 {
				return name, bytes.Clone(data[:min(len(data), maxMutant)])
			}
		}
	}
	name, data := pick()
	_, other := pick()
	return mutant{of: name, by: how.name, data: how.make(r, data, other)}
}

// batch is some mutants in a directory, by the names that the plan gives them.
type batch struct {
	dir     string
	mutants map[string]*mutant
}

func newBatch(t *testing.T, from, to int, names []string, files map[string][]byte) *batch {
	b := &batch{dir: t.TempDir(), mutants: map[string]*mutant{}}
	for i := from; i < to; i++ {
		m := mutate(i, names, files)
		name := fmt.Sprintf("m%05d", i)
		write(t, filepath.Join(b.dir, name), m.data)
		b.mutants["0/"+name] = &m
	}
	return b
}

// TestMutants takes damaged copies of published files through ingest and cpt: nothing panics, the ledger is
// balanced, and all that is not read is rejected at a place in its file.
func TestMutants(t *testing.T) {
	names, files := publishedFiles(t)
	total, damage := stats.NewCounts(), map[string]int{}
	const size = 24
	for from := 0; from < *mutants; from += size {
		b := newBatch(t, from, min(from+size, *mutants), names, files)
		for _, m := range b.mutants {
			damage[m.by]++
		}
		b.ingest(t, total)
		b.dry(t)
		accountFor(t, b.dir)
	}
	if total.Ledger.Total.Records.Out == 0 || total.Ledger.Total.Records.AllRejected() == 0 {
		t.Error("nothing was read, or nothing rejected: nothing is proven")
	}
	l := total.Ledger.Total
	t.Logf("%d mutants, %d kinds of damage %v: %d records in, %d out, %d dropped %v, %d rejected %v; %d turns",
		*mutants, len(damage), damage, l.Records.In, l.Records.Out, l.Records.AllDropped(), l.Records.Dropped,
		l.Records.AllRejected(), l.Records.Rejected, l.Turns.In)
}

// ingest reads the batch into the unified form and looks at the place of every reject.
func (b *batch) ingest(t *testing.T, total *stats.Counts) {
	d := DefaultOptions()
	var out, rejects bytes.Buffer
	o := IngestOptions{Inputs: []string{b.dir}, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow,
		Rejected: func(line []byte) error { rejects.Write(line); return nil }}
	counts, err := Ingest(context.Background(), o, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := counts.Balanced(); err != nil {
		t.Error(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Fatalf("a line of the unified form is no JSON: %.200q", line)
		}
	}
	var lost int64
	for line := range strings.Lines(rejects.String()) {
		var r rejectLine
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if r.Kind == "file" || r.Kind == "record" {
			lost++
		}
		m := b.mutants[r.Path]
		switch {
		case m == nil:
			t.Errorf("a reject of no file: %s", line)
		case r.Reason == "" || r.Status != "dropped" && r.Detail == "":
			t.Errorf("%v: a reject that does not say why: %s", m, line)
		case r.Offset < 0 || r.Bytes < 0 || m.by != "gzip, cut" && r.Offset+r.Bytes > int64(len(m.data)):
			t.Errorf("%v: a place outside its %d bytes: %s", m, len(m.data), line)
		}
	}
	if l := counts.Ledger.Total.Records; lost != l.AllRejected()+l.AllDropped() {
		t.Errorf("%d reject lines for %d records that were rejected and %d that were dropped", lost, l.AllRejected(), l.AllDropped())
	}
	total.Add(counts)
}

// dry takes the batch through cpt: filters, masks, rows.
func (b *batch) dry(t *testing.T) {
	o := options(t, b.dir)
	o.DryRun, o.MinTurns, o.Workers = true, 1, 1
	m, err := CPT(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Counts.Balanced(); err != nil {
		t.Error(err)
	}
}

// accountFor checks that every byte of the inputs below dir is in a record, in a reject, or between them.
func accountFor(t *testing.T, inputs ...string) (stretches int) {
	t.Helper()
	o := options(t, inputs...)
	found, paths, _, err := inventory(context.Background(), &o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		if found[i].Rejected != "" {
			continue // the file is one reject
		}
		n, err := accountBytes(&found[i], paths[i])
		if err != nil {
			t.Errorf("%s, %s in %s: %v", found[i].Path, found[i].Format, found[i].Layout, err)
		}
		stretches += n
	}
	return stretches
}
