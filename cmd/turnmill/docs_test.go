package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/mask"
	chats "github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/stats"
)

// TestFormatTables: each table of formats has one row a format, in the order of formats.All.
func TestFormatTables(t *testing.T) {
	for _, second := range []string{"recognised by", "one turn is", "what to know"} {
		same(t, "docs/formats.md: "+second, formatNames(), firstCodes(tableIn(t, "docs/formats.md", "format", second)))
	}
}

// TestReadmeNow: the README names every format and every chat format, and no other.
func TestReadmeNow(t *testing.T) {
	readme := string(readFile(t, root, "README.md"))
	_, list, _ := strings.Cut(readme, "Formats now:")
	list, rest, _ := strings.Cut(list, "Tokenizers now:")
	got := codes(list)
	slices.Sort(got)
	same(t, "README.md: formats now", slices.Sorted(slices.Values(formatNames())), got)
	_, list, _ = strings.Cut(rest, "Chat formats now:")
	list, _, _ = strings.Cut(list, "\n\n")
	same(t, "README.md: chat formats now", chats.Names(), codes(list))
}

// TestColumnsTold: docs/output.md names every column of the turns table, with its type, and says when it is
// null.
func TestColumnsTold(t *testing.T) {
	var want, got []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[stats.TurnRow]()) {
		tag, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		kind := map[reflect.Kind]string{reflect.String: "string", reflect.Int32: "int32", reflect.Int64: "int64",
			reflect.Float64: "double", reflect.Bool: "bool", reflect.Pointer: "bool", reflect.Slice: "list<int32>"}[f.Type.Kind()]
		want = append(want, tag+" "+kind+" null="+strconv.FormatBool(slices.Contains(strings.Split(options, ","), "optional")))
	}
	for _, row := range tableIn(t, "docs/output.md", "column", "type", "meaning") {
		kinds := strings.Split(row[1], ", ")
		for i, name := range codes(row[0]) {
			kind := kinds[0]
			if len(kinds) > 1 {
				kind = kinds[i]
			}
			got = append(got, name+" "+kind+" null="+strconv.FormatBool(strings.Contains(row[2], "null")))
		}
	}
	same(t, "docs/output.md: columns", want, got)
}

// TestBeginsTold: docs/output.md names the chat formats whose documents start at token 1.
func TestBeginsTold(t *testing.T) {
	var want []string
	for _, name := range chats.Names() {
		if chats.Begins(name) {
			want = append(want, name)
		}
	}
	_, list, _ := strings.Cut(string(readFile(t, root, "docs/output.md")), "begins a text with a token of its own:")
	list, _, _ = strings.Cut(list, "\n\n")
	same(t, "docs/output.md: token_start", want, codes(list))
}

// TestNotesTold: each note has a line, under repairs or notices.
func TestNotesTold(t *testing.T) {
	var repairs, notices []string
	for n := range turnmill.Note(turnmill.NumNotes) {
		if n.Repair() {
			repairs = append(repairs, n.String())
		} else {
			notices = append(notices, n.String())
		}
	}
	same(t, "docs/output.md: repairs", repairs, firstCodes(tableIn(t, "docs/output.md", "repair")))
	same(t, "docs/output.md: notices", notices, firstCodes(tableIn(t, "docs/output.md", "notice")))
}

// TestManifestTold: docs/output.md names the members of manifest.json, in their order, and those of the
// ledger and of the mask's statistics.
func TestManifestTold(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, 0, "cpt", filepath.Join(root, "examples", "cpt", "orders.jsonl"), "-o", out, "--tokenizer", "demo")
	data := readFile(t, out, "manifest.json")
	rows := tableIn(t, "docs/output.md", "key", "holds")
	got, keys := firstCodes(rows), membersOf(t, data)
	slices.Sort(got)
	slices.Sort(keys)
	same(t, "docs/output.md: manifest.json", keys, got)

	var m struct {
		Ledger struct {
			Total map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row[0] != "`ledger`" {
			continue
		}
		want := append([]string{"total", "domains"}, slices.Sorted(maps.Keys(m.Ledger.Total))...)
		want = append(want, membersOf(t, m.Ledger.Total["turns"])...)
		told := codes(row[1])
		slices.Sort(want)
		slices.Sort(told)
		same(t, "docs/output.md: ledger", want, told)
	}
}

