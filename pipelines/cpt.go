package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// CPT prepares a corpus, or audits it where the options say so: plan, then every partition that has no
// valid commit, then merge. It returns the manifest of what was done, with a *ThresholdError when a rate was
// passed; with any other error it returns none, and the same call goes on where it stopped.
//
// A dry run reads and decides as any run does and writes nothing: its manifest names no files.
func CPT(ctx context.Context, o Options) (*Manifest, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, window, err := plan(ctx, &o)
	if err != nil {
		return nil, err
	}
	if s.stream != nil {
		defer s.stream.close()
	}
	defer s.answers.close()
	defer s.decided.close()
	if o.Ask.BatchRequests != "" {
		if err := writeRequests(ctx, &o, s); err != nil || o.Output == "" {
			return nil, err
		}
		s.batch = true
	}
	if o.DryRun {
		return dryRun(ctx, &o, s, window)
	}
	if err := enoughMemory(&o, s, window); err != nil { // before OUT holds a plan
		return nil, err
	}
	unlock, err := openOutput(&o, s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := runAll(ctx, &o, s, window); err != nil {
		return nil, err
	}
	return finish(ctx, &o, s.plan, s.planSum)
}

// finish merges, and returns the manifest with what of the thresholds was passed.
func finish(ctx context.Context, o *Options, p *Plan, planSum string) (*Manifest, error) {
	m, err := merge(ctx, o, p, planSum)
	if err != nil {
		return nil, err
	}
	o.logger().Info("done", "records", m.Counts.Ledger.Total.Records.In, "rows", m.Counts.Tokens.Rows, "trained_tokens", m.Counts.Tokens.Trained)
	return m, o.thresholds(m, filepath.Join(o.Output, "rejects")+" (zstdcat)")
}

// thresholds returns what of the rates was passed, with where the lost records are named.
func (o *Options) thresholds(m *Manifest, see string) error {
	err := Thresholds(m.Counts, o.MaxRejectRate, o.MaxDropRate)
	seeing(err, see)
	return err
}

// seeing tells every threshold that was passed where the lost records are named.
func seeing(err error, see string) {
	switch e := err.(type) {
	case *ThresholdError:
		e.See = see
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			seeing(one, see)
		}
	}
}

// dryRun runs every partition, and keeps nothing but the counts.
func dryRun(ctx context.Context, o *Options, s *setup, window int64) (*Manifest, error) {
	active, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return nil, err
	}
	all := everyPartition(s)
	s.bySource = true
	if s.verifiers != nil {
		s.verifiers.running = ctx
	}
	pool := newPool(s, budget, o.workers(), newProgress(o, s, all))
	defer pool.close()
	m := manifestOf(s.plan, s.planSum)
	count := func(c *Commit) error {
		m.Counts.Add(c.Counts)
		if err := m.addMix(c); err != nil {
			return err
		}
		if c.SFT != nil {
			m.SFT.Add(c.SFT)
		}
		return nil
	}
	if err := pool.partitions(ctx, all, active, nullSink{}, count); err != nil {
		return nil, err
	}
	for i := 0; s.stream != nil && !s.stream.ended; i++ {
		if err := pool.partitions(ctx, []int{i}, 1, nullSink{}, count); err != nil {
			return nil, err
		}
	}
	m.SFT.close(s.plan)
	return m, o.thresholds(m, "what turnmill ingest says of the same inputs")
}

// plan makes the whole plan.
func plan(ctx context.Context, o *Options) (*setup, int64, error) {
	s, err := resolve(ctx, o)
	if err != nil {
		return nil, 0, err
	}
	s.stored = o.stored
	p := s.plan
	var window int64
	if o.samples() {
		if s.answers, err = openAnswers(ctx, o); err != nil {
			return nil, 0, err
		}
		p.Answers = s.answers.plan()
	}
	if o.streams() {
		return planStream(ctx, o, s)
	}
	if p.Inputs, s.paths, window, err = inventory(ctx, o); err != nil {
		return nil, 0, err
	}
	if p.Partitions, err = deal(ctx, o, p.Inputs, s.paths); err != nil {
		return nil, 0, err
	}
	p.Config.Partitions = len(p.Partitions)
	if s.benchmark, p.Benchmarks, s.benchmarkPlaces, err = openBenchmarks(ctx, o.Decontaminate, o.MaxWindow); err != nil {
		return nil, 0, err
	}
	if err := s.scan(ctx, o, window); err != nil {
		return nil, 0, err
	}
	s.sign()
	return s, window, nil
}

// planStream makes the plan of standard input, whose partitions come to light while it is read.
func planStream(ctx context.Context, o *Options, s *setup) (*setup, int64, error) {
	var err error
	if s.stream, err = openStream(ctx, o); err != nil {
		return nil, 0, err
	}
	p := s.plan
	p.Inputs, p.Partitions, p.Config.PartitionBytes, s.paths = []PlanInput{s.stream.input}, [][]Range{}, o.PartitionBytes, []string{"-"}
	s.sign()
	return s, s.stream.window, nil
}

// sign completes a plan with its sums.
func (s *setup) sign() {
	s.plan.ConfigSHA256 = hexSum(encodeJSON(s.plan.Config))
	_, s.planSum = s.plan.Encode()
}

