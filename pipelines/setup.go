package pipelines

import (
	"context"
	"fmt"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/stats"
)

// setup is what every worker of a run shares, all of it read-only: the plan, and what the plan names,
// loaded.
type setup struct {
	plan    *Plan
	planSum string
	paths   []string                  // where each input of the plan is now
	stream  *stream                   // standard input, else nil
	stored  func(io.Reader) io.Reader // as in Options
	decided *found                    // what a scan found just now, else nil
	// benchmark holds the tasks of --decontaminate while the plan is made, and places where they lie; else nil.
	benchmark       *dedup.Benchmark
	benchmarkPlaces []string
	root            string // of the run whose plan/ holds it, where that is so

	tokenizer *tokenizer
	encoder   func() turnmill.Encoder // a new one for each goroutine
	chat      *chat.Format
	table     mask.Table
	mode      mask.Mode
	copied    turnmill.Ratio // of lines, in mode changed
	filters   *filter.Chain
	bySource  bool       // count what is lost by source too
	answers   *recorded  // of sft, else nil
	verifiers *verifiers // of sft, where there are some
	journals  *journals  // of the partition at hand, where sft asks
	stopped   bool       // asking has ended early: the budget is spent
	batch     bool       // a batch API has answered: nobody is asked
	profile   arrow.Profile
	share     share // of validation
	secrets   secrets.Mode
}

// asks tells whether endpoints are asked.
func (s *setup) asks() bool { return s.plan.samples() && s.plan.Config.SFT.Ask != nil && !s.batch }

// resolve loads what the options name and returns the setup with a plan that lacks its inputs.
func resolve(ctx context.Context, o *Options) (*setup, error) {
	t, info, written, err := o.tokenizer(ctx)
	if err != nil {
		return nil, err
	}
	filters, err := filter.New(o.Filters, filter.Options{MinTurns: o.MinTurns, TrainDialogue: o.TrainDialogue, Patterns: o.Patterns})
	if err != nil {
		return nil, &UsageError{err}
	}
	share, err := parseShare(o.Validation)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--validation %q: %w", o.Validation, err)}
	}
	near, err := o.nearThreshold()
	if err != nil {
		return nil, &UsageError{err}
	}
	mode := o.Mask
	if o.Objective == "policy" {
		mode = "off" // the mask is of observations
	}
	if o.samples() && o.SFT.Pool == poolRL {
		o.Template = rlTemplate
	}
	p := &Plan{
		FormatVersion: FormatVersion, Turnmill: Version, Pipeline: o.pipeline(),
		Config: Config{
			Format: o.Format, Domain: o.Domain, ChatDate: o.ChatDate, Objective: o.Objective, State: o.State, Template: o.Template, KeepThought: o.KeepThought,
			TrainDialogue: o.TrainDialogue, SeqLen: o.SeqLen, MinTurns: o.MinTurns, Filters: filters.Names(), FilterPatterns: patternsHash(o.Patterns),
			Secrets: o.Secrets, SecretRules: secretRules(o.Secrets),
			Profile: o.Profile, MaxRecord: o.MaxRecord, MaxWindow: o.MaxWindow, ShardBytes: o.ShardBytes, Limit: o.Limit, Validation: share.text, Shuffle: o.Shuffle,
			Beyond: o.beyond(), Dedup: o.Dedup, NearThreshold: near,
		},
		Tokenizer: info,
		Chat:      ChatInfo{Name: written.name},
		Patterns:  o.Patterns,
		Mix:       o.Mix,
		Mask:      MaskInfo{Mode: mode, Table: o.MaskTable.Spec(), SHA256: o.MaskTable.Hash(), Words: mask.WordsVersion, Seed: o.Seed},
	}
	if mode == mask.ModeChanged.String() {
		copied, err := parseKeep(o.CopiedKeep)
		if err != nil {
			return nil, &UsageError{fmt.Errorf("--copied-keep %q: %w", o.CopiedKeep, err)}
		}
		p.Mask.CopiedKeep = copied.text
	}
	if p.Template, err = templateOf(o.Template); err != nil {
		return nil, &UsageError{err}
	}
	if o.audits() {
		p.Config.rowless(mode)
	}
	if !o.samples() && o.SFT.Pools != nil {
		p.Config.Pool, p.Config.Pools = o.SFT.Pool, o.SFT.Pools
	}
	if o.samples() {
		p.Config.SFT = o.SFT.config()
		p.Config.SFT.ThinkPrompt = p.Config.SFT.ThinkPrompt || written.think
		v, err := o.SFT.openVerifiers()
		if err != nil {
			return nil, err
		}
		p.Config.SFT.Verifiers = v.config()
		s, err := load(p, t)
		if err == nil {
			s.verifiers = v
		}
		return s, err
	}
	return load(p, t)
}

// tokenizer loads the tokenizer that the options name, and finds its chat format. An audit may have none.
func (o *Options) tokenizer(ctx context.Context) (t *tokenizer, info TokenizerInfo, written form, err error) {
	if o.Tokenizer == "" && o.audits() {
		return noTokenizer(), info, form{}, nil
	}
	if t, info, err = loadTokenizer(ctx, o.Tokenizer, o.Engine, o.Hub); err != nil {
		return nil, info, form{}, err
	}
	if written, err = o.chatForm(ctx, t); err != nil {
		return nil, info, form{}, err
	}
	return t, info, written, nil
}

