package pipelines

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/filter/verify"
)

// VerdictLine is what a verifier says about one prediction, or why it says nothing.
type VerdictLine struct {
	State  verify.State `json:"state"`
	Detail string       `json:"detail,omitempty"`
}

// check is its worth for rewards.
func (v *VerdictLine) check() reject.Check {
	switch {
	case v == nil:
		return reject.Unchecked
	case v.State == verify.Pass:
		return reject.Passed
	case v.State == verify.Fail:
		return reject.Refuted
	}
	return reject.Unchecked
}

// VerifierLine is the verifier of a query, and whether it is kept.
type VerifierLine struct {
	Kind     verify.Kind       `json:"kind,omitempty"` // "" where it cannot be read; Recorded says why
	Class    verify.Class      `json:"class,omitempty"`
	SHA256   string            `json:"sha256,omitempty"`
	Own      bool              `json:"own"`            // it comes with the trajectory, and not from --verifiers
	Recorded VerdictLine       `json:"recorded"`       // about the observation that was recorded
	Gate     reject.GateReason `json:"gate,omitempty"` // why it is not kept; "": it is, and counts in rewards
	Agree    int               `json:"agree"`          // rollouts on which it and the rubric agree,
	Labelled int               `json:"labelled"`       // of those on which the rubric has said something
}

// verify asks the verifier of a query about every complete rollout and about what was recorded.
func (m *sampleMaker) verify(asked *question, h *hearing, q *QueryLine) error {
	v := m.verifiers
	if v == nil {
		return nil
	}
	by, err := v.of(asked)
	switch {
	case err != nil:
		q.Verifier = &VerifierLine{Own: true, Recorded: VerdictLine{verify.BadVerifier, err.Error()}}
		return nil
	case by == nil:
		return nil
	}
	line := &VerifierLine{Kind: by.Kind, Class: by.Class, SHA256: by.SHA256, Own: v.set.Get(asked.id) == nil}
	q.Verifier = line
	if !by.Admits(h.Domain) { // the gate refuses it unheard
		line.Recorded = VerdictLine{verify.BadVerifier, "a verifier of class error stands with a search"}
		return nil
	}
	said, err := v.check(by, asked, -1, judge.StripMarker(asked.trajectory.Turns[asked.at].Observation))
	if err != nil {
		return err
	}
	line.Recorded = VerdictLine(said)
	for i := range h.rollouts {
		r := &h.rollouts[i]
		if r.State != turnmill.ReplyComplete {
			continue
		}
		if said, err = v.check(by, asked, r.Sample, judge.Extract(r.Text).Text); err != nil {
			return err
		}
		at := VerdictLine(said)
		q.Rollouts[r.Sample].Verdict = &at
	}
	return nil
}

// reward decides about the verifier of a query and gives every complete rollout that a judge was heard about its reward:
// rubric and verdict 9:1 where the verifier is kept, else the rubric alone. It follows from the verdicts that the line
// has. threshold is the mean from which a rubric's label is passed.
func (q *QueryLine) reward(h *hearing, threshold turnmill.Ratio) {
	if v := q.Verifier; v != nil {
		var trials []reject.Trial
		for i := range h.Rollouts {
			if i < len(q.Rollouts) {
				r := &h.Rollouts[i]
				trials = append(trials, reject.Trial{Check: q.Rollouts[i].Verdict.check(), Label: reject.LabelOf(r.Judgement, r.Scores, threshold)})
			}
		}
		v.Gate, v.Agree, v.Labelled = reject.GateOptions{}.Gate(q.Domain, reject.VerifierClass(v.Class), v.Recorded.check(), trials)
	}
	for i := range h.Rollouts {
		r := &h.Rollouts[i]
		if i >= len(q.Rollouts) || !r.Answered || r.State != turnmill.ReplyComplete || r.Judgement.Transient() {
			continue
		}
		verdict := reject.Unchecked
		if q.Verifier != nil && q.Verifier.Gate == "" {
			verdict = q.Rollouts[i].Verdict.check()
		}
		worth := reject.HybridReward(r.Judgement, r.Scores, verdict)
		q.Rollouts[i].Reward = &worth
	}
	if q.Winner != nil {
		q.Reward = *q.Rollouts[*q.Winner].Reward
	}
}

// heard takes over what a verifier has said to another line of the same query, of rollouts that it can be asked about.
func (q *QueryLine) heard(from *QueryLine) {
	if from.Verifier == nil {
		return
	}
	v := *from.Verifier
	q.Verifier = &v
	for i := range q.Rollouts {
		if i < len(from.Rollouts) && q.Rollouts[i].State == turnmill.ReplyComplete.String() {
			q.Rollouts[i].Verdict = from.Rollouts[i].Verdict
		}
	}
}

// VerifierCounts counts the verifiers of a domain's queries. It merges.
type VerifierCounts struct {
	Queries  int64                       `json:"queries"` // with a verifier
	Named    int64                       `json:"named"`   // of those: by --verifiers
	Kept     int64                       `json:"kept"`
	Gated    map[reject.GateReason]int64 `json:"gated,omitempty"`    // not kept, by reason
	Recorded map[verify.State]int64      `json:"recorded"`           // verdicts on what was recorded
	Rollouts map[verify.State]int64      `json:"rollouts,omitempty"` // verdicts on rollouts
}

// verifiersOf counts the verifier of a query.
func (c *SFTCounts) verifiersOf(q *QueryLine) {
	v := q.Verifier
	if v == nil {
		return
	}
	one := &VerifierCounts{Queries: 1, Gated: map[reject.GateReason]int64{}, Recorded: map[verify.State]int64{v.Recorded.State: 1}, Rollouts: map[verify.State]int64{}}
	if !v.Own {
		one.Named = 1
	}
	if v.Gate == "" {
		one.Kept = 1
	} else {
		one.Gated[v.Gate] = 1
	}
	for _, r := range q.Rollouts {
		if r.Verdict != nil {
			one.Rollouts[r.Verdict.State]++
		}
	}
	c.addVerifiers(q.Domain, one)
}

func (c *SFTCounts) addVerifiers(domain turnmill.Domain, from *VerifierCounts) {
	if c.Verifiers == nil {
		c.Verifiers = map[turnmill.Domain]*VerifierCounts{}
	}
	to := c.Verifiers[domain]
	if to == nil {
		to = &VerifierCounts{Gated: map[reject.GateReason]int64{}, Recorded: map[verify.State]int64{}, Rollouts: map[verify.State]int64{}}
		c.Verifiers[domain] = to
	}
	to.Queries, to.Named, to.Kept = to.Queries+from.Queries, to.Named+from.Named, to.Kept+from.Kept
	addAll(&to.Gated, from.Gated)
	addAll(&to.Recorded, from.Recorded)
	addAll(&to.Rollouts, from.Rollouts)
}

func addAll[K comparable](to *map[K]int64, from map[K]int64) {
	if *to == nil {
		*to = map[K]int64{}
	}
	for k, n := range from {
		(*to)[k] += n
	}
}
