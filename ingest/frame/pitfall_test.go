package frame

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// A line longer than any buffer is a record like others, up to the limit.
func TestPitfall01LongLine(t *testing.T) {
	for _, size := range []int{70 << 10, 1_100_000, 11 << 20} {
		long := `{"id":2,"text":"` + strings.Repeat("é", size/2) + `"}`
		records := []string{`{"id":1}`, long, `{"id":3}`}
		inputs := map[Layout]string{
			Lines:  strings.Join(records, "\n") + "\n",
			Values: strings.Join(records, "\n") + "\n",
			Array:  "[" + strings.Join(records, ",\n") + "]",
		}
		for layout, in := range inputs {
			items, _ := framed(t, layout, in, Options{})
			if len(items) != 3 || items[0].Data != records[0] || items[1].Data != long || items[2].Data != records[2] {
				t.Errorf("%s, %d bytes: %d records", layout, size, len(items))
			}
			items, _ = framed(t, layout, in, Options{MaxRecord: int64(len(long)) - 1})
			at := int64(strings.Index(in, long))
			want := fmt.Sprintf(`{"id":1} | record_too_large@%d+%d | {"id":3}`, at, len(long))
			if got := short(items); got != want {
				t.Errorf("%s, %d bytes, limit below: %s, want %s", layout, size, got, want)
			}
		}
	}
}

// Records whose ends fall on and beside the borders of buffers.
func TestBufferBorders(t *testing.T) {
	sizes := []int{2, 3, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, grain - 2, grain - 1, grain, grain + 1, 2*grain - 1, 2 * grain, 2*grain + 1}
	for _, first := range sizes {
		for _, second := range []int{2, 64, 1025, grain - 1, grain + 1} {
			records := []string{"[" + strings.Repeat(" ", first-2) + "]", "{" + strings.Repeat("\t", second-2) + "}", "{}"}
			for _, end := range []string{"\n", "\r\n"} {
				in := strings.Join(records, end)
				items, _ := framed(t, Lines, in, Options{})
				var got []string
				for _, it := range items {
					got = append(got, it.Data)
				}
				if diff := cmp.Diff(records, got); diff != "" {
					t.Fatalf("sizes %d and %d, end %q:\n%s", first, second, end, diff)
				}
				tile(t, Lines, in, items)
			}
			items, _ := framed(t, Values, strings.Join(records, ""), Options{})
			if len(items) != 3 || items[0].Data != records[0] || items[1].Data != records[1] {
				t.Fatalf("values of sizes %d and %d: %d records", first, second, len(items))
			}
		}
	}
}

// Only LF ends a line; the other separators of Unicode are text.
func TestPitfall02UnicodeSeparators(t *testing.T) {
	for _, sep := range []string{"\u2028", "\u2029", "\u0085", "\v", "\f", "\x1C", "\r"} {
		record := `{"id":1,"observation":"a` + sep + `b"}`
		for _, layout := range []Layout{Lines, Values, Whole} {
			items, _ := framed(t, layout, record+"\n", Options{})
			if len(items) != 1 || strings.TrimRight(items[0].Data, "\n") != record {
				t.Errorf("%s with U+%04X: %s", layout, []rune(sep)[0], short(items))
			}
		}
	}
}

// Bytes that are not UTF-8, lone surrogates, NUL escapes, odd numbers and repeated keys are the decoder's:
// framing passes every record on as it stands.
func TestPitfall08And11And12BytesStay(t *testing.T) {
	records := []string{
		"{\"id\":1,\"t\":\"a\xFFb\"}", `{"id":2,"t":"\ud83d"}`, `{"id":3,"t":"\ud83d\ude00\udcb2\u0000"}`, "{\"id\":4,\"t\":\"\xED\xA0\x80\"}",
		`{"id":9007199254740993,"r":NaN,"s":[Infinity,-Infinity,1e999,-0.10]}`, `{"id":6,"role":"user","role":"tool","Role":"x"}`,
	}
	for layout, in := range map[Layout]string{
		Lines: strings.Join(records, "\n"), Values: strings.Join(records, "\n"), Array: "[" + strings.Join(records, ",") + "]",
	} {
		items, n := framed(t, layout, in, Options{})
		var got []string
		for _, it := range items {
			got = append(got, it.Data)
		}
		if diff := cmp.Diff(records, got); diff != "" || n != (turnmill.Notes{}) {
			t.Errorf("%s: notes %v, (-want +got):\n%s", layout, n, diff)
		}
	}
	// The same on one line, where each object is found again.
	parts := Split(nil, []byte(strings.Join(records, "")), &jsonscan.Doc{NonFinite: true}, new(turnmill.Notes))
	if len(parts) != len(records) {
		t.Errorf("%d parts of %d records on a line", len(parts), len(records))
	}
}

// Two files with marks, CRLF, blank lines and no last line feed, read one after another and joined.
func TestPitfall10BOMAndCRLF(t *testing.T) {
	file := bom + "{\"id\":1}\r\n\r\n{\"id\":\"" + bom + "\"}\r\n  \r\n{\"id\":3}"
	want := `{"id":1} | {"id":"` + bom + `"} | {"id":3}`
	items, n := framed(t, Lines, file, Options{})
	if got := short(items); got != want || n[turnmill.NoteBOM] != 1 {
		t.Errorf("one: %s, %d marks", got, n[turnmill.NoteBOM])
	}
	items, n = framed(t, Lines, file+"\r\n"+file, Options{})
	if got := short(items); got != want+" | "+want || n[turnmill.NoteBOM] != 2 {
		t.Errorf("joined: %s, %d marks", got, n[turnmill.NoteBOM])
	}
	if items[5].Line != 10 {
		t.Errorf("the last record stands on line %d, want 10", items[5].Line)
	}
}