// load makes a setup from a plan: the inverse of what resolve wrote into it.
func load(p *Plan, t *tokenizer) (*setup, error) {
	s := &setup{plan: p, tokenizer: t}
	var err error
	if p.tokens() {
		if s.chat, err = chat.New(p.Chat.Name, t, p.chatOptions()); err != nil {
			return nil, &UsageError{err}
		}
		if s.encoder, err = t.encoders(s.chat.Control()); err != nil {
			return nil, &UsageError{fmt.Errorf("--tokenizer %s: %w", p.Tokenizer.Name, err)}
		}
		if p.Chat.SHA256 == "" {
			p.Chat.SHA256 = s.chat.SHA256()
		}
	}
	if s.table, err = mask.FromSpec(p.Mask.Table); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	if s.mode, err = mask.ParseMode(p.Mask.Mode); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	if s.copied, err = p.Mask.copied(); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	names := p.Config.Filters
	if len(names) == 0 {
		names = []string{"none"}
	}
	if hash := patternsHash(p.Patterns); hash != p.Config.FilterPatterns {
		return nil, fmt.Errorf("plan.json: filter patterns %s; those of the plan, or this turnmill's own, are %s", p.Config.FilterPatterns, hash)
	}
	if s.filters, err = filter.New(names, filter.Options{MinTurns: p.Config.MinTurns, TrainDialogue: p.Config.TrainDialogue, Patterns: p.Patterns}); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	if s.secrets, err = p.secretsOf(); err != nil {
		return nil, fmt.Errorf("plan.json: %w; use the turnmill that planned the run, or plan anew with --restart", err)
	}
	if s.share, err = parseShare(p.Config.Validation); err != nil {
		return nil, fmt.Errorf("plan.json: validation %q: %w", p.Config.Validation, err)
	}
	profile, ok := arrow.ParseProfile(p.Config.Profile)
	if !ok {
		return nil, fmt.Errorf("plan.json: profile %q is not known", p.Config.Profile)
	}
	s.profile = profile
	return s, nil
}

// chatOptions are what the plan says of its chat format.
func (p *Plan) chatOptions() chat.Options {
	return chat.Options{Date: p.Config.ChatDate, Thinking: p.samples() && p.Config.SFT.ThinkPrompt}
}

// patternsHash names filter patterns by their content; nil are the built-in ones.
func patternsHash(p *filter.Patterns) string {
	if p == nil {
		p = filter.Builtin()
	}
	return p.Hash()
}

// objectives and states are the flags' values in the order of shard's constants.
var (
	objectives = [...]string{"world-model", "policy", "all"}
	states     = [...]string{"always", "changed", "never"}
)

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return 0 // Validate has refused anything else
}

// newWorker returns a worker with an encoder and scratch of its own.
func (s *setup) newWorker() *worker {
	c := &s.plan.Config
	masker, err := mask.New(s.table, s.plan.Mask.Seed, s.mode)
	if err != nil {
		panic("pipelines: a validated plan has a table that mask refuses: " + err.Error())
	}
	masker.Copied = s.copied
	w := &worker{
		unpacker: newUnpacker(s.plan.Inputs, formats.Options{KeepThought: c.KeepThought, Domain: domainOf(c.Domain)}, s.secrets),
		filters:  s.filters.Fork(), mask: masker, builder: s.newBuilder(), splits: splitter{s.share, s.plan.Mask.Seed},
	}
	w.mix = s.plan.Mix
	w.pool, w.pools = c.pool()
	if s.plan.samples() {
		w.samples = s.newSampleMaker()
	}
	if s.plan.beyond() {
		w.history = mask.NewHistory(masker)
	}
	if s.mode == mask.ModeToken {
		w.draw = &tokenDraw{seed: s.plan.Mask.Seed}
	}
	return w
}

// newScanWork returns the worker of a scan.
func (s *setup) newScanWork() *scanWork {
	c := &s.plan.Config
	w := &scanWork{
		unpacker: newUnpacker(s.plan.Inputs, formats.Options{KeepThought: c.KeepThought, Domain: domainOf(c.Domain)}, s.secrets), method: newMethod(c), inputs: s.inputNumbers(),
		mix: s.plan.Mix, seed: s.plan.Mask.Seed,
	}
	if s.benchmark != nil {
		w.matcher = dedup.NewMatcher(s.benchmark)
	}
	return w
}

// newOutcome returns an empty outcome with the accounts of the run.
func (s *setup) newOutcome() *outcome {
	o := newOutcome(s.mode, s.plan.tokens())
	o.secrets = secrets.New(s.secrets)
	o.samples = s.newSampler()
	if s.plan.samples() {
		o.sft, o.prompts = &sampleOutcome{counts: newSFTCounts()}, s.plan.prompts()
	}
	if s.bySource {
		o.counts.Sources = stats.NewSources()
	}
	return o
}

// newBuilder returns what takes trajectories to rows, or to verdicts alone.
func (s *setup) newBuilder() rowBuilder {
	if !s.plan.tokens() {
		return &tokenless{mode: s.mode}
	}
	builder := s.newRowBuilder()
	if t := s.plan.Template; t != nil {
		return &templated{rowBuilder: builder, version: t.Version, state: shard.StateMode(indexOf(states[:], s.plan.Config.State))}
	}
	return builder
}

// newRowBuilder returns what makes rows, of trajectories, documents or samples.
func (s *setup) newRowBuilder() *shard.Builder {
	c := &s.plan.Config
	builder, err := shard.NewBuilder(s.chat, s.encoder(), shard.Options{
		SeqLen: c.SeqLen, Objective: shard.Objective(indexOf(objectives[:], c.Objective)),
		State: shard.StateMode(indexOf(states[:], c.State)), Weights: s.mode == mask.ModeWeight,
	})
	if err != nil {
		panic("pipelines: a validated plan has options that shard refuses: " + err.Error())
	}
	return builder
}
