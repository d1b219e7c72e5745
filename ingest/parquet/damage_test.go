package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// numbered returns a file of so many rows, a few a row group, whose texts have some length.
func numbered(t testing.TB, rows, groups, length int, o ...pq.WriterOption) []byte {
	var all []any
	for i := range rows {
		all = append(all, group{"id": fmt.Sprint("row-", i+1), "text": strings.Repeat(string(rune('a'+i%26)), length)})
	}
	return written(t, pq.Group{"id": pq.String(), "text": pq.Optional(pq.String())}, all,
		append(o, pq.MaxRowsPerRowGroup(int64(groups)), pq.PageBufferSize(64))...)
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamagedPage: what is damaged costs the rest of its row group, row by row, and nothing of the others.
func TestDamagedPage(t *testing.T) {
	data := numbered(t, 12, 4, 40, pq.Compression(&pq.Snappy))
	f := opening(t, kept(t, data))
	second := f.Groups[1]
	damaged := bytes.Clone(data)
	clear(damaged[second.Offset+second.Bytes-30 : second.Offset+second.Bytes])
	g := read(t, kept(t, damaged), Options{})
	if len(g.rows) < 8 || len(g.rows) > 11 || len(g.rejects) != 12-len(g.rows) {
		t.Fatalf("%d rows, %d rejects", len(g.rows), len(g.rejects))
	}
	for i, e := range g.rejects {
		want := turnmill.Pos{Frame: -1, Line: 8 - int64(len(g.rejects)-1-i), Offset: second.Offset, Bytes: second.Bytes}
		if e.Reason != turnmill.ReasonBadParquet || e.Pos != want || !strings.Contains(e.Error(), "row group at byte") {
			t.Errorf("reject %d: %+v, want %+v", i, e, want)
		}
	}
	if last := g.records[len(g.records)-1]; last.Line != 12 || last.Offset != f.Groups[2].Offset || last.Bytes != f.Groups[2].Bytes {
		t.Errorf("the last record: %+v", last)
	}
}

// TestDamagedFixtures: no damaged byte of any file ends in a panic, or loses a row without a word.
func TestDamagedFixtures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	step := 53
	if testing.Short() {
		step = 401
	}
	path := kept(t, nil)
	for _, file := range files {
		data := fixture(t, filepath.Base(file))
		for at := 4; at < len(data); at += step {
			for _, flip := range []byte{0xFF, 0x01, 0x80} {
				damaged := bytes.Clone(data)
				damaged[at] ^= flip
				accounted(t, path, damaged)
			}
		}
	}
}

// accounted reads a file, and proves that it is refused or that each of its rows is there or rejected.
func accounted(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, nil)
	if err != nil {
		var e *turnmill.RecordError
		if !errors.As(err, &e) || e.Reason == "" {
			t.Fatalf("refused without a reason: %v", err)
		}
		return
	}
	defer f.Close()
	if f.Rows() > fewLost/4 {
		return // more than are rejected one by one
	}
	if need := f.Need(); need < 0 {
		t.Fatalf("need %d", need)
	}
	if _, _, err := f.Samples(4, 1<<20, 1<<20); err != nil && !errors.As(err, new(*turnmill.RecordError)) {
		t.Fatal(err)
	}
	g := drained(t, f.NewReader(Options{To: f.size, MaxRecord: 1 << 20}))
	if g.count != f.Rows() {
		t.Fatalf("%d rows and rejects of %d", g.count, f.Rows())
	}
	var doc jsonscan.Doc
	doc.NonFinite = true
	for _, row := range g.rows {
		if _, err := doc.Parse([]byte(row)); err != nil {
			t.Fatalf("%v in %q", err, row)
		}
	}
}

