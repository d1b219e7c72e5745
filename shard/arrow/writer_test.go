package arrow

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

const testVocabulary = 151_669

// testRow makes a row whose n tokens tell the row and the place, with loss on each third token.
func testRow(seed, n int, p Profile) *turnmill.Row {
	row := &turnmill.Row{}
	for i := range n {
		id := int32((seed*7919 + i) % testVocabulary)
		label, weight := turnmill.IgnoreIndex, float32(0)
		if i%3 == 1 {
			label, weight = id, 0.5
		}
		row.IDs, row.Labels = append(row.IDs, id), append(row.Labels, label)
		if p == ProfileWeighted {
			row.Weights = append(row.Weights, weight)
		}
	}
	return row
}

func testRows(p Profile, lengths ...int) []*turnmill.Row {
	var rows []*turnmill.Row
	for i, n := range lengths {
		rows = append(rows, testRow(i, n, p))
	}
	return rows
}

// stream writes rows under limits and returns the file.
func stream(t testing.TB, o Options, rows []*turnmill.Row) []byte {
	t.Helper()
	var out bytes.Buffer
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	w, err := newWriter(&out, o, mem)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, rows)
	if got := w.Size(); got != int64(out.Len()) {
		t.Errorf("Size() after Close = %d, want the file's %d bytes", got, out.Len())
	}
	if tt, ok := t.(*testing.T); ok {
		mem.AssertSize(tt, 0)
	}
	return out.Bytes()
}

func appendAll(t testing.TB, w *Writer, rows []*turnmill.Row) {
	t.Helper()
	for i, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatalf("Append(row %d): %v", i, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Rows() != int64(len(rows)) {
		t.Errorf("Rows() = %d, want %d", w.Rows(), len(rows))
	}
}

func options(p Profile, l Limits) Options {
	return Options{Profile: p, Vocabulary: testVocabulary, Limits: l}
}

// readWithArrow reads a file with arrow-go's own reader: the form is the format's, not only ours.
func readWithArrow(t *testing.T, file []byte, p Profile) (rows []*turnmill.Row, batches []int) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r, err := ipc.NewReader(bytes.NewReader(file), ipc.WithAllocator(mem), ipc.WithSchema(p.schema()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		b := r.RecordBatch()
		batches = append(batches, int(b.NumRows()))
		for i := range int(b.NumRows()) {
			row := &turnmill.Row{}
			for c, name := range p.Columns() {
				list := b.Column(c).(*array.List)
				if list.NullN() != 0 || list.ListValues().NullN() != 0 {
					t.Errorf("column %s has nulls", name)
				}
				from, to := list.ValueOffsets(i)
				switch values := list.ListValues().(type) {
				case *array.Int32:
					got := bytes.Clone(goarrow.Int32Traits.CastToBytes(values.Int32Values()[from:to]))
					ints := goarrow.Int32Traits.CastFromBytes(got)
					switch name {
					case "input_ids":
						row.IDs = ints
					case "labels":
						row.Labels = ints
					case "attention_mask":
						for _, one := range ints {
							if one != 1 {
								t.Fatalf("attention_mask holds %d", one)
							}
						}
					}
				case *array.Float32:
					row.Weights = append(row.Weights, values.Float32Values()[from:to]...)
				}
			}
			rows = append(rows, row)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows, batches
}

func TestWriterSplitsBatches(t *testing.T) {
	tests := []struct {
		name    string
		limits  Limits
		lengths []int
		want    []int // rows of each batch
	}{
		{"no rows", Limits{}, nil, nil},
		{"one row", Limits{}, []int{2}, []int{1}},
		{"rows", Limits{Rows: 2}, []int{2, 2, 2, 2, 2}, []int{2, 2, 1}},
		{"default rows", Limits{}, slicesOf(2001, 2), []int{1000, 1000, 1}},
		// A row of 10 tokens takes 4*3*(10+1) = 132 bytes.
		{"bytes reached", Limits{Bytes: 264}, []int{10, 10, 10}, []int{2, 1}},
		{"bytes missed by one", Limits{Bytes: 263}, []int{10, 10}, []int{1, 1}},
		{"row above the bytes", Limits{Bytes: 100}, []int{2, 50, 2, 2}, []int{1, 1, 2}},
		{"pitfall B31: elements", Limits{Elements: 100}, []int{40, 40, 40}, []int{2, 1}},
		{"elements reached", Limits{Elements: 80}, []int{40, 40, 40}, []int{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := testRows(ProfileHF, tt.lengths...)
			got, batches := readWithArrow(t, stream(t, options(ProfileHF, tt.limits), rows), ProfileHF)
			if diff := cmp.Diff(tt.want, batches); diff != "" {
				t.Errorf("rows of the batches (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(rows, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func slicesOf(n, value int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = value
	}
	return s
}

// What the writer wrote before must not show in what it writes now.
func TestWriterIsDeterministic(t *testing.T) {
	for p := range Profile(numProfiles) {
		rapid.Check(t, func(t *rapid.T) {
			lengths := rapid.SliceOfN(rapid.SampledFrom([]int{2, 3, 15, 16, 17, 63, 64, 65, 1023, 1024}), 0, 12)
			before := testRows(p, lengths.Draw(t, "before")...)
			rows := testRows(p, lengths.Draw(t, "rows")...)
			limits := Limits{Rows: rapid.IntRange(1, 5).Draw(t, "batch rows"), Bytes: 1 << rapid.IntRange(5, 16).Draw(t, "bytes")}

			fresh, err := write(options(p, limits), rows, nil)
			if err != nil {
				t.Fatal(err)
			}
			used, err := write(options(p, limits), rows, before)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(fresh, used) {
				t.Fatalf("a used writer's %d bytes differ from a fresh writer's %d", len(used), len(fresh))
			}
		})
	}
}

// write writes rows with a writer that wrote, and left unfinished, others before.
func write(o Options, rows, before []*turnmill.Row) ([]byte, error) {
	w, err := NewWriter(io.Discard, o)
	if err != nil {
		return nil, err
	}
	for _, row := range before {
		if err := w.Append(row); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	w.Reset(&out)
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// The steady state takes no memory: the figures are those of whole batches, arrow-go's included.
func TestWriterAllocates(t *testing.T) {
	w, err := NewWriter(io.Discard, options(ProfileHF, Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	row := testRow(1, 500, ProfileHF)
	perRow := testing.AllocsPerRun(5000, func() {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	})
	if perRow >= 1 {
		t.Errorf("%v allocations a row, want fewer than 1", perRow)
	}
}

// One huge row must not stay in memory for the rest of the run.
func TestWriterForgetsHugeRow(t *testing.T) {
	w, err := NewWriter(io.Discard, options(ProfileHF, Limits{Bytes: 1 << 16}))
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, testRows(ProfileHF, 1<<20, 5))
	if got := cap(w.ids) + cap(w.labels) + cap(w.ones); got > 1<<16 {
		t.Errorf("%d values are kept after a row of %d", got, 1<<20)
	}
}

func BenchmarkWriter(b *testing.B) {
	for p := range Profile(numProfiles) {
		for _, n := range []int{500, 20_000} {
			b.Run(fmt.Sprintf("%s/%d-tokens", p, n), func(b *testing.B) {
				w, err := NewWriter(io.Discard, options(p, Limits{}))
				if err != nil {
					b.Fatal(err)
				}
				row := testRow(1, n, p)
				b.SetBytes(p.bodyBytes(1, int64(n)))
				b.ReportAllocs()
				for b.Loop() {
					if err := w.Append(row); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
			})
		}
	}
}
