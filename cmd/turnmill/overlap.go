package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// outsideInputs refuses an output that the inputs name, or that lies below a directory which they name: the
// same command once more would read what it has written.
func outsideInputs(output string, inputs []string) error {
	out, err := settled(output)
	if err != nil {
		return usage(fmt.Errorf("--output: %w", err))
	}
	for _, input := range inputs {
		if names(input, out) {
			return usage(fmt.Errorf("--output %s is, or lies in, the input %s: a later run would read what this one writes; try an output elsewhere", output, input))
		}
	}
	return nil
}

// names tells whether an input argument is the file or directory at out, a directory above it, or a pattern
// that one of these matches.
func names(input, out string) bool {
	in, err := settled(input)
	if err != nil {
		return false // reading it will say why
	}
	_, err = os.Stat(input)
	pattern := err != nil
	for at := out; ; at = filepath.Dir(at) {
		if matched, _ := filepath.Match(in, at); at == in || pattern && matched {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// settled returns an absolute path without symbolic links, as far as what it names is there.
func settled(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		up := filepath.Dir(at)
		if up == at {
			return filepath.Join(at, rest), nil
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}
