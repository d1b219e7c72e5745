package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/turnmill/turnmill"
)

// inputs plans and runs everything again, in memory, against what lies on disk.
func (c *checker) inputs(ctx context.Context, o *CheckOptions) error {
	model, err := tokenizerOf(ctx, c.root, o.Tokenizer, c.plan, o.Hub)
	if err != nil {
		return err
	}
	again := *c.plan
	config := &again.Config
	opts := Options{Inputs: o.Inputs, Format: config.Format, MaxWindow: config.MaxWindow, MaxRecord: config.MaxRecord,
		Partitions: config.Partitions, PartitionBytes: config.PartitionBytes, Limit: config.Limit,
		Workers: o.Workers, Memory: o.Memory, Stdin: o.Stdin}
	s := &setup{plan: &again}
	window, err := c.planAgain(ctx, &opts, s)
	if s.stream != nil {
		defer s.stream.close()
	}
	if err != nil {
		return err
	}
	if changes := differences(c.plan, &again); len(changes) > 0 {
		for _, d := range changes {
			c.faults = append(c.faults, otherInputs(d))
		}
		return nil // what is read is not what was read
	}
	whole, err := load(&again, model)
	if err != nil {
		return err
	}
	whole.paths, whole.stream = s.paths, s.stream
	if again.samples() {
		at := Options{Output: c.root, MaxRecord: config.MaxRecord, MaxWindow: config.MaxWindow, SFT: SFTOptions{Rollouts: o.Rollouts, Judgements: o.Judgements, Verifiers: o.Verifiers}}
		if whole.answers, err = answersAt(ctx, &at, &again); err != nil {
			return err
		}
		defer whole.answers.close()
		if whole.verifiers, err = verifiersAt(&at, &again); err != nil {
			return err
		}
	}
	if t := &again.Tokenizer; again.tokens() && (t.Vocabulary != model.Size() || t.Engine != model.engine || again.Chat.SHA256 != whole.chat.SHA256()) {
		c.fault("plan.json", "engine %s, a vocabulary of %d and chat %s are not those of the tokenizer that it names", t.Engine, t.Vocabulary, again.Chat.Name)
		return nil
	}
	if again.scans() {
		if err := c.benchmarksAgain(ctx, whole); err != nil {
			return err
		}
		again.Scan, whole.root = nil, ""
		if err := whole.scan(ctx, &opts, window); err != nil {
			return err
		}
		defer whole.decided.close()
	}
	var data []byte
	if data, whole.planSum = again.Encode(); !c.same("plan.json", data) {
		c.fault("plan.json", "not what the inputs give")
		return nil
	}
	return c.rerun(ctx, &opts, whole, window)
}

// otherInputs is a difference between the plan and the inputs that were named. It may be the plan that was
// changed, so it is ErrCorrupt; more likely it is the inputs, so it does not say so.
type otherInputs string

func (d otherInputs) Error() string {
	return "plan.json: " + string(d) + "; name the inputs of the plan, in its order, or they are no longer what was read"
}

// Is makes it ErrCorrupt.
func (d otherInputs) Is(target error) bool { return target == turnmill.ErrCorrupt }

// planAgain makes inputs and partitions of a plan again. What was standard input is a file now, or standard
// input once more.
func (c *checker) planAgain(ctx context.Context, o *Options, s *setup) (window int64, err error) {
	p := s.plan
	if !p.streams() {
		if p.Inputs, s.paths, window, err = inventory(ctx, o); err != nil {
			return 0, err
		}
		p.Partitions, err = deal(ctx, o, p.Inputs, s.paths)
		return window, err
	}
	if len(o.Inputs) != 1 {
		return 0, &UsageError{errors.New("--inputs: the run has read standard input; name one file that holds it, or -")}
	}
	if o.Inputs[0] != "-" {
		info, err := os.Stat(o.Inputs[0])
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", o.Inputs[0])
		}
		if err != nil {
			return 0, &UsageError{fmt.Errorf("--inputs: %w; name the file that holds what standard input gave, or -", err)}
		}
		file, err := os.Open(o.Inputs[0])
		if err != nil {
			return 0, &UsageError{fmt.Errorf("--inputs: %w", err)}
		}
		defer func() {
			if s.stream != nil {
				s.stream.file = file
			} else {
				file.Close()
			}
		}()
		o.Stdin = file
	}
	if s.stream, err = openStream(ctx, o); err != nil {
		return 0, err
	}
	p.Inputs = []PlanInput{s.stream.input}
	return s.stream.window, nil
}

// rerun runs every partition again, in memory, and compares what it would write.
func (c *checker) rerun(ctx context.Context, o *Options, s *setup, window int64) error {
	_, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return err
	}
	pool := newPool(s, budget, o.workers(), reporter{})
	defer pool.close()
	to := compareSink{c.root, &c.faults}
	compare := func(got *Commit) error {
		if !c.same(commitPath(got.Partition), encodeJSON(got)) {
			c.fault(commitPath(got.Partition), "not what the inputs give")
		}
		return nil
	}
	c.report.Inputs = "; the same bytes from the inputs"
	if s.asks() || s.verifiers != nil {
		return c.rerunAsked(ctx, pool, to, compare)
	}
	if s.stream == nil {
		return pool.partitions(ctx, everyPartition(s), 1, to, compare)
	}
	for i := 0; !s.stream.ended && !c.full(); i++ {
		if err := pool.partitions(ctx, []int{i}, 1, to, compare); err != nil {
			return err
		}
	}
	return nil
}

// rerunAsked runs partitions again whose answers lie in journals.
func (c *checker) rerunAsked(ctx context.Context, p *pool, to sink, compare func(*Commit) error) error {
	for _, i := range everyPartition(p.setup) {
		var j *journals
		err := p.setup.verifiers.begin(ctx, c.root, i, false)
		if err == nil && p.setup.asks() {
			j, err = openJournals(c.root, i, false)
		}
		if err != nil {
			return err
		}
		p.setup.journals = j
		p.setup.stopped = false
		if commit := c.commits[i]; commit != nil && commit.SFT != nil {
			for _, a := range commit.SFT.Queries {
				p.setup.stopped = p.setup.stopped || a.Failed[turnmill.ReasonBudget] > 0
			}
		}
		err = p.partitions(ctx, []int{i}, 1, to, compare)
		if err = errors.Join(err, j.close(), p.setup.verifiers.end()); err != nil {
			return err
		}
	}
	return nil
}

// everyPartition returns the numbers of all partitions.
func everyPartition(s *setup) []int {
	all := make([]int, len(s.plan.Partitions))
	for i := range all {
		all[i] = i
	}
	return all
}
