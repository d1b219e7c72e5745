package judge

// Strategy says how the scores were found in an answer. The order is the one in which they are tried.
type Strategy uint8

// The strategies; each looks into the last tagged block where there is one, else into the whole answer.
const (
	Unfound       Strategy = iota
	Tagged                 // the last object with scores in the last final_evaluation block
	Fenced                 // the last fenced object with scores
	Balanced               // the last whole object with scores
	Backward               // the object that ends at the last brace, matched from behind
	Repaired               // one that is whole but for commas, quotes and bare keys
	ScoresOnly             // the scores alone, out of an object that is broken elsewhere
	numStrategies = int(ScoresOnly) + 1
)

var strategyNames = [numStrategies]string{"unfound", "tagged", "fenced", "balanced", "backward", "repaired", "scores_only"}

// String returns the strategy as it stands in files.
func (s Strategy) String() string { return strategyNames[s] }
