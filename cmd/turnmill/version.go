package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/pipelines"
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print turnmill's version and what its bytes depend on",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "turnmill %s\nformat version %d, %s, %s\n", pipelines.Version, pipelines.FormatVersion, mask.WordsVersion, runtime.Version())
			return err
		},
	}
}
