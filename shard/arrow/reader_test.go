package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// readAll reads a whole file and copies its rows.
func readAll(file []byte, p Profile) ([]*turnmill.Row, Facts, error) {
	return readFrom(bytes.NewReader(file), int64(len(file)), p)
}

func readFrom(src io.Reader, size int64, p Profile) ([]*turnmill.Row, Facts, error) {
	r, err := NewReader(src, size, "data.arrow", p)
	if err != nil {
		return nil, Facts{}, err
	}
	var rows []*turnmill.Row
	for {
		row, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return rows, r.Facts(), err
		}
		if row.Number != int64(len(rows)) || len(row.AttentionMask) != len(row.IDs) {
			return rows, r.Facts(), errors.New("row number or attention mask is wrong")
		}
		rows = append(rows, &turnmill.Row{
			IDs:     append([]int32(nil), row.IDs...),
			Labels:  append([]int32(nil), row.Labels...),
			Weights: append([]float32(nil), row.Weights...),
		})
	}
}

func TestReaderReadsWhatWriterWrote(t *testing.T) {
	for p := range Profile(numProfiles) {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				lengths := rapid.SliceOfN(rapid.SampledFrom([]int{2, 3, 4, 63, 64, 65, 1023, 1024, 1025}), 0, 20).Draw(t, "lengths")
				rows := testRows(p, lengths...)
				limits := Limits{Rows: rapid.IntRange(1, 7).Draw(t, "batch rows"), Bytes: 1 << rapid.IntRange(5, 16).Draw(t, "bytes")}
				file, err := write(options(p, limits), rows, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, facts, err := readAll(file, p)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(rows, got); diff != "" {
					t.Fatalf("rows (-written +read):\n%s", diff)
				}
				checkFacts(t, facts, rows, limits, len(file))
			})
		})
	}
}

func checkFacts(t *rapid.T, facts Facts, rows []*turnmill.Row, limits Limits, size int) {
	var tokens, inBatches int64
	for _, row := range rows {
		tokens += int64(len(row.IDs))
	}
	for _, b := range facts.Batches {
		inBatches += int64(b.Rows)
		if b.Rows > limits.Rows || b.Rows > 1 && b.Bytes > limits.Bytes+4*16 {
			t.Errorf("a batch of %d rows and %d bytes under limits %+v", b.Rows, b.Bytes, limits)
		}
	}
	if inBatches != facts.Rows || facts.Rows != int64(len(rows)) || facts.Tokens != tokens ||
		facts.Bytes != int64(size) || !facts.Complete {
		t.Errorf("facts %+v of %d rows, %d tokens and %d bytes", facts, len(rows), tokens, size)
	}
}

// Every cut, also between batches and before the end marker, is noticed, as is every byte behind it.
func TestReaderNoticesCuts(t *testing.T) {
	for p := range Profile(numProfiles) {
		file := stream(t, options(p, Limits{Rows: 2}), testRows(p, 3, 4, 5, 6, 7))
		for n := range file {
			if _, facts, err := readAll(file[:n], p); !errors.Is(err, turnmill.ErrCorrupt) || facts.Complete {
				t.Fatalf("profile %s cut to %d of %d bytes: %v, want ErrCorrupt", p, n, len(file), err)
			}
		}
		for _, tail := range []string{"\x00", endMarker, string(file)} {
			longer := append(bytes.Clone(file), tail...)
			if _, _, err := readAll(longer, p); !errors.Is(err, turnmill.ErrCorrupt) || !strings.Contains(err.Error(), "behind the end marker") {
				t.Errorf("%d bytes behind the end: %v, want ErrCorrupt", len(tail), err)
			}
		}
		if _, _, err := readFrom(bytes.NewReader(file), int64(len(file))+1, p); !errors.Is(err, turnmill.ErrCorrupt) {
			t.Errorf("a file shorter than it should be: %v, want ErrCorrupt", err)
		}
	}
}

// A changed byte is noticed, or changes a value: it never passes as another structure and never panics.
func TestReaderSurvivesFlips(t *testing.T) {
	rows := testRows(ProfileWeighted, 3, 4, 5)
	file := stream(t, options(ProfileWeighted, Limits{Rows: 2}), rows)
	passed := 0
	for i := range file {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(file)
			damaged[i] ^= flip
			got, _, err := readAll(damaged, ProfileWeighted)
			if err != nil && !errors.Is(err, turnmill.ErrCorrupt) {
				t.Fatalf("byte %d: %v does not wrap ErrCorrupt", i, err)
			}
			if err != nil {
				continue
			}
			passed++
			for r, row := range got {
				if len(got) != len(rows) || len(row.IDs) != len(rows[r].IDs) {
					t.Fatalf("byte %d: passed with other rows", i)
				}
			}
		}
	}
	// Values of ids, labels and weights carry no redundancy, nor does padding.
	if values := 3 * 3 * 4 * (3 + 4 + 5); passed < values || passed > values+3*200 {
		t.Errorf("%d of %d flips passed, want little more than the %d in values", passed, 3*len(file), values)
	}
}

