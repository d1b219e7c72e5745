package pipelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/reject"
)

// SFT makes a set of rejection-sampled answers: plan, partitions and merge are those of CPT, and so are resuming and the
// errors.
//
//	trajectories -> filters -> turns drawn -> queries -> answers -> choice -> train/, turns/, rejects/, queries/, replies/
func SFT(ctx context.Context, o Options) (*Manifest, error) {
	o.Pipeline = pipelineSFT
	return CPT(ctx, o)
}

// sampleErrors returns the problems of the settings that sft has, and of those that it has not.
func (o *Options) sampleErrors() error {
	errs := []error{o.SFT.config().validate()}
	if o.Objective != "world-model" {
		errs = append(errs, fmt.Errorf("--objective %s: sft trains the chosen answers; leave it out", o.Objective))
	}
	if o.Mask != "off" {
		errs = append(errs, fmt.Errorf("--mask %s: sft masks no answer that was chosen; leave it out, or --mask off", o.Mask))
	}
	if o.SFT.Pool == poolRL {
		errs = append(errs, o.promptErrors())
	} else if len(o.SFT.Rollouts) == 0 && o.SFT.RolloutModel == "" {
		errs = append(errs, errors.New("no answers: name files of recorded ones with --rollouts, or a model to ask with --rollout-model"))
	}
	if o.Ask.BatchRequests != "" && !o.SFT.asks() {
		errs = append(errs, errors.New("--batch-requests: requests name a model; add --rollout-model, --judge-model or both"))
	}
	if (o.SFT.Verifiers != "" || o.SFT.MetaVerifiers) && o.streams() {
		errs = append(errs, errors.New("input -: what verifiers say is kept by partition, and standard input has none before it is read; name a file"))
	}
	if o.SFT.asks() && o.streams() {
		errs = append(errs, errors.New("input -: standard input has no second reading, and what is asked is read more than once; name a file"))
	}
	return errors.Join(errs...)
}

// reader returns what finds recorded answers, for one worker.
func (r *recorded) reader() answerSource { return byID{r.rollouts.Reader(), r.judgements.Reader()} }

// SFTSum is what a manifest says of an SFT set.
type SFTSum struct {
	*SFTCounts
	Unasked   int64              `json:"unasked"`        // recorded replies to what nobody asked
	Retention []reject.Retention `json:"retention"`      // Table 4 of the report
	Cost      map[string]string  `json:"cost,omitempty"` // of the used answers, by kind, where prices are given
	// VerifiersUnasked are those of --verifiers whose query nobody asked.
	VerifiersUnasked int64    `json:"verifiers_unasked,omitempty"`
	Answers          *Answers `json:"answers"`
}

// close fills what follows from the counts. It is nil where the run is none of sft.
func (s *SFTSum) close(p *Plan) {
	if s == nil {
		return
	}
	s.Answers, s.Retention, s.Cost = p.Answers, s.Queries.Retention(), p.Config.SFT.costs(s.Usage)
	if p.prompts() && s.Prompts == nil {
		s.Prompts = map[turnmill.Domain]*PromptCounts{} // none, and no other pool either
	}
	if v := p.Config.SFT.Verifiers; v != nil {
		s.VerifiersUnasked = int64(v.Queries)
		for _, d := range s.Verifiers {
			s.VerifiersUnasked -= d.Named
		}
		s.VerifiersUnasked = max(0, s.VerifiersUnasked) // two trajectories of one id have the same verifiers
	}
	rolled := map[string]bool{}
	for _, f := range p.Answers.Rollouts {
		s.Unasked += f.Replies
		rolled[f.SHA256] = true
	}
	for _, f := range p.Answers.Judgements {
		if !rolled[f.SHA256] { // a file of both is looked at for either
			s.Unasked += f.Replies
		}
	}
	s.Unasked = max(0, s.Unasked-(s.Replies.Found-s.Replies.Asked)) // two trajectories of one id find the same replies
}

// answerDifferences names files of answers that are not those of another plan.
func answerDifferences(kind string, old, now []AnswerFile) (out []string) {
	if len(old) != len(now) {
		return []string{fmt.Sprintf("--%s: was %d files, now %d", kind, len(old), len(now))}
	}
	for i := range old {
		if old[i] != now[i] {
			out = append(out, fmt.Sprintf("--%s: %s has changed, or is %s now", kind, old[i].Path, now[i].Path))
		}
	}
	return out
}
