package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// cptOptions is what the flags of cpt and audit fill; pipelines.Options follows from it in resolve.
type cptOptions struct {
	pipelines.Options
	recipe    string
	maskTable string
	patterns  string
	mix       string
	pools     string
	progress  string
	logFormat string
}

func newCPT(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "cpt INPUT... -o OUT",
		Short: "Trajectories and documents into masked, tokenised shards",
		Long: `cpt reads trajectories in any known format, and documents of world knowledge, masks observations that
carry no information, and writes OUT: a Hugging Face datasets directory in OUT/train, a table of every turn
in OUT/turns, everything lost in OUT/rejects, and OUT/manifest.json.

INPUT is a file, a directory (walked; hidden and temporary names are skipped), a glob, or - for standard
input. .gz and .zst are read through, Parquet by its columns. The same command on an interrupted OUT goes on
where it stopped; with standard input, feed the same bytes again.

A cluster does the same in three steps: turnmill plan cpt, turnmill run for each partition, turnmill merge.`,
		Example: `  turnmill cpt runs/ -o out --tokenizer qwen3/tokenizer.json
  turnmill cpt 'traj/*.traj' docs.jsonl.zst -o out --tokenizer demo --seq-len 4096
  turnmill cpt -c recipe.yaml
  turnmill cpt runs/ --tokenizer demo --limit 1000 --dry-run
  turnmill ingest runs/ | turnmill cpt - -o out --tokenizer demo`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			o.Stdin = s.in
			return runCPT(cmd.Context(), s, o)
		},
	}
	cmd.Flags().AddFlagSet(without(o.flags(), o.unused()))
	return cmd
}

