package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill/pipelines"
)

func newConfig(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	cmd := &cobra.Command{
		Use:       "config PIPELINE [flags of the pipeline]",
		Short:     "Print the resolved recipe as YAML, each value with where it came from",
		Long:      "config prints the settings of a pipeline: cpt, sft or audit.",
		Example:   "  turnmill config cpt -c recipe.yaml --seed 7 > resolved.yaml",
		ValidArgs: pipelineNames[:],
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains(pipelineNames[:], args[0]) {
				return fmt.Errorf("want the name of a pipeline: %s", strings.Join(pipelineNames[:], ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Pipeline = args[0]
			flags := map[string]bool{}
			var errs []error
			cmd.Flags().Visit(func(f *pflag.Flag) {
				flags[f.Name] = true
				if slices.Contains(o.unused(), f.Name) {
					errs = append(errs, fmt.Errorf("--%s: %s has no such flag", f.Name, o.Pipeline))
				}
			})
			if len(errs) > 0 {
				return usage(errors.Join(errs...))
			}
			var r *recipe
			if o.recipe != "" {
				var err error
				if r, err = applyRecipe(o.recipe, cmd.Flags(), o.unused()); err != nil {
					return err
				}
			}
			o.settle()
			return printRecipe(s.out, without(cmd.Flags(), o.unused()), args[1:], flags, o.recipe, r)
		},
	}
	o.add(cmd.Flags())
	return cmd
}

// printRecipe writes a recipe that gives the same run, with the source of each value as a comment.
func printRecipe(w io.Writer, fs *pflag.FlagSet, inputs []string, flags map[string]bool, file string, r *recipe) error {
	origin := func(name string) string {
		switch {
		case flags[name]:
			return "flag"
		case r != nil && r.lines[name] > 0:
			return fmt.Sprintf("%s:%d", file, r.lines[name])
		}
		return "default"
	}
	from := "argument"
	if len(inputs) == 0 && r != nil {
		inputs, from = r.inputs, origin("inputs")
	}
	doc := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node, comment string) {
		value.LineComment = comment
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	if len(inputs) > 0 {
		add("inputs", list(inputs), from)
	}
	fs.VisitAll(func(f *pflag.Flag) {
		source := origin(f.Name)
		if f.Name == "recipe" || f.Name == "help" || f.Value.String() == "" && source == "default" {
			return
		}
		if l, ok := f.Value.(pflag.SliceValue); ok {
			if len(l.GetSlice()) > 0 {
				add(f.Name, list(l.GetSlice()), source)
			}
			return
		}
		add(f.Name, scalar(f.Value.String(), f.Value.Type()), source)
	})
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return err
	}
	return e.Close()
}

func list(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v, "string"))
	}
	return n
}

// scalar quotes every text that some reader of YAML may take for more than a text, so that a seed 010 stays
// 010.
func scalar(value, kind string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if kind == "string" && !plainText(value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// plainText tells whether a text is a word or a path of letters, and none of YAML's own words.
func plainText(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "on", "off", "yes", "no", "y", "n":
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9') && strings.IndexByte("_-./", c) < 0) {
			return false
		}
	}
	return true
}
