// Package golden compares what a test got with a file in its testdata.
//
//	testdata/NAME    the file; `go test -update ./...` rewrites it, and review reads the diff
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update registers the flag that rewrites the files. A test package calls it once, in a variable, because
// flags are registered before TestMain.
func Update() *bool { return flag.Bool("update", false, "rewrite the golden files of this package") }

// Check compares got with testdata/name below the package under test, or rewrites the file when update is
// set.
func Check(t *testing.T, update bool, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
