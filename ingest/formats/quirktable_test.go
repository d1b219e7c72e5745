package formats

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A quirk is a row of testdata/quirks.tsv: what files of a format do that one would not expect, and the tests
// that show what becomes of it. A test is one of
//
//	TestName, TestName/subtest    of this package
//	package.TestName              of another
//	#title                        the block of testdata/FORMAT.txt whose title begins so
//	+#title                       of testdata/FORMAT+thought.txt
//	other#title                   of another format's blocks
//	-                             the format is not read
type quirk struct {
	format, what string
	tests        []string
}

func readQuirks(t *testing.T) []quirk {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "quirks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []quirk
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) < 3 {
			t.Fatalf("testdata/quirks.tsv: want format, quirk, tests in %q", line)
		}
		all = append(all, quirk{cells[0], cells[1], cells[2:]})
	}
	return all
}

// testDirs are the folders of packages whose tests quirks name.
var testDirs = map[string]string{"formats": ".", "frame": "../frame", "screen": "../screen", "ingest": "..", "jsonscan": "../../internal/jsonscan",
	"pipelines": "../../pipelines", "turnmill": "../../cmd/turnmill", "filter": "../../filter", "mask": "../../mask"}

// testsIn returns the test functions of a folder, each with the texts that stand in it: names of subtests are
// among them.
func testsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d test files, %v", dir, len(files), err)
	}
	all := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			texts := []string{}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						texts = append(texts, s)
					}
				}
				return true
			})
			all[f.Name.Name] = texts
		}
	}
	return all
}

// titles returns the titles of the blocks of a golden file.
func titles(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		title, _, _ := strings.Cut(block, "\n")
		all = append(all, strings.TrimPrefix(title, "# "))
	}
	return all
}

// runs returns how the test that a quirk names is run, or what is wrong with the name.
func (q *quirk) runs(t *testing.T, name string, tests map[string]map[string][]string) (string, error) {
	if file, title, ok := strings.Cut(name, "#"); ok {
		switch file {
		case "", "+":
			file = q.format + strings.ReplaceAll(file, "+", "+thought")
		}
		var found []string
		for _, s := range titles(t, file) {
			if strings.HasPrefix(s, title) {
				found = append(found, s)
			}
		}
		if len(found) != 1 {
			return "", fmt.Errorf("%d blocks of testdata/%s.txt begin with %q", len(found), file, title)
		}
		return file + ": " + found[0], nil
	}
	pkg, test, ok := strings.Cut(name, ".")
	if !ok {
		pkg, test = "formats", name
	}
	if testDirs[pkg] == "" {
		return "", fmt.Errorf("no folder is known of package %s", pkg)
	}
	if tests[pkg] == nil {
		tests[pkg] = testsIn(t, testDirs[pkg])
	}
	function, sub, hasSub := strings.Cut(test, "/")
	texts, there := tests[pkg][function]
	switch {
	case !there || !strings.HasPrefix(function, "Test"):
		return "", fmt.Errorf("package %s has no test %s", pkg, function)
	case hasSub && !slices.Contains(texts, sub):
		return "", fmt.Errorf("%s names nothing %q", function, sub)
	}
	return "`" + name + "`", nil
}

// TestQuirks: every quirk of testdata/quirks.tsv names tests that are there, every format has some, and
// docs/quirks.md lists them; -update writes it.
func TestQuirks(t *testing.T) {
	known := map[string]bool{"all": true}
	order := []string{"all"}
	for _, f := range All() {
		known[f.Name] = true
		order = append(order, f.Name)
	}
	rows := map[string][]string{}
	tests := map[string]map[string][]string{}
	for _, q := range readQuirks(t) {
		if !known[q.format] {
			if !slices.Equal(q.tests, []string{"-"}) {
				t.Errorf("testdata/quirks.tsv: %s is no format, and %q has tests", q.format, q.what)
			}
			rows[q.format] = append(rows[q.format], "| "+q.what+" | |")
			continue
		}
		var how []string
		for _, name := range q.tests {
			run, err := q.runs(t, name, tests)
			if err != nil {
				t.Errorf("testdata/quirks.tsv: %s, %q: %v", q.format, q.what, err)
			}
			how = append(how, run)
		}
		rows[q.format] = append(rows[q.format], "| "+q.what+" | "+strings.Join(how, "<br>")+" |")
	}
	for name := range known {
		if len(rows[name]) == 0 {
			t.Errorf("testdata/quirks.tsv has no row for %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if !known[name] {
			order = append(order, name)
		}
	}
	checkQuirksText(t, quirksText(order, known, rows))
}

func quirksText(order []string, known map[string]bool, rows map[string][]string) string {
	var b strings.Builder
	b.WriteString(`# Quirks of published files, and their tests

Written from ` + "`ingest/formats/testdata/quirks.tsv`" + ` by ` + "`go test ./ingest/formats -run TestQuirks -update`" + `, which also looks that each
test is there. What is no Go test is a block of ` + "`ingest/formats/testdata/FORMAT.txt`" + ` by its title: a record and what becomes of it,
run by ` + "`go test ./ingest/formats -run TestGolden/FORMAT`" + `.
`)
	for _, name := range order {
		title := "## " + name
		switch {
		case name == "all":
			title = "## All formats"
		case !known[name]:
			title += ": not read"
		}
		b.WriteString("\n" + title + "\n\n| quirk | test |\n|---|---|\n" + strings.Join(rows[name], "\n") + "\n")
	}
	return b.String()
}

func checkQuirksText(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "quirks.md")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("docs/quirks.md (-text +now; go test ./ingest/formats -run TestQuirks -update writes it):\n%s", diff)
	}
}
