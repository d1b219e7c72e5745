//go:build !hf || !cgo

package hf

import (
	"errors"
	"strings"
	"testing"
)

// TestNotBuilt: a build without the library says how to get it, and makes nothing that would not work.
func TestNotBuilt(t *testing.T) {
	_, err := Open(testFile(t, "tiny.json"))
	if !errors.Is(err, ErrNotBuilt) {
		t.Fatalf("Open: %v", err)
	}
	for _, want := range []string{"make hf", "cargo", "patch"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
	if _, err := mustRead(t, testFile(t, "tiny.json")).NewEncoder(nil); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("NewEncoder: %v", err)
	}
}
