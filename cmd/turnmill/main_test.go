package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// TestMain lets the test binary stand in for turnmill: scripts and signal tests run it by that name as a
// process of its own, with the race detector where the tests have it.
//
// No test asks the hub unless it says so.
func TestMain(m *testing.M) {
	if _, said := os.LookupEnv("HF_HUB_OFFLINE"); !said {
		os.Setenv("HF_HUB_OFFLINE", "1")
	}
	testscript.Main(m, map[string]func(){"turnmill": main})
}

// result is what one command line gave.
type result struct {
	code        int
	out, errors string
}

// cli runs a command line in this process.
func cli(args ...string) result {
	var out, errors bytes.Buffer
	code := start(args, strings.NewReader(""), &out, &errors)
	return result{code, out.String(), errors.String()}
}

// mustRun runs a command line that has to end with the exit code.
func mustRun(t *testing.T, code int, args ...string) result {
	t.Helper()
	r := cli(args...)
	if r.code != code {
		t.Fatalf("turnmill %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.errors)
	}
	return r
}

// writeTemp writes a file into a fresh directory and returns its path.
func writeTemp(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
