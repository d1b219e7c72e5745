package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestPairingTable: each test that the table of pairing rules names is there, each case in its function, and each
// counter is a note's or "none".
func TestPairingTable(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "ingest", "formats", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of tests, %v", len(files), err)
	}
	bodies := map[string]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range strings.Split(string(text), "\nfunc ")[1:] {
			if name, body, ok := strings.Cut(f, "(t *testing.T)"); ok {
				bodies[name] = body
			}
		}
	}
	rows := tableIn(t, "docs/formats.md", "case", "rule", "counter", "test")
	if len(rows) < 15 {
		t.Fatalf("%d cases", len(rows))
	}
	for _, row := range rows {
		tests := codes(row[3])
		if len(tests) == 0 {
			t.Errorf("%s: no test", row[0])
		}
		for _, name := range tests {
			function, one, cased := strings.Cut(name, "/")
			body, ok := bodies[function]
			if !ok || cased && !strings.Contains(body, `"`+one+`":`) {
				t.Errorf("%s: there is no test %s", row[0], name)
			}
		}
		for _, name := range codes(row[2]) {
			if !isNote(name) {
				t.Errorf("%s: there is no counter %s", row[0], name)
			}
		}
	}
}

func isNote(name string) bool {
	for i := range turnmill.NumNotes {
		if turnmill.Note(i).String() == name {
			return true
		}
	}
	return false
}