// runAll runs what has no valid commit.
func runAll(ctx context.Context, o *Options, s *setup, window int64) error {
	if s.stream != nil {
		return runStream(ctx, o, s, window)
	}
	var todo []int
	done := s.plan.done(o.Output, s.planSum)
	for i := range s.plan.Partitions {
		if done.commit(i) == nil {
			todo = append(todo, i)
		}
	}
	if err := enoughRoom(ctx, o, s, todo); err != nil {
		return err
	}
	return runSome(ctx, o, s, window, todo)
}

// runSome runs the given partitions and commits each.
func runSome(ctx context.Context, o *Options, s *setup, window int64, todo []int) error {
	if len(todo) == 0 {
		return nil
	}
	active, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return err
	}
	run, err := startRun(o, s, budget, todo)
	if err != nil {
		return err
	}
	defer run.close()
	if s.asks() {
		return run.asking(ctx, o, todo)
	}
	if s.verifiers != nil {
		for _, i := range todo {
			if err := run.verified(ctx, o, i); err != nil {
				return err
			}
		}
		return nil
	}
	return run.partitions(ctx, todo, active)
}

// asking asks what the choice of each partition needs, and then runs it: one after the other, so that budgets and what
// is in flight are those of the run.
func (r *running) asking(ctx context.Context, o *Options, todo []int) error {
	s := r.pool.setup
	talk, err := newConversation(o, s)
	if err != nil {
		return err
	}
	defer talk.close()
	for _, i := range todo {
		if err := r.asked(ctx, o, talk, i); err != nil {
			return err
		}
	}
	return nil
}

func (r *running) asked(ctx context.Context, o *Options, talk *conversation, i int) error {
	s := r.pool.setup
	err := talk.partition(ctx, i)
	defer func() { s.journals.close(); s.journals = nil }()
	r.log.asked(i, &talk.spent)
	if err != nil {
		return fmt.Errorf("partition %d: %w", i, err)
	}
	return r.verified(ctx, o, i)
}

// verified runs one partition with the journal of its verdicts open, where there are verifiers.
func (r *running) verified(ctx context.Context, o *Options, i int) error {
	v := r.pool.setup.verifiers
	if err := v.begin(ctx, o.Output, i, true); err != nil {
		return err
	}
	return errors.Join(r.partitions(ctx, []int{i}, 1), v.end())
}

// running is a pool that commits what it has done.
type running struct {
	pool  *pool
	log   *runLog
	to    sink
	began time.Time
}

// startRun opens the log of a run and starts its workers.
func startRun(o *Options, s *setup, budget int64, todo []int) (*running, error) {
	log, err := openRunLog(o)
	if err != nil {
		return nil, err
	}
	o.logger().Info("start", "pipeline", s.plan.Pipeline, "tokenizer", s.plan.Tokenizer.Name, "engine", s.plan.Tokenizer.Engine, "chat", s.plan.Chat.Name, "inputs", len(s.plan.Inputs), "workers", o.workers())
	return &running{newPool(s, budget, o.workers(), newProgress(o, s, todo)), log, o.sink(), time.Now()}, nil
}

func (r *running) close() {
	r.pool.close()
	r.log.Close()
}

// partitions runs partitions, active of them at a time, and commits each.
func (r *running) partitions(ctx context.Context, which []int, active int) error {
	return r.pool.partitions(ctx, which, active, r.to, func(c *Commit) error {
		if _, err := writeFile(r.to, commitPath(c.Partition), encodeJSON(c)); err != nil {
			return err
		}
		r.log.partition(c, time.Since(r.began))
		return nil
	})
}

// localOf is what of a run belongs to this machine.
func localOf(o *Options, s *setup) *local {
	l := &local{Tokenizer: s.tokenizer.place, MaskTable: o.MaskTablePath, Inputs: s.paths}
	if s.answers != nil {
		l.Answers = &s.answers.places
	}
	if s.verifiers != nil && o.SFT.Verifiers != "" {
		l.Verifiers = absolute(o.SFT.Verifiers)
	}
	for _, path := range s.benchmarkPlaces {
		l.Decontaminate = append(l.Decontaminate, absolute(path))
	}
	if o.MaskTablePath != "" {
		l.MaskTable = absolute(o.MaskTablePath)
	}
	return l
}

// local is local.json: real paths, which commands that come later start from.
type local struct {
	Inputs        []string      `json:"inputs"` // where each input of the plan was
	Tokenizer     string        `json:"tokenizer"`
	MaskTable     string        `json:"mask_table,omitempty"`
	Decontaminate []string      `json:"decontaminate,omitempty"`
	Answers       *answerPlaces `json:"answers,omitempty"`   // of sft
	Verifiers     string        `json:"verifiers,omitempty"` // of sft
}

func absolute(path string) string {
	if path == "demo" {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// readPlan reads OUT/plan.json.
func readPlan(root string) (*Plan, error) {
	data, err := os.ReadFile(filepath.Join(root, "plan.json"))
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, &UsageError{fmt.Errorf("%s: it is a file; name the directory of a run", root)}
	}
	if err != nil {
		return nil, err
	}
	return decodePlan(data)
}
