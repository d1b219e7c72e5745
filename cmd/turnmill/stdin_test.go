//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// feed is a turnmill that reads standard input from a pipe of the test's.
type feed struct {
	*process
	in io.WriteCloser
}

func startFeed(t *testing.T, args ...string) *feed {
	t.Helper()
	f := &feed{process: newProcess(args...)}
	var err error
	if f.in, err = f.cmd.StdinPipe(); err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write writes to the pipe; the other end may be gone.
func (f *feed) write(t *testing.T, data []byte) {
	t.Helper()
	if _, err := f.in.Write(data); err != nil {
		t.Fatalf("the pipe: %v\n%s", err, f.errors.String())
	}
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	t.Fatalf("%s does not come", name)
}

func stdinArgs(out string, more ...string) []string {
	return append([]string{"cpt", "-", "-o", out, "--tokenizer", "demo", "--progress", "none", "--partition-bytes", "200000"}, more...)
}

// fed runs turnmill with data on its standard input.
func fed(t *testing.T, data []byte, code int, args ...string) *process {
	t.Helper()
	p := newProcess(args...)
	p.cmd.Stdin = bytes.NewReader(data)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.ends(t, code)
	return p
}

// TestStdinKilled kills a turnmill that is fed through a pipe, twice, feeds the same bytes again, and finds the
// bytes of a run that nothing stopped. Then it feeds others.
func TestStdinKilled(t *testing.T) {
	data := runs(0, 1800)
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	fed(t, data, exitDone, stdinArgs(whole)...)
	want := mustSum(t, whole)
	for _, after := range []string{"p00001", "p00005"} {
		f := startFeed(t, stdinArgs(out, "--workers", "1")...)
		f.write(t, data[:len(data)*7/8])
		waitFor(t, filepath.Join(out, "commits", after+".json"))
		f.cmd.Process.Kill()
		f.ends(t, -1)
		if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
			t.Fatal("a run that was not fed to its end has a manifest")
		}
	}
	if r := cli("merge", out); r.code != exitFailed || !strings.Contains(r.errors, "feed the same bytes to turnmill cpt") {
		t.Errorf("merge: exit code %d, %s", r.code, r.errors)
	}
	other := bytes.Clone(data)
	other[1_100_000] ^= 1 // beyond what the plan knows
	for _, c := range []struct {
		data []byte
		says string
	}{
		{other, "are not those that partition 5 has committed; feed the same bytes again, or start anew with --restart"},
		{data[:1_100_000], "standard input: input changed: bytes "},
	} {
		if p := fed(t, c.data, exitFailed, stdinArgs(out)...); !strings.Contains(p.errors.String(), c.says) {
			t.Errorf("other bytes: %s", p.errors.String())
		}
	}
	p := fed(t, data, exitDone, stdinArgs(out, "--workers", "3")...)
	if path := differ(want, mustSum(t, out)); path != "" || p.out.Len() > 0 {
		t.Errorf("%s is not what a run that nothing stopped writes; stdout %q", path, p.out.String())
	}
	noTemporaries(t, out)

	file := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, exitDone, "check", out)
	mustRun(t, exitDone, "check", out, "--inputs", file)
	fed(t, data, exitDone, "check", out, "--inputs", "-")
	fed(t, other, exitFailed, "check", out, "--inputs", "-")
	if r := mustRun(t, exitDone, "show", out, "--row", "1799"); !strings.Contains(r.out, "run-1799") {
		t.Errorf("show: %.300s", r.out)
	}
	mustRun(t, exitUsage, "run", out, "--partition", "0")
}

// noTemporaries makes sure that no unfinished file is left.
func noTemporaries(t *testing.T, out string) {
	t.Helper()
	for name := range mustSum(t, out) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestStdinPipe: ingest into cpt through a pipe gives the rows of cpt alone.
func TestStdinPipe(t *testing.T) {
	corpus := clusterCorpus(t)
	alone, piped := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "piped")
	mustRun(t, exitDone, "cpt", corpus, "-o", alone, "--tokenizer", "demo", "--partitions", "1", "--max-reject-rate", "1")
	for _, from := range [][]string{{"ingest", corpus}, {"ingest", "-"}} {
		first := exec.Command("turnmill", append(from, "--max-reject-rate", "1")...)
		if from[1] == "-" { // unified already
			first.Stdin = bytes.NewReader([]byte(mustRun(t, exitDone, "ingest", corpus, "--max-reject-rate", "1").out))
		}
		pipe, err := first.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		second := newProcess("cpt", "-", "-o", piped, "--tokenizer", "demo", "--progress", "none")
		second.cmd.Stdin = pipe
		if err := second.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		second.ends(t, exitDone)
		if err := first.Wait(); err != nil {
			t.Error(err)
		}
		const shard = "train/data-p00000-00000.arrow"
		if a, b := mustSum(t, alone), mustSum(t, piped); a[shard] == "" || a[shard] != b[shard] {
			t.Errorf("%v: other rows through the pipe", from)
		}
		if err := os.RemoveAll(piped); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStdinSilent: a signal stops a turnmill that waits for its standard input.
func TestStdinSilent(t *testing.T) {
	data := runs(0, 1500)
	for _, c := range []struct {
		signal os.Signal
		fed    int
		code   int
	}{{syscall.SIGTERM, len(data) * 9 / 10, exitTryAgain}, {syscall.SIGINT, len(data) * 9 / 10, exitInterrupted}, {syscall.SIGTERM, 100, exitTryAgain}} {
		out := filepath.Join(t.TempDir(), "out")
		f := startFeed(t, stdinArgs(out)...)
		f.write(t, data[:c.fed])
		if c.fed > 100 {
			waitFor(t, filepath.Join(out, "commits", "p00002.json"))
		} else {
			time.Sleep(100 * time.Millisecond) // it waits for the head, of which nothing tells
		}
		stop := time.AfterFunc(20*time.Second, func() { f.cmd.Process.Kill() })
		if err := f.cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		f.ends(t, c.code)
		stop.Stop()
		f.in.Close()
		if got := f.errors.String(); !strings.Contains(got, "run the same command again to go on") {
			t.Errorf("%v: %s", c.signal, got)
		}
		fed(t, data, exitDone, stdinArgs(out)...)
		noTemporaries(t, out)
		mustRun(t, exitDone, "check", out)
	}
}

// TestStdinUnreadable: standard input that cannot be read is a failure, and no reject.
func TestStdinUnreadable(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{stdinArgs(out), stdinArgs(out, "--dry-run"), {"ingest", "-"}} {
		p := newProcess(args...)
		p.cmd.Stdin = dir
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if p.ends(t, exitFailed); !strings.Contains(p.errors.String(), "error: standard input: ") || p.out.Len() > 0 {
			t.Errorf("%v: stdout %q, stderr %q", args, p.out.String(), p.errors.String())
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the output directory is there")
	}
}
