package verify

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
)

// TestParseRefuses: what is wrong with a definition is named, with its key.
func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, verifier, want string }{
		{"no-json", `{"kind":`, "not JSON"},
		{"no-object", `["exact"]`, "want an object, found array"},
		{"no-kind", `{"class":"control"}`, `kind ""; want one of exact`},
		{"kind", `{"kind":"fuzzy","class":"control"}`, `kind "fuzzy"; want one of exact`},
		{"kind-case", `{"Kind":"exact","class":"control"}`, `kind ""`},
		{"no-class", `{"kind":"exact"}`, "`class`: \"\"; want one of control, error, long_context"},
		{"class", `{"kind":"exact","class":"format"}`, "`class`: \"format\""},
		{"unknown-key", `{"kind":"exact","class":"control","trimm":"end"}`, `"trimm"`},
		{"other-kind's-key", `{"kind":"exact","class":"control","whole":true}`, "no such key; want of kind, class, note, expected, trim"},
		{"repeated", `{"kind":"exact","class":"control","kind":"exact"}`, "`kind`: stands twice"},
		{"type", `{"kind":"exact","class":"control","trim":1}`, "`trim`: want string, found number"},
		{"null", `{"kind":"exact","class":"control","expected":null}`, "`expected`: want string, found null"},
		{"trim", `{"kind":"exact","class":"control","trim":"left"}`, "want one of none, end, both, lines"},
		{"surrogate", `{"kind":"exact","class":"control","expected":"\ud800"}`, "lone surrogate"},
		{"pattern", `{"kind":"regex","class":"control","pattern":"a("}`, "missing closing )"},
		{"pattern-brackets", `{"kind":"regex","class":"control","pattern":"a)(b","whole":true}`, "unexpected )"},
		{"pattern-back", `{"kind":"regex","class":"control","pattern":"(a)\\1"}`, "invalid escape"},
		{"pattern-absent", `{"kind":"regex","class":"control"}`, "is empty or absent"},
		{"whole", `{"kind":"regex","class":"control","pattern":"a","whole":"yes"}`, "want true or false, found string"},
		{"numbers", `{"kind":"json","class":"control","numbers":"float"}`, "want one of value, spelling"},
		{"pointer", `{"kind":"json","class":"control","at":"a"}`, "it begins with /"},
		{"pointer-escape", `{"kind":"json","class":"control","ignore":["/a~2"]}`, "~ is spelt ~0"},
		{"ignore-all", `{"kind":"json","class":"control","ignore":[""]}`, "nothing would be left"},
		{"code", `{"kind":"exit_code","class":"control","expected":"0"}`, "want a whole number"},
		{"code-groups", `{"kind":"exit_code","class":"control","pattern":"rc=\\d+"}`, "has 0 groups; want one"},
		{"code-both", `{"kind":"exit_code","class":"control","pattern":"rc=(\\d+)","field":"/rc"}`, "exclude one another"},
		{"volatile", `{"kind":"tree","class":"control","volatile":["a",""]}`, "an empty name"},
		{"numbering", `{"kind":"tree","class":"control","format":"json","numbering":"drop"}`, "for the format lines"},
		{"no-source", `{"kind":"program","class":"control"}`, "one of them"},
		{"two-sources", `{"kind":"program","class":"control","program":"#!/bin/sh","file":"x"}`, "one of them"},
		{"no-interpreter", `{"kind":"program","class":"control","program":"exit 0"}`, "interpreter in the first line"},
		{"file", `{"kind":"program","class":"control","file":"/etc/shadow"}`, "cannot name a file"},
		{"seconds", `{"kind":"program","class":"control","program":"#!/bin/sh","seconds":0}`, "from 1 to 600"},
		{"memory", `{"kind":"program","class":"control","program":"#!/bin/sh","memory_mb":1e3}`, "from 16 to 4096"},
		{"nul", `{"kind":"program","class":"control","program":"#!/bin/sh","args":["\u0000"]}`, "a NUL"},
		{"two-faults", `{"kind":"exact","class":"x","trim":"y"}`, "`class`: \"x\"; want one of control, error, long_context\n`trim`: \"y\""},
		{"large", `{"kind":"exact","class":"control","expected":"` + strings.Repeat("x", maxDefinition) + `"}`, "at most 1048576"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := Parse([]byte(test.verifier), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v; want an error with %q", v, err, test.want)
			}
		})
	}
}

func TestParseProgram(t *testing.T) {
	open := func(name string) ([]byte, error) {
		if name == "check" {
			return []byte("\x7fELF"), nil
		}
		return nil, errors.New("no such file")
	}
	v, err := Parse([]byte(`{"kind":"program","class":"error","note":"by hand","file":"check","args":["x"],"seconds":3,"memory_mb":64}`), open)
	if err != nil {
		t.Fatal(err)
	}
	want := Limits{Wall: 3 * time.Second, CPU: 3 * time.Second, Memory: 64 << 20, Processes: 16, Output: 64 << 10, Tmp: 16 << 20}
	if v.Limits() != want || string(v.program.source) != "\x7fELF" || v.Class != Error {
		t.Errorf("got %+v of %q, class %s; want %+v", v.Limits(), v.program.source, v.Class, want)
	}
	if _, err := Parse([]byte(`{"kind":"program","class":"control","file":"chekc"}`), open); err == nil || !strings.Contains(err.Error(), "`file`: no such file") {
		t.Errorf("an absent file: %v", err)
	}
	same, err := Parse([]byte(`{"kind":"program","class":"error","note":"by hand","file":"check","args":["x"],"seconds":3,"memory_mb":64}`),
		func(string) ([]byte, error) { return []byte("\x7fELG"), nil })
	if err != nil || same.SHA256 == v.SHA256 || len(v.SHA256) != 64 {
		t.Errorf("another source, and the same sum %s: %v", v.SHA256, err)
	}
}

