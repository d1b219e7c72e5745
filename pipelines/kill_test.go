package pipelines

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
)

// The environment of a process that is there to be killed.
const killCorpus, killOutput = "TURNMILL_TEST_KILL_CORPUS", "TURNMILL_TEST_KILL_OUTPUT"

// TestKilled is the process that TestPitfallB34Kill starts; on its own it has nothing to do.
func TestKilled(t *testing.T) {
	corpus := os.Getenv(killCorpus)
	if corpus == "" {
		return
	}
	o := DefaultOptions()
	killed(&o, corpus)
	o.Output = os.Getenv(killOutput)
	o.Progress = func(Progress) { fmt.Println("outcome") }
	mustRun(t, o)
}

// killed sets what both processes must agree on.
func killed(o *Options, corpus string) {
	o.Inputs, o.Tokenizer, o.SeqLen, o.Partitions, o.ShardBytes = []string{corpus}, "demo", 2048, 6, 60_000
	o.MaxRejectRate, o.MaxDropRate, o.Workers = 1, 1, 2
}

// TestPitfallB34Kill: a process that is killed outright leaves nothing that reads as whole and is not, and
// the next one ends in the bytes of a run that was not killed, none lost and none twice.
func TestPitfallB34Kill(t *testing.T) {
	corpus := mixedCorpus(t)
	base := options(t)
	killed(&base, corpus)
	mustRun(t, base)
	want := digest(t, base.Output)
	rng := rand.New(rand.NewPCG(11, 12))
	for range 3 {
		o := with(t, base, nil)
		after := 1 + rng.IntN(9)
		kill(t, corpus, o.Output, after)
		committedFiles(t, o.Output) // what a commit names is there
		o.Workers = 1 + 7*rng.IntN(2)
		mustRun(t, o)
		sameFiles(t, fmt.Sprintf("killed after outcome %d", after), want, digest(t, o.Output))
		mustCheck(t, o)
	}
}

// kill starts a run in a process of its own and kills that after some outcomes.
func kill(t *testing.T, corpus, output string, after int) {
	t.Helper()
	killAs(t, "^TestKilled$", []string{killCorpus + "=" + corpus, killOutput + "=" + output}, after)
}

// killAs starts a test in a process of its own and kills that after so many lines that say outcome.
func killAs(t *testing.T, test string, env []string, after int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run="+test)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	seen := 0
	for seen < after && lines.Scan() {
		if lines.Text() == "outcome" {
			seen++
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); err == nil || seen < after {
		t.Fatalf("the process was not killed in time: %v after %d of %d outcomes", err, seen, after)
	}
}
