package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDecisions: each decision has a number of its own, in its name and in its title, and what names a decision by
// number names one that there is.
func TestDecisions(t *testing.T) {
	const dir = "../../docs/decisions"
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 10 {
		t.Fatalf("%d decisions, %v: the rule would prove nothing", len(files), err)
	}
	numbers := map[string]string{}
	texts := map[string][]byte{}
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(f.Name(), "%03d-", &n); err != nil {
			t.Errorf("docs/decisions/%s: name it NNN-subject.md", f.Name())
			continue
		}
		number := fmt.Sprintf("%03d", n)
		if other := numbers[number]; other != "" {
			t.Errorf("docs/decisions: %s and %s share a number; give one of them the next free one", other, f.Name())
		}
		numbers[number] = f.Name()
		if texts[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^# ` + number + `: \S`).Match(texts[f.Name()]) {
			t.Errorf("docs/decisions/%s: begin it with # %s: and its subject", f.Name(), number)
		}
	}
	for name, text := range texts {
		for _, m := range regexp.MustCompile(`[Dd]ecision (\d{3})`).FindAllSubmatch(text, -1) {
			if numbers[string(m[1])] == "" {
				t.Errorf("docs/decisions/%s: there is no decision %s", name, m[1])
			}
		}
	}
}
