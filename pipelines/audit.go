package pipelines

import (
	"cmp"
	"context"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// The pipelines. An audit is a run that keeps no rows:
//
//	cpt    trajectories -> filters -> mask -> rows -> train/, turns/, rejects/, commits/, manifest
//	audit  trajectories -> filters -> mask ---------> turns/, rejects/, commits/, manifest
//
// With a tokenizer an audit makes the rows of a cpt run with the same options, so that turns have their tokens
// and fall to windows as they would, and throws them away. Without one, no turn is too long and no row without
// loss; all else is the same.
const (
	pipelineCPT   = "cpt"
	pipelineAudit = "audit"
)

// Audit decides about every turn of the inputs and writes what it found, without rows: plan, partitions and
// merge are those of CPT, and so are resuming and the errors.
func Audit(ctx context.Context, o Options) (*Manifest, error) {
	o.Pipeline = pipelineAudit
	return CPT(ctx, o)
}

func (o *Options) pipeline() string { return cmp.Or(o.Pipeline, pipelineCPT) }

func (o *Options) audits() bool { return o.Pipeline == pipelineAudit }

// audits tells whether the run keeps no rows.
func (p *Plan) audits() bool { return p.Pipeline == pipelineAudit }

// beyond resolves the option of that name: an audit counts more than the mask needs, a run of cpt when it is asked to.
func (o *Options) beyond() string {
	switch {
	case o.Beyond == "on", o.Beyond == "auto" && o.audits():
		return "on"
	}
	return "off"
}

// beyond tells whether turns are measured against what stands before them.
func (p *Plan) beyond() bool { return p.Config.Beyond == "on" }

// tokens tells whether turns are encoded.
func (p *Plan) tokens() bool { return p.Tokenizer.SHA256 != "" }

// rowless gives what speaks of files of rows the one value that a run without them has.
func (c *Config) rowless(mode string) {
	d := DefaultOptions()
	c.Profile, c.ShardBytes, c.Validation, c.Shuffle, c.KeepThought = d.Profile, d.ShardBytes, d.Validation, d.Shuffle, d.KeepThought
	if mode == mask.ModeWeight.String() {
		c.Profile = "weighted"
	}
}

// rowBuilder takes a trajectory or a document to rows: a shard.Builder, or tokenless.
type rowBuilder interface {
	// Trajectory appends the rows of t to out. The result is valid until the next call.
	Trajectory(t *turnmill.Trajectory, targets []shard.Target, d shard.Drawer, out *shard.Rows) (shard.Result, error)
	Document(text string, out *shard.Rows) (shard.Result, error)
}

// tokenless says what becomes of turns where nothing is encoded. It makes no rows.
type tokenless struct {
	mode  mask.Mode
	turns []shard.TurnResult
}

// Trajectory gives every target that the mask takes out of the loss the status of context. A trajectory of
// which the filters left no turn has the reason that it has where rows are made.
func (b *tokenless) Trajectory(_ *turnmill.Trajectory, targets []shard.Target, _ shard.Drawer, _ *shard.Rows) (shard.Result, error) {
	b.turns = b.turns[:0]
	res := shard.Result{Reason: turnmill.ReasonNoLoss}
	for i := range targets {
		t := &targets[i]
		r := shard.TurnResult{Verdict: t.Verdict, Row: -1}
		drawn := b.mode != mask.ModeOff && len(t.Spans) == 0
		if r.Status == turnmill.StatusTarget && drawn && (!t.Kept || t.Keep.Num == 0) {
			r.Verdict = turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonMasked}
		}
		if r.Status != turnmill.StatusDropped {
			res.Reason = ""
		}
		b.turns = append(b.turns, r)
	}
	res.Turns = b.turns
	return res, nil
}

// Document gives a document one window.
func (b *tokenless) Document(string, *shard.Rows) (shard.Result, error) {
	b.turns = append(b.turns[:0], shard.TurnResult{Verdict: turnmill.Verdict{Status: turnmill.StatusTarget}, Row: -1})
	return shard.Result{Turns: b.turns}, nil
}

// decided tells whether a turn is one that the mask decided about: a target that was encoded, or one that would
// have been. It depends on the turn's row alone, so that check finds the same from the table.
func decided(row *stats.TurnRow, tokens bool) bool {
	reason := turnmill.Reason(row.Reason)
	switch {
	case row.Category == "":
		return false
	case tokens:
		return row.TargetTokens > 0 && reason != turnmill.ReasonTurnTooLong
	}
	return row.Status == turnmill.StatusTarget.String() || reason == turnmill.ReasonMasked
}