// TestSaidRows: rows that a damaged footer invents are one reject, and cost no row that is there.
func TestSaidRows(t *testing.T) {
	const said = 1 << 27
	data := refooted(t, numbered(t, 12, 4, 40), func(m *format.FileMetaData) {
		m.RowGroups[1].NumRows = said
		for i := range m.RowGroups[1].Columns {
			m.RowGroups[1].Columns[i].MetaData.NumValues = said
		}
	})
	g := read(t, kept(t, data), Options{})
	if len(g.rows) != 12 || len(g.rejects) != 1 {
		t.Fatalf("%d rows, %d rejects", len(g.rows), len(g.rejects))
	}
	if e := g.rejects[0]; e.Reason != turnmill.ReasonBadParquet || e.Pos.Line != 9 || !strings.Contains(e.Error(), fmt.Sprintf("all %d rows", said-4)) {
		t.Errorf("%v at line %d", e, e.Pos.Line)
	}
	if last := g.records[len(g.records)-1]; last.Line != said+8 {
		t.Errorf("the last row has the line %d", last.Line)
	}
}

// TestBomb: a page that holds much more than its header says is damage, and so is one that holds less; neither
// takes more memory than it says.
func TestBomb(t *testing.T) {
	const held = 64 << 20
	for _, codec := range []format.CompressionCodec{format.Gzip, format.Brotli, format.Zstd, format.Snappy} {
		t.Run(codec.String(), func(t *testing.T) {
			b, err := pq.LookupCompressionCodec(codec).Encode(nil, make([]byte, held))
			if err != nil {
				t.Fatal(err)
			}
			var u unpacker
			for _, size := range []int{0, 1, 1000, held / 64, held - 1, held, held + 1, 1 << 30} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				out, err := u.decompress(nil, b, codec, size)
				runtime.ReadMemStats(&after)
				if (err == nil) != (size == held) || len(out) != 0 && len(out) != held {
					t.Errorf("%d bytes said, %d held: %d bytes, %v", size, held, len(out), err)
				}
				if used, most := after.TotalAlloc-before.TotalAlloc, uint64(3*min(size, held)+32<<20); size < 1<<30 && used > most {
					t.Errorf("%d bytes said: took %d bytes, want at most %d", size, used, most)
				}
			}
			if out, err := u.decompress(make([]byte, 0, held), b, codec, held); err != nil || !bytes.Equal(out, make([]byte, held)) {
				t.Errorf("after the damage: %d bytes, %v", len(out), err)
			}
		})
	}
}

// TestCutFile: every cut is refused, for its footer is gone.
func TestCutFile(t *testing.T) {
	data := fixture(t, "pyarrow-snappy.parquet")
	for _, n := range []int{0, 3, 4, 11, 12, 100, len(data) / 2, len(data) - 9, len(data) - 8, len(data) - 1} {
		_, err := Open(kept(t, data[:n]), nil)
		var e *turnmill.RecordError
		if !errors.As(err, &e) || e.Reason != turnmill.ReasonBadParquet || !strings.Contains(e.Error(), "cut") {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// TestRefused: what is known and not read is refused with its name.
func TestRefused(t *testing.T) {
	data := numbered(t, 4, 2, 5)
	column := func(m *format.FileMetaData, g int) *format.ColumnChunk { return &m.RowGroups[g].Columns[1] }
	for _, c := range []struct {
		name   string
		reason turnmill.Reason
		words  string
		data   []byte
	}{
		{"encrypted footer", turnmill.ReasonBadParquet, "encrypted", append(append([]byte(encrypted), data[4:len(data)-4]...), encrypted...)},
		{"codec", turnmill.ReasonBadParquet, "LZO, which is not read", refooted(t, data, func(m *format.FileMetaData) {
			column(m, 0).MetaData.Codec, column(m, 1).MetaData.Codec = format.LZO, format.LZO
		})},
		{"summary", turnmill.ReasonNoRecords, "other files (part-0.parquet)", refooted(t, data, func(m *format.FileMetaData) { column(m, 0).FilePath = "part-0.parquet" })},
		{"outside", turnmill.ReasonBadParquet, "lies at bytes", refooted(t, data, func(m *format.FileMetaData) { column(m, 1).MetaData.DataPageOffset = 1 << 40 })},
		{"rows", turnmill.ReasonBadParquet, "rows, which is not possible", refooted(t, data, func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 1 << 40 })},
		{"values", turnmill.ReasonBadParquet, "values for", refooted(t, data, func(m *format.FileMetaData) { column(m, 0).MetaData.NumValues = 1 })},
		{"columns", turnmill.ReasonBadParquet, "1 columns", refooted(t, data, func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:1] })},
		{"variant", turnmill.ReasonBadParquet, "VARIANT", written(t, pq.Group{"v": pq.Variant()}, nil)},
		{"schema", turnmill.ReasonBadParquet, "schema that ends early", refooted(t, data, func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 3 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(kept(t, c.data), nil)
			var e *turnmill.RecordError
			if !errors.As(err, &e) || e.Reason != c.reason || !strings.Contains(e.Error(), c.words) {
				t.Errorf("%v, want %s: ... %s", err, c.reason, c.words)
			}
		})
	}
	empty := opening(t, kept(t, numbered(t, 0, 2, 5)))
	if _, _, err := empty.Samples(32, 1<<20, 0); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("without rows: %v", err)
	}
}

