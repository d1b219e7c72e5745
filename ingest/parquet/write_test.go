package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// marked is a group under an annotation, whatever its parts are called.
type marked struct {
	pq.Node
	typ pq.Type
}

func (m marked) Type() pq.Type { return m.typ }

var listMark = pq.List(pq.String()).Type()

// What a file stores: nil, a value of a leaf, the members of a group, the items of a repeated field.
type (
	group = map[string]any
	items = []any
)

// layout is a published way to store a list.
type layout struct {
	name   string
	node   func(item pq.Node) pq.Node
	stored func(list items) any
	plain  bool // items are never null
	bare   bool // the list is never null
}

func threeLevels(inner, item string) layout {
	return layout{
		name: inner + "." + item,
		node: func(n pq.Node) pq.Node { return marked{pq.Group{inner: pq.Repeated(pq.Group{item: n})}, listMark} },
		stored: func(list items) any {
			out := make(items, len(list))
			for i, v := range list {
				out[i] = group{item: v}
			}
			return group{inner: out}
		},
	}
}

// layouts are those that listOf names, a list without a mark, and a repeated field by itself.
func layouts() []layout {
	unmarked := threeLevels("bag", "array_element")
	unmarked.name, unmarked.node = "no mark", func(n pq.Node) pq.Node { return pq.Group{"bag": pq.Repeated(pq.Group{"array_element": n})} }
	return []layout{
		threeLevels("list", "element"), threeLevels("list", "item"), threeLevels("bag", "array_element"), unmarked,
		{name: "array", plain: true,
			node:   func(n pq.Node) pq.Node { return marked{pq.Group{"array": pq.Repeated(n)}, listMark} },
			stored: func(list items) any { return group{"array": list} }},
		{name: "repeated", plain: true, bare: true, node: pq.Repeated, stored: func(list items) any { return list }},
	}
}

// shredder takes values apart into levels, as the format says.
type shredder struct{ columns []pq.Row }

func shred(root pq.Node, v any) pq.Row {
	var s shredder
	s.inner(root, v, 0, 0, 0, 0)
	return slices.Concat(s.columns...)
}

// field writes v below lists of depth, from a column on, and returns the column after it.
func (s *shredder) field(n pq.Node, v any, rep, def, depth, column int) (end int) {
	list, _ := v.(items)
	switch {
	case n.Repeated() && len(list) == 0:
		return s.inner(n, nil, rep, def, depth+1, column)
	case n.Repeated():
		for i, item := range list {
			if i > 0 {
				rep = depth + 1
			}
			end = s.inner(n, item, rep, def+1, depth+1, column)
		}
		return end
	case n.Optional() && v != nil:
		def++
	}
	return s.inner(n, v, rep, def, depth, column)
}

func (s *shredder) inner(n pq.Node, v any, rep, def, depth, column int) int {
	if n.Leaf() {
		for len(s.columns) <= column {
			s.columns = append(s.columns, nil)
		}
		value := pq.Value{}
		if v != nil {
			value = pq.ValueOf(v)
		}
		s.columns[column] = append(s.columns[column], value.Level(rep, def, column))
		return column + 1
	}
	parts, _ := v.(group)
	for _, f := range n.Fields() {
		column = s.field(f, parts[f.Name()], rep, def, depth, column)
	}
	return column
}

// written returns a file of rows.
func written(t testing.TB, root pq.Node, rows []any, o ...pq.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewWriter(&b, append(o, pq.NewSchema("rows", root))...)
	for _, v := range rows {
		if _, err := w.WriteRows([]pq.Row{shred(root, v)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// kept puts a file on disk.
func kept(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func opening(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// got is what a reader gave.
type got struct {
	rows    []string
	records []frame.Record // without their data
	rejects []*turnmill.RecordError
	notes   turnmill.Notes
	count   int64
}

func drained(t testing.TB, r *Reader) got {
	t.Helper()
	var g got
	for {
		rec, err := r.Next()
		var reject *turnmill.RecordError
		switch {
		case err == io.EOF:
			g.notes, g.count = r.Notes(), r.Count()
			if int64(len(g.rows)+len(g.rejects)) != g.count {
				t.Fatalf("%d rows and %d rejects, counted %d", len(g.rows), len(g.rejects), g.count)
			}
			return g
		case errors.As(err, &reject):
			g.rejects = append(g.rejects, reject)
			continue
		case err != nil:
			t.Fatal(err)
		}
		g.rows = append(g.rows, string(rec.Data))
		rec.Data = nil
		g.records = append(g.records, rec)
	}
}

// read returns the rows of a file that lie in some bytes of it.
func read(t testing.TB, path string, o Options) got {
	t.Helper()
	f := opening(t, path)
	if o.To == 0 {
		o.To = f.size
	}
	return drained(t, f.NewReader(o))
}

// refooted returns the file with another footer.
func refooted(t testing.TB, data []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	n := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	at := len(data) - 8 - n
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[at:len(data)-8], &meta); err != nil {
		t.Fatal(err)
	}
	change(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(slices.Clone(data[:at]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, magic...)
}
