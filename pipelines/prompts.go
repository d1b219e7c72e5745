package pipelines

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/verify"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/stats"
)

// poolRL is the pool whose queries are written as prompts: the trainer makes the rollouts.
//
//	trajectory -> filters -> one turn drawn -> prompt of template v0, whole or not at all -> rl/pNNNNN.parquet
const poolRL = "rl"

// rlTemplate is the one that the pool asks with. Report, section 3.1.2.
const rlTemplate = "v0"

// DefaultMaxPrompt is the longest prompt of the pool rl in tokens. Report, section 3.4.
const DefaultMaxPrompt = 131072

// prompts tells whether the run writes prompts in place of rows.
func (p *Plan) prompts() bool { return p.samples() && p.Config.SFT.Pool == poolRL }

// unplaced tells whether no turn has a place in a shard.
func (p *Plan) unplaced() bool { return p.audits() || p.prompts() }

func promptsPath(i int) string { return fmt.Sprintf("rl/p%05d.parquet", i) }

// promptErrors returns the problems that settings have with the pool rl.
func (o *Options) promptErrors() error {
	q := &o.SFT
	var errs []error
	if q.Targets != "1" {
		errs = append(errs, fmt.Errorf("--targets %s: the pool rl takes one turn of a trajectory, since shared prefixes collapse the reward; leave it out", q.Targets))
	}
	if len(q.Rollouts)+len(q.Judgements) > 0 || q.asks() {
		errs = append(errs, errors.New("--pool rl: the trainer makes the rollouts; leave --rollouts, --judgements, --rollout-model and --judge-model out"))
	}
	if o.Template != drawnTemplate && o.Template != rlTemplate {
		errs = append(errs, fmt.Errorf("--template %s: the pool rl asks with %s; leave it out", o.Template, rlTemplate))
	}
	if share, err := parseShare(o.Validation); err == nil && share.text != "0" {
		errs = append(errs, errors.New("--validation: prompts are not split; name the sources of another run, or leave it out"))
	}
	if q.MaxPrompt < 1 || q.MaxPrompt > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("--max-prompt %d: want 1 or more", q.MaxPrompt))
	}
	return errors.Join(errs...)
}

// PromptLine says where a query's prompt is.
type PromptLine struct {
	File     string `json:"file"`
	Row      int64  `json:"row"`
	Tokens   int32  `json:"tokens"` // with what opens the answer
	Verifier bool   `json:"verifier"`
}

// promptCounter counts the tokens of prompts.
type promptCounter struct {
	builder *shard.Builder
	rows    shard.Rows
}

// newPromptCounter returns one whose rows are never cut.
func (s *setup) newPromptCounter() *promptCounter {
	if !s.plan.prompts() {
		return nil
	}
	c := &s.plan.Config
	b, err := shard.NewBuilder(s.chat, s.encoder(), shard.Options{SeqLen: math.MaxInt32, State: shard.StateMode(indexOf(states[:], c.State))})
	if err != nil {
		panic("pipelines: a validated plan has options that shard refuses: " + err.Error())
	}
	return &promptCounter{builder: b}
}

// prompt writes a query of the pool rl: its prompt, or why there is none.
func (m *sampleMaker) prompt(asked *question, q *QueryLine, out *outcome) error {
	c := m.counter
	c.rows.Reset()
	res, err := c.builder.Sample(&shard.Sample{Trajectory: asked.tmpl.Render(asked.trajectory, asked.shown), Target: asked.at, Verdicts: asked.shown.Verdicts, Answer: "?"}, &c.rows)
	switch {
	case err != nil:
		q.State, q.Reason, q.Detail = "rejected", turnmill.ReasonUnencodable, err.Error()
		return nil
	case res.Reason != "":
		q.State, q.Reason = "dropped", res.Reason
		return nil
	case int(res.Answer.Start) > m.config.MaxPrompt:
		q.State, q.Reason, q.Detail = "dropped", turnmill.ReasonPromptTooLong, fmt.Sprintf("%d tokens, --max-prompt %d", res.Answer.Start, m.config.MaxPrompt)
		return nil
	}
	row := stats.PromptRow{ID: q.ID, Reference: clone(judge.StripMarker(asked.trajectory.Turns[asked.at].Observation)), Domain: string(q.Domain), Source: q.Source,
		Template: q.Template.Version, PromptTokens: res.Answer.Start, DataSource: string(q.Domain), RewardModel: stats.RewardModel{Style: "model"}}
	row.RewardModel.GroundTruth = row.Reference
	for _, message := range asked.ask().Messages {
		row.Prompt = append(row.Prompt, stats.PromptMessage{Role: message.Role, Content: clone(message.Content)})
	}
	if v := q.Verifier; v.serves() {
		by, err := m.verifiers.of(asked)
		if err != nil {
			return err
		}
		row.Verifier, row.VerifierClass, row.RewardModel.Style = by.Definition, string(by.Class), "rule"
	}
	q.State, q.Prompt = "selected", &PromptLine{Row: int64(len(out.sft.prompts)), Tokens: row.PromptTokens, Verifier: row.Verifier != ""}
	out.sft.prompts = append(out.sft.prompts, row)
	out.prompted(asked)
	return nil
}

