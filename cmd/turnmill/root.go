package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/pipelines"
)

const rootLong = `turnmill turns recorded agent trajectories into training data for language world models, and shows
exactly which tokens will carry loss, and why.

Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 done, but a threshold was passed;
75 interrupted by SIGTERM or SIGUSR1, resumable, or waiting for a batch API; 130 interrupted by SIGINT, resumable.`

// newRoot returns the command tree; each subcommand stands in a file of its own.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "turnmill",
		Short:         "Agent trajectories into training data for language world models",
		Long:          rootLong,
		Version:       pipelines.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("unknown command %q; the nearest is %s", args[0], near[0])
			}
			return fmt.Errorf("unknown command %q", args[0])
		},
		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown && cmd.HasAvailableFlags() {
			if near := nearest(name, visibleFlags(cmd.Flags())); near != "" {
				err = fmt.Errorf("%w; the nearest is --%s", err, near)
			}
		}
		return usage(fmt.Errorf("%s: %w; try %s --help", cmd.CommandPath(), err, cmd.CommandPath()))
	})
	root.AddCommand(newCPT(s), newSFT(s), newAudit(s), newPlan(s), newRun(s), newMerge(s), newRetry(s), newDemo(s), newEval(s), newShow(s), newCheck(s), newIngest(s), newFormats(s), newFilters(s), newTemplates(s), newConfig(s), newVersion(s))
	root.InitDefaultCompletionCmd("completion")
	for _, c := range append(root.Commands(), root) {
		c.Flags().SortFlags = false
		wrapArgs(c)
		switch c.Name() {
		case "completion":
			finishCompletion(c)
		case "plan":
			for _, pipeline := range c.Commands() {
				pipeline.Flags().SortFlags = false
				wrapArgs(pipeline)
			}
		}
	}
	return root
}

// finishCompletion makes cobra's own command behave as ours do. Without something to run cobra prints help
// whatever the arguments are.
func finishCompletion(c *cobra.Command) {
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, shell := range c.Commands() {
		wrapArgs(shell)
	}
}

// wrapArgs makes wrong arguments a usage error that says what to try.
func wrapArgs(c *cobra.Command) {
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage(fmt.Errorf("%s: %w; try %s --help", cmd.CommandPath(), err, cmd.CommandPath()))
		}
		return nil
	}
}

// atLeast is cobra.MinimumNArgs with a message that names what is missing.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
}
