package frame

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// item is a record or a reject as tests compare them.
type item struct {
	Data   string // empty for a reject
	Line   int64
	Offset int64
	Bytes  int64
	Reason turnmill.Reason
}

// drain reads f to its end. The error is nil at io.EOF. It checks what holds for every framer.
func drain(t fataler, f *Framer) ([]item, error) {
	t.Helper()
	var items []item
	for {
		rec, err := f.Next()
		var rejected *turnmill.RecordError
		switch {
		case err == nil:
			items = append(items, item{string(rec.Data), rec.Line, rec.Offset, int64(len(rec.Data)), ""})
		case errors.As(err, &rejected):
			p := rejected.Pos
			if rejected.Step != "frame" || rejected.Err == nil || p.Path != "" || p.Frame != -1 {
				t.Fatalf("incomplete reject: %+v", rejected)
			}
			items = append(items, item{"", p.Line, p.Offset, p.Bytes, rejected.Reason})
		default:
			if f.Count() != int64(len(items)) {
				t.Fatalf("Count() = %d after %d records and rejects", f.Count(), len(items))
			}
			if _, again := f.Next(); again != err {
				t.Fatalf("Next() after the end: %v, before: %v", again, err)
			}
			if err == io.EOF {
				err = nil
			}
			return items, err
		}
	}
}

func framed(t fataler, layout Layout, input string, o Options) ([]item, turnmill.Notes) {
	t.Helper()
	f := New(layout, strings.NewReader(input), o)
	items, err := drain(t, f)
	if err != nil {
		t.Fatal(err)
	}
	return items, f.Notes()
}

