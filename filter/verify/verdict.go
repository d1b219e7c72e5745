package verify

import "strconv"

// State is how a check ended. It stands in files.
type State string

// A prediction is right or wrong only by the first two.
const (
	Pass        State = "pass"
	Fail        State = "fail"
	Timeout     State = "timeout"            // the wall clock or the CPU limit ended the program
	Memory      State = "memory"             // the program asked for more than its limit
	OutputLimit State = "output_limit"       // it wrote more than its limit
	Crashed     State = "crashed"            // it ended otherwise than a verdict does
	Refused     State = "refused_no_sandbox" // programs are not run here; Detail says what to install
	BadVerifier State = "bad_verifier"       // the verifier cannot judge this query: its fault, not the prediction's
)

// States returns all of them, in the order of the constants.
func States() []State {
	return []State{Pass, Fail, Timeout, Memory, OutputLimit, Crashed, Refused, BadVerifier}
}

// Verdict is what a verifier says about one prediction.
type Verdict struct {
	State  State
	Detail string // why, in a line; names places and limits, and of a program's stderr the last line
}

// Decided tells a verdict on the prediction from a failure of its verifier.
func (v Verdict) Decided() bool { return v.State == Pass || v.State == Fail }

// equal makes a verdict of a comparison.
func equal(same bool, detail string) Verdict {
	if same {
		return Verdict{State: Pass}
	}
	return Verdict{Fail, detail}
}

// bad says that the verifier itself, or the reference that it goes by, is of no use.
func bad(detail string) Verdict { return Verdict{BadVerifier, detail} }

// quoted shortens what an error repeats of a definition.
func quoted(s string) string {
	if len(s) > 60 {
		s = s[:60] + "..."
	}
	return strconv.QuoteToASCII(s)
}
