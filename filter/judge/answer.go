package judge

import "github.com/turnmill/turnmill"

// Judgement is what an answer to Asker.Scores says.
type Judgement struct {
	State    State
	Scores   Scores        // all zero unless State is Valid
	Strategy Strategy      // how the object with the scores was found; 0 when none was
	Object   turnmill.Span // bytes of the reply's text that hold it, strengths and weaknesses included where it has them
	Detail   string        // for people: what is wrong, such as "factuality is 6, which is not on the scale"

	Clamped, Rounded, Missing int // Compat alone: dimensions that were changed or left out
}

// Preference is what an answer to Asker.Pair says.
type Preference struct {
	State  State
	Second bool // the rollout shown second, B, is the better one; means nothing unless State is Valid
}

// Verdict is what an answer to Asker.Verdict says.
type Verdict struct {
	State State
	Pass  bool // means nothing unless State is Valid
}
