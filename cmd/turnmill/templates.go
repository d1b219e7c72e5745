package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnmill/turnmill"
	prompts "github.com/turnmill/turnmill/shard/prompt"
)

func newTemplates(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "templates [NAME]",
		Short: "List the prompt templates; with NAME: those of a domain, or the text of one",
		Example: `  turnmill templates
  turnmill templates search
  turnmill templates search/v0`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, t := range prompts.All() {
				names = append(names, t.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listTemplates(s.out, prompts.All())
			}
			return describeTemplate(s.out, args[0])
		},
	}
}

func listTemplates(out io.Writer, templates []*prompts.Template) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TEMPLATE\tPOOL\tANSWER\tSHA-256")
	for _, t := range templates {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name(), t.Pool(), t.Form(), t.SHA256)
	}
	return w.Flush()
}

// describeTemplate prints the text of domain/version, or the list of a domain.
func describeTemplate(out io.Writer, name string) error {
	domain, version, one := strings.Cut(name, "/")
	var known []string
	var of []*prompts.Template
	for _, d := range prompts.Domains() {
		known = append(known, string(d))
	}
	for _, t := range prompts.All() {
		if t.Domain == turnmill.Domain(domain) && (!one || t.Version == version) {
			of = append(of, t)
		}
	}
	switch {
	case len(of) == 0:
		return usage(fmt.Errorf("no template is called %q; try a domain (%s), or one with a version, as in search/v0", name, strings.Join(known, ", ")))
	case one:
		_, err := io.WriteString(out, of[0].Text)
		return err
	}
	return listTemplates(out, of)
}
