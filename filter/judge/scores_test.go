package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// shape is one recorded shape of an answer and what it says: a state, and five scores when that is valid.
type shape struct {
	Name  string
	Reply string
	End   string // of the reply; complete unless given
	Want  string // written by hand
}

// shapes reads testdata/replies.jsonl.
func shapes(t testing.TB) []shape {
	t.Helper()
	b, err := os.ReadFile("testdata/replies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []shape
	for line := range bytes.Lines(b) {
		var s shape
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	if len(all) < 120 {
		t.Fatalf("%d shapes, want at least 120", len(all))
	}
	return all
}

// reply returns the shape as it came back.
func (s *shape) reply(t testing.TB) *turnmill.Reply {
	state, ok := turnmill.ReplyComplete, true
	if s.End != "" {
		state, ok = turnmill.ParseReplyState(s.End)
	}
	if !ok {
		t.Fatalf("%s: no reply ends as %q", s.Name, s.End)
	}
	return &turnmill.Reply{Text: s.Reply, State: state}
}

// said writes a judgement as shapes do.
func said(j Judgement) string {
	if j.State != Valid {
		return j.State.String()
	}
	return strings.Trim(fmt.Sprint(j.State, " ", [NumDimensions]uint8(j.Scores)), "]")
}

// TestParseScores: the state and the scores that a person wrote beside each shape, and, as a golden, how
// they were found and what the released evaluator's arithmetic makes of it.
func TestParseScores(t *testing.T) {
	var all bytes.Buffer
	seen := map[State]int{}
	found := map[Strategy]int{}
	for _, s := range shapes(t) {
		r := s.reply(t)
		j := ParseScores(r, Options{})
		seen[j.State]++
		found[j.Strategy]++
		if got := strings.Replace(said(j), "[", "", 1); got != s.Want {
			t.Errorf("%s: got %s (%s), want %s; the reply is %q", s.Name, got, j.Detail, s.Want, s.Reply)
		}
		if j.State != Valid && j.Scores != (Scores{}) {
			t.Errorf("%s: %s carries scores %v", s.Name, j.State, j.Scores)
		}
		if r.Text != s.Reply {
			t.Errorf("%s: the reply was changed", s.Name)
		}
		c := ParseScores(r, Options{Compat: true})
		fmt.Fprintf(&all, "%s\n\tstrict  %s", s.Name, line(j))
		if j.Detail != "" {
			fmt.Fprintf(&all, "; %s", j.Detail)
		}
		fmt.Fprintf(&all, "\n\tcompat  %s", line(c))
		if c.State == Valid {
			fmt.Fprintf(&all, "; clamped %d, rounded %d, missing %d, mean %d/%d", c.Clamped, c.Rounded, c.Missing, c.Scores.Mean().Num, c.Scores.Mean().Den)
		}
		all.WriteByte('\n')
	}
	golden.Check(t, *update, "replies.golden", all.Bytes())
	for s := Valid; int(s) < NumStates; s++ {
		if seen[s] == 0 {
			t.Errorf("no shape is %s", s)
		}
	}
	for s := Unfound; int(s) < numStrategies; s++ {
		if found[s] == 0 {
			t.Errorf("no shape is found as %s", s)
		}
	}
}

// line writes a judgement for the golden.
func line(j Judgement) string {
	text := strings.Replace(said(j), "[", "", 1)
	if j.Strategy != Unfound {
		text += " " + j.Strategy.String()
	}
	return text
}

// TestDocs: docs/judging.md names every state, and the examples of the scale that it gives are read so.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/judging.md")
	if err != nil {
		t.Fatal(err)
	}
	for s := Valid; int(s) < NumStates; s++ {
		if !bytes.Contains(b, []byte("`"+s.String()+"`")) {
			t.Errorf("docs/judging.md does not name %s", s)
		}
	}
	_, scale, _ := strings.Cut(string(b), "The scale is strict. ")
	four, off, _ := strings.Cut(scale, " are 4; ")
	off, _, _ = strings.Cut(off, " are off the scale")
	for want, list := range map[State]string{Valid: four, OutOfRange: off} {
		values := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1)
		if len(values) != 5 {
			t.Errorf("docs/judging.md has %d examples of %s: %q", len(values), want, list)
		}
		for _, v := range values {
			text := `{"format": ` + v[1] + `, "factuality": 4, "consistency": 4, "realism": 4, "quality": 4}`
			if j := ParseScores(complete(text), Options{}); j.State != want || want == Valid && j.Scores != (Scores{4, 4, 4, 4, 4}) {
				t.Errorf("docs/judging.md says that %s is %s; it is %s", v[1], want, j.State)
			}
		}
	}
}
