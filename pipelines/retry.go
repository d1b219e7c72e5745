package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Retry asks again what failed in a finished or stopped sft run, and makes the partitions anew that this concerns. Of the
// options it takes what Run takes, and the rates. The manifest is gone until all is done.
func Retry(ctx context.Context, o Options) (*Manifest, error) {
	p, planSum, unlock, err := openPlanned(&o, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch {
	case !p.samples():
		return nil, &UsageError{fmt.Errorf("%s: it is a run of %s, which has no queries", o.Output, p.Pipeline)}
	case p.Config.SFT.Ask == nil:
		return nil, &UsageError{fmt.Errorf("%s: its answers are recorded, so nothing can be asked again; give turnmill sft more of them with --rollouts and --judgements, and --restart", o.Output)}
	}
	s, err := p.setup(ctx, &o, planSum)
	if err != nil {
		return nil, err
	}
	defer s.answers.close()
	done := p.done(o.Output, planSum)
	todo := done.failed(p)
	if len(todo) > 0 && done.ordered != nil { // shuffled rows cannot be taken apart again
		done.ordered = nil
		todo = done.failed(p)
	}
	var window int64
	for _, i := range todo {
		need, err := s.unchanged(i)
		if err != nil {
			return nil, err
		}
		window = max(window, need)
	}
	if len(todo) == 0 {
		o.logger().Info("no query has failed")
		return finish(ctx, &o, p, planSum)
	}
	talk, err := newConversation(&o, s) // which may refuse, before anything is gone
	if err != nil {
		return nil, err
	}
	talk.close()
	names := []string{"manifest.json"} // first, so that no stop leaves a run that looks whole
	for _, i := range todo {
		names = append(names, commitPath(i))
	}
	for _, name := range names {
		if err := ignoreMissing(os.Remove(filepath.Join(o.Output, filepath.FromSlash(name)))); err != nil {
			return nil, err
		}
	}
	o.Ask.Retry = true
	if err := runSome(ctx, &o, s, window, todo); err != nil {
		return nil, err
	}
	return finish(ctx, &o, p, planSum)
}

// failed returns the partitions that have to be run, or in which a query has failed.
func (d *done) failed(p *Plan) (todo []int) {
	for i := range p.Partitions {
		if c := d.commit(i); c == nil || c.SFT.failed() {
			todo = append(todo, i)
		}
	}
	return todo
}

// failed tells whether a query has failed for want of an answer.
func (c *SFTCounts) failed() bool {
	for _, a := range c.Queries {
		for reason := range a.Failed {
			if failure(reason) {
				return true
			}
		}
	}
	return false
}

// setup loads what a plan names, from where the options or local.json say that it is.
func (p *Plan) setup(ctx context.Context, o *Options, planSum string) (*setup, error) {
	t, err := tokenizerOf(ctx, o.Output, o.Tokenizer, p, o.Hub)
	if err != nil {
		return nil, err
	}
	s, err := load(p, t)
	if err != nil {
		return nil, err
	}
	s.planSum, s.stored, s.root = planSum, o.stored, o.Output
	if p.tokens() && s.chat.SHA256() != p.Chat.SHA256 {
		return nil, &UsageError{fmt.Errorf("%s: chat format %s is not what it was when this was planned; plan anew with --restart", o.Output, p.Chat.Name)}
	}
	if err := p.sameTemplate(); err != nil {
		return nil, &UsageError{fmt.Errorf("%s: %w; plan anew with --restart", o.Output, err)}
	}
	if s.paths, err = inputsOf(o, p); err != nil {
		return nil, err
	}
	if p.samples() {
		if s.answers, err = answersAt(ctx, o, p); err != nil {
			return nil, err
		}
		if s.verifiers, err = verifiersAt(o, p); err != nil {
			return nil, errors.Join(err, s.answers.close())
		}
	}
	return s, nil
}
