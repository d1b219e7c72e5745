package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// partitionVariables are where schedulers say which partition a task runs, the first that is set winning.
var partitionVariables = [...]string{"TURNMILL_PARTITION", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

func newPlan(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan PIPELINE INPUT... -o OUT",
		Short: "Cut a job into partitions, for turnmill run on many machines",
		Long: `plan lists the inputs once and writes OUT/plan.json: what every partition reads, and everything that decides
what it writes. Then any number of turnmill run, in any order, at once or again, each do one partition of OUT,
and turnmill merge makes the whole. The result is the same, to the byte, as that of turnmill cpt, or audit.

With Slurm:       sbatch --array=0-63 --wrap 'turnmill run out'; then turnmill merge out
With Kubernetes:  an Indexed Job with completions: 64
The index comes from --partition, TURNMILL_PARTITION, SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX.`,
		Example: `  turnmill plan cpt runs/ -o out --tokenizer qwen3/tokenizer.json --partitions 64`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("PIPELINE is missing; there are " + strings.Join(pipelineNames[:], ", "))
			}
			return fmt.Errorf("no pipeline is called %q; there are %s", args[0], strings.Join(pipelineNames[:], ", "))
		},
		RunE: func(*cobra.Command, []string) error { return nil },
		// Flags are a pipeline's: which pipeline there is not is said first.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
	cmd.AddCommand(
		newPlanOf(s, "cpt", "Plan trajectories and documents into masked, tokenised shards"),
		newPlanOf(s, "sft", "Plan queries with rollouts into judged, selected, tokenised shards"),
		newPlanOf(s, "audit", "Plan what the mask does to a corpus"))
	return cmd
}

// newPlanOf plans a pipeline, with its flags.
func newPlanOf(s streams, pipeline, short string) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	o.Pipeline = pipeline
	cmd := &cobra.Command{
		Use:   pipeline + " INPUT... -o OUT",
		Short: short,
		Long: fmt.Sprintf(`plan %[1]s takes the flags of turnmill %[1]s, and one recipe serves both. Flags that never change a byte, as
--workers and --memory, belong to turnmill run.`, pipeline),
		Example: map[string]string{
			"cpt":   `  turnmill plan cpt runs/ -o out --tokenizer qwen3/tokenizer.json --partitions 64`,
			"sft":   `  turnmill plan sft runs/ --rollouts rollouts/ --judgements judged/ -o out --tokenizer qwen3/tokenizer.json --partitions 64`,
			"audit": `  turnmill plan audit runs/ -o out --partitions 64`,
		}[pipeline],
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			logger, err := newLogger(s, o.logFormat)
			if err != nil {
				return err
			}
			o.Logger, o.Hub = logger, hubFromEnv(logger)
			p, err := pipelines.PlanCPT(cmd.Context(), o.Options)
			if err != nil {
				return err
			}
			n, empty := len(p.Partitions), 0
			for _, ranges := range p.Partitions {
				if len(ranges) == 0 {
					empty++
				}
			}
			numbers := ", 0 to " + strconv.Itoa(n-1) // as --partition takes them
			if n == 1 {
				numbers = ", 0"
			}
			fmt.Fprintf(s.out, "%s%s\n", stats.Counted(int64(n), "partition", "partitions"), numbers)
			if empty > 0 {
				fmt.Fprintf(s.err, "%s of them have nothing to read: only JSON lines are cut inside a file, plain ones and those in zstd frames, and Parquet at its row groups\n", stats.Thousands(int64(empty)))
			}
			if o.DryRun {
				return nil
			}
			fmt.Fprintf(s.err, "run each, in any order:  turnmill run %s --partition I\nthen:                    turnmill merge %s\n", o.Output, o.Output)
			return nil
		},
	}
	cmd.Flags().AddFlagSet(without(o.flags(), o.unused()))
	for _, name := range []string{"workers", "memory", "max-reject-rate", "max-drop-rate", "dry-run", "progress"} {
		cmd.Flags().Lookup(name).Hidden = true // one recipe serves plan and pipeline
	}
	return cmd
}

