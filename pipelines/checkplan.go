package pipelines

import (
	"reflect"
	"slices"

	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// planItself looks at what the plan repeats.
func (c *checker) planItself() {
	p := c.plan
	if p.Pipeline != pipelineCPT && !p.audits() && !p.samples() {
		c.fault("plan.json", "pipeline %q; this check knows cpt, sft and audit", p.Pipeline)
	}
	if p.samples() {
		if _, least, err := parseMean(p.Config.SFT.Threshold); err != nil || least != p.Config.SFT.Threshold || c.mode != mask.ModeOff {
			c.fault("plan.json", "threshold %q, mask %s: not as turnmill writes them for sft", p.Config.SFT.Threshold, c.mode)
		}
	}
	switch {
	case !p.tokens():
		if !p.audits() || p.Tokenizer != (TokenizerInfo{}) || p.Chat != (ChatInfo{}) {
			c.fault("plan.json", "only an audit does without a tokenizer, and then without a chat format")
		}
	case !slices.Contains(engines[:], p.Tokenizer.Engine):
		c.fault("plan.json", "no engine is called %q", p.Tokenizer.Engine)
	}
	names := p.Config.Filters
	if len(names) == 0 {
		names = []string{"none"}
	}
	if chain, err := filter.New(names, filter.Options{MinTurns: p.Config.MinTurns, Patterns: p.Patterns}); err != nil {
		c.fault("plan.json", "%v", err)
	} else if !slices.Equal(chain.Names(), p.Config.Filters) {
		c.fault("plan.json", "filters %q, which run in the order %q", p.Config.Filters, chain.Names())
	}
	if p.Config.FilterPatterns != patternsHash(p.Patterns) {
		c.fault("plan.json", "the filter patterns are not those that filter-patterns names")
	}
	if err := p.sameTemplate(); err != nil {
		c.fault("plan.json", "%v", err)
	}
	if !reflect.DeepEqual(c.table.Spec(), p.Mask.Table) {
		c.fault("plan.json", "the mask table is not written as turnmill writes it")
	}
	if p.ConfigSHA256 != hexSum(encodeJSON(p.Config)) {
		c.fault("plan.json", "config_sha256 is not that of the config")
	}
	if p.Mask.SHA256 != c.table.Hash() {
		c.fault("plan.json", "the mask table is not the one that its sha256 names")
	}
	if p.Mask.Words != mask.WordsVersion {
		c.fault("plan.json", "words version %s; this turnmill has %s and cannot prove it", p.Mask.Words, mask.WordsVersion)
	}
	if p.Config.Partitions != len(p.Partitions) {
		c.fault("plan.json", "%d partitions, the config says %d", len(p.Partitions), p.Config.Partitions)
	}
	if p.streams() {
		if len(p.Inputs) != 1 || p.Inputs[0].Path != streamPath || len(p.Partitions) > 0 {
			c.fault("plan.json", "standard input is one input, and has no partitions in the plan")
		}
		return
	}
	c.coverage()
}

// coverage proves that the partitions' ranges cover each input once, in order; with a limit, up to a place
// after which no range follows.
func (c *checker) coverage() {
	next := make([]int64, len(c.plan.Inputs))
	ranges := make([]int, len(c.plan.Inputs))
	input, cut := 0, false
	for i, part := range c.plan.Partitions {
		for _, r := range part {
			if cut || r.Input < input || r.From != next[r.Input] || r.To < r.From || r.Records < 0 {
				c.fault("plan.json", "partition %d: a range out of order or overlapping", i)
				return
			}
			input, next[r.Input], cut = r.Input, r.To, r.Records > 0
			ranges[r.Input]++
		}
	}
	for i, in := range c.plan.Inputs {
		partial := c.plan.Config.Limit > 0 && i >= input // where a limit may end
		whole := next[i] == in.Bytes && ranges[i] > 0
		if in.Rejected != "" {
			whole = next[i] == 0 && ranges[i] == 1
		}
		if !whole && !partial {
			c.fault("plan.json", "input %s: %s of %s bytes stand in a partition", in.Path, stats.Thousands(next[i]), stats.Thousands(in.Bytes))
			return
		}
	}
}

// limit proves that no more records were read than --limit lets in, and no fewer where there were more.
func (c *checker) limit() {
	limit := c.plan.Config.Limit
	if limit == 0 || slices.Contains(c.commits, nil) {
		return
	}
	var read int64
	for _, commit := range c.commits {
		for _, r := range commit.Inputs {
			read += r.Records
		}
	}
	if c.plan.streams() {
		if read > limit {
			c.fault("plan.json", "--limit %d, and the commits hold %d records", limit, read)
		}
		return
	}
	last := len(c.plan.Inputs) - 1
	whole := false // everything was read
	for _, part := range c.plan.Partitions {
		for _, r := range part {
			in := &c.plan.Inputs[r.Input]
			whole = r.Input == last && r.Records == 0 && (r.To == in.Bytes || in.Rejected != "")
		}
	}
	if read > limit || read < limit && !whole {
		c.fault("plan.json", "--limit %d, and the ranges hold %d records", limit, read)
	}
}
