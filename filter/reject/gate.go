package reject

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
)

// VerifierClass says what a verifier probes, by the names that definitions of verifiers have. Report, appendix C.
type VerifierClass string

// The classes.
const (
	ClassControl     VerifierClass = "control"
	ClassError       VerifierClass = "error"
	ClassLongContext VerifierClass = "long_context"
)

// Trial is one prediction on which a verifier and a rubric were both heard.
type Trial struct {
	Check Check // of the verifier
	Label Check // of the rubric; see LabelOf
}

// LabelOf returns what a rubric says about a prediction: passed when the mean reaches a threshold, equality
// included; unchecked when the judgement is not valid, since then there is no label.
func LabelOf(state judge.State, s judge.Scores, threshold turnmill.Ratio) Check {
	switch {
	case state != judge.Valid:
		return Unchecked
	case Options{Threshold: threshold}.above(s):
		return Passed
	}
	return Refuted
}

// GateOptions are the settings of the gate.
type GateOptions struct {
	Agreement turnmill.Ratio // least share of labelled rollouts on which verifier and rubric agree; Den 0: all
	Rollouts  int            // least number of labelled rollouts; 0 means 1
	BothSides bool           // want a rollout that passes and one that is refuted: else a verifier may always say the same
}

// GateReason says why a verifier is not kept. It stands in files.
type GateReason string

// The reasons, in the order in which they are looked for; empty means that it is kept.
const (
	GateErrorInSearch GateReason = "error_in_search"       // a verifier of errors in Search, where nothing errs
	GateNoVerdict     GateReason = "no_verdict"            // it came to no verdict on the real observation or a labelled rollout
	GateRefutesReal   GateReason = "refutes_real"          // it refutes the real observation
	GateFewRollouts   GateReason = "few_rollouts"          // too few rollouts have a label
	GateOneSided      GateReason = "one_sided"             // every label is the same
	GateDisagrees     GateReason = "disagrees_with_rubric" // on more rollouts than allowed
)

// Gate decides whether a verifier is kept: it passes the real observation, as a rubric does, and agrees with the
// rubric's labels on rollouts. Rollouts without a label say nothing about it. real is the verifier's answer on
// the real observation. It returns the number of labelled rollouts and on how many of them both agree. Report,
// appendix C.
func (o GateOptions) Gate(domain turnmill.Domain, class VerifierClass, real Check, rollouts []Trial) (reason GateReason, agree, labelled int) {
	var sides [Refuted + 1]bool
	undecided := real == Unchecked
	for _, t := range rollouts {
		if t.Label == Unchecked {
			continue
		}
		labelled++
		sides[t.Label] = true
		if t.Check == t.Label {
			agree++
		}
		undecided = undecided || t.Check == Unchecked
	}
	return o.reason(domain, class, real, undecided, sides[Passed] && sides[Refuted], agree, labelled), agree, labelled
}

// reason returns the first reason that holds.
func (o GateOptions) reason(domain turnmill.Domain, class VerifierClass, real Check, undecided, both bool, agree, labelled int) GateReason {
	least := o.Agreement
	if least.Den == 0 {
		least = turnmill.Ratio{Num: 1, Den: 1}
	}
	switch {
	case class == ClassError && domain == turnmill.DomainSearch:
		return GateErrorInSearch
	case undecided:
		return GateNoVerdict
	case real == Refuted:
		return GateRefutesReal
	case labelled < max(o.Rollouts, 1):
		return GateFewRollouts
	case o.BothSides && !both:
		return GateOneSided
	case uint64(agree)*least.Den < uint64(labelled)*least.Num:
		return GateDisagrees
	}
	return ""
}