// short writes items on one line: data, or reason@offset+bytes.
func short(items []item) string {
	var parts []string
	for _, it := range items {
		s := it.Data
		if it.Reason != "" {
			s = fmt.Sprintf("%s@%d+%d", it.Reason, it.Offset, it.Bytes)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | ")
}

func notes(pairs ...int64) turnmill.Notes {
	var n turnmill.Notes
	for i := 0; i < len(pairs); i += 2 {
		n[pairs[i]] = pairs[i+1]
	}
	return n
}

const (
	nBOM = int64(turnmill.NoteBOM)
	nNUL = int64(turnmill.NoteNULPadding)
)

func TestLayoutNames(t *testing.T) {
	for l := Lines; l <= Whole; l++ {
		got, err := ParseLayout(l.String())
		if err != nil || got != l {
			t.Errorf("ParseLayout(%q) = %v, %v", l.String(), got, err)
		}
	}
	if _, err := ParseLayout("rows"); err == nil || !strings.Contains(err.Error(), "try lines") {
		t.Errorf("ParseLayout(rows): %v", err)
	}
}

func TestFrame(t *testing.T) {
	tests := []struct {
		name   string
		layout Layout
		in     string
		max    int64
		want   string
		notes  turnmill.Notes
	}{
		{"lines/plain", Lines, "{\"a\":1}\n{\"b\":2}\n", 0, `{"a":1} | {"b":2}`, notes()},
		{"lines/empty", Lines, "", 0, "", notes()},
		{"lines/no-last-lf", Lines, "{}\n[]", 0, "{} | []", notes()},
		{"lines/crlf-and-blank", Lines, "\r\n{}\r\n\r\n \t\n[]\r\n", 0, "{} | []", notes()},
		{"lines/separators-in-strings", Lines, "[\"\u2028\u2029\u0085\"]\n{}\n", 0, "[\"\u2028\u2029\u0085\"] | {}", notes()},
		{"lines/bom", Lines, bom + "{}\n[]", 0, "{} | []", notes(nBOM, 1)},
		{"lines/bom-of-second-file", Lines, bom + "{}\n" + bom + "[]", 0, "{} | []", notes(nBOM, 2)},
		{"lines/bom-in-string", Lines, "[\"" + bom + "\"]", 0, "[\"" + bom + "\"]", notes()},
		{"lines/only-bom", Lines, bom, 0, "", notes(nBOM, 1)},
		{"lines/half-bom", Lines, "\xEF\xBB", 0, "\xEF\xBB", notes()},
		{"lines/nul-before-after", Lines, "\x00\x00{}\x00\n\x00\x00\x00[]\x00 \x00\n\x00\x00", 0, "{} | []", notes(nNUL, 6)},
		{"lines/nul-inside", Lines, "{\x00}\n", 0, "{\x00}", notes()},
		{"lines/only-nul", Lines, "\x00\x00\n\x00", 0, "", notes(nNUL, 2)},
		{"lines/garbage-is-a-record", Lines, "{}\nwhat\n{}\n", 0, "{} | what | {}", notes()},
		{"lines/too-large", Lines, "{}\n[1,2,3,4]\n{}\n", 8, "{} | record_too_large@3+9 | {}", notes()},
		{"lines/just-fits", Lines, "{}\n[1,2,3]\n[1,2,34]", 8, "{} | [1,2,3] | [1,2,34]", notes()},
		{"lines/too-large-last", Lines, "{}\n[1,2,3,4]", 8, "{} | record_too_large@3+9", notes()},

		{"values/mixed", Values, "{\n \"a\": 1\n}{\"b\":2} 3\n\"x\" true[4]", 0, "{\n \"a\": 1\n} | {\"b\":2} | 3 | \"x\" | true | [4]", notes()},
		{"values/empty", Values, " \n", 0, "", notes()},
		{"values/padding", Values, bom + "{}\x00\x00\n" + bom + "\x00{}", 0, "{} | {}", notes(nBOM, 2, nNUL, 2)},
		{"values/brackets-in-strings", Values, `{"a":"}]\"{"} {"b":"\\"}`, 0, `{"a":"}]\"{"} | {"b":"\\"}`, notes()},
		{"values/last-number", Values, "1 23", 0, "1 | 23", notes()},
		{"values/non-finite", Values, `{"r":NaN,"s":-Infinity,"t":Infinity} {}`, 0, `{"r":NaN,"s":-Infinity,"t":Infinity} | {}`, notes()},
		{"values/damaged", Values, "{\"a\":1}\n{\"a\":,}\n{\"a\":3}\n", 0, `{"a":1} | bad_json@8+7 | {"a":3}`, notes()},
		{"values/mismatched", Values, "{\"a\":[1}\n{\"a\":3}\n", 0, `bad_json@0+8 | {"a":3}`, notes()},
		{"values/garbage-lines", Values, "INFO hello\n{\"a\":1}\nmore { text\n{\"a\":3}", 0, `bad_json@0+10 | {"a":1} | bad_json@19+11 | {"a":3}`, notes()},
		{"values/cut-in-string", Values, "{\"id\":1,\"x\":\"ab\n{\"id\":2}\n{\"id\":3}\n", 0, `bad_json@0+15 | {"id":2} | {"id":3}`, notes()},
		{"values/cut-in-array", Values, "{\"id\":1,\"x\":[1,\n{\"id\":2}\n{\"id\":3}\n", 0, `bad_json@0+15 | {"id":2} | {"id":3}`, notes()},
		{"values/cut-in-member-last", Values, "{\"id\":1,\"x\":\n{\"id\":2}\n", 0, `truncated@0+12 | {"id":2}`, notes()},
		{"values/cut-at-end", Values, "{\"id\":1}\n{\"id\":2,\"x\":[{\"y\":1}", 0, `{"id":1} | truncated@9+20`, notes()},
		{"values/inner-objects-are-no-records", Values, "{\n\"id\":1,\n\"x\":[\n{\n\"y\":1\n}\n", 0, "truncated@0+25", notes()},
		{"values/too-large", Values, "{\"a\":1}\n{\"a\":\"0123456789\"} {\"a\":3}", 8, `{"a":1} | record_too_large@8+18 | {"a":3}`, notes()},
		{"values/too-large-and-damaged", Values, "{\"a\":\"0123456789\",,} {\n{\"a\":3}", 8, `record_too_large@0+22 | {"a":3}`, notes()},

		{"array/plain", Array, ` [ {"a":1} , {"a":2} ] `, 0, `{"a":1} | {"a":2}`, notes()},
		{"array/empty", Array, "[]", 0, "", notes()},
		{"array/nothing", Array, "", 0, "", notes()},
		{"array/scalars", Array, "[1,-2.5e3,\"x,]\",null,[2,[3]]]", 0, `1 | -2.5e3 | "x,]" | null | [2,[3]]`, notes()},
		{"array/padding", Array, bom + "[{}\x00]\n\x00", 0, "{}", notes(nBOM, 1, nNUL, 2)},
		{"array/not-one", Array, "{\"a\":1}\n", 0, "bad_json@0+7", notes()},
		{"array/text-after", Array, "[1] x [2]\n", 0, "1 | bad_json@4+5", notes()},
		{"array/joined-files", Array, "[1]\n" + bom + "[2]", 0, "1 | 2", notes(nBOM, 1)},
		{"array/no-end", Array, "[{\"a\":1},", 0, `{"a":1} | truncated@9+0`, notes()},
		{"array/no-end-number", Array, "[1,23", 0, `1 | 23 | truncated@5+0`, notes()},
		{"array/cut-element", Array, "[{\"a\":1},{\"a\":2,\"b\":[", 0, `{"a":1} | truncated@9+12`, notes()},
		{"array/comma-missing", Array, "[{\"a\":1} {\"a\":2}]", 0, `{"a":1} | {"a":2}`, notes()},
		{"array/comma-last", Array, "[{\"a\":1},]", 0, `{"a":1}`, notes()},
		{"array/comma-twice", Array, "[1,,2]", 0, `1 | bad_json@3+1 | 2`, notes()},
		{"array/damaged", Array, "[{\"a\":1},{\"a\":oops,\"b\":[{\"c\":1},{\"c\":2}]},\n {\n \"a\" :3}]", 0, "{\"a\":1} | bad_json@9+32 | {\n \"a\" :3}", notes()},
		{"array/damaged-first", Array, "[{\"a\":},{\"a\":2}]", 0, `bad_json@1+6 | {"a":2}`, notes()},
		{"array/damaged-last", Array, "[{\"a\":1},{\"a\":}]\n", 0, `{"a":1} | bad_json@9+7`, notes()},
		{"array/quote-lost", Array, `[{"a":1},{"a":"x,"b":"y"},{"a":3}]`, 0, `{"a":1} | bad_json@9+16 | {"a":3}`, notes()},
		{"array/quote-lost-at-end", Array, `[{"a":1},{"a":"x},{"a":3},{"a":4}]`, 0, `{"a":1} | bad_json@9+8 | {"a":3} | {"a":4}`, notes()},
		{"array/bracket-lost", Array, `[{"a":1},{"a":[{"c":1},"b":2},{"a":3}]`, 0, `{"a":1} | bad_json@9+20 | {"a":3}`, notes()},
		{"array/brace-lost", Array, `[{"a":1},{"a":{"c":1},{"a":3}]`, 0, `{"a":1} | bad_json@9+12 | {"a":3}`, notes()},
		{"array/opening-lost", Array, `[{"a":1},"a":2},{"a":3}]`, 0, `{"a":1} | "a" | bad_json@12+3 | {"a":3}`, notes()},
		{"array/ends-too-early", Array, `[{"a":1}],{"a":2},{"a":3}]`, 0, `{"a":1} | {"a":2} | {"a":3}`, notes()},
		{"array/object-after", Array, `[{"a":1}] {"a":2},{"a":3}] x`, 0, `{"a":1} | bad_json@10+7 | {"a":3} | bad_json@27+1`, notes()},
		{"array/key-with-escapes", Array, `[{"a\"":1},{"a\"":},{"a\\":2},{"a\"":3}]`, 0, `{"a\"":1} | bad_json@11+18 | {"a\"":3}`, notes()},
		{"array/no-key-to-go-by", Array, `[[1],[2,,],[3]]`, 0, `[1] | bad_json@5+10`, notes()},
		{"array/too-large", Array, `[{"a":1},{"a":"0123456789"},{"a":3}]`, 8, `{"a":1} | record_too_large@9+18 | {"a":3}`, notes()},
		{"array/too-large-cut", Array, `[{"a":1},{"a":"0123456789`, 8, `{"a":1} | record_too_large@9+16`, notes()},

		{"whole/json", Whole, "{\n}\n", 0, "{\n}\n", notes()},
		{"whole/text", Whole, bom + "once\nupon", 0, "once\nupon", notes(nBOM, 1)},
		{"whole/nul", Whole, "\x00" + bom + "\x00a\x00b\x00\x00", 0, "a\x00b", notes(nBOM, 1, nNUL, 3)},
		{"whole/three-marks", Whole, bom + bom + bom, 0, bom + bom, notes(nBOM, 1)},
		{"whole/blank", Whole, " \n\t\x00", 0, "", notes(nNUL, 1)},
		{"whole/empty", Whole, "", 0, "", notes()},
		{"whole/too-large", Whole, "123456789", 8, "record_too_large@0+9", notes()},
		{"whole/just-fits", Whole, "12345678", 8, "12345678", notes()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, n := framed(t, tt.layout, tt.in, Options{MaxRecord: tt.max})
			if got := short(items); got != tt.want {
				t.Errorf("input %q\ngot  %s\nwant %s", tt.in, got, tt.want)
			}
			if diff := cmp.Diff(tt.notes, n); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			tile(t, tt.layout, tt.in, items)
		})
	}
}

// tile checks that records and rejects lie in order, apart, and that only padding lies between them.
func tile(t fataler, layout Layout, in string, items []item) {
	t.Helper()
	between := " \r\n\t\x00" + "\uFEFF"
	if layout == Array {
		between += "[],"
	}
	at := int64(0)
	for _, it := range items {
		if it.Offset < at || it.Offset+it.Bytes > int64(len(in)) {
			t.Fatalf("%s of %q: %+v does not follow byte %d", layout, in, it, at)
		}
		if it.Reason == "" && in[it.Offset:it.Offset+it.Bytes] != it.Data {
			t.Fatalf("%s of %q: %+v is not what stands there", layout, in, it)
		}
		if line := int64(strings.Count(in[:it.Offset], "\n")) + 1; layout != Whole && it.Line != line {
			t.Fatalf("%s of %q: %+v is on line %d", layout, in, it, line)
		}
		if gap := strings.Trim(in[at:it.Offset], between); gap != "" {
			t.Fatalf("%s of %q: %q before %+v is lost", layout, in, gap, it)
		}
		at = it.Offset + it.Bytes
	}
	if gap := strings.Trim(in[at:], between); gap != "" {
		t.Fatalf("%s of %q: %q at the end is lost", layout, in, gap)
	}
}

// fataler is what testing and rapid share.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
