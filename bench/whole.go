package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is one setting of the binary, measured from outside.
type child struct {
	mb      int
	workers int
	memory  string
	rate    float64 // MB/s per CPU second
	wall    float64 // seconds
	peak    float64 // MiB, resident
}

// measureWhole runs the binary over both corpora, the settings in turn, and takes medians.
func measureWhole(o *options, small, large string) ([]child, error) {
	settings := []struct {
		corpus  string
		mb      int
		workers int
		memory  string
	}{
		{small, o.small, 1, "1GiB"}, {small, o.small, 2, "1GiB"}, {small, o.small, 2, "256MiB"}, {large, o.large, 2, "256MiB"},
	}
	got := make([][]child, len(settings))
	for range o.runs {
		for i, s := range settings {
			c, err := runChild(o, s.corpus, s.workers, s.memory)
			if err != nil {
				return nil, err
			}
			c.mb = s.mb
			got[i] = append(got[i], c)
		}
	}
	var out []child
	for _, runs := range got {
		c := runs[0]
		c.rate = median(runs, func(c child) float64 { return c.rate })
		c.wall = median(runs, func(c child) float64 { return c.wall })
		c.peak = median(runs, func(c child) float64 { return c.peak })
		out = append(out, c)
	}
	return out, nil
}

func median(runs []child, of func(child) float64) float64 {
	var all []float64
	for _, c := range runs {
		all = append(all, of(c))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func runChild(o *options, corpus string, workers int, memory string) (child, error) {
	out := filepath.Join(o.work, "out")
	if err := os.RemoveAll(out); err != nil {
		return child{}, err
	}
	cmd := exec.Command(o.turnmill, "cpt", corpus, "-o", out, "--tokenizer", o.tokenizer, "--workers", strconv.Itoa(workers),
		"--memory", memory, "--progress", "none")
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(workers))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return child{}, fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.String())
	}
	wall := time.Since(began)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	info, err := os.Stat(corpus)
	if err != nil {
		return child{}, err
	}
	seconds := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	c := child{workers: workers, memory: memory, wall: wall.Seconds(), peak: float64(usage.Maxrss) / 1024,
		rate: float64(info.Size()) / 1e6 / seconds.Seconds()}
	return c, os.RemoveAll(out)
}

// processor names the machine's processor.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}
