// Command bench measures turnmill and writes docs/performance.md.
//
//	corpus   the demo corpus, again and again, each copy with other ids, numbers and words: 60 and 600 MB
//	stages   framing, decoding, masking, encoding, shards, tables, files, each alone, in this process, on one core
//	whole    the binary on both corpora, as a child process: CPU seconds, wall seconds, peak memory
//	decoders with -decoders, and nothing else: each format's decoder on published files, the section "Decoders"
//
// Unit: MB (10^6 bytes) of JSON lines per CPU second, user and system, on one core. Medians.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	var o options
	flag.StringVar(&o.turnmill, "turnmill", "build/turnmill", "binary to measure")
	flag.StringVar(&o.out, "out", "", "file to write; empty: standard output")
	flag.StringVar(&o.work, "work", "build/bench", "directory for corpora and runs")
	flag.StringVar(&o.tokenizer, "tokenizer", "demo", "tokenizer of the runs")
	flag.IntVar(&o.small, "small", 60, "MB of the small corpus")
	flag.IntVar(&o.large, "large", 600, "MB of the large corpus")
	flag.IntVar(&o.runs, "runs", 3, "runs of each measurement")
	alone := flag.Bool("decoders", false, "measure the decoders alone and write their section")
	flag.Parse()
	measure := run
	if *alone {
		measure = decoders
	}
	if err := measure(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	turnmill, out, work, tokenizer string
	small, large, runs             int
}

func run(o *options) error {
	if err := os.MkdirAll(o.work, 0o777); err != nil {
		return err
	}
	small, large := filepath.Join(o.work, "small.jsonl"), filepath.Join(o.work, "large.jsonl")
	for name, mb := range map[string]int{small: o.small, large: o.large} {
		if err := writeCorpus(name, int64(mb)*1e6); err != nil {
			return err
		}
	}
	// Children first: a child's peak counts what its parent held when it was started.
	whole, err := measureWhole(o, small, large)
	if err != nil {
		return err
	}
	stages, err := measureStages(small, o.runs)
	if err != nil {
		return err
	}
	w := io.Writer(os.Stdout)
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = io.MultiWriter(f, os.Stdout)
	}
	return report(w, o, stages, whole)
}

func report(w io.Writer, o *options, stages []stage, whole []child) error {
	p := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	p("# Performance\n\nWritten by `make bench`; figures are of one machine and one run, so compare them with each other only.\n\n")
	p("Machine: %s, %s/%s, %s. Tokenizer: %s. Corpus: the demo corpus repeated with other ids, numbers and\n"+
		"words, as JSON lines; MB are 10^6 bytes of them. Times are CPU seconds, user and system. Medians of %d runs.\n\n",
		processor(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.tokenizer, o.runs)
	p("## Stages, each alone, one core\n\n| stage | MB/s | what it does |\n|---|---|---|\n")
	floor := 0.0
	for _, s := range stages {
		p("| %s | %.0f | %s |\n", s.name, s.rate, s.what)
		floor += 1 / s.rate
	}
	p("\nAll stages one after the other would make %.0f MB/s: the floor that their sum sets.\n\n", 1/floor)
	p("## The whole path: `turnmill cpt`\n\n| corpus | workers | --memory | MB/s per CPU second | wall s | peak resident MiB |\n|---|---|---|---|---|---|\n")
	for _, c := range whole {
		p("| %d MB | %d | %s | %.1f | %.1f | %.0f |\n", c.mb, c.workers, c.memory, c.rate, c.wall, c.peak)
	}
	p("\nPeak memory at ten times the input is %.2f times that at one (`--memory 256MiB`, two workers).\n", peakRatio(whole))
	return nil
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
