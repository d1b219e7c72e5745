package judge

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// complete is a reply that the model ended.
func complete(text string) *turnmill.Reply { return &turnmill.Reply{Text: text} }

// TestPitfall31WordInsideItsOpposite: "INCORRECT" holds "CORRECT", "Both" holds a B.
func TestPitfall31WordInsideItsOpposite(t *testing.T) {
	b, err := os.ReadFile("testdata/verdict-words.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		var c struct{ Kind, Reply, Expect string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		n++
		got := ""
		switch c.Kind {
		case "binary":
			got = verdictName(ParseVerdict(complete(c.Reply)))
		case "pairwise":
			got = preferenceName(ParsePair(complete(c.Reply)))
		}
		if got != c.Expect {
			t.Errorf("%s %q: got %s, want %s", c.Kind, c.Reply, got, c.Expect)
		}
	}
	if n != 12 {
		t.Errorf("%d cases, want 12", n)
	}
}

func verdictName(v Verdict) string {
	switch {
	case v.State != Valid:
		return v.State.String()
	case v.Pass:
		return "pass"
	}
	return "fail"
}

func preferenceName(p Preference) string {
	switch {
	case p.State != Valid:
		return p.State.String()
	case p.Second:
		return "B"
	}
	return "A"
}