func TestReaderRefuses(t *testing.T) {
	hf := options(ProfileHF, Limits{Rows: 2})
	file := stream(t, hf, testRows(ProfileHF, 3, 4, 5))
	ones := bytes.Index(file, goarrow.Int32Traits.CastToBytes([]int32{1, 1, 1, 1, 1, 1, 1}))
	lastOffset := bytes.LastIndex(file, goarrow.Int32Traits.CastToBytes([]int32{0, 5}))
	tests := []struct {
		name    string
		file    []byte
		profile Profile
		want    string
	}{
		{"other profile", file, ProfileWeighted, "its schema is not that of profile weighted"},
		{"attention", patched(file, ones+4*4, 0), ProfileHF, "batch 0, row 1: attention_mask holds 0 at token 1"},
		{"lengths differ", patched(file, lastOffset, 1), ProfileHF, "batch 1, row 2: input_ids and labels differ in length"},
		{"no stream", []byte("ARROW1\x00\x00" + string(file)), ProfileHF, "schema"},
		{"field not nullable", foreign(t, false, "item", nil, nil), ProfileHF, "schema"},
		{"child of another name", foreign(t, true, "element", nil, nil), ProfileHF, "schema"},
		{"batch without rows", foreign(t, true, "item", nil, [][]int32{{}}), ProfileHF, "it states 0 rows"},
		{"null", foreign(t, true, "item", []bool{true, false}, [][]int32{{1, 2}, nil}), ProfileHF, "nulls"},
		{"compressed", foreign(t, true, "item", nil, [][]int32{{1, 1}}, ipc.WithZstd()), ProfileHF, "compressed"},
		{"metadata too long", append(bytes.Clone(file[:len(file)-8]), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1), ProfileHF, "start no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAll(tt.file, tt.profile)
			if !errors.Is(err, turnmill.ErrCorrupt) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "data.arrow: ") {
				t.Errorf("got %v, want ErrCorrupt with %q", err, tt.want)
			}
		})
	}
}

// The cases above fail for what they name: arrow-go's builders alone make a file that passes.
func TestReaderTakesForeignFile(t *testing.T) {
	want := []*turnmill.Row{{IDs: []int32{1, 1}, Labels: []int32{1, 1}}, {IDs: []int32{1}, Labels: []int32{1}}}
	got, _, err := readAll(foreign(t, true, "item", nil, [][]int32{{1, 1}, {1}}), ProfileHF)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, rows (-want +got):\n%s", err, diff)
	}
}

func patched(file []byte, at int, value int32) []byte {
	b := bytes.Clone(file)
	binary.LittleEndian.PutUint32(b[at:], uint32(value))
	return b
}

// foreign writes a stream of the hf columns with arrow-go's builders, each column with the same lists.
func foreign(t *testing.T, nullable bool, child string, valid []bool, lists [][]int32, opts ...ipc.Option) []byte {
	t.Helper()
	elem := goarrow.ListOfField(goarrow.Field{Name: child, Type: goarrow.PrimitiveTypes.Int32, Nullable: true})
	var fields []goarrow.Field
	for _, name := range ProfileHF.Columns() {
		fields = append(fields, goarrow.Field{Name: name, Type: elem, Nullable: nullable})
	}
	schema := goarrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(opts, ipc.WithSchema(schema))...)
	if lists != nil {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for c := range fields {
			list := b.Field(c).(*array.ListBuilder)
			for i, values := range lists {
				if len(values) > 0 || valid == nil && len(lists) > 1 {
					list.Append(valid == nil || valid[i])
					list.ValueBuilder().(*array.Int32Builder).AppendValues(values, nil)
				} else if valid != nil {
					list.AppendNull()
				}
			}
		}
		batch := b.NewRecordBatch()
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		batch.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A failure to read says nothing about the file.
func TestReaderPassesReadErrorsOn(t *testing.T) {
	file := stream(t, options(ProfileHF, Limits{Rows: 1}), testRows(ProfileHF, 3, 4))
	broken := errors.New("cable pulled")
	for n := range len(file) + 1 {
		src := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken))
		_, _, err := readFrom(src, int64(len(file)), ProfileHF)
		if !errors.Is(err, broken) || errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("after %d bytes: %v, want the read error alone", n, err)
		}
	}
}

// A file of a few bytes that states gigabytes must not make the reader allocate them.
func TestReaderBelievesNoLength(t *testing.T) {
	file := stream(t, options(ProfileHF, Limits{}), testRows(ProfileHF, 1<<20))
	short := file[:4096]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readAll(short, ProfileHF)
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if !errors.Is(err, turnmill.ErrCorrupt) || allocated > 1<<18 {
		t.Errorf("4096 of %d bytes: %v after %d bytes of memory", len(file), err, allocated)
	}
}

func TestReaderReusesMemory(t *testing.T) {
	file := stream(t, options(ProfileHF, Limits{Rows: 10}), testRows(ProfileHF, slicesOf(1000, 50)...))
	r, err := NewReader(bytes.NewReader(file), int64(len(file)), "data.arrow", ProfileHF)
	if err != nil {
		t.Fatal(err)
	}
	perRow := testing.AllocsPerRun(900, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if perRow >= 1 {
		t.Errorf("%v allocations a row, want fewer than 1", perRow)
	}
}

func BenchmarkReader(b *testing.B) {
	rows := slicesOf(4000, 2000)
	file := stream(b, options(ProfileHF, Limits{}), testRows(ProfileHF, rows...))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)), "data.arrow", ProfileHF)
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
