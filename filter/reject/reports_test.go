package reject

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// TestPitfall33NaNWins: two of three judgements hold NaN or Infinity. Whatever their order, the third wins.
func TestPitfall33NaNWins(t *testing.T) {
	b, err := os.ReadFile("testdata/nan-among-three.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	object := regexp.MustCompile(`"judge":(\{[^}]*\})`)
	var rollouts []Rollout
	for _, m := range object.FindAllStringSubmatch(string(b), -1) {
		j := judge.ParseScores(&turnmill.Reply{Text: m[1]}, judge.Options{})
		rollouts = append(rollouts, Rollout{Answered: true, Judgement: j.State, Scores: j.Scores})
	}
	if len(rollouts) != 3 {
		t.Fatalf("%d rollouts, want 3", len(rollouts))
	}
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		c := Case{Domain: turnmill.DomainSWE}
		for _, i := range order {
			c.Rollouts = append(c.Rollouts, rollouts[i])
		}
		out := Options{Threshold: turnmill.Ratio{Num: 3, Den: 1}}.Choose(&c)
		if out.State != Selected || order[out.Winner] != 1 || out.Decider != DecidedAlone {
			t.Errorf("order %v: %+v, want rollout 1 selected alone", order, out)
		}
		a := Accounts{}
		a.Add(&c, &out)
		if got, err := json.Marshal(a); err != nil || strings.Contains(string(got), "NaN") {
			t.Errorf("order %v: %s %v", order, got, err)
		}
		if n := a[c.Domain].Judgements["unparsable"]; n != 2 {
			t.Errorf("order %v: %d unparsable judgements, want 2", order, n)
		}
	}
}

// TestPitfall36FewerRolloutsThanAsked: q1 has two of three rollouts and ends as incomplete; q2 is chosen from.
// The null line and q9 are for the reader of the file.
func TestPitfall36FewerRolloutsThanAsked(t *testing.T) {
	b, err := os.ReadFile("testdata/fewer-rollouts-than-asked.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]*Case{"q1": {Domain: "d", Rollouts: make([]Rollout, 3)}, "q2": {Domain: "d", Rollouts: make([]Rollout, 3)}}
	for line := range strings.Lines(string(b)) {
		var r struct {
			Query   string
			Rollout int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if c := cases[r.Query]; c != nil && !c.Rollouts[r.Rollout].Answered {
			c.Rollouts[r.Rollout] = Rollout{Answered: true, Judgement: judge.Valid, Scores: judge.Scores{4, 4, 4, 4, 4}}
		}
	}
	a := Accounts{}
	for _, id := range []string{"q1", "q2"} {
		out := Options{Pairs: PairsNone}.Choose(cases[id])
		a.Add(cases[id], &out)
	}
	got := a["d"]
	if got.Queries != 2 || got.Candidates != 1 || got.Selected != 1 || got.Dropped[turnmill.ReasonIncompleteRollouts] != 1 || got.Rollouts["missing"] != 1 {
		t.Errorf("%+v: want 2 queries, 1 candidate, 1 selected, 1 incomplete for 1 missing rollout", got)
	}
	for _, state := range []turnmill.ReplyState{turnmill.ReplyTruncated, turnmill.ReplyRefused} {
		c := *cases["q2"]
		c.Rollouts[1].State = state
		if out := (Options{}).Choose(&c); out.State != Dropped || out.Reason != turnmill.ReasonIncompleteRollouts || out.Candidate {
			t.Errorf("%s rollout: %+v, want dropped incomplete_rollouts", state, out)
		}
	}
}
