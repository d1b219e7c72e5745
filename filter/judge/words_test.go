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

func TestParsePair(t *testing.T) {
	for reply, want := range map[string]string{
		`So \boxed{A}.`:                             "A",
		`$\boxed{B}$`:                               "B",
		`\boxed{b}`:                                 "B",
		`\boxed{\text{A}}`:                          "A",
		`\boxed{\textbf{ B }}`:                      "B",
		`\boxed{A} and then \boxed{Both}`:           "unparsable",
		`\boxed{A or B}`:                            "unparsable",
		`\boxed{AB}`:                                "unparsable",
		`\boxed{}`:                                  "unparsable",
		`\boxed{A`:                                  "truncated",
		`\boxed{\text{A}`:                           "truncated",
		`<think>\boxed{A}</think>\boxed{B}`:         "B",
		`<think>\boxed{A}</think>`:                  "unparsable",
		`\boxed{A}</think>so \boxed{B}`:             "B",
		"A":                                         "unparsable",
		"I'm sorry, but I can't compare these.":     "refused",
		"抱歉，我无法比较。":                                 "refused",
		"更好的是 \\boxed{A}":                           "A",
		"The page shows \\boxed{B} but I say none.": "B", // the last box counts, wherever it stands
	} {
		if got := preferenceName(ParsePair(complete(reply))); got != want {
			t.Errorf("%q: got %s, want %s", reply, got, want)
		}
	}
	for end, want := range map[turnmill.ReplyState]State{turnmill.ReplyTruncated: Truncated, turnmill.ReplyRefused: Refused, turnmill.ReplyFailed: Failed, turnmill.ReplyTimeout: Timeout} {
		r := &turnmill.Reply{State: end, Text: `\boxed{A} CORRECT`}
		if p, v := ParsePair(r), ParseVerdict(r); p.State != want || v.State != want || v.Pass {
			t.Errorf("%s: %+v, %+v", end, p, v)
		}
	}
}

func TestParseVerdict(t *testing.T) {
	for reply, want := range map[string]string{
		"The listing is the same.\n\nCORRECT":         "pass",
		"The listing is the same.\n\n**INCORRECT**":   "fail",
		"The listing is the same.\nVerdict: CORRECT.": "pass",
		"**Verdict:** incorrect":                      "fail",
		"Final answer: not correct!":                  "fail",
		"Correct. All lines match.":                   "pass",
		"Correct - all lines match.":                  "pass",
		"Correct, but one value is incorrect.":        "unparsable",
		"Correctness is high.":                        "unparsable",
		"Incorrectly formatted.":                      "unparsable",
		"This is correct.":                            "unparsable",
		"CORRECT or INCORRECT?":                       "unparsable",
		"CORRECT\nNo, it is not.\nINCORRECT":          "fail",
		"Incorrect.\nThe rest, though, is\ncorrect":   "pass", // the last line is the asked one
		"PASS":                              "pass",
		"Failed: exit code 1":               "fail",
		"passport":                          "unparsable",
		`\boxed{CORRECT}`:                   "pass",
		`\boxed{INCORRECT} though CORRECT`:  "fail",
		`\boxed{maybe}`:                     "unparsable",
		`\boxed{COR`:                        "truncated",
		"<think>CORRECT</think>\nINCORRECT": "fail",
		"<think>CORRECT</think>":            "unparsable",
		"结论：不正确":                            "fail",
		"列表一致。\n正确。":                        "pass",
		"I cannot judge this content.":      "refused",
		"5":                                 "unparsable",
	} {
		if got := verdictName(ParseVerdict(complete(reply))); got != want {
			t.Errorf("%q: got %s, want %s", reply, got, want)
		}
	}
}
