package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tableIn returns the rows of the table in a text for people whose header begins with the given cells.
func tableIn(t *testing.T, file string, header ...string) [][]string {
	t.Helper()
	var rows [][]string
	found := false
	for line := range strings.Lines(string(readFile(t, root, file))) {
		cells := cellsOf(strings.TrimSpace(line))
		switch {
		case !found:
			found = len(cells) >= len(header) && slices.Equal(cells[:len(header)], header)
		case cells == nil:
			return rows
		case strings.Trim(strings.Join(cells, ""), "-") != "":
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table that begins with %q", file, header)
	}
	return rows
}

// cellsOf splits a line of a table, or returns nil. "\|" is no border.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "|-") || !strings.HasSuffix(line, "|") {
		return nil
	}
	line = strings.ReplaceAll(line[1:len(line)-1], `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
	}
	return cells
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// codes returns the code spans of a text.
func codes(text string) []string {
	var names []string
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// firstCodes returns the code spans in the first cells of a table.
func firstCodes(rows [][]string) []string {
	var names []string
	for _, r := range rows {
		names = append(names, codes(r[0])...)
	}
	return names
}

// same fails unless a text names exactly what there is, in that order.
func same(t *testing.T, where string, want, got []string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: there is nothing to compare with", where)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-code +text):\n%s", where, diff)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: what a text links to, and every source file that it names by its path, is there.
func TestLinks(t *testing.T) {
	links := 0
	for _, file := range markdown(t) {
		for i, line := range strings.Split(string(readFile(t, root, file)), "\n") {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				to, _, _ := strings.Cut(m[1], "#")
				if to == "" || strings.Contains(to, "://") {
					continue
				}
				links++
				if _, err := os.Stat(filepath.Join(root, filepath.Dir(file), filepath.FromSlash(to))); err != nil {
					t.Errorf("%s:%d: a link to %s, which is not there", file, i+1, m[1])
				}
			}
			for _, path := range codes(line) {
				if source, ok := sourcePath(path); ok {
					if _, err := os.Stat(filepath.Join(root, source)); err != nil {
						t.Errorf("%s:%d: %s is not there", file, i+1, path)
					}
				}
			}
		}
	}
	if links < 15 {
		t.Errorf("%d links found: the test would prove nothing", links)
	}
}

// sourcePath takes paths of Go and Python files from the top of the project.
func sourcePath(text string) (string, bool) {
	source := strings.HasSuffix(text, ".go") || strings.HasSuffix(text, ".py")
	return filepath.FromSlash(text), source && strings.Contains(text, "/") && !strings.ContainsAny(text, " *")
}

// TestCommandTable: the README's table names the commands of the help, each once.
func TestCommandTable(t *testing.T) {
	_, list, _ := strings.Cut(mustRun(t, 0, "--help").out, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var want, got []string
	for line := range strings.Lines(list) {
		want = append(want, strings.Fields(line)[0])
	}
	for _, name := range firstCodes(tableIn(t, "README.md", "command", "does")) {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "turnmill "), " ")
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	same(t, "README.md: the table of commands", want, got)
}

// TestFlagsInTexts: every flag that a text names in a code span is one of a command.
func TestFlagsInTexts(t *testing.T) {
	flags := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(streams{}))
	named := map[string]bool{}
	flag := regexp.MustCompile(`^--([a-z-]+)`)
	for _, file := range markdown(t) {
		for i, line := range strings.Split(string(readFile(t, root, file)), "\n") {
			for _, code := range codes(line) {
				m := flag.FindStringSubmatch(code)
				if m == nil {
					continue
				}
				named[m[1]] = true
				if !flags[m[1]] {
					t.Errorf("%s:%d: no command has a flag --%s", file, i+1, m[1])
				}
			}
		}
	}
	if len(named) < 10 {
		t.Errorf("flags found: %v: the test would prove nothing", slices.Sorted(maps.Keys(named)))
	}
}
