package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the directory of the project, from that of the test.
var root = filepath.Join("..", "..")

// block is a command in a Markdown file, and what the file says that it prints.
//
//	    $ turnmill check out          line
//
//	    ok: 7 files, 1 rows, ...      want, without the indent
//
//	Text goes on.                     end
type block struct {
	command string
	line    int // of the command, from 1
	end     int // the first line after the block
	want    []string
}

const (
	indent = "    "
	prompt = indent + "$ "
)

// blocksOf returns the commands of turnmill in a text. Other commands end a block and are passed over.
func blocksOf(text string) []block {
	var all []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		command, ok := strings.CutPrefix(lines[i], prompt+"turnmill ")
		if !ok {
			continue
		}
		b := block{command: command, line: i + 1}
		for i++; i < len(lines) && (strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], indent)) && !strings.HasPrefix(lines[i], prompt); i++ {
			b.want = append(b.want, strings.TrimPrefix(lines[i], indent))
		}
		b.end = i + 1
		b.want = trimLines(b.want)
		all = append(all, b)
		i-- // which may be the next command
	}
	return all
}

// trimLines returns the lines without blanks at their ends, and without blank lines around them.
func trimLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l, " ")
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// logLine is a line of the log, which holds times.
var logLine = regexp.MustCompile(`(?m)^time=\S+ level=.*\n`)

// run runs the command in dir and returns the lines that it prints, on whatever stream, without the log.
func (b *block) run(dir string) ([]string, error) {
	if strings.ContainsAny(b.command, `'"|<>\*`) {
		return nil, fmt.Errorf("turnmill %s: the test knows no shell; write the command without quotes, pipes and patterns", b.command)
	}
	cmd := exec.Command("turnmill", strings.Fields(b.command)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("turnmill %s: %w\n%s", b.command, err, out)
	}
	return trimLines(strings.Split(logLine.ReplaceAllString(string(out), ""), "\n")), nil
}

// differs names the first line of the text that turnmill prints otherwise, or returns "".
func (b *block) differs(text string, got []string) string {
	if slices.Equal(b.want, got) {
		return ""
	}
	lines := strings.Split(text, "\n")
	at := b.line // the line before the first of want
	for at < b.end-1 && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	for i := 0; ; i++ {
		switch {
		case i >= len(b.want):
			return fmt.Sprintf("%d: the text ends, and turnmill %s goes on with\n\t%s", at+i, b.command, got[i])
		case i >= len(got):
			return fmt.Sprintf("%d: turnmill %s ends, and the text goes on with\n\t%s", at+i+1, b.command, b.want[i])
		case b.want[i] != got[i]:
			return fmt.Sprintf("%d: turnmill %s prints otherwise (-text +turnmill)\n\t-%s\n\t+%s", at+i+1, b.command, b.want[i], got[i])
		}
	}
}

// written returns the text with what the blocks printed in the place of what it says.
func written(text string, blocks []block, got [][]string) string {
	lines := strings.Split(text, "\n")
	for i, b := range slices.Backward(blocks) {
		printed := []string{lines[b.line-1], ""}
		for _, l := range got[i] {
			printed = append(printed, strings.TrimRight(indent+l, " "))
		}
		if len(got[i]) > 0 {
			printed = append(printed, "")
		}
		lines = slices.Concat(lines[:b.line-1], printed, lines[b.end-1:])
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// markdown returns the paths below root of the texts for people.
func markdown(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md", "examples/*.md", "examples/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(rel))
		}
	}
	return all
}

// TestCommandsInTexts runs every command of turnmill that a text shows, in a copy of the examples, and
// compares what it prints with the text: -update writes it there. Commands of an example's README run in
// its folder, others where the folder examples is.
func TestCommandsInTexts(t *testing.T) {
	commands := map[string]int{}
	for _, file := range markdown(t) {
		t.Run(file, func(t *testing.T) {
			text := string(readFile(t, root, file))
			blocks := blocksOf(text)
			commands[file] = len(blocks)
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(file, "examples/") {
				dir = filepath.Join(dir, filepath.FromSlash(filepath.Dir(file)))
			}
			var all [][]string
			for _, b := range blocks {
				got, err := b.run(dir)
				if err != nil {
					t.Fatalf("%s:%d: %v", file, b.line, err)
				}
				if diff := b.differs(text, got); diff != "" && !*update {
					t.Errorf("%s:%s", file, diff)
				}
				all = append(all, got)
			}
			if *update && len(blocks) > 0 {
				if err := os.WriteFile(filepath.Join(root, file), []byte(written(text, blocks, all)), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if commands["README.md"] < 3 {
		t.Errorf("README.md shows %d commands, want its worked example: cpt, show, check", commands["README.md"])
	}
	for file, n := range commands {
		if strings.Count(file, "/") == 2 && strings.HasPrefix(file, "examples/") && n == 0 {
			t.Errorf("%s shows no command", file)
		}
	}
}

// TestReadmeRecord: the record that the README shows is the one in the file, and what Python prints of the
// run agrees with the run's own files.
func TestReadmeRecord(t *testing.T) {
	readme := string(readFile(t, root, "README.md"))
	var shown, file any
	_, record, _ := strings.Cut(readme, "\n    {\"id\":")
	record, _, _ = strings.Cut(record, "\n\n")
	if err := json.Unmarshal([]byte(`{"id":`+record), &shown); err != nil {
		t.Fatalf("the record in README.md: %v", err)
	}
	orders := filepath.Join(root, "examples", "cpt", "orders.jsonl")
	if err := json.Unmarshal(readFile(t, orders), &file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, shown); diff != "" {
		t.Errorf("the record in README.md (-examples/cpt/orders.jsonl +README.md):\n%s", diff)
	}

	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, 0, "cpt", orders, "-o", out, "--tokenizer", "demo")
	var info struct{ Features map[string]any }
	var manifest struct{ Tokens struct{ Rows int } }
	for name, into := range map[string]any{"train/dataset_info.json": &info, "manifest.json": &manifest} {
		if err := json.Unmarshal(readFile(t, out, name), into); err != nil {
			t.Fatal(err)
		}
	}
	for name := range info.Features {
		if !strings.Contains(readme, "'"+name+"'") {
			t.Errorf("README.md does not show the feature %s", name)
		}
	}
	if want := fmt.Sprintf("num_rows: %d\n", manifest.Tokens.Rows); len(info.Features) != 3 || !strings.Contains(readme, want) {
		t.Errorf("README.md: want 'features' of %v and %q", info.Features, want)
	}
}
