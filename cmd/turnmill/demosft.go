package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/pipelines"
)

// demoAnswer is the trajectory whose row the demo shows: its best rollout was told from the next one by pairs.
const demoAnswer = "web-wiki-edit"

// runDemoSFT makes a set of the embedded answers, and shows one row of it.
func runDemoSFT(ctx context.Context, s streams, out string) error {
	corpus := filepath.Clean(out) + "-corpus"
	if err := writeAnswered(corpus); err != nil {
		return err
	}
	o := &cptOptions{Options: pipelines.DefaultOptions(), progress: "none", logFormat: "text"}
	o.Pipeline, o.Inputs, o.Output, o.Tokenizer = "sft", []string{filepath.Join(corpus, "runs")}, out, "demo"
	o.SFT.Rollouts, o.SFT.Judgements = []string{filepath.Join(corpus, "rollouts.jsonl")}, []string{filepath.Join(corpus, "judgements.jsonl")}
	o.MaxRejectRate = 1 // a rollout has failed, to be seen
	o.Restart = demoRun(out, corpus)
	o.settle()
	fmt.Fprintf(s.err, "the embedded answers lie in %[1]s; choosing among them as\n\n  turnmill sft %[1]s/runs --rollouts %[1]s/rollouts.jsonl --judgements %[1]s/judgements.jsonl -o %[2]s --tokenizer demo --max-reject-rate 1\n\n", corpus, out)
	if err := runCPT(ctx, s, o); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nOne row, explained (turnmill show %s --id %s):\n\n", out, demoAnswer)
	if err := runShow(ctx, s, &showOptions{ShowOptions: pipelines.ShowOptions{Path: out, ID: demoAnswer}, lines: 3}); err != nil {
		return err
	}
	fmt.Fprintf(s.out, `
Try next (with turnmill on the PATH, or as %[3]s):

  zstdcat %[1]s/queries/p00000.jsonl.zst
        the one end of every query, and what the judges said
  turnmill check %[1]s --inputs %[2]s/runs
        choose again from the answers, and prove every file
`, out, corpus, os.Args[0])
	return nil
}

// writeAnswered puts the embedded answers into a directory, and the trajectories that they belong to below runs.
func writeAnswered(dir string) error {
	answered := map[string]bool{}
	for line := range bytes.Lines(demo.Rollouts()) {
		var r struct{ Query string }
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("the embedded answers: %w", err)
		}
		id, _, _ := bytes.Cut([]byte(r.Query), []byte("@"))
		answered[string(id)] = true
	}
	files := map[string][]byte{"rollouts.jsonl": demo.Rollouts(), "judgements.jsonl": demo.Judgements()}
	err := fs.WalkDir(demo.Corpus(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(demo.Corpus(), path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			var t struct{ ID string }
			if json.Unmarshal(line, &t) == nil && answered[t.ID] {
				files["runs/"+path] = append(files["runs/"+path], line...)
			}
		}
		return nil
	})
	for name, data := range files {
		if err == nil {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
				err = os.WriteFile(path, data, 0o666)
			}
		}
	}
	if err != nil {
		return usage(fmt.Errorf("--output: %w", err))
	}
	return nil
}
