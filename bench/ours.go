package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill/internal/demo"
)

// ours measures turnmill alone and writes that part of the document.
func ours(o *options) error {
	small, large := filepath.Join(o.work, "small.jsonl"), filepath.Join(o.work, "large.jsonl")
	for name, mb := range map[string]int{small: o.small, large: o.large} {
		if err := writeCorpus(name, int64(mb)*1e6); err != nil {
			return err
		}
	}
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	whole, err := measureWhole(o, r, small, large)
	if err != nil {
		return err
	}
	shapes, err := measureShapes(o, r)
	if err != nil {
		return err
	}
	tokenizer := demo.Tokenizer()
	if o.tokenizer != "" {
		if tokenizer, err = os.ReadFile(o.tokenizer); err != nil {
			return err
		}
	}
	stages, err := measureStages(small, tokenizer, stageBytes, o.runs)
	if err != nil {
		return err
	}
	growth, err := measureGrowth(tokenizer, o.runs)
	if err != nil {
		return err
	}
	return publish(o, oursReport(o, stages, whole, shapes, growth))
}

func oursReport(o *options, stages []stage, whole []child, shapes []shape, growth []worst) string {
	p := &page{}
	p.f("## turnmill alone\n\nWritten by `make bench`. Machine: %s. Tokenizer: %s. Corpus: the demo corpus repeated with\nother ids, numbers and words, as JSON lines; MB are 10^6 bytes of them. "+
		"Times are CPU seconds, user and system, unless said. Medians of %d runs.\n\n### Stages, each alone, one core\n\n", machine(), title(o), o.runs)
	p.table("stage", "MB/s", "what it does")
	for _, s := range stages {
		p.row(s.Name, fmt.Sprintf("%.0f", s.Rate), s.What)
	}
	p.f("\nAll stages one after the other would make %.0f MB/s: the floor that their sum sets.\n\n### The whole path: `turnmill cpt`\n\n", floorOf(stages))
	p.table("corpus", "workers", "--memory", "MB/s per CPU second", "wall s", "peak resident MiB")
	for _, c := range whole {
		p.row(fmt.Sprintf("%d MB", c.mb), fmt.Sprint(c.workers), c.memory, fmt.Sprintf("%.1f", c.rate), fmt.Sprintf("%.1f", c.wall), fmt.Sprintf("%.0f", c.peak))
	}
	free, wall := speedup(whole)
	p.f("\nTwo workers would be %.2f times as fast as one on two free cores, by their CPU seconds over %d MB, and were %.2f times by the clock,\nbest run against best run, with others at work on the machine. "+
		"Peak memory at ten times the input is %.2f times that at one\n(`--memory 256MiB`, two workers).\n\n### Shapes of input: `turnmill cpt`\n\n", free, o.large, wall, peakRatio(whole))
	p.table("input", "workers", "--memory", "CPU s", "against", "peak resident MiB")
	for _, s := range shapes {
		p.row(s.what, fmt.Sprint(s.workers), s.memory, fmt.Sprintf("%.2f", s.cpu), s.against, fmt.Sprintf("%.0f", s.peak))
	}
	p.f("\nCPU seconds are those of the process less those of the same command on an empty trajectory (%.2f).\n", shapes[0].start)
	p.f("\n### Hard texts for the tokenizer\n\nMilliseconds of a fresh encoder; n log n from 1 to 4 MB is a factor of 4.4, a square one of 16.\n\n")
	p.table("text", "1 MB", "2 MB", "4 MB", "4 MB / 1 MB")
	for _, w := range growth {
		p.row(w.what, fmt.Sprintf("%.0f", w.ms[0]), fmt.Sprintf("%.0f", w.ms[1]), fmt.Sprintf("%.0f", w.ms[2]), fmt.Sprintf("%.1f", w.ms[2]/w.ms[0]))
	}
	p.f("\n")
	return p.String()
}

func title(o *options) string {
	if o.tokenizer == "" {
		return "demo"
	}
	return o.tokenizerTitle()
}
