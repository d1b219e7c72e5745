package main

import (
	"cmp"
	"os"
	"slices"
	"strconv"
)

// child is one setting of the binary, measured from outside.
type child struct {
	mb      int
	workers int
	memory  string
	rate    float64 // MB/s per CPU second
	wall    float64 // seconds
	best    float64 // wall seconds of the fastest run
	peak    float64 // MiB, resident
}

// measureWhole runs the binary over both corpora, the settings in turn, and takes medians.
func measureWhole(o *options, r *runner, small, large string) ([]child, error) {
	settings := []struct {
		corpus  string
		mb      int
		workers int
		memory  string
	}{
		{small, o.small, 1, "1GiB"}, {small, o.small, 2, "1GiB"}, {small, o.small, 2, "256MiB"}, {large, o.large, 2, "256MiB"},
		{large, o.large, 1, "1GiB"}, {large, o.large, 2, "1GiB"},
	}
	got := make([][]child, len(settings))
	for range o.runs {
		for i, s := range settings {
			c, err := runChild(o, r, s.corpus, s.workers, s.memory)
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
		c.best = slices.MinFunc(runs, func(a, b child) int { return cmp.Compare(a.wall, b.wall) }).wall
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

func runChild(o *options, r *runner, corpus string, workers int, memory string) (child, error) {
	out, err := o.clear("out")
	if err != nil {
		return child{}, err
	}
	core := -1
	if workers == 1 {
		core = o.core
	}
	_, m, err := r.run(core, cptCommand(o, corpus, out, "--workers", strconv.Itoa(workers), "--memory", memory)...)
	if err != nil {
		return child{}, err
	}
	info, err := os.Stat(corpus)
	if err != nil {
		return child{}, err
	}
	c := child{workers: workers, memory: memory, wall: m.Wall, peak: m.Peak, rate: float64(info.Size()) / 1e6 / m.Start}
	return c, os.RemoveAll(out)
}

// speedup compares two workers with one on the large corpus with the same memory: by their CPU seconds, which
// tell what two free cores would make of them, and by the shortest times on the wall, which others' work on
// the machine stretches.
func speedup(whole []child) (cpu, wall float64) {
	var one, two child
	for _, c := range whole {
		if c.memory == "1GiB" { // the large corpus comes last
			if c.workers == 1 {
				one = c
			} else {
				two = c
			}
		}
	}
	return 2 * two.rate / one.rate, one.best / two.best
}

func peakRatio(whole []child) float64 {
	var small, large float64
	for _, c := range whole {
		if c.memory != "256MiB" {
			continue
		}
		if small == 0 {
			small = c.peak
		} else {
			large = c.peak
		}
	}
	return large / small
}