// TestLargeRow: a row above the limit costs itself alone.
func TestLargeRow(t *testing.T) {
	root := pq.Group{"id": pq.String(), "list": pq.List(pq.Optional(pq.String())), "text": pq.String()}
	rows := []any{
		group{"id": "1", "list": group{"list": items{}}, "text": "a"},
		group{"id": "2", "list": group{"list": items{}}, "text": strings.Repeat("x", 200)},
		group{"id": "3", "list": group{"list": items{}}, "text": "b"},
		group{"id": "4", "list": group{"list": slicesOf(group{"element": "yyyy"}, 30)}, "text": "c"},
		group{"id": "5", "list": group{"list": slicesOf(group{}, 300)}, "text": "c"},
		group{"id": "6", "list": group{"list": items{}}, "text": "\x01\x02\x03\x04\x05\x06\x07" + strings.Repeat("\x01", 20)},
		group{"id": "7", "list": group{"list": items{group{"element": "z"}}}, "text": "d"},
	}
	g := read(t, kept(t, written(t, root, rows)), Options{MaxRecord: 100})
	want := `{"id":"1","list":[],"text":"a"} {"id":"3","list":[],"text":"b"} {"id":"7","list":["z"],"text":"d"}`
	if strings.Join(g.rows, " ") != want {
		t.Errorf("rows %q", g.rows)
	}
	for i, line := range []int64{2, 4, 5, 6} {
		if e := g.rejects[i]; e.Reason != turnmill.ReasonTooLarge || e.Pos.Line != line || !strings.Contains(e.Error(), "--max-record") {
			t.Errorf("reject %d: %v", i, e)
		}
	}
}

