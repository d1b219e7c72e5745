package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/filter"
)

func newFilters(s streams) *cobra.Command {
	var patterns bool
	cmd := &cobra.Command{
		Use:   "filters",
		Short: "List every filter: its reason, what it looks at, its domains, its default",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if patterns {
				return writePatterns(s.out)
			}
			return writeFilters(s)
		},
	}
	cmd.Flags().BoolVar(&patterns, "patterns", false, "print the built-in patterns of captcha, http-error and retry-cycle as YAML, for --filter-patterns")
	return cmd
}

func writeFilters(s streams) error {
	w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FILTER\tREASON\tLEVEL\tDOMAINS\tDEFAULT\tREFUSES")
	for _, f := range filter.All() {
		domains := "all"
		if f.Domains != nil {
			names := make([]string, len(f.Domains))
			for i, d := range f.Domains {
				names[i] = string(d)
			}
			domains = strings.Join(names, ",")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\ton\t%s\n", f.Name, f.Reason, f.Level, domains, f.Summary)
	}
	return w.Flush()
}
