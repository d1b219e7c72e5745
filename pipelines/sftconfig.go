package pipelines

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/prompt"
)

const pipelineSFT = "sft"

// SFTOptions are the settings that sft alone has.
type SFTOptions struct {
	Rollouts   []string // files of recorded answers to queries
	Judgements []string // files of recorded answers of judges

	RolloutModel string // asked for the rollouts that no file holds; "": none is asked
	Rollout      turnmill.Params
	JudgeModel   string // so for judgements
	Judge        turnmill.Params
	Attempts     int // at a judgement that cannot be read

	RolloutPrice, JudgePrice string // of a million tokens, as in 0.60,2.40; "": not known

	Targets   string // turns of a trajectory that are asked for: a number, "all" or "eval"
	Samples   int    // rollouts a query
	Threshold string // least mean score of a winner, in decimals; equality keeps
	Pairs     string // which rollouts are compared: above, all, tied, none
	Loss      string // which part of an answer carries loss: both, reasoning, answer
	// ThinkPrompt: the prompt for an answer ends with the tag that opens reasoning, which is then not trained.
	ThinkPrompt bool
	Compat      bool // the released evaluator's arithmetic of scores
	// Verifiers is a file of them, "" for none; MetaVerifiers: those that trajectories carry are asked too.
	Verifiers     string
	MetaVerifiers bool
	DropLeakage   bool // a rollout whose reasoning speaks of the answer is no contender
	Pool          string
	MaxPrompt     int   // tokens of a prompt of the pool rl
	Pools         Pools // which sources belong to which pool; nil: any to any
}

// Pools names the sources of each pool, CPT, SFT and RL kept apart. Report, section 3.1.1.
type Pools map[string][]string

// Validate refuses sources that stand in two pools.
func (p Pools) Validate() error {
	owner := map[string]string{}
	var errs []error
	for _, pool := range slices.Sorted(maps.Keys(p)) {
		for _, source := range p[pool] {
			if other, taken := owner[source]; taken && other != pool {
				errs = append(errs, fmt.Errorf("--pools: source %q belongs to %s and to %s; pools share no source: take it out of one", source, other, pool))
			}
			owner[source] = pool
		}
	}
	return errors.Join(errs...)
}

// errors returns what is wrong with a pool's name, and with the template that it asks under.
func (p Pools) errors(pool, template string) error {
	if p == nil {
		return nil
	}
	errs := []error{p.Validate()}
	if _, named := p[pool]; !named {
		errs = append(errs, fmt.Errorf("--pool %s: --pools names no such pool; it has %s", pool, strings.Join(slices.Sorted(maps.Keys(p)), ", ")))
	}
	if t, err := prompt.Find(prompt.General, template); err == nil && t.Pool() != pool && slices.Contains(prompt.Pools(), pool) {
		errs = append(errs, fmt.Errorf("--template %s: it belongs to the pool %s, and pools share no template; leave --template out", template, t.Pool()))
	}
	return errors.Join(errs...)
}

// pool returns the pool of a run and the sources of each, nil where any source may go to any.
func (c *Config) pool() (string, Pools) {
	if c.SFT != nil {
		return c.SFT.Pool, c.SFT.Pools
	}
	return c.Pool, c.Pools
}

// other tells whether a source belongs to another pool than the one named.
func (p Pools) other(pool, source string) bool {
	return p != nil && !slices.Contains(p[pool], source)
}

// SFTConfig is what of the settings of sft changes bytes.
type SFTConfig struct {
	Targets     string `json:"targets"`
	Samples     int    `json:"samples"`
	Threshold   string `json:"threshold"`
	Pairs       string `json:"pairs"`
	Loss        string `json:"loss"`
	ThinkPrompt bool   `json:"think-prompt"`
	Compat      bool   `json:"compat"`
	DropLeakage bool   `json:"drop-leakage"`
	Pool        string `json:"pool"`
	MaxPrompt   int    `json:"max-prompt,omitempty"` // of the pool rl
	Pools       Pools  `json:"pools,omitempty"`
	// Prices of a million tokens, of prompts and of completions; "": the manifest says no cost.
	RolloutPrice string `json:"rollout-price,omitempty"`
	JudgePrice   string `json:"judge-price,omitempty"`
	// Ask is nil where all answers are recorded.
	Ask *AskConfig `json:"ask,omitempty"`
	// Verifiers is nil where there are none.
	Verifiers *VerifierConfig `json:"verifiers,omitempty"`
}

// DefaultSFT returns the defaults: the report's three rollouts, both orders of every pair, and one turn.
func DefaultSFT() SFTOptions {
	return SFTOptions{Targets: "1", Samples: 3, Threshold: "3", Pairs: "above", Loss: "both", Pool: "sft", MaxPrompt: DefaultMaxPrompt, Attempts: 3}
}

// Words that settings of sft take.
var (
	pairRules   = [...]string{"above", "all", "tied", "none"} // in the order of reject.PairRule
	answerParts = [...]string{"both", "reasoning", "answer"}
)

