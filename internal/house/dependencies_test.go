package house

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// required returns the libraries that go.mod requires for what this module imports itself.
func required(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json", filepath.Join("..", "..", "go.mod"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	var libs []string
	for _, r := range mod.Require {
		if !r.Indirect {
			libs = append(libs, r.Path)
		}
	}
	return libs
}

// recorded returns the rows of the table in docs/decisions: the owners of each library, "tests" and "tool"
// left out.
func recorded(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions", "001-dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([\w./-]+\.[\w./-]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$`).FindAllStringSubmatch(string(text), -1) {
		own := []string{}
		for _, owner := range strings.Split(m[2], ", ") {
			if owner != "tests" && owner != "tool" {
				own = append(own, strings.Trim(owner, "`"))
			}
		}
		rows[m[1]] = own
	}
	return rows
}

// TestDependencies: go.mod, the table of owners and the one in docs/decisions name the same libraries.
func TestDependencies(t *testing.T) {
	libs, rows := required(t), recorded(t)
	if len(libs) < 10 {
		t.Fatalf("go.mod requires %v: the rule would prove nothing", libs)
	}
	for _, lib := range libs {
		row, told := rows[lib]
		own, known := owners[lib]
		switch {
		case !told:
			t.Errorf("go.mod requires %s: give it a row in docs/decisions/001-dependencies.md", lib)
		case !known:
			t.Errorf("go.mod requires %s: give it an owner in the table of this package", lib)
		case !slices.Equal(row, own):
			t.Errorf("%s: docs/decisions/001-dependencies.md names the owners %v, the table of this package %v", lib, row, own)
		}
	}
	for _, lib := range slices.Sorted(maps.Keys(rows)) {
		if !slices.Contains(libs, lib) {
			t.Errorf("docs/decisions/001-dependencies.md has a row for %s, which go.mod does not require: take it out", lib)
		}
	}
	for _, lib := range slices.Sorted(maps.Keys(owners)) {
		if host, _, _ := strings.Cut(lib, "/"); strings.Contains(host, ".") && !slices.Contains(libs, lib) {
			t.Errorf("%s has an owner, and go.mod does not require it: take it out", lib)
		}
	}
}
