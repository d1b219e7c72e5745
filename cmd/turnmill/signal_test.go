//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// longCorpus writes a file of lines that takes a run of one worker about two seconds.
func longCorpus(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	for i := range 1500 {
		b.WriteString(terminal(fmt.Sprintf("run-%d", i), text(3000+i%7*500), fmt.Sprintf(`"step %d is done"`, i), text(4000)))
		b.WriteByte('\n')
	}
	return writeTemp(t, "runs.jsonl", b.Bytes())
}

// process is a turnmill of its own.
type process struct {
	cmd         *exec.Cmd
	out, errors bytes.Buffer
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("turnmill", args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errors
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// signalWhen sends a signal as soon as a file is there, and waits for the end. It returns the exit code, or
// -1 when a signal ended the process.
func (p *process) signalWhen(t *testing.T, file string, s syscall.Signal) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	sent := false
	for {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			return p.cmd.ProcessState.ExitCode()
		case <-tick.C:
			if sent {
				continue
			}
			if matches, _ := filepath.Glob(file); len(matches) > 0 {
				sent = true
				if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Error(err)
				}
			}
		}
	}
}

// interrupted runs args until one of them is stopped by the signal before it ends by itself, which a
// machine that stands still for a while may allow.
func interrupted(t *testing.T, out, when string, s syscall.Signal, args ...string) (*process, int) {
	t.Helper()
	for range 5 {
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		p := startProcess(t, args...)
		if code := p.signalWhen(t, when, s); code != exitDone {
			return p, code
		}
	}
	t.Fatal("the run ended before the signal came, five times: it needs a longer corpus")
	return nil, 0
}

const signalParts = 12

// TestSignals stops a run, runs the same command again and compares every file with those of a run that
// nothing stopped.
func TestSignals(t *testing.T) {
	input := longCorpus(t)
	args := func(out string, workers int) []string {
		return []string{"cpt", input, "-o", out, "--tokenizer", "demo", "--partitions", fmt.Sprint(signalParts), "--workers", fmt.Sprint(workers), "--progress", "none"}
	}
	whole := filepath.Join(t.TempDir(), "whole")
	mustRun(t, exitDone, args(whole, 0)...)
	want, err := sums(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		when   string // the first file below OUT after which the signal is sent
		code   int
		says   string
	}{
		{"interrupt", syscall.SIGINT, "commits/p00000.json", exitInterrupted, "interrupted: what is committed stays; run the same command again to go on\n"},
		{"terminate", syscall.SIGTERM, "commits/p00003.json", exitTryAgain, "told to stop: what is committed stays; run the same command again to go on\n"},
		{"preempt", syscall.SIGUSR1, "plan.json", exitTryAgain, "told to stop: what is committed stays; run the same command again to go on\n"},
		{"kill", syscall.SIGKILL, "turns/.p00002.parquet.*.tmp", -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			p, code := interrupted(t, out, filepath.Join(out, c.when), c.signal, args(out, 1)...)
			if code != c.code {
				t.Fatalf("exit code %d, want %d\n%s", code, c.code, p.errors.String())
			}
			if got := p.errors.String(); !strings.HasSuffix(got, c.says) || p.out.Len() > 0 || strings.Contains(got, "error: ") {
				t.Errorf("stdout %q, stderr %q; want it to end with %q", p.out.String(), got, c.says)
			}
			halfDone(t, out, c.signal != syscall.SIGKILL)
			mustRun(t, exitDone, args(out, 2)...)
			got, err := sums(out)
			if err != nil {
				t.Fatal(err)
			}
			if path := differ(want, got); path != "" {
				t.Errorf("%s is not what a run that nothing stopped writes", path)
			}
		})
	}
	mustRun(t, exitDone, "check", whole, "--inputs", input)
}

// halfDone looks at what a stopped run has left: no manifest, not every commit, no unfinished file that
// a reader could take for a whole one, and, when it could clean up, no unfinished file at all.
func halfDone(t *testing.T, out string, clean bool) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
		t.Error("a stopped run has a manifest")
	}
	commits, err := filepath.Glob(filepath.Join(out, "commits", "p*.json"))
	if err != nil || len(commits) >= signalParts {
		t.Errorf("%d commits of %d: nothing was left to do (%v)", len(commits), signalParts, err)
	}
	r := cli("check", out)
	if r.code != exitFailed || !strings.Contains(r.errors, "the run is not finished") {
		t.Errorf("check: exit code %d, %s", r.code, r.errors)
	}
	for _, pattern := range []string{"*", "*/*", ".*", "*/.*"} {
		paths, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			temporary, hidden := strings.HasSuffix(path, ".tmp"), strings.HasPrefix(filepath.Base(path), ".")
			if temporary && (clean || !hidden) {
				t.Errorf("%s is left", path)
			}
		}
	}
}

// TestSignalIngest: a stopped ingest leaves no file, half or whole.
func TestSignalIngest(t *testing.T) {
	input, dir := longCorpus(t), filepath.Join(t.TempDir(), "dir")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var p *process
		code := exitDone
		for try := 0; code == exitDone && try < 5; try++ {
			if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			p = startProcess(t, "ingest", input, input, input, input, "-o", filepath.Join(dir, "all.jsonl.zst"))
			code = p.signalWhen(t, filepath.Join(dir, ".all.jsonl.zst.*"), s)
		}
		if want := map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTryAgain}[s]; code != want {
			t.Errorf("%v: exit code %d, want %d\n%s", s, code, want, p.errors.String())
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%v: %v is left (%v)", s, entries, err)
		}
	}
}
