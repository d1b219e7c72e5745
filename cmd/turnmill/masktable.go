package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill/mask"
)

// tableFile is a mask table in YAML; docs/masking.md describes the keys.
type tableFile struct {
	Short *int64    `yaml:"short"`
	Other string    `yaml:"other"`
	Rows  []rowFile `yaml:"rows"`
}

type rowFile struct {
	Category     string `yaml:"category"`
	Keep         string `yaml:"keep"`
	OverlapMin   string `yaml:"overlap_min"`
	OverlapBelow string `yaml:"overlap_below"`
	NoveltyMin   string `yaml:"novelty_min"`
	NoveltyBelow string `yaml:"novelty_below"`
	RatioAbove   string `yaml:"ratio_above"`
	RatioMin     string `yaml:"ratio_min"`
	RatioBelow   string `yaml:"ratio_below"`
	RatioMax     string `yaml:"ratio_max"`
	OrShort      bool   `yaml:"or_short"`
}

func (f *tableFile) spec() mask.Spec {
	s := mask.Spec{Short: f.Short, Other: f.Other}
	for _, r := range f.Rows {
		s.Rows = append(s.Rows, mask.RowSpec(r))
	}
	return s
}

// readMaskTable reads the YAML file of --mask-table, strictly.
func readMaskTable(name string) (mask.Table, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return mask.Table{}, usage(fmt.Errorf("--mask-table: %w", err))
	}
	var file tableFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return mask.Table{}, usage(fmt.Errorf("%s: %s", name, plainYAML(err)))
	}
	table, err := mask.FromSpec(file.spec())
	if err != nil {
		return mask.Table{}, usage(fmt.Errorf("%s: %w", name, err))
	}
	return table, nil
}

// plainYAML takes the decoder's own words and Go's types out of its message.
func plainYAML(err error) string {
	var t *yaml.TypeError
	if !errors.As(err, &t) {
		return strings.TrimPrefix(err.Error(), "yaml: ")
	}
	lines := make([]string, len(t.Errors))
	for i, e := range t.Errors {
		if at := strings.Index(e, " in type "); at >= 0 {
			e = e[:at] + ": no such key"
		}
		lines[i] = e
	}
	return strings.Join(lines, "; ")
}
