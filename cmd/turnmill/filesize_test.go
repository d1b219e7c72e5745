//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileSizeLimit: where the system allows no larger file (ulimit -f), turnmill says so and fails, not killed
// by the signal that goes with it; and without the limit it goes on to the right bytes.
func TestFileSizeLimit(t *testing.T) {
	corpus := clusterCorpus(t)
	args := func(out string) []string {
		return []string{"cpt", corpus, "-o", out, "--tokenizer", "demo", "--partitions", "3", "--max-reject-rate", "1", "--progress", "none", "--workers", "1"}
	}
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	mustRun(t, exitDone, args(whole)...)
	for _, blocks := range []string{"0", "1", "8", "100"} { // of 512 bytes, or of 1024
		cmd := exec.Command("sh", append([]string{"-c", "ulimit -f " + blocks + ` && exec turnmill "$@"`, "sh"}, args(out)...)...)
		text, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed {
			t.Errorf("%s blocks: exit code %d, want %d\n%s", blocks, code, exitFailed, text)
		}
		for _, want := range []string{"error: ", "writing ", "file too large", "try a larger limit of file sizes (ulimit -f)"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s blocks: %q does not say %q", blocks, text, want)
			}
		}
		if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
			t.Errorf("%s blocks: a manifest", blocks)
		}
		if r := cli("check", out); r.code == exitDone {
			t.Errorf("%s blocks: check passes", blocks)
		}
		if paths, err := filepath.Glob(filepath.Join(out, "*", ".*.tmp")); err != nil || len(paths) > 0 {
			t.Errorf("%s blocks: %v is left (%v)", blocks, paths, err)
		}
	}
	mustRun(t, exitDone, args(out)...)
	if path := differ(mustSum(t, whole), mustSum(t, out)); path != "" {
		t.Errorf("%s is not what a run without a limit writes", path)
	}
}
