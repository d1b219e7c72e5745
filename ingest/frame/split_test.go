package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// split returns the parts as text, bad ones in angle brackets with their reason.
func split(t fataler, line string) (string, turnmill.Notes) {
	t.Helper()
	var n turnmill.Notes
	parts := Split(nil, []byte(line), &jsonscan.Doc{}, &n)
	var out []string
	at := 0
	for _, p := range parts {
		if p.From < at || p.To <= p.From || p.To > len(line) {
			t.Fatalf("parts of %q: %+v", line, parts)
		}
		if gap := strings.Trim(line[at:p.From], " \r\n\t\x00\uFEFF"); gap != "" {
			t.Fatalf("%q: %q is in no part", line, gap)
		}
		at = p.To
		text := line[p.From:p.To]
		if p.Err == nil {
			if !json.Valid([]byte(strings.ToValidUTF8(text, "?"))) || text[0] != '{' {
				t.Fatalf("%q: %q is no object", line, text)
			}
			out = append(out, text)
			continue
		}
		var syntax *jsonscan.SyntaxError
		if !errors.As(p.Err, &syntax) || syntax.Offset > len(line)-p.From {
			t.Fatalf("%q: error %v of %q", line, p.Err, text)
		}
		out = append(out, fmt.Sprintf("<%s %s>", text, Reason(p.Err)))
	}
	if gap := strings.Trim(line[at:], " \r\n\t\x00\uFEFF"); gap != "" {
		t.Fatalf("%q: %q at the end is in no part", line, gap)
	}
	return strings.Join(out, " "), n
}