// config returns the part of the settings that stands in a plan, decimals in their least form.
func (o *SFTOptions) config() *SFTConfig {
	c := &SFTConfig{Targets: o.Targets, Samples: o.Samples, Threshold: o.Threshold, Pairs: o.Pairs, Loss: o.Loss, ThinkPrompt: o.ThinkPrompt, Compat: o.Compat, DropLeakage: o.DropLeakage,
		Pool: o.Pool, Pools: o.Pools, RolloutPrice: o.RolloutPrice, JudgePrice: o.JudgePrice}
	if _, text, err := parseMean(c.Threshold); err == nil {
		c.Threshold = text
	}
	if o.Pool == poolRL {
		c.MaxPrompt, c.Pairs = o.MaxPrompt, "none"
	}
	if o.asks() {
		c.Ask = &AskConfig{RolloutModel: o.RolloutModel, JudgeModel: o.JudgeModel, Attempts: o.Attempts}
		if o.RolloutModel != "" {
			c.Ask.Rollout = o.Rollout
		}
		if o.JudgeModel != "" {
			c.Ask.Judge = o.Judge
		}
	}
	return c
}

// asks tells whether an endpoint is asked for what no file holds.
func (o *SFTOptions) asks() bool { return o.RolloutModel != "" || o.JudgeModel != "" }

// validate returns every problem that shows without reading a file.
func (c *SFTConfig) validate() error {
	errs := []error{
		oneOf("pairs", c.Pairs, pairRules[:]...),
		oneOf("loss", c.Loss, answerParts[:]...),
		c.priceErrors(),
	}
	if _, err := parseTargets(c.Targets); err != nil {
		errs = append(errs, err)
	}
	if c.Samples < 1 || c.Samples > mostSamples {
		errs = append(errs, fmt.Errorf("--samples %d: want 1 to %d", c.Samples, mostSamples))
	}
	if _, _, err := parseMean(c.Threshold); err != nil {
		errs = append(errs, fmt.Errorf("--threshold %q: %w", c.Threshold, err))
	}
	if c.Pool != pipelineSFT && c.Pool != poolRL {
		errs = append(errs, fmt.Errorf("--pool %q: want sft or rl", c.Pool))
	}
	if c.Ask != nil {
		errs = append(errs, c.Ask.validate())
	}
	return errors.Join(errs...)
}

// validate refuses parameters that are no numbers: requests hold them as they are spelt.
func (a *AskConfig) validate() error {
	var errs []error
	for _, p := range []struct{ flag, text string }{
		{"temperature", a.Rollout.Temperature}, {"top-p", a.Rollout.TopP}, {"judge-temperature", a.Judge.Temperature}, {"judge-top-p", a.Judge.TopP},
	} {
		if p.text != "" && !decimalText.MatchString(p.text) {
			errs = append(errs, fmt.Errorf("--%s %q: want a number in decimals, as in 0.6", p.flag, p.text))
		}
	}
	if a.Rollout.MaxTokens < 0 || a.Judge.MaxTokens < 0 {
		errs = append(errs, errors.New("--max-tokens, --judge-max-tokens: want 1 or more, or 0 for the endpoint's own"))
	}
	if a.Attempts < 1 || a.Attempts > 10 {
		errs = append(errs, fmt.Errorf("--judge-attempts %d: want 1 to 10", a.Attempts))
	}
	return errors.Join(errs...)
}

// decimalText is a number that JSON has as well.
var decimalText = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})(\.[0-9]{1,6})?$`)

// mostSamples bounds the rollouts of a query: every two of them are compared.
const mostSamples = 64

// parseMean reads the least mean of scores, on their scale of 1 to 5, exactly.
func parseMean(text string) (turnmill.Ratio, string, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.Trim(text, "0123456789.") != "" || len(text) > 10 || r.Cmp(big.NewRat(5, 1)) > 0 {
		return turnmill.Ratio{}, "", errors.New("want a mean of scores from 0 to 5 in decimals, as in 3.4")
	}
	digits, _ := r.FloatPrec()
	return turnmill.Ratio{Num: r.Num().Uint64(), Den: r.Denom().Uint64()}, r.FloatString(digits), nil
}

// targets says how many turns of a trajectory are asked for.
type targets struct {
	n    int // 0: all
	eval bool
}

func parseTargets(text string) (targets, error) {
	switch text {
	case "all":
		return targets{}, nil
	case "eval":
		return targets{eval: true}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || strconv.Itoa(n) != text {
		return targets{}, fmt.Errorf("--targets %q: want a number from 1, all, or eval (first, last and three between)", text)
	}
	return targets{n: n}, nil
}

// answerLoss returns the part of an answer that carries loss; validate has refused other names.
func (c *SFTConfig) answerLoss() shard.AnswerLoss {
	loss, _ := shard.ParseAnswerLoss(c.Loss)
	return loss
}

func (o *Options) samples() bool { return o.Pipeline == pipelineSFT }

// samples tells whether the run makes an SFT set.
func (p *Plan) samples() bool { return p.Pipeline == pipelineSFT }
