package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnmill/turnmill/pipelines"
)

// pipelineNames are what plan and config take.
var pipelineNames = [...]string{"cpt", "audit"}

// rowFlags are the flags of cpt that speak of files of rows, which an audit does not write.
var rowFlags = [...]string{"keep-thought", "profile", "validation", "shard-bytes"}

// flags returns the flags of cpt in a set of their own.
func (o *cptOptions) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	o.add(fs)
	return fs
}

// without returns the flags of a set that are not named.
func without(fs *pflag.FlagSet, names []string) *pflag.FlagSet {
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.SortFlags = fs.SortFlags
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			rest.AddFlag(f)
		}
	})
	return rest
}

func newAudit(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	o.Pipeline = "audit"
	cmd := &cobra.Command{
		Use:   "audit INPUT... -o OUT",
		Short: "What the mask does to a corpus, before anything is trained",
		Long: `audit reads what cpt reads, decides about every turn as cpt does, and writes no rows: OUT/turns has a line for
each turn with its statistics, category and draw, OUT/rejects everything that is lost, and OUT/manifest.json the
sums. No tokenizer is needed; with one, turns have their tokens as well, and fall to windows of --seq-len.

INPUT is a file, a directory (walked; hidden and temporary names are skipped), a glob, or - for standard
input. .gz and .zst are read through. The same command on an interrupted OUT goes on where it stopped. One
recipe serves cpt and audit.`,
		Example: `  turnmill audit runs/ -o out
  turnmill audit 'traj/*.traj' -o out --mask-table table.yaml
  turnmill audit runs/ -o out --tokenizer qwen3/tokenizer.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			o.Stdin = s.in
			return runCPT(cmd.Context(), s, o)
		},
	}
	cmd.Flags().AddFlagSet(without(o.flags(), rowFlags[:]))
	return cmd
}
