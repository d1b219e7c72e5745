package reject

import (
	"encoding/json"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"pgregory.net/rapid"
)

func TestHybridReward(t *testing.T) {
	best, worst, mixed := judge.Scores{5, 5, 5, 5, 5}, judge.Scores{1, 1, 1, 1, 1}, judge.Scores{5, 4, 3, 2, 1}
	for _, tt := range []struct {
		name  string
		state judge.State
		s     judge.Scores
		check Check
		want  Reward
	}{
		{"best, passed", judge.Valid, best, Passed, 250},
		{"best, refuted", judge.Valid, best, Refuted, 225},
		{"best, no verifier: full weight", judge.Valid, best, Unchecked, 250},
		{"worst, passed", judge.Valid, worst, Passed, 70},
		{"worst, refuted", judge.Valid, worst, Refuted, 45},
		{"worst, no verifier", judge.Valid, worst, Unchecked, 50},
		{"mixed, passed", judge.Valid, mixed, Passed, 160},
		{"mixed, refuted", judge.Valid, mixed, Refuted, 135},
		{"the judge failed, passed", judge.Unparsable, best, Passed, 25},
		{"the judge failed, refuted", judge.Timeout, best, Refuted, 0},
		{"the judge failed, no verifier", judge.None, best, Unchecked, 0},
	} {
		if got := HybridReward(tt.state, tt.s, tt.check); got != tt.want {
			t.Errorf("%s: got %d tenths, want %d", tt.name, got, tt.want)
		}
	}
	if got := Reward(135).Ratio(); got != (turnmill.Ratio{Num: 135, Den: 10}) || got.String() != "13.5" {
		t.Errorf("got %v", got)
	}
	if got := RubricReward(judge.Valid, mixed); got != 15 {
		t.Errorf("rubric reward %d, want 15", got)
	}
}

// TestRewardNeverRises: losing a dimension, a pass or the judge never raises a reward.
func TestRewardNeverRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s judge.Scores
		for i := range s {
			s[i] = uint8(rapid.IntRange(1, 5).Draw(t, "score"))
		}
		check := Check(rapid.IntRange(0, 2).Draw(t, "check"))
		whole := HybridReward(judge.Valid, s, check)
		less := s
		less[rapid.IntRange(0, 4).Draw(t, "lost")] = 0
		if got := HybridReward(judge.Valid, less, check); got >= whole {
			t.Fatalf("%v gives %d, %v gives %d", s, whole, less, got)
		}
		if HybridReward(judge.Valid, s, Refuted) >= HybridReward(judge.Valid, s, Passed) || HybridReward(judge.Refused, s, check) >= whole {
			t.Fatalf("%v, %v", s, check)
		}
	})
}

func TestGate(t *testing.T) {
	trials := func(text string) []Trial { // two letters each: verifier, rubric; p passed, r refuted, - unchecked
		var all []Trial
		of := map[byte]Check{'p': Passed, 'r': Refuted, '-': Unchecked}
		for i := 0; i+1 < len(text); i += 3 {
			all = append(all, Trial{Check: of[text[i]], Label: of[text[i+1]]})
		}
		return all
	}
	half := turnmill.Ratio{Num: 1, Den: 2}
	for _, tt := range []struct {
		name            string
		domain          turnmill.Domain
		class           VerifierClass
		real            Check
		rollouts        string
		options         GateOptions
		want            GateReason
		agree, labelled int
	}{
		{"agrees", "swe", ClassControl, Passed, "pp rr pp", GateOptions{}, "", 3, 3},
		{"error in Search", "search", ClassError, Passed, "pp rr", GateOptions{}, GateErrorInSearch, 2, 2},
		{"control in Search", "search", ClassControl, Passed, "pp rr", GateOptions{}, "", 2, 2},
		{"long context in Search", "search", ClassLongContext, Passed, "pp", GateOptions{}, "", 1, 1},
		{"error elsewhere", "terminal", ClassError, Passed, "pp", GateOptions{}, "", 1, 1},
		{"refutes the real observation", "swe", ClassControl, Refuted, "pp rr", GateOptions{}, GateRefutesReal, 2, 2},
		{"no verdict on the real observation", "swe", ClassControl, Unchecked, "pp rr", GateOptions{}, GateNoVerdict, 2, 2},
		{"no verdict on a labelled rollout", "swe", ClassControl, Passed, "pp -r", GateOptions{}, GateNoVerdict, 1, 2},
		{"no verdict where there is no label", "swe", ClassControl, Passed, "pp --", GateOptions{}, "", 1, 1},
		{"no label", "swe", ClassControl, Passed, "p- r-", GateOptions{}, GateFewRollouts, 0, 0},
		{"too few", "swe", ClassControl, Passed, "pp rr", GateOptions{Rollouts: 3}, GateFewRollouts, 2, 2},
		{"one disagrees", "swe", ClassControl, Passed, "pp rr pr", GateOptions{}, GateDisagrees, 2, 3},
		{"half are enough", "swe", ClassControl, Passed, "pp pr", GateOptions{Agreement: half}, "", 1, 2},
		{"fewer than half", "swe", ClassControl, Passed, "pp pr rp", GateOptions{Agreement: half}, GateDisagrees, 1, 3},
		{"always passes", "swe", ClassControl, Passed, "pp pp", GateOptions{BothSides: true}, GateOneSided, 2, 2},
		{"both sides", "swe", ClassControl, Passed, "pp rr", GateOptions{BothSides: true}, "", 2, 2},
	} {
		got, agree, labelled := tt.options.Gate(tt.domain, tt.class, tt.real, trials(tt.rollouts))
		if got != tt.want || agree != tt.agree || labelled != tt.labelled {
			t.Errorf("%s: got %q %d/%d, want %q %d/%d", tt.name, got, agree, labelled, tt.want, tt.agree, tt.labelled)
		}
	}
}

func TestLabelOf(t *testing.T) {
	for _, tt := range []struct {
		state judge.State
		s     judge.Scores
		want  Check
	}{
		{judge.Valid, judge.Scores{4, 4, 4, 4, 4}, Passed},
		{judge.Valid, judge.Scores{5, 5, 4, 4, 1}, Refuted},
		{judge.Unparsable, judge.Scores{}, Unchecked},
	} {
		if got := LabelOf(tt.state, tt.s, four); got != tt.want {
			t.Errorf("%v %v: got %v, want %v", tt.state, tt.s, got, tt.want)
		}
	}
}

// TestRewardText: every reward survives its text, and nothing else is read.
func TestRewardText(t *testing.T) {
	for r := range Reward(251) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Reward
		if err := json.Unmarshal(data, &back); err != nil || back != r {
			t.Errorf("%s: %v, %v", data, back, err)
		}
	}
	for text, want := range map[Reward]string{0: "0", 250: "25", 241: "24.1", 5: "0.5"} {
		if text.String() != want {
			t.Errorf("%d is %s, want %s", int(text), text, want)
		}
	}
	for _, text := range []string{"24.10", "24.0", "-1", "1e1", "0.55", `"5"`, "null1", "99999999"} {
		var r Reward
		if err := r.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is read as %s", text, r)
		}
	}
}
