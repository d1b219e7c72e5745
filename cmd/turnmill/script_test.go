package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnmill/turnmill/internal/demo"
)

// TestScripts runs the command lines of testdata/script, one behaviour a file. Beside testscript's own
// commands they have those of scriptCommands, the embedded corpus in $CORPUS, the reports in $REPORTS, and a hub at
// $HUB that is asked only after HF_HUB_OFFLINE is unset.
func TestScripts(t *testing.T) {
	reports, err := filepath.Abs(filepath.Join("testdata", "reports"))
	if err != nil {
		t.Fatal(err)
	}
	corpus := t.TempDir()
	if err := writeCorpus(corpus); err != nil {
		t.Fatal(err)
	}
	hub := serveHub(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds:                scriptCommands(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("REPORTS", reports)
			e.Setenv("CORPUS", corpus)
			hubEnv(e, hub)
			return os.WriteFile(filepath.Join(e.WorkDir, "tokenizer.json"), demo.Tokenizer(), 0o666)
		},
	})
}

// scriptCommands are the words of ours in scripts; FILE may be stdout or stderr.
//
//	exits CODE turnmill ARGS...    the exit code is CODE
//	json FILE PATH VALUE           the member at PATH (a.b.0) of the JSON in FILE is VALUE; absent is null
//	lines FILE N                   FILE has N lines
//	nocontrol FILE...              no control character but line feeds and tabs
//	sametree A B                   equal files, but for local.json and run.log.jsonl
//	unzst SRC DST                  DST is SRC decompressed
//	snapshot DIR FILE              FILE lists SHA-256 and path of every file in DIR
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exits": exits, "json": jsonIs, "lines": linesOf, "nocontrol": noControl, "sametree": sameTree, "unzst": unzst, "snapshot": snapshot,
	}
}

func need(ts *testscript.TestScript, neg bool, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "exits CODE turnmill ARGS...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 3, "json FILE PATH VALUE")
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	for _, key := range strings.Split(args[1], ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if v = nil; i >= 0 && i < len(in) {
				v = in[i]
			}
		default:
			v = nil
		}
	}
	got, err := json.Marshal(v)
	ts.Check(err)
	if text, ok := v.(string); ok {
		got = []byte(text)
	}
	if string(got) != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

func linesOf(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "lines FILE N")
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%d lines, want %s", got, args[1])
	}
}

func noControl(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) > 0, "nocontrol FILE...")
	for _, file := range args {
		text := ts.ReadFile(file)
		if i := strings.IndexFunc(text, steers); i >= 0 {
			ts.Fatalf("%s: control character at byte %d: %q", file, i, text[max(0, i-20):min(len(text), i+20)])
		}
	}
}

// steers tells whether a terminal may take r for more than a character.
func steers(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0
}

// sums returns the SHA-256 of every file below root, by path, but of those that hold times and places.
func sums(root string) (map[string]string, error) {
	got := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "local.json" || d.Name() == "run.log.jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		got[rel] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	return got, err
}

// differ names the first path in which two trees differ, or returns "".
func differ(a, b map[string]string) string {
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if a[path] != b[path] {
			return path
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[path]; !ok {
			return path
		}
	}
	return ""
}

func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "sametree A B")
	a, err := sums(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := sums(ts.MkAbs(args[1]))
	ts.Check(err)
	if path := differ(a, b); path != "" || len(a) == 0 {
		ts.Fatalf("%d and %d files; they differ in %s", len(a), len(b), cmp.Or(path, "nothing, for there are none"))
	}
}

func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "snapshot DIR FILE")
	got, err := sums(ts.MkAbs(args[0]))
	ts.Check(err)
	var b bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintln(&b, got[path], path)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

func unzst(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "unzst SRC DST")
	d, err := zstd.NewReader(nil)
	ts.Check(err)
	defer d.Close()
	data, err := d.DecodeAll([]byte(ts.ReadFile(args[0])), nil)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}
