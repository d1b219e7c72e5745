package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var seeds = []string{
	"", "\n", "{}\n[]", "{\"a\":1}\r\n\r\n{\"b\":\"\\\"\"}\n", "\x00\x00{}\x00\n", bom + "{}\n" + bom + "{}", "[{\"a\":1},{\"a\":2}]", "[1,\"x\",null,[[]],{}]",
	"{\"a\":1}{\"a\":[1,{\"b\":2}]} 3 \"s\" true\n", "{\"a\":\"x{\"a\":2}\n{\"a\":3}", "[{\"a\":1},{\"a\":,},{\"a\":3}] x", "-1.5e+7 0 NaN -Infinity", "[,]", "{\"\\u0000\":\"\xff\"}",
	"{\"id\":1,\"x\":[1,\n{\"id\":2}\n{\"id\":3}\n",
}

func addSeeds(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint16(8))
		f.Add([]byte(s), uint16(60000))
	}
}

// inPieces frames in three ways and checks that all agree.
func inPieces(t *testing.T, layout Layout, in []byte, limit uint16) []item {
	o := Options{MaxRecord: int64(limit) + 1}
	want, wantNotes := framed(t, layout, string(in), o)
	tile(t, layout, string(in), want)
	for _, grain := range []int{1, 13} {
		f := New(layout, bytes.NewReader(in), o)
		f.src.grain = grain
		got, err := drain(t, f)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || f.Notes() != wantNotes {
			t.Fatalf("%s of %q with a buffer of %d, limit %d: %v, notes %v and %v\n%s", layout, in, grain, limit, err, wantNotes, f.Notes(), diff)
		}
	}
	return want
}

func FuzzLines(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		got := inPieces(t, Lines, in, limit)
		var want []item
		offset := 0
		for i, line := range bytes.Split(in, []byte("\n")) {
			rest := strings.TrimLeft(string(line), " \t\r\x00")
			for strings.HasPrefix(rest, bom) {
				rest = strings.TrimLeft(rest[len(bom):], " \t\r\x00")
			}
			text := strings.TrimRight(rest, " \t\r\x00")
			it := item{Data: text, Line: int64(i) + 1, Offset: int64(offset + len(line) - len(rest)), Bytes: int64(len(text))}
			if len(rest) > int(limit)+1 {
				it = item{Line: it.Line, Offset: it.Offset, Bytes: int64(len(rest)), Reason: "record_too_large"}
			}
			if text != "" {
				want = append(want, it)
			}
			offset += len(line) + 1
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", in, diff)
		}
	})
}

// reference reads values with the standard library: nil, false when it refuses the input.
func reference(in []byte) ([]string, bool) {
	var values []string
	d := json.NewDecoder(bytes.NewReader(in))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == io.EOF {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		values = append(values, string(raw))
	}
}

func compareTexts(t *testing.T, in []byte, want []string, items []item) {
	t.Helper()
	var got []string
	for _, it := range items {
		if it.Reason != "" {
			t.Fatalf("%q: rejected %+v", in, it)
		}
		got = append(got, it.Data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", in, diff)
	}
}

func FuzzValues(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		inPieces(t, Values, in, limit)
		if want, ok := reference(in); ok {
			items, _ := framed(t, Values, string(in), Options{})
			compareTexts(t, in, want, items)
		}
	})
}

func FuzzArray(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		inPieces(t, Array, in, limit)
		var elements []json.RawMessage
		if !strings.HasPrefix(strings.TrimLeft(string(in), " \t\r\n"), "[") || json.Unmarshal(in, &elements) != nil {
			return
		}
		var want []string
		for _, e := range elements {
			want = append(want, string(e))
		}
		items, _ := framed(t, Array, string(in), Options{})
		compareTexts(t, in, want, items)
	})
}

func FuzzWhole(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		if items := inPieces(t, Whole, in, limit); len(items) > 1 {
			t.Fatalf("%q: %d records", in, len(items))
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) { split(t, string(in)) })
}

func FuzzDecompress(f *testing.F) {
	f.Add([]byte(gzipped(f, "{}\n", "[]")))
	f.Add([]byte(zstded(f, "{}\n", strings.Repeat("[1,2,3]\n", 100))))
	f.Add([]byte(skippableFrame("x") + rawFrame(12, "{}") + singleSegment(2, "{}")))
	f.Fuzz(func(t *testing.T, in []byte) {
		kind := Sniff(in)
		d, err := Decompress(bytes.NewReader(in), kind, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		// A few bytes may stand for gigabytes; the first megabytes are enough here.
		n, err := io.Copy(io.Discard, io.LimitReader(d, 8<<20))
		var damage *DamageError
		var window *WindowError
		if err != nil && !errors.As(err, &damage) && !errors.As(err, &window) {
			t.Fatalf("%q: %v", in, err)
		}
		if kind == None && (err != nil || n != int64(len(in)) && n < 8<<20) {
			t.Fatalf("%q: %d bytes, %v", in, n, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