func TestSplit(t *testing.T) {
	const nSpliced = int64(turnmill.NoteSplicedLine)
	tests := []struct {
		name, in, want string
		notes          turnmill.Notes
	}{
		{"empty", "", "", notes()},
		{"padding", " \x00 " + bom, "", notes(nNUL, 1, nBOM, 1)},
		{"one", `{"id":1}`, `{"id":1}`, notes()},
		{"two", `{"id":1}{"id":2}`, `{"id":1} {"id":2}`, notes(nSpliced, 1)},
		{"two-and-padding", "{\"id\":1} \x00\x00" + bom + "{\"id\":2}\x00", `{"id":1} {"id":2}`, notes(nSpliced, 1, nNUL, 2, nBOM, 1)},
		{"cut-in-array", `{"id":1,"m":[{"x":1}{"id":2,"m":[]}`, `<{"id":1,"m":[{"x":1} bad_json> {"id":2,"m":[]}`, notes(nSpliced, 1)},
		{"cut-after-brackets", `{"id":1,"m":[{"x":1}]{"id":2}`, `<{"id":1,"m":[{"x":1}] bad_json> {"id":2}`, notes(nSpliced, 1)},
		{"cut-in-string", `{"id":1,"m":"ab{"id":2,"m":{}}`, `<{"id":1,"m":"ab bad_json> {"id":2,"m":{}}`, notes(nSpliced, 1)},
		{"cut-in-escape", `{"id":1,"m":"ab\{"id":2}`, `<{"id":1,"m":"ab\ bad_json> {"id":2}`, notes(nSpliced, 1)},
		{"cut-after-colon", `{"id":1,"m":{"id":2,"n":[{"id":3},{"id":4}]}`, `<{"id":1,"m": truncated> {"id":2,"n":[{"id":3},{"id":4}]}`, notes(nSpliced, 1)},
		{"cut-in-literal", `{"id":1,"m":tr{"id":2}`, `<{"id":1,"m":tr bad_json> {"id":2}`, notes(nSpliced, 1)},
		{"cut-twice", `{"id":1,"m":"a{"id":2,"m":[1,{"id":3}`, `<{"id":1,"m":"a bad_json> <{"id":2,"m":[1, truncated> {"id":3}`, notes(nSpliced, 1)},
		{"cut-two-good", `{"id":1,"m":"a{"id":2}{"id":3}`, `<{"id":1,"m":"a bad_json> {"id":2} {"id":3}`, notes(nSpliced, 1)},
		{"cut-at-end-too", `{"id":1,"m":"a{"id":2}{"id":3,"m":`, `<{"id":1,"m":"a bad_json> {"id":2} <{"id":3,"m": truncated>`, notes(nSpliced, 1)},
		{"good-cut", `{"id":1}{"id":2,"m":`, `{"id":1} <{"id":2,"m": truncated>`, notes(nSpliced, 1)},
		{"good-garbage", `{"id":1} and more`, `{"id":1} <and more bad_json>`, notes(nSpliced, 1)},
		{"damage-far-from-next", `{"id":1,"m":oops,"n":[{"r":1},{"r":2},{"r":3},{"r":4},{"r":5},{"r":6},{"r":7},{"r":8},{"r":9}]}{"id":2}`,
			`<{"id":1,"m":oops,"n":[{"r":1},{"r":2},{"r":3},{"r":4},{"r":5},{"r":6},{"r":7},{"r":8},{"r":9}]} bad_json> {"id":2}`, notes(nSpliced, 1)},
		{"nul-between", "{\"id\":1,\"m\":\x00\x00\x00{\"id\":2}", `<{"id":1,"m": bad_json> {"id":2}`, notes(nSpliced, 1, nNUL, 1)},

		{"garbage", "Traceback (most recent call last):", "<Traceback (most recent call last): bad_json>", notes()},
		{"date", "2026-01-02 12:00:00 INFO started", "<2026-01-02 12:00:00 INFO started bad_json>", notes()},
		{"log-with-object-inside", `INFO got {"a":1} from 10.0.0.1`, `<INFO got {"a":1} from 10.0.0.1 bad_json>`, notes()},
		{"log-with-cut-object", `INFO got {"a":`, `<INFO got {"a": bad_json>`, notes()},
		{"log-with-object-last", `INFO got {"a":1}`, `<INFO got bad_json> {"a":1}`, notes(nSpliced, 1)},
		{"single-quotes", `{'id': 1, 'm': {"a": 1}}`, `<{'id': 1, 'm': {"a": 1}} bad_json>`, notes()},
		{"damaged-record", `{"id":1,"m":[{"r":1},{"r":oops},{"r":3}]}`, `<{"id":1,"m":[{"r":1},{"r":oops},{"r":3}]} bad_json>`, notes()},
		{"inner-comma-lost", `{"id":1,"m":[{"r":1}{"r":2},{"r":3}]}`, `<{"id":1,"m":[{"r":1}{"r":2},{"r":3}]} bad_json>`, notes()},
		{"truncated-record", `{"id":1,"m":[{"r":1},{"r":2}`, `<{"id":1,"m":[{"r":1},{"r":2} truncated>`, notes()},
		{"trailing-comma", `{"id":1},`, `{"id":1} <, bad_json>`, notes(nSpliced, 1)},
		{"arrays", `[1][2]`, `<[1][2] bad_json>`, notes()},
		{"not-finite", `{"id":NaN}`, `<{"id":NaN} bad_json>`, notes()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n := split(t, tt.in)
			if got != tt.want {
				t.Errorf("input %q\ngot  %s\nwant %s", tt.in, got, tt.want)
			}
			if diff := cmp.Diff(tt.notes, n); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// A cut record, several on a line, and NUL bytes before one: each whole object is a record.
func TestReport07SplicedLines(t *testing.T) {
	run := func(id string) string {
		return `{"id":"` + id + `","messages":[{"role":"user","content":"do ` + id + `"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"sh","arguments":"{\"cmd\":\"` + id + `\"}"}}]},{"role":"tool","content":"done"}]}`
	}
	cut := strings.TrimSuffix(run("r2"), `,{"role":"tool","content":"done"}]}`)
	in := run("r1") + "\n" + cut + run("r3") + "\n" + run("r4") + run("r5") + "\n" + strings.Repeat("\x00", 64) + run("r6") + "\n" + run("r7") + "\n"

	f := New(Lines, strings.NewReader(in), Options{})
	items, err := drain(t, f)
	if err != nil {
		t.Fatal(err)
	}
	n := f.Notes()
	var got []string
	doc := jsonscan.Doc{}
	for _, it := range items {
		for _, p := range Split(nil, []byte(it.Data), &doc, &n) {
			if p.Err != nil {
				got = append(got, fmt.Sprintf("%s@%d+%d", Reason(p.Err), it.Offset+int64(p.From), p.To-p.From))
				continue
			}
			v, _ := doc.Parse([]byte(it.Data)[p.From:p.To])
			got = append(got, string(v.Get("id").AppendString(nil)))
		}
	}
	bad := fmt.Sprintf("bad_json@%d+%d", len(run("r1"))+1, len(cut))
	if diff := cmp.Diff([]string{"r1", bad, "r3", "r4", "r5", "r6", "r7"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n[turnmill.NoteNULPadding] != 1 || n[turnmill.NoteSplicedLine] != 2 {
		t.Errorf("NUL runs %d, spliced lines %d", n[turnmill.NoteNULPadding], n[turnmill.NoteSplicedLine])
	}
}

// More splices than a split looks ahead, all found.
func TestSplitMany(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `{"id":%d,"m":[{"role":"user","content":"cut{"id":%d,"m":[{"role":"user"},{"role":"tool"}]}`, 2*i, 2*i+1)
	}
	var n turnmill.Notes
	good, bad := 0, 0
	for _, p := range Split(nil, []byte(b.String()), &jsonscan.Doc{}, &n) {
		if p.Err == nil {
			good++
		} else {
			bad++
		}
	}
	if good != 1000 || bad != 1000 {
		t.Errorf("%d objects and %d bad parts, want 1000 each", good, bad)
	}
}

// Work stays linear on lines made to be hard: what is parsed and searched beyond the bound is a pass or two.
func TestSplitLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"open objects": `{"a":`, "cut strings": `{"a":"x`, "near objects": `{"a"`, "open arrays": `[{"a":1},`, "brackets": "{", "quotes": `"`,
		"cut in whole": `{"a":{"a":1}`, "commas": `{"a":1},`, "objects and garbage": `{"a":1}x`, "blanks": `{          `, "two keys": `{"b":[{"a":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			line := []byte(strings.Repeat(unit, 1<<17/len(unit)))
			s := splitter{line: line, doc: &jsonscan.Doc{}, work: splitWork * len(line)}
			s.split(nil)
			if s.work < -3*len(line) {
				t.Errorf("%d bytes of work beyond the bound for a line of %d", -s.work, len(line))
			}
		})
	}
}

func TestSplitTiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		split(t, strings.ReplaceAll(genInput().Draw(t, "line"), "\n", " "))
	})
}
