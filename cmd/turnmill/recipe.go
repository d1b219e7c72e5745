package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// recipe is a YAML file whose keys are the flags' names. Flags on the command line win over it.
type recipe struct {
	inputs []string
	lines  map[string]int // line of each key that was taken
}

// smallBytes is more than any recipe or table has.
const smallBytes = 16 << 20

// readSmall reads a recipe or a table: a file, a pipe, but no device without an end.
func readSmall(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, smallBytes+1))
	if err == nil && len(data) > smallBytes {
		err = fmt.Errorf("%s: more than %d MiB; name a YAML file", name, smallBytes>>20)
	}
	return data, err
}

// applyRecipe reads the file and sets every flag of fs that it names and the command line does not. It
// reports every unknown or mistyped key with its line, and the nearest name. Keys in unused are known, and pass.
func applyRecipe(file string, fs *pflag.FlagSet, unused []string) (*recipe, error) {
	data, err := readSmall(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--recipe: %w", err))
	}
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, usage(yamlErrors(file, err, nil))
	}
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, usage(fmt.Errorf("%s:%d: a second document; a recipe is one mapping", file, more.Line))
	case !errors.Is(err, io.EOF):
		return nil, usage(yamlErrors(file, err, nil))
	}
	r := &recipe{lines: map[string]int{}}
	if doc.Kind == 0 {
		return r, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, usage(fmt.Errorf("%s:%d: a recipe is a mapping of flag names to values", file, top.Line))
	}
	var errs []error
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if slices.Contains(unused, key.Value) {
			continue
		}
		if err := r.set(fs, key, value); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, key.Line, err))
		}
	}
	return r, usage(errors.Join(errs...))
}

func (r *recipe) set(fs *pflag.FlagSet, key, value *yaml.Node) error {
	name := key.Value
	if was, again := r.lines[name]; again {
		return fmt.Errorf("%s: stands on line %d already", name, was)
	}
	r.lines[name] = key.Line
	texts, err := scalars(value)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "inputs" {
		r.inputs = texts
		return nil
	}
	flag := fs.Lookup(name)
	if flag == nil || name == "recipe" || name == "help" {
		return fmt.Errorf("no setting is called %q; %s", name, meantKey(name, settings(fs), "turnmill cpt --help lists the flags that are settings"))
	}
	if flag.Changed {
		return nil
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(texts)
	}
	for value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("%s: want one value, not a list", name)
	}
	if err := flag.Value.Set(texts[0]); err != nil {
		return fmt.Errorf("%s: %q: %w", name, texts[0], err)
	}
	return nil
}

// scalars returns a value, or a list of values, as spelt: a seed written 010 stays 010.
func scalars(n *yaml.Node) ([]string, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return scalars(n.Alias)
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return nil, errors.New("has no value; give it one, or leave the line out")
		}
		return []string{n.Value}, nil
	case yaml.SequenceNode:
		texts := make([]string, 0, len(n.Content))
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode || c.ShortTag() == "!!null" {
				return nil, fmt.Errorf("line %d: want a plain value in the list", c.Line)
			}
			texts = append(texts, c.Value)
		}
		return texts, nil
	}
	return nil, errors.New("want a value or a list of values")
}

// settings returns the keys that a recipe may have.
func settings(fs *pflag.FlagSet) []string {
	names := []string{"inputs"}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Name != "recipe" && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
}

// visibleFlags returns the names of flags that --help lists.
func visibleFlags(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// meantKey names the key that is meant, or says what else there is.
func meantKey(name string, names []string, otherwise string) string {
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("the nearest is %q", near)
	}
	return otherwise
}

// nearest returns the name that is least edits away, or begins as the given one; "" where none is near: more
// than a third of the letters are wrong.
func nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		d := editDistance(name, n)
		if len(name) > 2 && strings.HasPrefix(n, name) {
			d = min(d, 1)
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
