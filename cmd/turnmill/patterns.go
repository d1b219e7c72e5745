package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill/filter"
)

// readPatterns reads the YAML file of --filter-patterns, strictly. A list that it leaves out is empty.
func readPatterns(name string) (*filter.Patterns, error) {
	data, err := readSmall(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--filter-patterns: %w", err))
	}
	p := &filter.Patterns{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty; turnmill filters --patterns prints the built-in ones to start from")
		}
		return nil, usage(yamlErrors(name, err, yamlKeys(p)))
	}
	if err := oneDocument(d); err != nil {
		return nil, usage(yamlErrors(name, err, nil))
	}
	if err := p.Validate(); err != nil {
		return nil, usage(fmt.Errorf("%s: %w", name, err))
	}
	return p, nil
}

// writePatterns writes the built-in patterns as the file that --filter-patterns takes.
func writePatterns(w io.Writer) error {
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	return errors.Join(e.Encode(filter.Builtin()), e.Close())
}