func TestReadSet(t *testing.T) {
	const a = `{"query":"run@3","verifier":{"kind":"exact","class":"control"}}`
	const b = `{"query":"run@4","verifier":{"kind":"regex","class":"error","pattern":"x"}}`
	set, err := ReadSet(strings.NewReader(a+"\r\n\n"+b), nil)
	if err != nil || set.Len() != 2 || set.Get("run@4").Kind != Regex || set.Get("run@5") != nil || strings.Join(set.Queries(), " ") != "run@3 run@4" {
		t.Fatalf("got %v, %v", set, err)
	}
	other, err := ReadSet(strings.NewReader(b+"\n"+a+"\n"), nil)
	if err != nil || other.SHA256() != set.SHA256() {
		t.Errorf("the order of lines counts: %v", err)
	}
	other, err = ReadSet(strings.NewReader(a), nil)
	if err != nil || other.SHA256() == set.SHA256() {
		t.Errorf("a line more, and the same sum: %v", err)
	}
	var none *Set
	if none.Get("run@3") != nil {
		t.Error("no file, and a verifier")
	}
	many := strings.Repeat("x\n", 30)
	for lines, want := range map[string]string{
		a + "\n" + a:      `line 2: ` + "`query`" + `: "run@3" has a verifier already`,
		"\n\nx":           "line 3: not JSON",
		`[]`:              "line 1: want an object with query and verifier, found array",
		`{"query":"a@1"}`: "line 1: `verifier`: is absent",
		`{"id":"a"}`:      `"id"`,
		`{"query":"","verifier":{"kind":"exact","class":"control"}}`: "want the id of a query",
		`{"query":"a","verifier":{"kind":"exact","class":"contol"}}`: "line 1: query \"a\": verifier of kind exact: `class`",
		many: "line 20: not JSON",
		strings.Repeat(" ", maxDefinition+65<<10): "line 1: a verifier of more than",
	} {
		if set, err := ReadSet(strings.NewReader(lines), nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "line 22") {
			t.Errorf("%.60s: got %v, %v; want an error with %s", lines, set, err, want)
		}
	}
}

func TestParseMeta(t *testing.T) {
	const all = `{"seed":1,"verifier":{"kind":"exact","class":"control"}}`
	const some = `{"verifier":{"3":{"kind":"exact","class":"long_context"},"4":{"kind":"no","class":"control"}}}`
	for _, test := range []struct {
		meta string
		turn int
		want Class // "" for none
		err  string
	}{
		{"", 0, "", ""},
		{`{"seed":1}`, 0, "", ""},
		{`{"verifier":null}`, 0, "", ""},
		{all, 7, Control, ""},
		{some, 3, LongContext, ""},
		{some, 5, "", ""},
		{some, 4, "", `kind "no"`},
		{`{"verifier":"exact"}`, 0, "", "want an object, found string"},
		{`{"verifier":{"class":"control"}}`, 0, "", `"class" is neither a key`},
		{`{"verifier":{"03":{}}}`, 3, "", `"03" is neither a key`},
		{`{"verifier":{"kind":"program","class":"control","file":"/etc/passwd"}}`, 0, "", "cannot name a file"},
	} {
		v, err := ParseMeta(test.meta, test.turn)
		switch {
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s, turn %d: got %v, %v; want an error with %q", test.meta, test.turn, v, err, test.err)
		case test.err == "" && (err != nil || (v == nil) != (test.want == "") || v != nil && v.Class != test.want):
			t.Errorf("%s, turn %d: got %v, %v; want class %q", test.meta, test.turn, v, err, test.want)
		}
	}
}

// TestAdmits: no verifier of errors for searches.
func TestAdmits(t *testing.T) {
	for _, d := range turnmill.Domains() {
		for _, c := range []Class{Control, Error, LongContext} {
			want := d != turnmill.DomainSearch || c != Error
			if got := (&Verifier{Class: c}).Admits(d); got != want {
				t.Errorf("%s for %s: got %v", c, d, got)
			}
		}
	}
}

// TestBeside: programs are read below the folder of their file, and nowhere else.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"outside": "no", "in/check": "#!/bin/sh", "in/large": strings.Repeat("x", maxDefinition+5)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	open := Beside(filepath.Join(dir, "in", "verifiers.jsonl"))
	if text, err := open("check"); err != nil || string(text) != "#!/bin/sh" {
		t.Errorf("got %q, %v", text, err)
	}
	for _, name := range []string{"../outside", "link", filepath.Join(dir, "outside"), "absent", ""} {
		if text, err := open(name); err == nil {
			t.Errorf("%s: got %q; want an error", name, text)
		}
	}
	if _, err := Parse([]byte(`{"kind":"program","class":"control","file":"large"}`), open); err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("a large file: %v", err)
	}
}
