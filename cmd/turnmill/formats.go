package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/pipelines"
)

func newFormats(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "formats [NAME]",
		Short: "List what can be read; with NAME: fields, pairing rule, a sample line",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return formatNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listFormats(s.out)
			}
			f, err := formats.ByName(args[0])
			if err != nil {
				return usage(err)
			}
			return describeFormat(s.out, f)
		},
	}
}

func formatNames() []string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return names
}

func listFormats(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tLAYOUTS\tWHAT IT IS")
	for _, f := range formats.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, layouts(f), f.Title)
	}
	return w.Flush()
}

func layouts(f formats.Format) string {
	names := make([]string, len(f.Layouts))
	for i, l := range f.Layouts {
		names[i] = l.String()
	}
	return strings.Join(names, ",")
}

func describeFormat(out io.Writer, f formats.Format) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "format\t%s: %s\n", f.Name, f.Title)
	fmt.Fprintf(w, "layouts\t%s\n", layouts(f))
	for _, row := range [...][2]string{
		{"fields", f.Doc.Fields}, {"pairing", f.Doc.Pairing}, {"state", f.Doc.State}, {"domain", f.Doc.Domain},
		{"id", f.Doc.ID}, {"stripped", f.Doc.Stripped}, {"sample", f.Doc.Sample},
	} {
		for i, line := range strings.Split(strings.TrimSpace(row[1]), "\n") {
			name := row[0]
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "%s\t%s\n", name, line)
		}
	}
	if short(f) {
		fmt.Fprintln(w, "\tIt has one turn: a run drops it (too_few_turns), but with --min-turns 1.")
	}
	return w.Flush()
}

// short tells whether the sample holds turns, but fewer than a run asks for.
func short(f formats.Format) bool {
	var d formats.Decoded
	if f.New(formats.Options{}).Decode([]byte(f.Doc.Sample), &d) != nil {
		return false
	}
	turns := 0
	for i := range d.Trajectories {
		turns = max(turns, len(d.Trajectories[i].Turns))
	}
	return turns > 0 && turns < pipelines.DefaultOptions().MinTurns
}