func newRun(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	partition := -1
	cmd := &cobra.Command{
		Use:   "run OUT --partition I",
		Short: "Run one partition of a planned job",
		Long: `run does one partition of a job that turnmill plan has written, and commits it. Any number of them may work on
one OUT at once, in any order; a partition that is committed is left as it is, and two copies at once write the
same bytes. A killed one leaves nothing that counts: run it again.

The index comes from --partition, TURNMILL_PARTITION, SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, in that order.`,
		Example: `  turnmill run out --partition 7
  SLURM_ARRAY_TASK_ID=7 turnmill run out`,
		Args: oneOUT,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Output = args[0]
			if !cmd.Flags().Changed("partition") {
				var err error
				if partition, err = partitionFrom(os.Getenv); err != nil {
					return usage(err)
				}
			}
			logger, err := newLogger(s, o.logFormat)
			if err != nil {
				return err
			}
			o.Logger, o.Hub = logger, hubFromEnv(logger)
			o.fromEnv(os.Getenv)
			meter, err := newMeter(s, o.progress, "run")
			if err != nil {
				return err
			}
			o.Progress = meter.show
			limitMemory(o.Memory)
			err = pipelines.Run(cmd.Context(), o.Options, partition)
			meter.end()
			return err
		},
	}
	fs := cmd.Flags()
	decimalVar(fs, &partition, "partition", "`I` of the partition, from 0")
	fs.StringArrayVar(&o.Inputs, "inputs", nil, "`DIR` or file where each input argument of the plan is now, in its order; default: where it was")
	fs.StringSliceVar(&o.SFT.Rollouts, "rollouts", nil, "of sft: `FILE` or directory where each argument of --rollouts of the plan is now, in its order; default: where it was")
	fs.StringSliceVar(&o.SFT.Judgements, "judgements", nil, "of sft: `FILE` or directory, so for --judgements")
	fs.StringVar(&o.SFT.Verifiers, "verifiers", "", "of sft: where the `FILE` of verifiers is now; default: where it was")
	o.addAsk(fs)
	fs.StringVar(&o.Tokenizer, "tokenizer", "", "`T`: where the plan's tokenizer is now; default: where it was")
	decimalVar(fs, &o.Workers, "workers", "`N` goroutines that take records to rows; 0: one a CPU; never changes a byte")
	fs.Var((*sizeValue)(&o.Memory), "memory", "bound of the whole process")
	addOutputFlags(fs, &o.progress, &o.logFormat)
	return cmd
}

// partitionFrom returns the index that a scheduler gives.
func partitionFrom(getenv func(string) string) (int, error) {
	for _, name := range partitionVariables {
		text := getenv(name)
		if text == "" {
			continue
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 {
			return 0, fmt.Errorf("%s=%s: want the number of a partition, from 0", name, text)
		}
		return i, nil
	}
	return 0, errors.New("no --partition: give its number, or set TURNMILL_PARTITION, as Slurm arrays (SLURM_ARRAY_TASK_ID) and Kubernetes Indexed Jobs (JOB_COMPLETION_INDEX) do")
}

func newMerge(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "merge OUT",
		Short: "Make the whole of a planned job whose partitions are done",
		Long: `merge makes sure that every partition is committed, names those that are not, and writes what speaks of all of
them: of rows OUT/train/state.json and OUT/dataset_dict.json, of an audit OUT/report.html and, last, OUT/manifest.json.`,
		Example: `  turnmill merge out`,
		Args:    oneOUT,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Output = args[0]
			logger, err := newLogger(s, o.logFormat)
			if err != nil {
				return err
			}
			o.Logger = logger
			m, err := pipelines.Merge(cmd.Context(), o.Options)
			if m != nil {
				if err := writeLedger(s.err, m); err != nil {
					return err
				}
				if err := writeRetention(s.err, m.SFT); err != nil {
					return err
				}
				if m.Pipeline == "audit" {
					nameReport(s, o.Output, err)
				}
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.Float64Var(&o.MaxRejectRate, "max-reject-rate", o.MaxRejectRate, "above this share `X` of rejected records the exit code is 3")
	fs.Float64Var(&o.MaxDropRate, "max-drop-rate", o.MaxDropRate, "above this share `X` of dropped records the exit code is 3")
	fs.StringVar(&o.logFormat, "log-format", "text", "`HOW`: text, json")
	return cmd
}

// oneOUT wants the directory of one run.
func oneOUT(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("OUT is missing")
	case len(args) > 1:
		return fmt.Errorf("one OUT at a time, and %q comes after it", args[1])
	}
	return nil
}
