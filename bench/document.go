package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// publish prints a section and writes it to the document.
func publish(o *options, section string) error {
	fmt.Print(section)
	if o.out == "" {
		return nil
	}
	return change(o.out, func(document string) string { return replaceSection(document, section) })
}

// change rewrites the document, which need not be there.
func change(name string, how func(string) string) error {
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, []byte(how(string(old))), 0o666)
}

// replaceSection puts a section, heading and all, into a document in the place of the one with the same
// heading, or at its end.
func replaceSection(document, section string) string {
	heading, _, _ := strings.Cut(section, "\n")
	before, rest, found := strings.Cut(document, heading+"\n")
	if !found {
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	after := ""
	if i := strings.Index(rest, "\n## "); i >= 0 {
		after = rest[i:]
	}
	return before + strings.TrimRight(section, "\n") + "\n" + after
}

// replaceOpening puts text between the title and the first section.
func replaceOpening(document, text string) string {
	_, after, _ := strings.Cut(document, "\n## ")
	document = "# Performance\n\n" + strings.TrimRight(text, "\n") + "\n"
	if after != "" {
		document += "\n## " + after
	}
	return document
}

// page grows the text of a part.
type page struct{ strings.Builder }

func (p *page) f(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// table writes a table's header.
func (p *page) table(columns ...string) {
	p.f("| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func (p *page) row(cells ...string) { p.f("| %s |\n", strings.Join(cells, " | ")) }

func machine() string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processor names the machine's processor.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}
