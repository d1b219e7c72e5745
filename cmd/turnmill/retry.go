package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/pipelines"
)

func newRetry(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	failed := false
	cmd := &cobra.Command{
		Use:   "retry OUT --failed",
		Short: "Ask again what failed in an sft run, and make its partitions anew",
		Long: `retry asks the endpoints of a finished or stopped sft run again: rollouts and judgements that failed, came too late
or were not asked because a budget was spent. Partitions with such queries are made anew, and then the manifest;
the others stay as they are. The endpoints are those of the flags, or of OPENAI_BASE_URL.`,
		Example: `  turnmill retry out --failed --rollout-url http://localhost:8000/v1 --judge-url https://host/v1`,
		Args:    oneOUT,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !failed {
				return usage(errors.New("turnmill retry: --failed is missing: it says what is asked again, and there is no other choice yet"))
			}
			logger, err := newLogger(s, o.logFormat)
			if err != nil {
				return err
			}
			o.Output, o.Logger, o.Hub = args[0], logger, hubFromEnv(logger)
			o.fromEnv(os.Getenv)
			meter, err := newMeter(s, o.progress, "retry")
			if err != nil {
				return err
			}
			o.Progress = meter.show
			limitMemory(o.Memory)
			m, err := pipelines.Retry(cmd.Context(), o.Options)
			meter.end()
			if m != nil {
				if err := errors.Join(writeLedger(s.err, m), writeRetention(s.err, m.SFT)); err != nil {
					return err
				}
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&failed, "failed", false, "the queries that failed")
	o.addAsk(fs)
	fs.StringArrayVar(&o.Inputs, "inputs", nil, "`DIR` or file where each input argument of the plan is now, in its order; default: where it was")
	fs.StringSliceVar(&o.SFT.Rollouts, "rollouts", nil, "`FILE` or directory where each argument of --rollouts of the plan is now; default: where it was")
	fs.StringVar(&o.SFT.Verifiers, "verifiers", "", "where the `FILE` of verifiers is now; default: where it was")
	fs.StringSliceVar(&o.SFT.Judgements, "judgements", nil, "`FILE` or directory, so for --judgements")
	fs.StringVar(&o.Tokenizer, "tokenizer", "", "`T`: where the plan's tokenizer is now; default: where it was")
	decimalVar(fs, &o.Workers, "workers", "`N` goroutines that take records to rows; 0: one a CPU; never changes a byte")
	fs.Var((*sizeValue)(&o.Memory), "memory", "bound of the whole process")
	fs.Float64Var(&o.MaxRejectRate, "max-reject-rate", o.MaxRejectRate, "above this share `X` of rejected records or queries the exit code is 3")
	fs.Float64Var(&o.MaxDropRate, "max-drop-rate", o.MaxDropRate, "above this share `X` of dropped records or queries the exit code is 3")
	addOutputFlags(fs, &o.progress, &o.logFormat)
	return cmd
}