func slicesOf(v any, n int) items {
	out := make(items, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestParts: parts of a file hold each row once, wherever they are cut.
func TestParts(t *testing.T) {
	path := kept(t, numbered(t, 23, 5, 10))
	f := opening(t, path)
	all := read(t, path, Options{})
	if len(f.Groups) != 5 || !f.Cuttable || len(all.rows) != 23 {
		t.Fatalf("%d groups, %d rows", len(f.Groups), len(all.rows))
	}
	for a := int64(0); a < f.size; a += 61 {
		first, second := read(t, path, Options{To: a + 1}), read(t, path, Options{From: a + 1, To: f.size})
		if got := strings.Join(append(first.rows, second.rows...), "\n"); got != strings.Join(all.rows, "\n") {
			t.Fatalf("cut at %d: %d and %d rows", a+1, len(first.rows), len(second.rows))
		}
	}
	swapped := refooted(t, numbered(t, 23, 5, 10), func(m *format.FileMetaData) {
		m.RowGroups[0], m.RowGroups[1] = m.RowGroups[1], m.RowGroups[0]
		m.RowGroups[0].Ordinal, m.RowGroups[1].Ordinal = 0, 1
	})
	if f := opening(t, kept(t, swapped)); f.Cuttable {
		t.Error("row groups that lie out of order cannot be cut")
	}
	if g := read(t, kept(t, swapped), Options{}); len(g.rows) != 23 || !strings.Contains(g.rows[0], "row-6") {
		t.Errorf("out of order: %d rows, the first %s", len(g.rows), g.rows[0])
	}
}

// TestWhole: all rows are one record, a line each.
func TestWhole(t *testing.T) {
	path := kept(t, numbered(t, 7, 3, 10))
	all := read(t, path, Options{})
	g := read(t, path, Options{Whole: true})
	if len(g.rows) != 1 || g.rows[0] != strings.Join(all.rows, "\n")+"\n" || g.records[0].Line != 0 {
		t.Errorf("%d records: %q", len(g.rows), g.rows)
	}
	g = read(t, path, Options{Whole: true, MaxRecord: 100})
	if len(g.rows) != 0 || len(g.rejects) != 1 || g.rejects[0].Reason != turnmill.ReasonTooLarge {
		t.Errorf("above the limit: %d records, %v", len(g.rows), g.rejects)
	}
}

// TestWholeLines: a value of JSON that is laid out over lines stays on the line of its row.
func TestWholeLines(t *testing.T) {
	rows := []any{group{"message": "{\n \"a\": \"x\\ny\"\n}"}, group{"message": "[]"}}
	path := kept(t, written(t, pq.Group{"message": pq.JSON()}, rows))
	want := "{\"message\":{  \"a\": \"x\\ny\" }}\n{\"message\":[]}\n"
	if g := read(t, path, Options{Whole: true}); len(g.rows) != 1 || g.rows[0] != want {
		t.Errorf("got %q, want %q", g.rows, want)
	}
}

// TestFixedLengths: a page of values of another length than the schema's is damage.
func TestFixedLengths(t *testing.T) {
	node := pq.Encoded(pq.Leaf(pq.FixedLenByteArrayType(4)), &pq.DeltaByteArray)
	data := written(t, pq.Group{"id": node}, []any{group{"id": [4]byte{1, 2, 3, 4}}})
	for _, mark := range []*format.LogicalType{{Value: &format.UUIDType{}}, {Value: &format.Float16Type{}}, {}} {
		for _, length := range []int32{2, 16} {
			g := read(t, kept(t, refooted(t, data, func(m *format.FileMetaData) {
				m.Schema[1].TypeLength.V = length
				m.Schema[1].LogicalType = *mark
			})), Options{})
			if len(g.rejects) != 1 || g.rejects[0].Reason != turnmill.ReasonBadParquet {
				t.Errorf("length %d as %v: rows %q, rejects %v", length, mark.Value, g.rows, g.rejects)
			}
		}
	}
}

// TestRootOfLists: a row is an object, also where its one column is called as the inside of a list is.
func TestRootOfLists(t *testing.T) {
	root := pq.Group{"list": pq.Repeated(pq.Group{"element": pq.String()})}
	data := written(t, root, []any{group{"list": items{group{"element": "a"}, group{"element": "b"}}}, group{"list": items{}}})
	want := `{"list":[{"element":"a"},{"element":"b"}]} {"list":[]}`
	if g := read(t, kept(t, data), Options{}); strings.Join(g.rows, " ") != want {
		t.Errorf("rows %q, rejects %v, want %s", g.rows, g.rejects, want)
	}
}

// FuzzParquet reads what a file becomes by any change of its bytes.
func FuzzParquet(f *testing.F) {
	for _, name := range []string{"pyarrow-snappy.parquet", "pyarrow-v2.parquet", "pyarrow-delta.parquet", "duckdb-json.parquet", "polars.parquet"} {
		f.Add(fixture(f, name))
	}
	f.Add(numbered(f, 5, 2, 10))
	f.Add([]byte(magic + magic))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) { accounted(t, filepath.Join(dir, fmt.Sprint(os.Getpid())), data) })
}