// add declares the flags of all pipelines on fs; unused names those that the options' own has not.
func (o *cptOptions) add(fs *pflag.FlagSet) {
	fs.StringVarP(&o.recipe, "recipe", "c", "", "`FILE` in YAML with these settings by name; flags win over it")
	fs.StringVarP(&o.Output, "output", "o", "", "`DIR` to write; absent, empty, or a run of the same plan")
	fs.StringVar(&o.Format, "format", o.Format, "`NAME` of the inputs' format (turnmill formats); auto: by content")
	fs.StringVar(&o.Domain, "domain", o.Domain, "`NAME` for every record: mcp search terminal swe android web os, or another; auto: the format's own rule")
	fs.StringVar(&o.Tokenizer, "tokenizer", o.Tokenizer, "`T`: a tokenizer.json, a directory with one, a Hugging Face repository (Qwen/Qwen3-8B, with @REVISION where wanted; the hub's cache, then the hub), or demo (embedded)")
	fs.StringVar(&o.Engine, "engine", o.Engine, "tokenizer engine `E`: bpe (fast, exact, known families), hf (the Hugging Face library, any file), auto: bpe where it knows the file, else hf")
	fs.StringVar(&o.Chat, "chat", o.Chat, "chat format `NAME`: chatml (plain), qwen3, llama3 (undated), llama3.1, deepseek, gemma; auto: the plain form of the tokenizer's family; of sft, the form of the chat template beside the tokenizer")
	fs.StringVar(&o.ChatDate, "chat-date", o.ChatDate, "`TEXT` of the date in llama3.1's system message; never the clock")
	fs.StringVar(&o.Objective, "objective", o.Objective, "`GOAL`: world-model (loss on observations), policy (on actions, mask off), all (both)")
	fs.StringVar(&o.State, "state", o.State, "`WHEN` the current state is written into the user turn: always, changed (only when it differs from the observation before), never")
	o.addTemplate(fs)
	fs.BoolVar(&o.KeepThought, "keep-thought", o.KeepThought, "keep the agent's reasoning as thought, which rows leave out; of use to turnmill ingest")
	fs.BoolVar(&o.TrainDialogue, "train-dialogue", o.TrainDialogue, "customers' and users' replies are targets too")
	fs.StringVar(&o.Mask, "mask", o.Mask, "`MODE`: "+maskModes)
	fs.StringVar(&o.CopiedKeep, "copied-keep", o.CopiedKeep, "keep ratio `X` of lines that a tree has in common with the one before, in mode changed, where the table keeps all")
	fs.StringVar(&o.maskTable, "mask-table", "", "YAML `FILE` with rows, bounds, keep ratios and their order; built in: the report's table")
	fs.StringVar(&o.Seed, "seed", o.Seed, "`TEXT` of the draw")
	decimalVar(fs, &o.SeqLen, "seq-len", "longest row in tokens, `N`; shorter repeats the system prompt in more windows")
	decimalVar(fs, &o.MinTurns, "min-turns", "least turns `N` of a trajectory")
	fs.StringSliceVar(&o.Filters, "filters", nil, "`LIST` of the filters that run (turnmill filters names them), none, or all but some (all,-captcha); default: all")
	fs.StringVar(&o.patterns, "filter-patterns", "", "YAML `FILE` with the pages and refusals that filters know; built in: turnmill filters --patterns")
	fs.StringVar(&o.Secrets, "secrets", o.Secrets, "`WHAT` is done about keys, tokens and passwords in texts: "+secretModes)
	o.addSFT(fs)
	fs.StringVar(&o.Profile, "profile", o.Profile, "columns `P`: hf (input_ids, attention_mask, labels), weighted (and loss_weight)")
	fs.Var((*sizeValue)(&o.MaxRecord), "max-record", "a larger record is rejected with its position, the rest goes on")
	fs.Var((*sizeValue)(&o.MaxWindow), "max-window", "largest zstd window that is read")
	fs.StringVar(&o.Validation, "validation", o.Validation, "share `X` of trajectories and documents that go to OUT/validation, drawn from the id")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "order the rows of each split by a draw of the seed, one order for any partitions; takes the room of the rows once more")
	fs.StringVar(&o.Beyond, "beyond", o.Beyond, "`WHEN` turns are measured against state, history and reference answer as well, for columns of OUT/turns that change no label: on, off, auto: in an audit")
	fs.StringVar(&o.mix, "mix", "", "YAML `FILE` with groups of records and their weights; what a group has too little of is repeated, too much cut; without it everything is there once")
	fs.StringSliceVar(&o.Decontaminate, "decontaminate", nil, "`FILES` of benchmarks, whose tasks are dropped: rows of JSON with task ids and texts, or text with a task a line")
	fs.StringVar(&o.Dedup, "dedup", o.Dedup, "`HOW` duplicates are told, of which the first in the order of the plan stays: none; exact: the same content; turns: the same run, in another export; near: nearly the same words")
	fs.StringVar(&o.NearThreshold, "near-threshold", o.NearThreshold, "least share `X` of five-word runs that near duplicates have in common, of those that either has")
	decimalVar(fs, &o.Limit, "limit", "first `N` records only, rejected ones included; 0: all")
	decimalVar(fs, &o.Partitions, "partitions", "number of partitions `N`; 0: by size")
	fs.Var((*sizeValue)(&o.PartitionBytes), "partition-bytes", "stored bytes of a partition where --partitions is 0; of standard input, decompressed bytes")
	fs.Var((*sizeValue)(&o.ShardBytes), "shard-bytes", "largest shard file")
	decimalVar(fs, &o.Workers, "workers", "`N` goroutines that take records to rows; 0: one a CPU; never changes a byte")
	fs.Var((*sizeValue)(&o.Memory), "memory", "bound of the whole process")
	fs.Float64Var(&o.MaxRejectRate, "max-reject-rate", o.MaxRejectRate, "above this share `X` of rejected records the exit code is 3")
	fs.Float64Var(&o.MaxDropRate, "max-drop-rate", o.MaxDropRate, "above this share `X` of dropped records the exit code is 3")
	fs.BoolVar(&o.DryRun, "dry-run", false, "read, decide and print the ledger; write nothing")
	fs.BoolVar(&o.Restart, "restart", false, "throw away a run of another plan in OUT")
	addOutputFlags(fs, &o.progress, &o.logFormat)
}

func addOutputFlags(fs *pflag.FlagSet, progress, logFormat *string) {
	fs.StringVar(progress, "progress", "auto", "`HOW`: bar, plain, none; auto: bar on a terminal, else plain")
	fs.StringVar(logFormat, "log-format", "text", "`HOW`: text, json")
}

// resolve joins flags, recipe and arguments into options that can be run.
func (o *cptOptions) resolve(fs *pflag.FlagSet, args []string) error {
	o.Inputs = args
	if o.Pipeline == "sft" && fs.Changed("template") && o.Template == "plain" { // a recipe may serve cpt as well, and say so
		return usage(fmt.Errorf("--template plain: a query is asked under some template; leave it out for one of v2 to v11 each, or name a version"))
	}
	if o.recipe != "" {
		r, err := applyRecipe(o.recipe, fs, o.unused())
		if err != nil {
			return err
		}
		if len(args) == 0 {
			o.Inputs = r.inputs
		}
	}
	if o.maskTable != "" {
		table, err := readMaskTable(o.maskTable)
		if err != nil {
			return err
		}
		o.MaskTable, o.MaskTablePath = table, o.maskTable
	}
	if o.patterns != "" {
		patterns, err := readPatterns(o.patterns)
		if err != nil {
			return err
		}
		o.Patterns = patterns
	}
	if o.mix != "" {
		mix, err := readMix(o.mix)
		if err != nil {
			return err
		}
		o.Mix = mix
	}
	o.settle()
	if o.pools != "" {
		pools, err := readPools(o.pools)
		if err != nil {
			return err
		}
		o.SFT.Pools = pools
	}
	if len(o.Inputs) == 0 {
		return usage(fmt.Errorf("no INPUT: name files, directories or globs, or inputs: in the recipe"))
	}
	if o.Output == "" && (o.DryRun || o.Ask.BatchRequests != "") {
		return o.Validate()
	}
	if o.Output == "" {
		return usage(fmt.Errorf("no --output: name a directory for the run, as in -o out"))
	}
	if err := outsideInputs(o.Output, o.Inputs); err != nil {
		return err
	}
	return o.Validate()
}

