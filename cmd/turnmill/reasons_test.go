package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestReasonsTold: each constant of type Reason has a line.
func TestReasonsTold(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "reason.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Reason" || len(spec.Values) != 1 {
				t.Errorf("reason.go: %v is no constant of type Reason with a value", spec.Names)
				return true
			}
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Error(err)
			}
			want = append(want, name)
		}
		return true
	})
	same(t, "docs/output.md: reasons", want, firstCodes(tableIn(t, "docs/output.md", "reason", "status")))
}

// TestReasonsInRuns: what a run loses stands in its rejects under the status and kind that the table gives
// to the reason, with members that the text names.
func TestReasonsInRuns(t *testing.T) {
	told := map[string][]string{}
	for _, row := range tableIn(t, "docs/output.md", "reason", "status") {
		told[codes(row[0])[0]] = row
	}
	_, members, _ := strings.Cut(string(readFile(t, root, "docs/output.md")), "## rejects/")
	members, _, _ = strings.Cut(members, " Offsets count")
	seen := map[string]bool{}
	turn := func(action, observation string) string {
		return `{"action":` + action + `,"observation":` + observation + `}`
	}
	run := func(turns ...string) string { return `{"turns":[` + strings.Join(turns, ",") + `]}` }
	a, b := turn(`"ls"`, `"a.txt b.txt"`), turn(`"pwd"`, `"home"`)
	for _, lost := range lossesOf(t, map[string][]byte{
		"nothing":    nil,                            // no_records
		"alien":      []byte(`{"foo":1}`),            // unknown_format
		"damaged.gz": cutAfter("gzip", []byte("{}")), // bad_compression
		"array":      []byte("[" + run(a, b) + ",\n" + run(a, b)[:20]),
		"runs": jsonLines(run(a, b), "no JSON", `{"foo":1}`, `{"turns":7}`, run(`{"index":1,"observation":"o"}`, `{"index":1,"observation":"o"}`),
			run(), run(a), run(a, turn("null", `"o"`), b), run(a, turn(`"cat"`, text(2000)), b),
			`{"system":{"task_description":`+text(2000)+`},"turns":[`+a+`,`+b+`]}`, `{"kind":"document","text":""}`),
		"screens": jsonLines(screen("a", "b", "b", "b"), screen("a", "b", "", "d"), screen("a", "Just a moment...", "Just a moment...", "d"),
			screen("a", "502 Bad Gateway", "502 Bad Gateway", "d")),
		"tools": jsonLines(`{"domain":"mcp","system":{"action_space":"[\"x\"]"},"turns":[{"action":"y","tool":"y","observation":"o"},`+a+`]}`,
			run(turn(`"{"`, `"Previous response had parsing errors: none"`), a, b)),
		"chats": jsonLines(terminal("c", `"a.txt"`, `"b"`), `{"messages":[]}`, `{"messages":[{"role":"x"}]}`,
			chat("talk", user(`"q"`), says(`"a"`), user(`"r"`), says(`"b"`), user(`"s"`))),
	}) {
		reason, kind := lost["reason"].(string), lost["kind"].(string)
		seen[reason] = true
		row := told[reason]
		if row == nil || row[1] != lost["status"] {
			t.Errorf("%v: docs/output.md says %q", lost, row)
		}
		if n, _ := lost["trajectories"].(float64); n == 1 {
			kind = "trajectory" // the line stands for both
		}
		if row != nil && !strings.Contains(row[2], kind) && !strings.Contains(row[2], "document") {
			t.Errorf("%v: docs/output.md says %q of %q", lost, reason, row[2])
		}
		for name := range lost {
			if !slices.Contains(codes(members), name) {
				t.Errorf("docs/output.md names no member %q of a reject", name)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("the run gives the reasons %v: the test would prove little", slices.Sorted(maps.Keys(seen)))
	}
}

// screen is a run on the web of three turns: state, observation, the next state, the next observation.
func screen(s, o, t, p string) string {
	turn := `{"state":%q,"action":"click","observation":%q}`
	return fmt.Sprintf(`{"domain":"web","turns":[`+turn+`,`+turn+`,`+turn+`]}`, s, o, t, p, p, "end")
}

// lossesOf returns the reject lines of a run over the files, by name.
func lossesOf(t *testing.T, files map[string][]byte) []map[string]any {
	t.Helper()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(in, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, 0, "cpt", in, "-o", out, "--tokenizer", "demo", "--seq-len", "64", "--max-reject-rate", "1")
	d, err := zstd.NewReader(bytes.NewReader(readFile(t, out, "rejects", "p00000.jsonl.zst")))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var all []map[string]any
	for lines := json.NewDecoder(d); lines.More(); {
		var lost map[string]any
		if err := lines.Decode(&lost); err != nil {
			t.Fatal(err)
		}
		all = append(all, lost)
	}
	return all
}
