package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// sample is what the system says of the run at one moment.
type sample struct {
	done     int64 // trajectories written into the pipe
	wall     float64
	cpu      float64 // seconds
	resident float64 // MiB
}

// stream sends trajectories to `turnmill cpt -` through a pipe and writes the rate over time to the document.
func stream(o *options) error {
	g, err := o.generator()
	if err != nil {
		return err
	}
	out, err := o.clear("stream")
	if err != nil {
		return err
	}
	args := cptCommand(o, "-", out, "--workers", "2", "--memory", "1GiB", "--min-turns", "1")
	cmd := exec.Command(args[0], args[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var done atomic.Int64
	var samples []sample
	w := bufio.NewWriterSize(stdin, 1<<20)
	step := max(1, o.stream/10)
	texts, err := g.write(w, o.stream, func(n int64) {
		done.Store(n)
		if n%step == 0 {
			if s, err := sampleOf(cmd.Process.Pid); err == nil {
				s.done, s.wall = n, time.Since(began).Seconds()
				samples = append(samples, s)
			}
		}
	})
	if err == nil {
		err = w.Flush()
	}
	stdin.Close()
	if ended := cmd.Wait(); ended != nil {
		return fmt.Errorf("%v after %d trajectories: %w\n%s", cmd.Args, done.Load(), ended, stderr.String())
	}
	if err != nil {
		return err
	}
	end := sample{done: done.Load(), wall: time.Since(began).Seconds(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		resident: float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024}
	size, err := sizeOf(out)
	if err != nil {
		return err
	}
	check, err := exec.Command(o.turnmill, "check", out).CombinedOutput()
	if err != nil {
		return fmt.Errorf("turnmill check %s: %w\n%s", out, err, check)
	}
	return publish(o, streamReport(o, samples, end, texts, size, stderr.String(), string(check)))
}

// sampleOf reads /proc.
func sampleOf(pid int) (sample, error) {
	var s sample
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 64)
			if err != nil {
				return s, err
			}
			s.resident = n / 1024
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // field 3, the state, comes first
	for _, at := range []int{14 - 3, 15 - 3} {                                // utime, stime, in hundredths of a second
		ticks, err := strconv.ParseFloat(fields[at], 64)
		if err != nil {
			return s, err
		}
		s.cpu += ticks / 100
	}
	return s, nil
}

func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	})
	return size, err
}

func streamReport(o *options, samples []sample, end sample, texts, size int64, ledger, check string) string {
	p := &page{}
	n := float64(end.done)
	p.f("## A stream of %s trajectories\n\nWritten by `go run ./bench -stream %d -longest %d`. Machine: %s, others at work beside it. Tokenizer: %s. The seven\ndomains come in turn; "+
		"of a domain a recorded trajectory is drawn and keeps its turns, all of them; of a text longer than %d bytes a stretch is\ntaken, from a place drawn anew, so that the output fits the disk, and digits are others in each. "+
		"A domain that nothing was recorded of takes from all.\n`turnmill cpt -` reads them from a pipe: two workers, `--memory 1GiB`, `--min-turns 1`.\n\n",
		grouped(end.done), o.stream, o.longest, machine(), title(o), o.longest)
	p.f("%.1f GB of text became %.1f GB of output in %.0f s by the clock and %.0f CPU seconds: %.1f MB of text and %.0f trajectories per CPU second, %.0f\n"+
		"trajectories a second by the clock. Peak memory: %.0f MiB resident.\n\n",
		float64(texts)/1e9, float64(size)/1e9, end.wall, end.cpu, float64(texts)/1e6/end.cpu, n/end.cpu, n/end.wall, end.resident)
	p.table("trajectories", "per CPU second", "per second", "resident MiB")
	last := sample{}
	for _, s := range samples {
		p.row(grouped(s.done), fmt.Sprintf("%.0f", float64(s.done-last.done)/(s.cpu-last.cpu)), fmt.Sprintf("%.0f", float64(s.done-last.done)/(s.wall-last.wall)), fmt.Sprintf("%.0f", s.resident))
		last = s
	}
	p.f("\nThe ledger, then `turnmill check`:\n\n")
	_, ledger, _ = strings.Cut("\n"+ledger, "\ndomain ")
	for line := range strings.Lines(strings.TrimSpace("domain "+ledger) + "\n\n" + strings.TrimSpace(check) + "\n") {
		p.f("%s", strings.TrimRight("    "+line, " \n")+"\n")
	}
	return p.String()
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
