//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnmill/turnmill/internal/toyrollouts"
)

// TestKills kills turnmill ten times, at random moments between its first file and its manifest.
func TestKills(t *testing.T) { kills(t, 10) }

// TestKillsSFT kills an sft run over recorded answers twenty times.
func TestKillsSFT(t *testing.T) {
	dir := t.TempDir()
	if err := toyrollouts.Write(dir, 400); err != nil {
		t.Fatal(err)
	}
	killsOf(t, 20, "sft", filepath.Join(dir, "runs"), "--rollouts", filepath.Join(dir, "rollouts"), "--judgements", filepath.Join(dir, "judgements"), "--targets", "all")
}

// kills is killsOf for cpt.
func kills(t *testing.T, n int) { killsOf(t, n, "cpt", clusterCorpus(t)) }

// killsOf runs turnmill n times, kills it at a random moment, and runs it again, which ends in the bytes of a run
// that nothing stopped. Half of the kills at least have to leave something: a commit, or an unfinished file.
func killsOf(t *testing.T, n int, command ...string) {
	args := func(out string, workers string) []string {
		return append(slices.Clone(command), "-o", out, "--tokenizer", "demo", "--partitions", "9", "--max-reject-rate", "1", "--progress", "none", "--workers", workers)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	p := started(t, "", nil, args(whole, "2")...)
	first := p.first(t, whole)
	p.ends(t, exitDone)
	length := time.Since(first) // from the first file to the end
	want := mustSum(t, whole)
	rng := rand.New(rand.NewPCG(20, 26))
	killed, commits, temporaries, some := 0, 0, 0, 0
	for tries := 0; killed < n; tries++ {
		if tries == 4*n {
			t.Fatalf("%d of %d runs ended before they were killed: they need a longer corpus", tries-killed, tries)
		}
		out := filepath.Join(t.TempDir(), "out")
		p := started(t, "", nil, args(out, "2")...)
		p.first(t, out)
		time.Sleep(time.Duration(rng.Int64N(int64(length))))
		p.cmd.Process.Kill()
		p.cmd.Wait()
		if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
			continue // too late
		}
		killed++
		c, u := leftovers(t, out)
		commits, temporaries = commits+c, temporaries+u
		if c+u > 0 {
			some++
		}
		if r := cli("check", out); r.code == exitDone {
			t.Error("check passes a run that was killed")
		}
		started(t, "", nil, args(out, []string{"1", "7"}[killed%2])...).ends(t, exitDone)
		if path := differ(want, mustSum(t, out)); path != "" { // which an unfinished file is too
			t.Errorf("kill %d: %s is not what a run that nothing stopped writes", killed, path)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, of which %d left something: %d commits and %d unfinished files in all", killed, some, commits, temporaries)
	if 2*some < killed || commits == 0 || temporaries == 0 {
		t.Error("the kills prove too little")
	}
}

// first waits for the first file of a run.
func (p *process) first(t *testing.T, out string) time.Time {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
			return time.Now()
		}
	}
	t.Fatalf("no file comes\n%s", p.errors.String())
	return time.Time{}
}

// leftovers counts the commits and the unfinished files that a killed run left.
func leftovers(t *testing.T, out string) (commits, temporaries int) {
	t.Helper()
	for name := range mustSum(t, out) {
		switch {
		case strings.HasSuffix(name, ".tmp"):
			temporaries++
		case filepath.Dir(name) == "commits":
			commits++
		}
	}
	return commits, temporaries
}
