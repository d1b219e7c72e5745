package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

// TestWriters reads files of the same rows by the writers that people use. Their twin is one JSON line a row.
func TestWriters(t *testing.T) {
	twin, err := os.ReadFile(filepath.Join("testdata", "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(twin), "\n"), "\n")
	files, err := filepath.Glob(filepath.Join("testdata", "*.parquet"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			g := read(t, path, Options{})
			if len(g.rejects) > 0 {
				t.Fatal(g.rejects[0])
			}
			if filepath.Base(path) == "strings.parquet" { // tools stays a text here: formats read it as one
				for i := range want {
					if !strings.HasPrefix(g.rows[i], want[i][:strings.Index(want[i], `,"tools"`)]) {
						t.Errorf("row %d: %s", i, g.rows[i])
					}
				}
				return
			}
			if diff := cmp.Diff(want, g.rows); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

var update = golden.Update()

// TestTypes: a value of each type that has a form of its own, by pyarrow and DuckDB.
func TestTypes(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"pyarrow", "pyarrow-int96", "duckdb"} {
		g := read(t, filepath.Join("testdata", "types", name+".parquet"), Options{})
		if len(g.rejects) > 0 {
			t.Fatal(g.rejects[0])
		}
		fmt.Fprintf(&b, "%s\n%s\nnull members %d, opened %d, pictures %d\n\n", name, strings.ReplaceAll(strings.Join(g.rows, "\n"), `,"`, "\n,\""),
			g.notes[turnmill.NoteNullMember], g.notes[turnmill.NoteOpenedJSON], g.notes[turnmill.NoteNonTextPart])
	}
	golden.Check(t, *update, "types.txt", []byte(b.String()))
}

// TestNullEmptyAbsent: at each level of every layout a list is null, empty or has items, null ones among them.
func TestNullEmptyAbsent(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.name, func(t *testing.T) {
			optional := pq.Optional
			item, list := optional(pq.String()), optional
			if l.plain {
				item = pq.String()
			}
			if l.bare {
				list = func(n pq.Node) pq.Node { return n }
			}
			message := pq.Group{"content": optional(pq.String()), "parts": list(l.node(item)), "role": pq.String()}
			inner := optional(message)
			if l.plain {
				inner = message
			}
			root := pq.Group{"id": pq.String(), "messages": list(l.node(inner))}
			messages := func(m ...any) any { return l.stored(m) }
			rows := []any{
				group{"id": "empty", "messages": messages()},
				group{"id": "one", "messages": messages(group{"role": "user", "content": "", "parts": l.stored(items{})})},
				group{"id": "two", "messages": messages(
					group{"role": "user", "parts": l.stored(items{"a", "", "b"})}, group{"role": "tool", "content": "x", "parts": l.stored(items{"c"})})},
			}
			want := []string{
				`{"id":"empty","messages":[]}`,
				`{"id":"one","messages":[{"content":"","parts":[],"role":"user"}]}`,
				`{"id":"two","messages":[{"parts":["a","","b"],"role":"user"},{"content":"x","parts":["c"],"role":"tool"}]}`,
			}
			nulls := int64(1)
			if !l.bare {
				rows = append(rows, group{"id": "null"}, group{"id": "inner", "messages": messages(group{"role": "user"})})
				want = append(want, `{"id":"null"}`, `{"id":"inner","messages":[{"role":"user"}]}`)
				nulls += 3
			}
			if !l.plain {
				rows = append(rows, group{"id": "items", "messages": messages(nil, group{"role": "user", "parts": l.stored(items{nil, "a", nil})}, nil)})
				want = append(want, `{"id":"items","messages":[null,{"parts":[null,"a",null],"role":"user"},null]}`)
				nulls++
			}
			for _, version := range []int{1, 2} {
				g := read(t, kept(t, written(t, root, rows, pq.DataPageVersion(version), pq.PageBufferSize(16))), Options{})
				if diff := cmp.Diff(want, g.rows); diff != "" || len(g.rejects) > 0 {
					t.Errorf("pages of version %d, rejects %v, -want +got:\n%s", version, g.rejects, diff)
				}
				if g.notes[turnmill.NoteNullMember] != nulls {
					t.Errorf("%d members null, want %d", g.notes[turnmill.NoteNullMember], nulls)
				}
			}
		})
	}
}

// shape is a type of a random schema, and how its values are stored and read.
type shape struct {
	node  pq.Node
	value func(t *rapid.T) (stored any, json string) // of one that is not null
	null  bool                                       // it may be null
}

func (s shape) draw(t *rapid.T) (stored any, json string) {
	if s.null && rapid.IntRange(0, 2).Draw(t, "null") == 0 {
		return nil, "null"
	}
	return s.value(t)
}

// drawShape draws a type. An item of a list is no repeated field by itself; plain says that it is never null.
func drawShape(t *rapid.T, depth int, item, plain bool) shape {
	most := 4
	if depth == 0 {
		most = 1
	}
	var s shape
	bare := false
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		s.node = drawEncoding(t, pq.String(), &pq.Plain, &pq.RLEDictionary, &pq.DeltaLengthByteArray, &pq.DeltaByteArray)
		s.value = func(t *rapid.T) (any, string) {
			v := rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\\n☃é")), 0, 5, -1).Draw(t, "text")
			return v, strconv.Quote(v)
		}
	case 1:
		s.node = drawEncoding(t, pq.Int(64), &pq.Plain, &pq.RLEDictionary, &pq.DeltaBinaryPacked, &pq.ByteStreamSplit)
		s.value = func(t *rapid.T) (any, string) {
			v := rapid.Int64().Draw(t, "number")
			return v, strconv.FormatInt(v, 10)
		}
	case 2, 3:
		all := layouts()
		if item {
			all = all[:len(all)-1]
		}
		l := all[rapid.IntRange(0, len(all)-1).Draw(t, "layout")]
		of := drawShape(t, depth-1, true, l.plain)
		s.node, bare = l.node(of.node), l.bare
		s.value = func(t *rapid.T) (any, string) {
			list, texts := items{}, []string{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				v, json := of.draw(t)
				list, texts = append(list, v), append(texts, json)
			}
			return l.stored(list), "[" + strings.Join(texts, ",") + "]"
		}
	case 4:
		s = drawGroup(t, depth-1)
	}
	if s.null = !plain && !bare && rapid.Bool().Draw(t, "optional"); s.null {
		s.node = pq.Optional(s.node)
	}
	return s
}

func drawEncoding(t *rapid.T, n pq.Node, all ...encoding.Encoding) pq.Node {
	return pq.Encoded(n, all[rapid.IntRange(0, len(all)-1).Draw(t, "encoding")])
}

// codecs are all that are read.
var codecs = []compress.Codec{&pq.Uncompressed, &pq.Snappy, &pq.Gzip, &pq.Zstd, &pq.Lz4Raw, &pq.Brotli}

func drawGroup(t *rapid.T, depth int) shape {
	node := pq.Group{}
	parts := make([]shape, rapid.IntRange(1, 3).Draw(t, "members"))
	name := func(i int) string { return fmt.Sprintf("m%d", i) }
	for i := range parts {
		parts[i] = drawShape(t, depth, false, false)
		node[name(i)] = parts[i].node
	}
	return shape{node: node, value: func(t *rapid.T) (any, string) {
		g, texts := group{}, []string{}
		for i := range parts {
			v, json := parts[i].draw(t)
			if v == nil {
				continue
			}
			g[name(i)] = v
			texts = append(texts, strconv.Quote(name(i))+":"+json)
		}
		return g, "{" + strings.Join(texts, ",") + "}"
	}}
}

// TestRandomSchemas: any tree of structs and lists in any layouts, with nulls anywhere, comes back.
func TestRandomSchemas(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		root := drawGroup(rt, 3)
		var rows []any
		var want []string
		for range rapid.IntRange(1, 8).Draw(rt, "rows") {
			v, json := root.value(rt)
			rows, want = append(rows, v), append(want, json)
		}
		data := written(t, root.node, rows, pq.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "version")), pq.PageBufferSize(rapid.IntRange(1, 64).Draw(rt, "page")),
			pq.MaxRowsPerRowGroup(int64(rapid.IntRange(1, 5).Draw(rt, "group"))), pq.Compression(codecs[rapid.IntRange(0, len(codecs)-1).Draw(rt, "codec")]))
		path := filepath.Join(dir, "x.parquet")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		g := drained(t, f.NewReader(Options{To: f.size}))
		if diff := cmp.Diff(want, g.rows); diff != "" || len(g.rejects) > 0 {
			rt.Fatalf("schema %s\nrejects %v, -want +got:\n%s", pq.NewSchema("rows", root.node), g.rejects, diff)
		}
		if f.Rows() != int64(len(rows)) || f.Need() <= 0 {
			rt.Fatalf("%d rows, need %d", f.Rows(), f.Need())
		}
	})
}
