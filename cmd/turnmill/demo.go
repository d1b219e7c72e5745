package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/pipelines"
)

// demoSeqLen is short enough that one observation of the corpus does not fit.
const demoSeqLen = 4096

// demoRow is the trajectory that the demo shows: it has turns of nearly every category.
const demoRow = "mcp-greenhouse-night"

func newDemo(s streams) *cobra.Command {
	out, sft := "turnmill-demo", false
	cmd := &cobra.Command{
		Use:   "demo [-o OUT]",
		Short: "The embedded corpus through the whole of cpt, then what to try next",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sft {
				return runDemoSFT(cmd.Context(), s, out)
			}
			return runDemo(cmd.Context(), s, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", out, "`DIR` to write; the corpus goes to DIR-corpus beside it")
	cmd.Flags().BoolVar(&sft, "sft", false, "the same with sft: recorded answers to a dozen turns, judged and chosen")
	return cmd
}

func runDemo(ctx context.Context, s streams, out string) error {
	corpus := filepath.Clean(out) + "-corpus"
	if err := writeCorpus(corpus); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "the embedded corpus lies in %s; preparing it for training as\n\n  turnmill cpt %s -o %s --tokenizer demo --seq-len %d\n\n", corpus, corpus, out, demoSeqLen)
	o := &cptOptions{Options: pipelines.DefaultOptions(), progress: "none", logFormat: "text"}
	o.Inputs, o.Output, o.Tokenizer, o.SeqLen = []string{corpus}, out, "demo", demoSeqLen
	o.Restart = demoRun(out, corpus) // an earlier demo of another version
	if err := runCPT(ctx, s, o); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nOne row, explained (turnmill show %s --id %s):\n\n", out, demoRow)
	show := &showOptions{ShowOptions: pipelines.ShowOptions{Path: out, ID: demoRow}, lines: 3}
	if err := runShow(ctx, s, show); err != nil {
		return err
	}
	fmt.Fprintf(s.out, `
Try next (with turnmill on the PATH, or as %[3]s):

  turnmill show %[1]s --category transform
        another row, with a turn that half of its kind loses
  turnmill audit %[1]s
        %[1]s/report.html: what the mask does to it, with examples, and tables that were not tried yet
  turnmill check %[1]s --inputs %[2]s
        prove every file of it, from the inputs on
  turnmill cpt RUNS/ -o OUT --tokenizer TOKENIZER.JSON
        your own trajectories
`, out, corpus, os.Args[0])
	return nil
}

// demoRun tells whether out holds a run of nothing but the demo's corpus, which may be thrown away.
func demoRun(out, corpus string) bool {
	var local struct {
		Inputs []string `json:"inputs"`
	}
	data, err := os.ReadFile(filepath.Join(out, "local.json"))
	if err != nil || json.Unmarshal(data, &local) != nil {
		return false
	}
	dir, err := filepath.Abs(corpus)
	if err != nil {
		return false
	}
	return len(local.Inputs) > 0 && !slices.ContainsFunc(local.Inputs, func(path string) bool {
		return filepath.Dir(path) != dir && filepath.Dir(path) != filepath.Join(dir, "runs")
	})
}

// writeCorpus puts the embedded corpus into a directory.
func writeCorpus(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usage(fmt.Errorf("--output: %w", err))
	}
	return fs.WalkDir(demo.Corpus(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(demo.Corpus(), path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), data, 0o666)
	})
}