// After one huge record the buffer follows the small ones again, and a run of large ones keeps it.
func TestPitfall28MemoryFollowsRecords(t *testing.T) {
	huge := `{"t":"` + strings.Repeat("x", 20<<20) + `"}` + "\n"
	small := strings.Repeat(`{"t":"small"}`+"\n", 200_000)
	f := New(Lines, io.MultiReader(strings.NewReader(huge), strings.NewReader(small)), Options{})
	if _, err := f.Next(); err != nil {
		t.Fatal(err)
	}
	if n := len(f.src.buf); n < 20<<20 || n > 64<<20 {
		t.Errorf("buffer of %d bytes for a record of 20 MiB", n)
	}
	for range 200 {
		if _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.src.buf); n > keepGrains*grain {
		t.Errorf("buffer of %d bytes after 200 small records", n)
	}

	big := strings.Repeat(`{"t":"`+strings.Repeat("x", 8<<20)+`"}`+"\n", 6)
	f = New(Lines, strings.NewReader(big), Options{})
	grown := map[int]bool{}
	for range 6 {
		if _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
		grown[len(f.src.buf)] = true
	}
	if len(grown) > 2 {
		t.Errorf("the buffer changed its size for each record: %v", grown)
	}
}

// A record far above the limit is passed without being kept, in every layout.
func TestPitfall28OversizeIsNotKept(t *testing.T) {
	const limit = 1 << 20
	body := func() io.Reader { return io.LimitReader(repeat('x'), 16<<20) }
	inputs := map[Layout][2]string{
		Lines: {`{"t":"`, "\"}\n{}"}, Values: {`{"t":"`, "\"}\n{}"}, Array: {`[{"t":"`, "\"},{}]"}, Whole: {"", ""},
	}
	for layout, around := range inputs {
		f := New(layout, io.MultiReader(strings.NewReader(around[0]), body(), strings.NewReader(around[1])), Options{MaxRecord: limit})
		items, err := drain(t, f)
		if err != nil || items[0].Reason != turnmill.ReasonTooLarge || items[0].Bytes < 16<<20 {
			t.Fatalf("%s: %s, %v", layout, short(items), err)
		}
		if layout != Whole && (len(items) != 2 || items[1].Data != "{}") {
			t.Errorf("%s: %s", layout, short(items))
		}
		if n := len(f.src.buf); n > 2*(limit+grain) {
			t.Errorf("%s: buffer of %d bytes for a limit of %d", layout, n, limit)
		}
	}
}

// Padding of any length takes no memory.
func TestPaddingIsNotKept(t *testing.T) {
	for _, c := range []byte{0, '\n', ' '} {
		f := New(Lines, io.MultiReader(io.LimitReader(repeat(c), 8<<20), strings.NewReader("{}")), Options{})
		items, err := drain(t, f)
		if err != nil || short(items) != "{}" || items[0].Offset != 8<<20 || len(f.src.buf) > grain {
			t.Errorf("%d bytes of %#x: %s, %v, buffer of %d", 8<<20, c, short(items), err, len(f.src.buf))
		}
		want := map[bool]int64{true: 1, false: 0}[c == 0]
		if n := f.Notes(); n[turnmill.NoteNULPadding] != want {
			t.Errorf("%#x: %d runs of NUL counted, want %d", c, n[turnmill.NoteNULPadding], want)
		}
	}
}

type repeat byte

func (c repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c)
	}
	return len(b), nil
}

// Offsets and lines count on from where the stretch lies in its file.
func TestOptionsOffsetAndLine(t *testing.T) {
	items, _ := framed(t, Lines, "\n{}\n{\"id\":3}", Options{Offset: 1000, Line: 50, MaxRecord: 5})
	want := []item{{"{}", 51, 1001, 2, ""}, {"", 52, 1004, 8, turnmill.ReasonTooLarge}}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Rejects read as a user needs them once the caller has set the path.
func TestRejectText(t *testing.T) {
	f := New(Lines, strings.NewReader("{}\n{\"id\":3}"), Options{MaxRecord: 5})
	if _, err := f.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := f.Next()
	reject, ok := err.(*turnmill.RecordError)
	if !ok {
		t.Fatal(err)
	}
	reject.Pos.Path = "0/runs.jsonl"
	if want := "0/runs.jsonl:2: frame: record of 8 bytes, above the limit of 5; try a larger --max-record"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// A reader that never answers is an error, not a hang.
func TestNoProgress(t *testing.T) {
	for l := Lines; l <= Whole; l++ {
		if _, err := New(l, silent{}, Options{}).Next(); err != io.ErrNoProgress {
			t.Errorf("%s: %v", l, err)
		}
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// Nesting without end is refused before the bracket stack grows without end.
func TestTooDeep(t *testing.T) {
	for layout, start := range map[Layout]string{Values: "", Array: "["} {
		in := io.MultiReader(strings.NewReader(start), io.LimitReader(repeat('['), maxOpen+100))
		items, err := drain(t, New(layout, in, Options{}))
		if err != nil || len(items) != 1 || items[0].Reason != turnmill.ReasonTooDeep || items[0].Bytes != maxOpen+100 {
			t.Errorf("%s: %s, %v", layout, short(items), err)
		}
	}
}
