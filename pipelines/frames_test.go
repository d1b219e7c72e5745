package pipelines

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// framing cuts a text into zstd frames, with what else a zstd file may hold.
type framing struct {
	name string
	file func(text []byte) []byte
	cut  int // partitions of nine that have records, at least
}

// framings are the ways in which frames may meet lines.
func framings() []framing {
	each := func(n int) func([]byte) []byte {
		return func(text []byte) []byte { return framed(pieces(text, n)) }
	}
	return []framing{
		{"one frame", each(1 << 30), 1},
		{"frames that end inside lines", each(4001), 8},
		{"frames shorter than lines", each(100), 8},
		{"frames of a line", func(text []byte) []byte { return framed(bytes.SplitAfter(text, []byte("\n"))) }, 8},
		{"frames that start with LF", func(text []byte) []byte {
			var all [][]byte
			for i, line := range bytes.Split(text, []byte("\n")) {
				if i > 0 {
					line = append([]byte("\n"), line...)
				}
				all = append(all, line)
			}
			return framed(all)
		}, 8},
		{"empty frames", func(text []byte) []byte {
			var all [][]byte
			for _, p := range pieces(text, 3000) {
				all = append(all, nil, p, nil, nil)
			}
			return framed(all)
		}, 8},
		{"skippable frames", func(text []byte) []byte {
			all := skippable(5)
			for _, p := range pieces(text, 3000) {
				all = append(append(append(all, zstdFrame(p)...), skippable(0)...), skippable(300)...)
			}
			return all
		}, 8},
		{"seekable", func(text []byte) []byte {
			all, table := []byte{}, []byte{}
			for _, p := range pieces(text, 3000) {
				f := zstdFrame(p)
				all = append(all, f...)
				table = append(le(table, len(f)), le(nil, len(p))...)
			}
			table = append(append(le(table, len(table)/8), 0), 0xB1, 0xEA, 0x92, 0x8F)
			all = append(all, 0x5E, 0x2A, 0x4D, 0x18)
			return append(le(all, len(table)), table...)
		}, 8},
	}
}

func le(dst []byte, n int) []byte { return append(dst, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) }

func skippable(n int) []byte {
	return append(le([]byte{0x53, 0x2A, 0x4D, 0x18}, n), bytes.Repeat([]byte{0x28}, n)...)
}

func pieces(text []byte, n int) (all [][]byte) {
	for len(text) > n {
		all, text = append(all, text[:n]), text[n:]
	}
	return append(all, text)
}

func framed(pieces [][]byte) (file []byte) {
	for _, p := range pieces {
		file = append(file, zstdFrame(p)...)
	}
	return file
}

// damagedLines are lines of every kind, good and bad, of which none is very long.
func damagedLines() []byte {
	g := &generator{rng: rand.New(rand.NewPCG(8, 3))}
	return g.damaged(lines(append(g.copyOf(demoRecords(), 0), g.copyOf(demoRecords(), 1)...)), 7)
}

// TestFramesAreCut: a zstd file of many frames is dealt out to many partitions, and gives the rows, turns,
// rejects and counts of the plain file, wherever its frames end; each reject is found where it says.
func TestFramesAreCut(t *testing.T) {
	text := damagedLines()
	plain := options(t, writeFiles(t, []testFile{{"a.jsonl", text}}))
	m := mustRun(t, plain)
	want := contentOf(t, plain.Output, m)
	if len(want.Rejects) < 20 {
		t.Fatalf("%d rejects", len(want.Rejects))
	}
	for _, f := range framings() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			file := f.file(text)
			o := options(t, writeFiles(t, []testFile{{"a.jsonl.zst", file}}))
			o.Partitions = 9
			got := mustRun(t, o)
			c := contentOf(t, o.Output, got)
			if diff := cmp.Diff(m.Counts, got.Counts); diff != "" {
				t.Errorf("counts (-plain +frames):\n%s", diff)
			}
			found := foundAgain(t, text, file, want.Rejects, c.Rejects)
			for i := range c.Rejects { // they count from a frame
				c.Rejects[i].Line, c.Rejects[i].Offset = want.Rejects[i].Line, want.Rejects[i].Offset
			}
			sameContent(t, "frames", want, c)
			busy := 0
			for i := range 9 {
				commit, err := readCommit(o.Output, i)
				if err != nil {
					t.Fatal(err)
				}
				if commit.Counts.Ledger.Total.Records.In > 0 {
					busy++
				}
			}
			if busy < f.cut || f.cut > 1 && found == 0 {
				t.Errorf("%d partitions have records, %d rejects count from a frame of their own", busy, found)
			}
			mustCheck(t, o)
		})
	}
}