// TestMaskTableTold: docs/masking.md shows the built-in table, and modes and bounds by their names.
func TestMaskTableTold(t *testing.T) {
	table := mask.Default()
	spec := table.Spec()
	var want, got []string
	for i := range table.Rows {
		want = append(want, table.Rows[i].String()+" keep "+spec.Rows[i].Keep)
	}
	want = append(want, "other: everything else keep "+spec.Other)
	for _, row := range tableIn(t, "docs/masking.md", "order", "category", "bounds", "keep") {
		got = append(got, row[1]+": "+row[2]+" keep "+row[3])
	}
	same(t, "docs/masking.md: the table", want, got)

	var modes []string
	for m := mask.ModeTurn; m <= mask.ModeOff; m++ {
		modes = append(modes, m.String())
	}
	told := firstCodes(tableIn(t, "docs/masking.md", "`--mask`"))
	same(t, "docs/masking.md: modes", append([]string{"--mask"}, modes...), append([]string{"--mask"}, told...))

	text := string(readFile(t, root, "docs/masking.md"))
	_, example, _ := strings.Cut(text, "\n    short: ")
	example, _, _ = strings.Cut(example, "\n\n")
	if _, err := readMaskTable(writeTemp(t, "table.yaml", []byte(strings.ReplaceAll("    short: "+example, "\n    ", "\n")[4:]))); err != nil {
		t.Errorf("the table of docs/masking.md: %v", err)
	}
}

// membersOf returns the keys of a JSON object.
func membersOf(t *testing.T, data []byte) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m))
}

// TestFiltersTold: the patterns of docs/filters.md are read, and its sections name filters.
func TestFiltersTold(t *testing.T) {
	text := string(readFile(t, root, "docs/filters.md"))
	_, example, _ := strings.Cut(text, "\n    captcha:\n")
	example, _, _ = strings.Cut(example, "\n\n")
	p, err := readPatterns(writeTemp(t, "patterns.yaml", []byte(strings.ReplaceAll("    captcha:\n"+example, "\n    ", "\n")[4:])))
	if err != nil || len(p.Captcha) != 2 || len(p.HTTPError) != 3 || len(p.Refused) != 1 {
		t.Errorf("the patterns of docs/filters.md: %+v, %v", p, err)
	}
	known := map[string]bool{}
	for _, f := range filter.All() {
		known[f.Name] = true
	}
	for _, name := range []string{"retry-cycle", "no-change", "unseen-change", "undeclared-tool", "missing-state", "captcha", "http-error"} {
		if !known[name] || !strings.Contains(text, name) {
			t.Errorf("docs/filters.md, or the table of filters, lacks %s", name)
		}
	}
}

// TestEvalTold: docs/eval.md shows the table of the script, and every state that a row can have.
func TestEvalTold(t *testing.T) {
	text := string(readFile(t, root, "docs/eval.md"))
	_, want, _ := strings.Cut(string(readFile(t, "testdata", "script", "eval.txtar")), "-- want.txt --\n")
	want, _, _ = strings.Cut(want, "-- compat.txt --")
	for line := range strings.Lines(want) {
		if !strings.Contains(text, strings.TrimSuffix("    "+line, "\n")) && strings.TrimSpace(line) != "" {
			t.Errorf("docs/eval.md does not show %q", line)
		}
	}
	states := []string{"scored", "prediction_missing"}
	for s := turnmill.ReplyTruncated; s <= turnmill.ReplyTimeout; s++ {
		states = append(states, "prediction_"+s.String())
	}
	for s := judge.Refused; int(s) < judge.NumStates; s++ {
		states = append(states, "judge_"+s.String())
	}
	var told []string
	for _, row := range tableIn(t, "docs/eval.md", "state", "") {
		told = append(told, codes(row[0])...)
	}
	same(t, "docs/eval.md: states", append(states, "not_judged"), told)
}