// serves tells whether a verifier goes with a prompt: it passes what was recorded. No rollout says more about it yet.
func (v *VerifierLine) serves() bool {
	return v != nil && v.Recorded.State == verify.Pass
}

// prompted enters the turns of a prompt: its target, and what it shows before that.
func (o *outcome) prompted(asked *question) {
	s := o.sft
	s.rows++
	for i := range asked.at + 1 {
		r := &s.results[i]
		switch {
		case i == asked.at:
			r.Verdict = turnmill.Verdict{Status: turnmill.StatusTarget}
		case asked.shown.Verdicts[i].Status != turnmill.StatusDropped:
			r.Verdict = turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonHistory}
		default:
			continue
		}
		s.shown[i] = true
	}
}

// PromptCounts counts the prompts of a domain. It merges.
type PromptCounts struct {
	Prompts  int64 `json:"prompts"`
	Verified int64 `json:"verified"` // with a verifier
	Tokens   int64 `json:"tokens"`
	Longest  int64 `json:"longest"` // in tokens
}

func (c *SFTCounts) addPrompts(domain turnmill.Domain, from *PromptCounts) {
	if c.Prompts == nil {
		c.Prompts = map[turnmill.Domain]*PromptCounts{}
	}
	if c.Prompts[domain] == nil {
		c.Prompts[domain] = &PromptCounts{}
	}
	to := c.Prompts[domain]
	to.Prompts, to.Verified, to.Tokens, to.Longest = to.Prompts+from.Prompts, to.Verified+from.Verified, to.Tokens+from.Tokens, max(to.Longest, from.Longest)
}

// WritePrompts writes what prompts there are, a row for each domain.
func (c *SFTCounts) WritePrompts(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "domain\tprompts\ttokens\tlongest\twith a verifier")
	for _, d := range slices.Sorted(maps.Keys(c.Prompts)) {
		p := c.Prompts[d]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d, stats.Thousands(p.Prompts), stats.Thousands(p.Tokens), stats.Thousands(p.Longest), stats.Thousands(p.Verified))
	}
	return table.Flush()
}

func (c *SFTCounts) promptOf(q *QueryLine) {
	if q.Prompt == nil {
		return
	}
	one := &PromptCounts{Prompts: 1, Tokens: int64(q.Prompt.Tokens), Longest: int64(q.Prompt.Tokens)}
	if q.Prompt.Verifier {
		one.Verified = 1
	}
	c.addPrompts(q.Domain, one)
}

// promptsFile is rl/pNNNNN.parquet while it is written.
type promptsFile struct {
	file sinkFile
	rows *stats.PromptWriter
	path string
}

func newPromptsFile(to sink, i int) (*promptsFile, error) {
	f := &promptsFile{path: promptsPath(i)}
	var err error
	if f.file, err = to.create(f.path); err == nil {
		f.rows, err = stats.NewPromptWriter(f.file, Version)
	}
	return f, err
}

func (f *promptsFile) finish() (FileSum, error) {
	if err := f.rows.Close(); err != nil {
		return FileSum{}, err
	}
	sum, err := f.file.commit()
	sum.Rows = f.rows.Rows()
	return sum, err
}
