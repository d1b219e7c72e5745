package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// readMix reads the YAML file of --mix, strictly.
func readMix(name string) (*pipelines.Mix, error) {
	data, err := readSmall(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--mix: %w", err))
	}
	mix := &pipelines.Mix{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(mix); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, usage(yamlErrors(name, err, yamlKeys(*mix)))
	}
	if err := oneDocument(d); err != nil {
		return nil, usage(fmt.Errorf("%s: %w", name, err))
	}
	if err := mix.Validate(); err != nil {
		return nil, usage(fmt.Errorf("--mix %s: %w", name, err))
	}
	return mix, nil
}

// writeMix writes what came of a mix.
func writeMix(w io.Writer, m *pipelines.Manifest) error {
	if m.Scan == nil || len(m.Scan.Mix) == 0 {
		return nil
	}
	const form = "%-16s %8s %12s %12s %16s %16s %14s %14s\n"
	return visibly(w, func(w io.Writer) error {
		fmt.Fprintf(w, "\n"+form, "mix", "weight", "records", "mixed", "bytes", "mixed", "tokens", "trained")
		for i := range m.Scan.Mix {
			s, r := &m.Scan.Mix[i], &m.Mix[i]
			fmt.Fprintf(w, form, s.Name, fmt.Sprint(s.Weight), stats.Thousands(s.Records), stats.Thousands(s.Mixed), stats.Thousands(s.Bytes), stats.Thousands(s.MixBytes),
				stats.Thousands(r.Tokens), stats.Thousands(r.Trained))
		}
		return nil
	})
}
