// Command bench measures turnmill and writes docs/performance.md, a section at a time; the others stay.
//
//	bench                      ours: stages, the whole path, memory, growth, on the demo corpus
//	bench -decoders            each format's decoder on published files
//	bench -peers               compared: us and the tools that others use, in alternation, on recorded runs
//	bench -stream N            stream: N trajectories of recorded shape to `turnmill cpt -`
//	bench -trajectories N      only writes these N trajectories to standard output
//
// Unit: MB (10^6 bytes) per CPU second, user and system, on one core. Medians.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) > 1 {
		if child := children[os.Args[1]]; child != nil {
			exit(child(os.Args[2:]))
		}
	}
	var o options
	flag.StringVar(&o.turnmill, "turnmill", "build/turnmill", "binary to measure")
	flag.StringVar(&o.out, "out", "", "file to write a section of; empty: standard output")
	flag.StringVar(&o.work, "work", "build/bench", "directory for corpora and runs")
	flag.StringVar(&o.tokenizer, "tokenizer", "", "tokenizer.json of the runs, in a directory of its own for the peers; empty: demo")
	flag.StringVar(&o.data, "data", os.Getenv("TURNMILL_DATA"), "directory of recorded runs")
	flag.StringVar(&o.under, "under", "", "program that starts every measured run, such as nice")
	flag.IntVar(&o.core, "core", 1, "core that runs on one core are pinned to")
	flag.IntVar(&o.small, "small", 60, "MB of the small corpus of our own figures")
	flag.IntVar(&o.large, "large", 600, "MB of the large corpus of our own figures")
	flag.IntVar(&o.runs, "runs", 5, "runs of each measurement")
	flag.BoolVar(&o.decoders, "decoders", false, "measure the decoders alone")
	flag.BoolVar(&o.peers, "peers", false, "measure the peers too")
	flag.StringVar(&o.python, "python", "build/peers/bin/python", "Python with bench/peers/requirements.txt")
	flag.StringVar(&o.scripts, "scripts", "bench/peers", "directory of the peers' scripts")
	flag.IntVar(&o.corpus, "corpus", 200, "MB of text that the fast tools run over")
	flag.IntVar(&o.sample, "sample", 20, "MB of text that the slow tools run over")
	flag.IntVar(&o.slow, "slow-runs", 3, "runs of the slow tools")
	flag.Int64Var(&o.trajectories, "trajectories", 0, "write N trajectories to standard output")
	flag.Int64Var(&o.stream, "stream", 0, "send N trajectories to turnmill cpt -")
	flag.IntVar(&o.longest, "longest", 24, "bytes of the longest text of -stream and -trajectories; longer ones are cut")
	flag.Parse()
	exit(run(&o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

type options struct {
	turnmill, out, work, tokenizer, data, under, python, scripts string
	core, small, large, runs, corpus, sample, slow, longest      int
	peers, decoders                                              bool
	trajectories, stream                                         int64
}

func run(o *options) error {
	if err := os.MkdirAll(o.work, 0o777); err != nil {
		return err
	}
	switch {
	case o.trajectories > 0:
		return writeTrajectories(o, o.trajectories, os.Stdout)
	case o.stream > 0:
		return stream(o)
	case o.decoders:
		return decoders(o)
	case o.peers:
		return compare(o)
	}
	return ours(o)
}

// tokenizerName is the tokenizer as turnmill takes it.
func (o *options) tokenizerName() string {
	if o.tokenizer == "" {
		return "demo"
	}
	return o.tokenizer
}

// clear removes what a run left in the directory for work, and returns its path.
func (o *options) clear(name string) (string, error) {
	path := filepath.Join(o.work, name)
	return path, os.RemoveAll(path)
}
