package verify

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// documented returns docs/verifiers.md and the block after a marker.
func documented(t *testing.T, marker string) (page, block string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/verifiers.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)<!-- " + marker + " -->\n```[a-z]+\n(.*?)```").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("docs/verifiers.md has no block %q", marker)
	}
	return string(text), m[1]
}

func TestDocsCases(t *testing.T) {
	page, block := documented(t, "cases")
	seen := map[Kind]bool{Program: true}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		var c struct {
			Verdict               State
			Verifier              json.RawMessage
			Reference, Prediction string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		v, err := Parse(c.Verifier, nil)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		seen[v.Kind] = true
		if got, err := v.Check(t.Context(), nil, Case{Prediction: c.Prediction, Reference: c.Reference}); err != nil || got.State != c.Verdict {
			t.Errorf("%s: got %v, %v", line, got, err)
		}
	}
	for kind, own := range keys {
		if !seen[kind] {
			t.Errorf("docs/verifiers.md has no case of kind %s", kind)
		}
		for _, key := range own {
			if !strings.Contains(page, "`"+key+"`") {
				t.Errorf("docs/verifiers.md does not speak of the key %s", key)
			}
		}
	}
	for _, s := range States() {
		if !strings.Contains(page, "`"+string(s)+"`") {
			t.Errorf("docs/verifiers.md does not speak of the verdict %s", s)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ {4,}(\{"query":"[^.]*\})$`).FindAllStringSubmatch(page, -1) {
		if strings.Contains(line[1], "sums.py") {
			continue
		}
		if _, err := ReadSet(strings.NewReader(line[1]), nil); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ {4,}(\{"verifier":.*\})$`).FindAllStringSubmatch(page, -1) {
		if v, err := ParseMeta(line[1], 3); err != nil || v == nil {
			t.Errorf("%s: %v, %v", line[1], v, err)
		}
	}
}

// TestDocsProgram runs the program of the page as its line of a file names it.
func TestDocsProgram(t *testing.T) {
	page, source := documented(t, "program")
	line := regexp.MustCompile(`(?m)^ +(\{"query".*sums\.py.*\})$`).FindStringSubmatch(page)
	if line == nil {
		t.Fatal("docs/verifiers.md has no line with sums.py")
	}
	set, err := ReadSet(strings.NewReader(line[1]), func(name string) ([]byte, error) {
		if name != "sums.py" {
			t.Errorf("asked for %s", name)
		}
		return []byte(source), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox(t)
	needPython(t)
	v := set.Get("run-7@3")
	said := []turnmill.Message{{Role: "user", Content: "cat x"}, {Role: "assistant", Content: "one\ntwo words\n"}, {Role: "user", Content: "wc x"}}
	for prediction, want := range map[string]State{"2 3 14 x": Pass, " 2 3 15 x": Fail, "": Fail} {
		ctx, cancel := context.WithTimeout(t.Context(), v.Limits().Wall)
		got, err := v.Check(ctx, box, Case{Query: "run-7@3", Prediction: prediction, Messages: said})
		cancel()
		if err != nil || got.State != want {
			t.Errorf("%q: got %v, %v; want %s", prediction, got, err, want)
		}
	}
}
