package reject

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// Check is what a verifier says about one prediction.
type Check uint8

// The three answers. Unchecked is the zero value: no verifier, or one that came to no verdict.
const (
	Unchecked Check = iota
	Passed
	Refuted
)

// Rubric and rule are mixed 9:1. Report, section 3.4.1.
const (
	rubricWeight = 9
	ruleWeight   = 1
	weights      = rubricWeight + ruleWeight
	rulePass     = judge.Best * judge.NumDimensions // a pass is worth 25, a failure 0
)

// Reward is a reward in tenths, 0 to 250: exact, where the report's scale of 0 to 25 needs one decimal.
type Reward int

// Ratio returns the reward on the report's scale.
func (r Reward) Ratio() turnmill.Ratio { return turnmill.Ratio{Num: uint64(r), Den: weights} }

// String returns the reward on the report's scale, in decimals: 25, 24.7.
func (r Reward) String() string {
	if r%weights == 0 {
		return strconv.Itoa(int(r / weights))
	}
	return fmt.Sprintf("%d.%d", r/weights, r%weights)
}

// MarshalJSON writes the number that String returns.
func (r Reward) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Reward) UnmarshalJSON(text []byte) error {
	whole, tenth, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseUint(whole+(tenth + "0")[:1], 10, 16)
	if back := Reward(n); err == nil && back.String() == string(text) {
		*r = back
		return nil
	}
	return fmt.Errorf("reward %s: want a number in decimals with one place", text)
}

// RubricReward returns the reward of a rubric: the mean of five scores times five, which is their sum, 5 to 25;
// 0 when the judge failed. A dimension that Compat let go missing counts 0, so that a loss never raises a
// reward. Report, section 3.4.1.
func RubricReward(state judge.State, s judge.Scores) int {
	if state != judge.Valid {
		return 0
	}
	return s.Sum()
}

// HybridReward mixes the reward of a rubric with a verifier's 25 or 0, 9:1. Without a verdict of a verifier the
// rubric counts alone, at full weight: the report does not say, and the other reading would lower those rows
// by a tenth. Report, section 3.4.1.
func HybridReward(state judge.State, s judge.Scores, check Check) Reward {
	rubric := RubricReward(state, s)
	switch check {
	case Passed:
		return Reward(rubricWeight*rubric + ruleWeight*rulePass)
	case Refuted:
		return Reward(rubricWeight * rubric)
	}
	return Reward(weights * rubric)
}
