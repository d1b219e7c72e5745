package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
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
	data, err := readSmall(name)
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
		return mask.Table{}, usage(yamlErrors(name, err, yamlKeys(file)))
	}
	if err := oneDocument(d); err != nil {
		return mask.Table{}, usage(yamlErrors(name, err, nil))
	}
	table, err := mask.FromSpec(file.spec())
	if err != nil {
		return mask.Table{}, usage(fmt.Errorf("%s: %w", name, err))
	}
	return table, nil
}

// oneDocument refuses what stands behind the first document of a YAML file: it would be passed over.
func oneDocument(d *yaml.Decoder) error {
	var next yaml.Node
	switch err := d.Decode(&next); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("line %d: a second document, and one is read; join them", next.Line)
}

// yamlErrors says what the decoder of a YAML file does, each problem with file and line and without Go's
// types. keys are the keys that each of these types has.
func yamlErrors(file string, err error, keys map[string][]string) error {
	texts := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var t *yaml.TypeError
	if errors.As(err, &t) {
		texts = t.Errors
	}
	errs := make([]error, len(texts))
	for i, text := range texts {
		line, cause, found := strings.Cut(strings.TrimPrefix(text, "line "), ": ")
		if !found || !strings.HasPrefix(text, "line ") {
			errs[i] = fmt.Errorf("%s: %s", file, text)
			continue
		}
		if key, of, unknown := strings.Cut(cause, " not found in type "); unknown {
			key = strings.TrimPrefix(key, "field ")
			cause = fmt.Sprintf("no key here is called %q", key)
			if known := keys[of]; known != nil {
				cause += "; " + meantKey(key, known, "there are "+strings.Join(known, ", "))
			}
		}
		if value, wrong := strings.CutPrefix(cause, "cannot unmarshal "); wrong {
			value, _, _ = strings.Cut(value, " into ")
			cause = value + " is a value of the wrong kind"
		}
		errs[i] = fmt.Errorf("%s:%s: %s", file, line, cause)
	}
	return errors.Join(errs...)
}

// yamlKeys returns the keys of a struct and of the structs in its lists, by type.
func yamlKeys(of any) map[string][]string {
	keys := map[string][]string{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			keys[t.String()] = append(keys[t.String()], key)
			add(t.Field(i).Type)
		}
	}
	add(reflect.TypeOf(of))
	return keys
}
