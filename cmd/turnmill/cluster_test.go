//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// runs returns records of a terminal, from i on.
func runs(from, n int) []byte {
	var records []string
	for i := from; i < from+n; i++ {
		records = append(records, terminal(fmt.Sprintf("run-%d", i), text(300+i%7*150), fmt.Sprintf(`"step %d is done"`, i), text(400+i%5*90)))
	}
	return jsonLines(records...)
}

// clusterCorpus is a directory with files that are cut, one that is not, and damage.
func clusterCorpus(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	frames := bytes.SplitAfter(runs(200, 100), []byte("\n"))
	files := map[string][]byte{
		"a.jsonl":     append(append(runs(0, 100), "{\"id\":\"cut\n"...), runs(100, 100)...),
		"b.jsonl.zst": compressed("zstd", frames...),
		"c.jsonl.gz":  compressed("gzip", runs(300, 20)),
		"d.txt":       []byte("Remember to feed the cat.\n"),
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// newProcess returns a turnmill that is not started yet.
func newProcess(args ...string) *process {
	p := &process{cmd: exec.Command("turnmill", args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errors
	return p
}

// started starts a turnmill of its own in a directory, with more in its environment.
func started(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	p := newProcess(args...)
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// ends waits for a process, which has to end with an exit code.
func (p *process) ends(t *testing.T, code int) {
	t.Helper()
	p.cmd.Wait() // the state says it all
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", p.cmd.Args, got, code, p.out.String(), p.errors.String())
	}
}

// mustSum returns the sums of a run's files.
func mustSum(t *testing.T, out string) map[string]string {
	t.Helper()
	got, err := sums(out)
	if err != nil || len(got) == 0 {
		t.Fatalf("%d files, %v", len(got), err)
	}
	return got
}

// TestCluster plans a job, runs its partitions in any order in three processes at once, one of them twice at
// the same moment, merges, and finds the bytes that cpt writes, with any workers and from anywhere.
func TestCluster(t *testing.T) {
	const parts = 12
	corpus, out := clusterCorpus(t), filepath.Join(t.TempDir(), "out")
	flags := []string{"--tokenizer", "demo", "--partitions", strconv.Itoa(parts), "--validation", "0.2", "--max-reject-rate", "1"}
	r := mustRun(t, exitDone, slices.Concat([]string{"plan", "cpt", corpus, "-o", out}, flags)...)
	if r.out != "12 partitions, 0 to 11\n" || !strings.Contains(r.errors, "turnmill merge "+out) {
		t.Errorf("stdout %q, stderr %q", r.out, r.errors)
	}
	order := rand.New(rand.NewPCG(9, 9)).Perm(parts)
	order = append([]int{order[parts-1]}, order...)
	order[1], order[parts] = order[parts], order[1] // the first two are the same partition
	variables := []string{"TURNMILL_PARTITION", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}
	var busy []*process
	for n, i := range order {
		if len(busy) == 3 {
			busy[0].ends(t, exitDone)
			busy = busy[1:]
		}
		args, env := []string{"run", out, "--progress", "none", "--workers", strconv.Itoa(1 + n%3)}, []string(nil)
		if k := n % 4; k < len(variables) {
			env = []string{variables[k] + "=" + strconv.Itoa(i)}
		} else {
			args = append(args, "--partition", strconv.Itoa(i))
		}
		if n == parts { // all but one are done; one that only starts would find merge at work
			for _, p := range busy {
				p.ends(t, exitDone)
			}
			busy = nil
			r := cli("merge", out)
			if r.code != exitFailed || !regexp.MustCompile(fmt.Sprintf(`partitions? [^o]*\b%d\b.* no commit`, i)).MatchString(r.errors) {
				t.Errorf("merge before the end: exit code %d, %s", r.code, r.errors)
			}
		}
		busy = append(busy, started(t, "", env, args...))
	}
	for _, p := range busy {
		p.ends(t, exitDone)
		if p.out.Len() > 0 {
			t.Errorf("run prints %q", p.out.String())
		}
	}
	mustRun(t, exitThreshold, "merge", out, "--max-reject-rate", "0")
	mustRun(t, exitDone, "merge", out, "--max-reject-rate", "1")
	got := mustSum(t, out)
	elsewhere := t.TempDir()
	for _, c := range []struct{ dir, input, workers string }{
		{"", corpus, "1"}, {"", corpus, "7"}, {filepath.Dir(corpus), "in", "2"}, {filepath.Dir(corpus), "./in/../in", "3"},
	} {
		cpt := filepath.Join(elsewhere, c.workers)
		started(t, c.dir, nil, slices.Concat([]string{"cpt", c.input, "-o", cpt, "--progress", "none", "--workers", c.workers}, flags)...).ends(t, exitDone)
		if path := differ(mustSum(t, cpt), got); path != "" {
			t.Errorf("%s is not what cpt with %s workers writes", path, c.workers)
		}
	}
	mustRun(t, exitDone, "check", out, "--inputs", corpus)
}

// TestPartitionFrom: which variable gives the index, and what is none.
func TestPartitionFrom(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want int
		says string // of an error
	}{
		{map[string]string{"TURNMILL_PARTITION": "3"}, 3, ""},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "0"}, 0, ""},
		{map[string]string{"JOB_COMPLETION_INDEX": "12"}, 12, ""},
		{map[string]string{"TURNMILL_PARTITION": "1", "SLURM_ARRAY_TASK_ID": "2", "JOB_COMPLETION_INDEX": "3"}, 1, ""},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "2", "JOB_COMPLETION_INDEX": "3"}, 2, ""},
		{map[string]string{"TURNMILL_PARTITION": "", "JOB_COMPLETION_INDEX": "3"}, 3, ""},
		{map[string]string{"TURNMILL_PARTITION": "x", "JOB_COMPLETION_INDEX": "3"}, 0, "TURNMILL_PARTITION=x: want the number of a partition, from 0"},
		{map[string]string{"TURNMILL_PARTITION": "-1"}, 0, "TURNMILL_PARTITION=-1: want"},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "1.5"}, 0, "SLURM_ARRAY_TASK_ID=1.5: want"},
		{map[string]string{"SLURM_ARRAY_TASK_ID": " 1"}, 0, "SLURM_ARRAY_TASK_ID= 1: want"},
		{map[string]string{"JOB_COMPLETION_INDEX": "99999999999999999999"}, 0, "JOB_COMPLETION_INDEX=9"},
		{nil, 0, "no --partition: give its number, or set TURNMILL_PARTITION"},
	} {
		got, err := partitionFrom(func(name string) string { return c.env[name] })
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v: %d, %v; want %d, %q", c.env, got, err, c.want, c.says)
		}
	}
}