func runCPT(ctx context.Context, s streams, o *cptOptions) error {
	logger, err := newLogger(s, o.logFormat)
	if err != nil {
		return err
	}
	o.Logger, o.Hub = logger, hubFromEnv(logger)
	o.fromEnv(os.Getenv)
	name := cmp.Or(o.Pipeline, "cpt")
	meter, err := newMeter(s, o.progress, name)
	if err != nil {
		return err
	}
	o.Progress = meter.show
	limitMemory(o.Memory)
	m, err := pipelines.CPT(ctx, o.Options)
	meter.end()
	if m != nil {
		out := s.err
		if o.DryRun { // the ledger is what was asked for
			out = s.out
		}
		if err := writeLedger(out, m); err != nil {
			return err
		}
		if err := writeRetention(out, m.SFT); err != nil {
			return err
		}
		if err := visibly(out, func(w io.Writer) error { return stats.WriteSources(w, m.Counts.Sources) }); err != nil {
			return err
		}
	}
	return err
}

// addTemplate declares the template, whose default and further value are the pipeline's.
func (o *cptOptions) addTemplate(fs *pflag.FlagSet) {
	other := "plain: the parts of the prompt, actions and observations as they are"
	if o.Pipeline == "sft" {
		o.Template, other = "seed", "seed: one of v2 to v11, drawn for each query"
	}
	fs.StringVar(&o.Template, "template", o.Template, "prompt template `V` of each domain, v0 to v11 (turnmill templates); "+other)
}

// settle gives what nobody has set the pipeline's own default.
func (o *cptOptions) settle() {
	if o.Pipeline != "sft" {
		return
	}
	o.Mask = "off"
	if o.Template == "plain" {
		o.Template = "seed" // a query is asked under some template
	}
}

// unused are the settings that the pipeline leaves out of a recipe: one recipe serves all.
func (o *cptOptions) unused() []string {
	switch o.Pipeline {
	case "audit":
		return append(slices.Clone(rowFlags[:]), sftFlags[:]...)
	case "sft":
		return maskFlags[:]
	}
	return sftFlags[:]
}

// writeLedger writes the counts of a run, and what of the whole they do not say.
func writeLedger(w io.Writer, m *pipelines.Manifest) error {
	if err := writeTable(w, m.Counts); err != nil {
		return err
	}
	rows := map[string]int64{}
	for _, f := range m.Files {
		if split, _, below := strings.Cut(f.Path, "/"); below && strings.HasSuffix(f.Path, ".arrow") {
			rows[split] += f.Rows
		}
	}
	if m.Config.Validation != "0" && len(m.Files) > 0 {
		fmt.Fprintf(w, "\nrows       train %s, validation %s\n", stats.Thousands(rows["train"]), stats.Thousands(rows["validation"]))
	}
	if err := writeMix(w, m); err != nil {
		return err
	}
	if m.DuplicateIDs > 0 {
		fmt.Fprintf(w, "\nnote: %s trajectories or documents have an id that came before\n", stats.Thousands(m.DuplicateIDs))
	}
	if m.Tokens.Rows == 0 && m.Pipeline != "audit" && (m.SFT == nil || m.SFT.Prompts == nil) {
		fmt.Fprintf(w, "\nnote: no row came out; the reasons stand above\n")
	}
	return nil
}

// writeTable is stats.WriteTable for a terminal: a domain's name may come from the content.
func writeTable(w io.Writer, c *stats.Counts) error {
	return visibly(w, func(w io.Writer) error { return stats.WriteTable(w, c) })
}

// visibly writes what write does, without what a terminal would obey.
func visibly(w io.Writer, write func(io.Writer) error) error {
	var table strings.Builder
	if err := write(&table); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(w, visible(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
