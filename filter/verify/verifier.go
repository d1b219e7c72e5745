package verify

import (
	"context"
	"errors"

	"github.com/turnmill/turnmill"
)

// Kind is a way to verify.
type Kind string

// The kinds. All but the last are pure functions of prediction and reference.
const (
	Exact    Kind = "exact"
	JSON     Kind = "json"
	ExitCode Kind = "exit_code"
	Regex    Kind = "regex"
	Tree     Kind = "tree"
	Program  Kind = "program"
)

// Class says what a verifier probes. Report, appendix C.
type Class string

// The classes: does the action do what it should, does a wrong one fail as it should, is what came long
// before still known.
const (
	Control     Class = "control"
	Error       Class = "error"
	LongContext Class = "long_context"
)

// Case is one prediction, and what it is held against.
type Case struct {
	Query      string // id
	Prediction string // the predicted observation alone, no thinking and no tags
	Reference  string // the observation that was recorded
	Messages   []turnmill.Message
}

// Verifier judges predictions. It is made by Parse and never changes.
type Verifier struct {
	Kind   Kind
	Class  Class
	SHA256 string // of the definition and the source of its program
	// Definition is the JSON that it was read from. A program that it names by file is not in it.
	Definition string

	expected *string // replaces the reference
	rule     rule    // of every kind but Program
	program  *program
}

// rule compares a prediction with what is expected.
type rule interface {
	check(prediction, expected string) Verdict
}

// Admits tells whether a verifier may stand with queries of a domain: searches have no class error, since
// what a search engine finds is no error of the action. Report, appendix C.
func (v *Verifier) Admits(d turnmill.Domain) bool {
	return v.Class != Error || d != turnmill.DomainSearch
}

// Check judges one case. The error is that of a context that was cancelled, a context without deadline for a
// program, or a machine out of files; all that verifier or program do wrong is a Verdict. box may be nil: then
// programs are refused.
func (v *Verifier) Check(ctx context.Context, box *Sandbox, c Case) (Verdict, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return Verdict{}, context.Cause(ctx)
	}
	if v.program != nil {
		return v.program.check(ctx, box, c)
	}
	expected := c.Reference
	if v.expected != nil {
		expected = *v.expected
	}
	return v.rule.check(c.Prediction, expected), nil
}
