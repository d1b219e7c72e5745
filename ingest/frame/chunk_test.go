package frame

import (
	"io"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readers returns the same bytes in different pieces.
func readers(in string, seed int64) map[string]io.Reader {
	return map[string]io.Reader{
		"one byte":   iotest.OneByteReader(strings.NewReader(in)),
		"half":       iotest.HalfReader(strings.NewReader(in)),
		"data + EOF": iotest.DataErrReader(strings.NewReader(in)),
		"random":     &pieces{in: []byte(in), rng: rand.New(rand.NewSource(seed))},
	}
}

type pieces struct {
	in  []byte
	rng *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in[:p.rng.Intn(min(len(p.in), 40)+1)])
	p.in = p.in[n:]
	return n, nil
}

// genInput draws inputs of records, damage and padding that fit no layout perfectly.
func genInput() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\r\n", " ", ",", "[", "]", "{", "}", "\"", "\\", ":", "\x00\x00", bom, "\xEF", "\xEF\xBB", "x", "1", "tru",
			`{"id":1}`, `{"id":2,"m":[{"r":"u"},{"r":"v"}]}`, "{\n \"id\": 3,\n \"m\": {}\n}\n", `{"id":"a\"b\\"}`, `{"id":[`, `{"id":"x`, `,{"id":4}`,
			"[]", "[1,2]", "null", "-1.5e+7", `"s"`, "\n{\"id\":5}\n", "[{\"id\":6},\n{\"id\":7}]", "garbage text", "NaN",
		}),
		rapid.Custom(func(t *rapid.T) string {
			return `{"id":"` + strings.Repeat("y", rapid.IntRange(0, 90).Draw(t, "long")) + `"}`
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
}

// However the reader cuts the input, and however small the buffer is, the records are the same.
func TestChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		layout := Layout(rapid.IntRange(int(Lines), int(Whole)).Draw(t, "layout"))
		o := Options{MaxRecord: int64(rapid.SampledFrom([]int{1, 7, 8, 20, 64, 1000}).Draw(t, "max"))}
		want, wantNotes := framed(t, layout, in, o)
		for name, r := range readers(in, int64(len(in))) {
			f := New(layout, r, o)
			f.src.grain = rapid.SampledFrom([]int{1, 3, 16, 64, grain}).Draw(t, "grain")
			got, err := drain(t, f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s of %q by %s, limit %d (-want +got):\n%s", layout, in, name, o.MaxRecord, diff)
			}
			if diff := cmp.Diff(wantNotes, f.Notes()); diff != "" {
				t.Fatalf("%s of %q by %s: notes (-want +got):\n%s", layout, in, name, diff)
			}
			if most := int(o.MaxRecord) + maxKey + f.src.grain; len(f.src.buf) > 2*most {
				t.Fatalf("%s of %q by %s: buffer of %d bytes for records of %d", layout, in, name, len(f.src.buf), o.MaxRecord)
			}
		}
	})
}

// Every byte is in a record, in a reject, or padding.
func TestTiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		layout := Layout(rapid.IntRange(int(Lines), int(Whole)).Draw(t, "layout"))
		o := Options{MaxRecord: int64(rapid.SampledFrom([]int{1, 8, 20, 1000}).Draw(t, "max"))}
		items, _ := framed(t, layout, in, o)
		tile(t, layout, in, items)
	})
}

// One changed, lost or added byte in a sound file costs at most the two records beside it, plus the change
// itself, and moves no other record. The first record stays sound: it tells how the others start.
func TestOneBadByte(t *testing.T) {
	files := map[Layout][3]string{
		Array:  {"[\n", ",\n", "\n]\n"},
		Values: {"", "\n", "\n"},
	}
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom([]Layout{Array, Values}).Draw(t, "layout")
		frame := files[layout]
		var records []string
		for range rapid.IntRange(4, 9).Draw(t, "n") {
			records = append(records, rapid.SampledFrom([]string{
				`{"id":1,"messages":[{"role":"user","content":"a {b} [c]"},{"role":"tool","content":"x, \"y\""}]}`,
				"{\n  \"id\": 2,\n  \"messages\": [\n    {\"role\": \"user\"}\n  ]\n}",
				`{"id":3}`,
			}).Draw(t, "record"))
		}
		sound := frame[0] + strings.Join(records, frame[1]) + frame[2]
		at := rapid.IntRange(len(frame[0])+len(records[0]), len(sound)-len(frame[2])-1).Draw(t, "at")
		// Brackets would open levels that only the end of the file closes, so they are only lost or added
		// in pairs by other tests.
		by := rapid.SampledFrom([]string{"", ";", "\"", ",", "}", "]", "x"}).Draw(t, "by")
		in := sound[:at] + by + sound[at+1:]
		items, _ := framed(t, layout, in, Options{})
		tile(t, layout, in, items)
		good := 0
		for _, it := range items {
			for _, r := range records {
				if it.Data == r {
					good++
					break
				}
			}
		}
		if good < len(records)-2 {
			t.Fatalf("%s: %q for %q at %d of %q\n%d of %d left: %s", layout, by, sound[at], at, sound, good, len(records), short(items))
		}
	})
}
