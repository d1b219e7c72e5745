package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxDefinition bounds a verifier, its program included.
const maxDefinition = 1 << 20

// Open returns the source of a program by the name that a verifier gives it. A verifier may name a file only
// where its own file came from the person who starts the run; elsewhere Open is nil.
type Open func(name string) ([]byte, error)

// keys are what a verifier of each kind may have beside kind, class and note.
var keys = map[Kind][]string{
	Exact:    {"expected", "trim"},
	JSON:     {"expected", "at", "ignore", "numbers"},
	ExitCode: {"expected", "field", "pattern"},
	Regex:    {"pattern", "whole"},
	Tree:     {"expected", "format", "volatile", "numbering"},
	Program:  {"program", "file", "args", "seconds", "cpu_seconds", "memory_mb", "processes", "output_kb", "tmp_mb"},
}

// Parse reads one verifier. Keys that its kind does not have, repeated keys and values of another type are
// errors, all of them joined.
func Parse(data []byte, open Open) (*Verifier, error) {
	if len(data) > maxDefinition {
		return nil, fmt.Errorf("verifier: %d bytes; at most %d", len(data), maxDefinition)
	}
	var doc jsonscan.Doc
	root, err := doc.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("verifier: not JSON: %w", err)
	}
	if r := doc.Repairs(); r.BadUTF8+r.LoneSurrogate > 0 {
		return nil, errors.New("verifier: bytes that are not UTF-8, or a lone surrogate escape")
	}
	return parse(root, open)
}

func parse(root jsonscan.Value, open Open) (*Verifier, error) {
	if root.Kind() != jsonscan.Object {
		return nil, fmt.Errorf("verifier: want an object, found %s", root.Kind())
	}
	d := &decoder{root: root}
	v := &Verifier{Kind: Kind(d.text("kind", "")), Class: Class(d.text("class", ""))}
	d.text("note", "")
	own, known := keys[v.Kind]
	if !known {
		return nil, fmt.Errorf("verifier: kind %s; want one of exact, json, exit_code, regex, tree, program", quoted(string(v.Kind)))
	}
	d.known(append([]string{"kind", "class", "note"}, own...))
	d.oneOf("class", string(v.Class), string(Control), string(Error), string(LongContext))
	sum := sha256.New()
	sum.Write(root.Raw())
	if v.Kind == Program {
		v.program = d.programOf(open)
		sum.Write([]byte{0})
		sum.Write(v.program.source)
	} else {
		v.rule, v.expected = d.ruleOf(v.Kind)
	}
	v.Definition = string(root.Raw())
	v.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if err := errors.Join(d.errs...); err != nil {
		return nil, fmt.Errorf("verifier of kind %s: %w", v.Kind, err)
	}
	return v, nil
}

// ruleOf reads the parameters of a pure kind, and what it expects instead of the reference.
func (d *decoder) ruleOf(kind Kind) (rule, *string) {
	switch kind {
	case Exact:
		r := exact{d.text("trim", "end")}
		d.oneOf("trim", r.trim, trims...)
		return r, d.optional("expected")
	case JSON:
		r := jsonEqual{at: d.pointer("at"), ignore: d.pointers("ignore"), spelling: d.text("numbers", "value") == "spelling"}
		d.oneOf("numbers", d.text("numbers", "value"), "value", "spelling")
		return r, d.raw("expected")
	case ExitCode:
		return d.exitCodeOf(), nil
	case Regex:
		pattern := d.text("pattern", "")
		r, err := compile(pattern, d.flag("whole"))
		if err != nil {
			d.fail("pattern", err.Error())
		} else if pattern == "" {
			d.fail("pattern", "is empty or absent: it would match anything")
		}
		return r, nil
	}
	names := d.texts("volatile")
	if slices.Contains(names, "") {
		d.fail("volatile", "an empty name")
	}
	format := d.text("format", "lines")
	d.oneOf("format", format, "lines", "json")
	if format == "json" {
		if d.root.Get("numbering").Kind() != jsonscan.Invalid {
			d.fail("numbering", "is for the format lines")
		}
		return jsonEqual{drop: names}, d.raw("expected")
	}
	r := trees{volatile: map[string]bool{}, numbers: d.text("numbering", "keep") == "drop"}
	d.oneOf("numbering", d.text("numbering", "keep"), "keep", "drop")
	for _, name := range names {
		r.volatile[name] = true
	}
	return r, d.optional("expected")
}

func (d *decoder) exitCodeOf() exitCode {
	var r exitCode
	if v := d.root.Get("expected"); v.Kind() != jsonscan.Invalid {
		n, ok := v.Int()
		if !ok {
			d.fail("expected", "want a whole number")
		}
		r.want = &n
	}
	pattern, field := d.optional("pattern"), d.optional("field")
	if field != nil {
		r.field = d.pointer("field")
		if pattern != nil {
			d.fail("field", "and `pattern` exclude one another")
		}
		return r
	}
	words := codeWords
	if pattern != nil {
		words = *pattern
	}
	m, err := compile(words, false)
	switch {
	case err != nil:
		d.fail("pattern", err.Error())
	case m.re.NumSubexp() != 1:
		d.fail("pattern", fmt.Sprintf("has %d groups; want one, around the code", m.re.NumSubexp()))
	}
	r.re = m.re
	return r
}

// steps splits a JSON pointer. RFC 6901.
func steps(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%s is no JSON pointer; it begins with /", quoted(s))
	}
	parts := strings.Split(s[1:], "/")
	for i, p := range parts {
		for j := range len(p) {
			if p[j] == '~' && (j+1 == len(p) || p[j+1] != '0' && p[j+1] != '1') {
				return nil, fmt.Errorf("%s is no JSON pointer; ~ is spelt ~0 in it", quoted(s))
			}
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts, nil
}