// foundAgain reads every rejected record back by frame and offset. It returns how many count from a frame that
// is not the first.
func foundAgain(t *testing.T, text, file []byte, want, got []rejectLine) (later int) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rejects, want %d", len(got), len(want))
	}
	for i, r := range got {
		from := int64(0)
		if r.Frame != nil {
			from = *r.Frame
			later++
		}
		z, err := zstd.NewReader(bytes.NewReader(file[from:]))
		if err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(z)
		z.Close()
		if err != nil {
			t.Fatal(err)
		}
		w := want[i]
		record := rest[min(int(r.Offset), len(rest)):min(int(r.Offset+r.Bytes), len(rest))]
		if !bytes.Equal(record, text[w.Offset:w.Offset+w.Bytes]) {
			t.Errorf("reject %d, %s: %q lies there, want %q", i, r.Reason, record, text[w.Offset:w.Offset+w.Bytes])
		}
		if line := int64(1 + bytes.Count(rest[:r.Offset], []byte("\n"))); r.Line != line {
			t.Errorf("reject %d, %s: line %d, want %d", i, r.Reason, r.Line, line)
		}
	}
	return later
}

// TestUncut: what cannot be cut is one range, however many frames or members it has.
func TestUncut(t *testing.T) {
	g := &generator{rng: rand.New(rand.NewPCG(2, 9))}
	records := g.copyOf(demoRecords(), 0)
	text, list, whole := lines(records), array(records), g.sweAgent("tide-gauge", 40)
	var members []byte
	for _, p := range pieces(text, 5000) {
		members = append(members, gzipped(p)...)
	}
	for _, f := range []testFile{
		{"lines.jsonl.gz", members}, {"array.json", list}, {"array.json.zst", framed(pieces(list, 5000))},
		{"values.json.zst", framed(pieces(array2values(records), 5000))}, {"whole.traj", whole}, {"whole.traj.zst", framed(pieces(whole, 1000))},
	} {
		t.Run(f.name, func(t *testing.T) {
			o := options(t, filepath.Join(writeFiles(t, []testFile{f}), f.name))
			o.Partitions = 7
			m := mustRun(t, o)
			want := []InputRange{{From: 0, To: int64(len(f.data)), SHA256: hexSum(f.data)}}
			if diff := cmp.Diff(want, m.Inputs[0].Ranges); diff != "" || m.Ledger.Total.Records.Out == 0 {
				t.Errorf("%d records, ranges (-want +got):\n%s", m.Ledger.Total.Records.Out, diff)
			}
			mustCheck(t, o)
		})
	}
}

// array2values writes records one after the other, each over several lines.
func array2values(records []testRecord) (all []byte) {
	for i := range records {
		all = append(all, jsonLine(&records[i], "  ")...)
	}
	return all
}

// TestFramesDamaged: a damaged frame costs what of its partition comes after it, and no other partition.
func TestFramesDamaged(t *testing.T) {
	g := &generator{rng: rand.New(rand.NewPCG(1, 2))}
	var file []byte
	frames := bytes.SplitAfter(lines(append(g.copyOf(demoRecords(), 0), g.copyOf(demoRecords(), 1)...)), []byte("\n"))
	at := 0
	for i, line := range frames {
		if i == len(frames)/2 {
			at = len(file)
		}
		file = append(file, zstdFrame(line)...)
	}
	sound := options(t, writeFiles(t, []testFile{{"a.jsonl.zst", file}}))
	sound.Partitions = 8
	before := contentOf(t, sound.Output, mustRun(t, sound))
	file[at+40] ^= 0xFF
	o := options(t, writeFiles(t, []testFile{{"a.jsonl.zst", file}}))
	o.Partitions = 8
	m := mustRun(t, o)
	after := contentOf(t, o.Output, m)
	lost := len(before.Rows["train"]) - len(after.Rows["train"])
	if n := m.Ledger.Total.Records.Rejected["bad_compression"]; n != 1 || lost < 1 || lost > len(before.Rows["train"])/4 {
		t.Errorf("%d rejected, %d of %d rows lost: %s", n, lost, len(before.Rows["train"]), fmt.Sprint(m.Ledger.Total.Records.Rejected))
	}
	mustCheck(t, o)
}
