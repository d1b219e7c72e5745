package pipelines

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// afterFilters are the reasons for which a turn is dropped that the filters left: it was measured.
var afterFilters = []turnmill.Reason{turnmill.ReasonTurnTooLong, turnmill.ReasonSystemTooLong, turnmill.ReasonNoLoss, turnmill.ReasonUnencodable}

// unitBeyond is what the turns of a trajectory have to agree about.
type unitBeyond struct {
	measured bool // one of them was
	judged   bool // by a reference answer: all are, or none
	ended    bool // one was not counted, so that none after it is
}

// beyondOf proves what can be proven of the columns that the mask does not look at, without the texts: that they are
// null where nothing is counted, and that the counts go together. The inputs prove the counts themselves.
func (p *partitionCheck) beyondOf(t *stats.TurnRow, at func(string, ...any)) {
	u := &p.unit
	if t.Instructed == nil || t.Perturbed == nil || !sameTruth(t.Instructed, u.first.Instructed) || !sameTruth(t.Perturbed, u.first.Perturbed) || !sameTruth(t.Observed, u.first.Observed) {
		at("observed, instructed or perturbed is missing, or differs from the turn before, of the same trajectory")
	}
	counted, state := t.UnseenWords != stats.NotCounted, t.StateWords != stats.NotCounted
	filtered := t.Status == turnmill.StatusDropped.String() && !slices.Contains(afterFilters, turnmill.Reason(t.Reason))
	if !p.plan.beyond() || filtered {
		if !unmeasured(t) {
			at("it is measured against what stands before it, and nothing is with --beyond %s, or of a turn that a filter drops", p.plan.Config.Beyond)
		}
		return
	}
	b := &u.beyond
	if b.measured && b.judged != (t.AnswerLeaked != nil) || b.ended && counted {
		at("answer_leaked or unseen_words is there, or null, against the turns before it, of the same trajectory")
	}
	b.measured, b.judged, b.ended = true, t.AnswerLeaked != nil, b.ended || !counted
	if t.AnswerLeaked != nil && *t.AnswerLeaked && t.ObservationWords == 0 {
		at("an observation without words has no answer")
	}
	c := mask.Beyond{Counted: counted, HasState: state, StateWords: int(t.StateWords), StateShared: int(t.StateSharedWords), Unseen: int(t.UnseenWords)}
	known := t.SharedWords
	if state {
		known = t.StateSharedWords
	}
	novelty, defined := c.StateNovelty(int(t.ObservationWords))
	switch {
	case state != (t.StateSharedWords != stats.NotCounted) || state && !counted || defined != (t.StateNovelty == t.StateNovelty):
		at("some of state_words, state_shared_words, state_novelty and unseen_words are null, and others are not")
	case state && (t.StateWords < 0 || known < t.SharedWords || known > min(t.ObservationWords, t.SharedWords+t.StateWords)),
		counted && (t.UnseenWords < 0 || t.UnseenWords > t.ObservationWords-known):
		at("state words %d, shared %d, unseen %d cannot be, with %d words of which the action has %d", t.StateWords, t.StateSharedWords, t.UnseenWords, t.ObservationWords, t.SharedWords)
	case defined && t.StateNovelty != novelty:
		at("state_novelty does not follow from the integers")
	}
}

// unmeasured tells whether the columns of what the mask does not look at are null.
func unmeasured(t *stats.TurnRow) bool {
	return t.UnseenWords == stats.NotCounted && t.StateWords == stats.NotCounted && t.StateSharedWords == stats.NotCounted &&
		t.StateNovelty != t.StateNovelty && t.AnswerLeaked == nil
}

func sameTruth(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }
