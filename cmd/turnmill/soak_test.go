//go:build soak && unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSoakKills is TestKills, for long.
func TestSoakKills(t *testing.T) { kills(t, 200) }

// TestSoak runs random flags on random inputs with damage, for as long as TURNMILL_SOAK says: once undisturbed,
// once killed and told to stop at random moments and run again, as one command, through standard input, or as
// plan, run and merge. Both have to give the same bytes, and check has to pass them. TURNMILL_SOAK_SEED repeats
// the rounds of an earlier soak; times are as they come.
func TestSoak(t *testing.T) {
	length := 30 * time.Minute
	if text := os.Getenv("TURNMILL_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("TURNMILL_SOAK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TURNMILL_SOAK_SEED=%d", seed)
	var all soakCounts
	end := time.Now().Add(length)
	for round := 0; time.Now().Before(end) && !t.Failed(); round++ {
		s := &soak{rng: rand.New(rand.NewPCG(seed, uint64(round))), counts: &all}
		t.Run(strconv.Itoa(round), s.round)
	}
	t.Logf("%+v", all)
}

// soakCounts is what a soak has done.
type soakCounts struct{ Rounds, Streams, Planned, Signals, Finished, Checked int }

// soak is one round.
type soak struct {
	rng    *rand.Rand
	counts *soakCounts
	input  string // a directory, or the file that standard input is
	flags  []string
	stream bool
	length time.Duration // of the run that nothing stops
}

func (s *soak) chance(of int) bool { return s.rng.IntN(of) == 0 }

// pick returns one of some values.
func pick[T any](s *soak, values ...T) T { return values[s.rng.IntN(len(values))] }

func (s *soak) round(t *testing.T) {
	s.counts.Rounds++
	s.stream = s.chance(3)
	dir := t.TempDir()
	s.input = filepath.Join(dir, "in")
	s.corpus(t)
	s.flags = s.someFlags()
	t.Logf("%d bytes, standard input %v, %s", s.size(t), s.stream, strings.Join(s.flags, " "))

	whole, out := filepath.Join(dir, "whole"), filepath.Join(dir, "out")
	began := time.Now()
	s.start(t, whole).ends(t, exitDone)
	s.length = time.Since(began)
	switch {
	case s.stream:
		s.counts.Streams++
		s.disturbed(t, func() *process { return s.start(t, out) })
	case s.chance(2):
		s.counts.Planned++
		s.planned(t, out)
	default:
		s.disturbed(t, func() *process { return s.start(t, out) })
	}
	if path := differ(mustSum(t, whole), mustSum(t, out)); path != "" {
		t.Errorf("%s is not what a run that nothing stopped writes", path)
	}
	mustRun(t, exitDone, "check", out)
	if s.chance(4) {
		s.counts.Checked++
		mustRun(t, exitDone, "check", out, "--inputs", s.input)
	}
}

func (s *soak) size(t *testing.T) (n int64) {
	t.Helper()
	err := filepath.WalkDir(s.input, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start starts the round's cpt.
func (s *soak) start(t *testing.T, out string) *process {
	t.Helper()
	args := append([]string{"cpt", s.input, "-o", out}, s.flags...)
	args = append(args, "--workers", strconv.Itoa(1+s.rng.IntN(5)), "--memory", pick(s, "320MiB", "1GiB", "2GiB"), "--progress", "none")
	if !s.stream {
		return started(t, "", nil, args...)
	}
	args[1] = "-"
	data, err := os.ReadFile(s.input)
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(args...)
	if p.cmd.Stdin = bytes.NewReader(data); s.chance(2) {
		file, err := os.Open(s.input)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p.cmd.Stdin = file
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// disturbed starts a command again and again, stops it most of the times, and lets it end at last.
func (s *soak) disturbed(t *testing.T, start func() *process) {
	t.Helper()
	for range s.rng.IntN(6) {
		p := start()
		time.Sleep(time.Duration(s.rng.Int64N(int64(s.length))))
		signal := pick(s, syscall.SIGKILL, syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT)
		p.cmd.Process.Signal(signal)
		p.cmd.Wait()
		switch code := p.cmd.ProcessState.ExitCode(); {
		case code == exitDone:
			s.counts.Finished++
			return
		case code == -1, signal != syscall.SIGKILL && (code == exitTryAgain || code == exitInterrupted):
			s.counts.Signals++
		default:
			t.Fatalf("%v after %v: exit code %d\n%s", p.cmd.Args, signal, code, p.errors.String())
		}
	}
	start().ends(t, exitDone)
}

// planned does the round in three steps.
func (s *soak) planned(t *testing.T, out string) {
	t.Helper()
	started(t, "", nil, append([]string{"plan", "cpt", s.input, "-o", out}, s.flags...)...).ends(t, exitDone)
	plan := string(readFile(t, out, "plan.json"))
	var n int
	if _, err := fmt.Sscanf(plan[strings.Index(plan, `"partitions": `):], `"partitions": %d`, &n); err != nil || n == 0 {
		t.Fatalf("%d partitions, %v", n, err)
	}
	for _, i := range s.rng.Perm(n) {
		run := func() *process {
			return started(t, "", nil, "run", out, "--partition", strconv.Itoa(i), "--workers", strconv.Itoa(1+s.rng.IntN(3)), "--progress", "none")
		}
		if s.chance(3) {
			beside := run()
			defer beside.ends(t, exitDone)
		}
		if s.chance(2) {
			s.disturbed(t, run)
		} else {
			run().ends(t, exitDone)
		}
	}
	s.merge(t, out)
}

// merge merges when every run beside it has ended.
func (s *soak) merge(t *testing.T, out string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		r := cli("merge", out, "--max-reject-rate", "1")
		if r.code == exitDone {
			return
		}
		if !strings.Contains(r.errors, "another turnmill works on it") || time.Now().After(end) {
			t.Fatalf("merge: exit code %d, %s", r.code, r.errors)
		}
	}
}

// someFlags returns flags that change bytes.
func (s *soak) someFlags() []string {
	f := []string{"--tokenizer", "demo", "--max-reject-rate", "1", "--seq-len", pick(s, "64", "700", "4096", "262144"), "--seed", strconv.Itoa(s.rng.IntN(3)),
		"--state", pick(s, "always", "changed", "never"), "--min-turns", pick(s, "1", "2", "3"), "--shard-bytes", pick(s, "1", "40000", "256MiB"),
		"--validation", pick(s, "0", "0", "0.05", "0.5"), "--limit", pick(s, "0", "0", "0", "1", "17", "150"), "--max-record", pick(s, "256MiB", "5000")}
	switch s.rng.IntN(8) {
	case 0:
		f = append(f, "--mask", "weight", "--profile", "weighted")
	case 1:
		f = append(f, "--objective", "policy")
	case 2:
		f = append(f, "--objective", "all", "--mask", "token")
	case 3:
		f = append(f, "--mask", "off", "--filters", "none")
	case 4:
		f = append(f, "--mask", "span", "--objective", pick(s, "world-model", "all"))
	case 5:
		f = append(f, "--mask", "changed", "--copied-keep", pick(s, "0.1", "0", "0.5", "1"), "--filters", pick(s, "all", "none"))
	}
	if s.stream {
		return append(f, "--partition-bytes", pick(s, "20000", "100000", "300000", "256MiB"))
	}
	if s.chance(3) {
		return append(f, "--partition-bytes", pick(s, "300000", "1000000", "256MiB"))
	}
	return append(f, "--partitions", strconv.Itoa(1+s.rng.IntN(14)))
}
