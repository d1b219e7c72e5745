package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/filter"
)

func newFilters(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "filters",
		Short: "List every filter: its reason, what it looks at, its domains, its default",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "FILTER\tREASON\tLEVEL\tDOMAINS\tDEFAULT\tREFUSES")
			for _, f := range filter.All() {
				domains := "all"
				if f.Domains != nil {
					domains = fmt.Sprint(f.Domains)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\ton\t%s\n", f.Name, f.Reason, f.Level, domains, f.Summary)
			}
			return w.Flush()
		},
	}
}
