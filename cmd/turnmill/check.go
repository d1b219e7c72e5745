package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

func newCheck(s streams) *cobra.Command {
	o := pipelines.CheckOptions{}
	cmd := &cobra.Command{
		Use:   "check OUT [--inputs DIR...]",
		Short: "Re-read everything, prove the ledger and the mask; exit 1 with the faults named",
		Long: `check reads every file of a finished run again and proves that they agree: checksums, the ledger from the
files, labels against the turns table, the mask from its integers. With --inputs it also frames, decodes and
encodes the inputs again, in memory, and compares every byte.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("OUT is missing")
			case len(args) > 1 && len(o.Inputs) == 0:
				return fmt.Errorf("one OUT at a time, and %q comes after it", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Path, o.Stdin = args[0], s.in
			o.Inputs = append(o.Inputs, args[1:]...)
			if info, err := os.Stat(o.Path); err == nil && !info.IsDir() {
				return usage(fmt.Errorf("%s: it is a file; name the directory of a run", o.Path))
			}
			limitMemory(o.Memory)
			o.Hub = hubFromEnv(slog.New(slog.NewTextHandler(s.err, nil)))
			r, err := pipelines.Check(cmd.Context(), o)
			if err != nil {
				return err
			}
			for _, note := range r.Notes {
				fmt.Fprintln(s.err, note)
			}
			if r.Audit {
				fmt.Fprintf(s.out, "ok: %s, %s, %s%s\n", stats.Counted(r.Files, "file", "files"), stats.Counted(r.Turns, "turn", "turns"),
					stats.Counted(r.Examples, "example", "examples"), r.Inputs)
				return nil
			}
			fmt.Fprintf(s.out, "ok: %s, %s, %s, %s, %s trained%s\n", stats.Counted(r.Files, "file", "files"), stats.Counted(r.Rows, "row", "rows"),
				stats.Counted(r.Turns, "turn", "turns"), stats.Counted(r.Tokens, "token", "tokens"), stats.Thousands(r.Trained), r.Inputs)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Inputs, "inputs", nil, "`DIR` or file where each input argument is now, in the order of the plan: --inputs A B, or --inputs A --inputs B; runs every partition again and compares bytes")
	fs.StringVar(&o.Verifiers, "verifiers", "", "for --inputs: where the `FILE` of an sft run's verifiers is now")
	fs.StringVar(&o.Tokenizer, "tokenizer", "", "for --inputs: the run's tokenizer `T`, where it is now")
	decimalVar(fs, &o.Workers, "workers", "for --inputs: `N` goroutines; 0: one a CPU")
	o.Memory = pipelines.DefaultOptions().Memory
	fs.Var((*sizeValue)(&o.Memory), "memory", "bound of the whole process")
	return cmd
}
