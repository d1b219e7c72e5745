package pipelines

import (
	"errors"
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"
)

// Mix says how much of a corpus each group of records is to be: the records of a group are repeated or cut until the
// groups stand to each other as their weights do. What is of no group stays as it is.
type Mix struct {
	By     string     `json:"by" yaml:"by"` // records, or bytes of text
	Groups []MixGroup `json:"groups" yaml:"groups"`
}

// MixGroup is the records that Inputs, Sources and Kind all take; an empty one takes any. A record is of the first
// group that takes it.
type MixGroup struct {
	Name    string   `json:"name" yaml:"name"`
	Weight  uint64   `json:"weight" yaml:"weight"`
	Inputs  []string `json:"inputs,omitempty" yaml:"inputs"`   // patterns of names as the plan has them: 0/docs/*.jsonl
	Sources []string `json:"sources,omitempty" yaml:"sources"` // of the record's first trajectory or document
	Kind    string   `json:"kind,omitempty" yaml:"kind"`       // trajectory, document
}

// The values of By and Kind.
const (
	mixRecords     = "records"
	mixBytes       = "bytes"
	kindTrajectory = "trajectory"
	kindDocument   = "document"
)

// mostWeight keeps sums of weights far from the end of their type.
const mostWeight = 1_000_000

// Validate returns every problem of a mix that shows without its inputs.
func (m *Mix) Validate() error {
	errs := []error{}
	if m.By != mixRecords && m.By != mixBytes {
		errs = append(errs, fmt.Errorf("by: %q: want records or bytes", m.By))
	}
	names := map[string]bool{}
	sum := uint64(0)
	for i := range m.Groups {
		g := &m.Groups[i]
		what := fmt.Sprintf("groups: %q", g.Name)
		if g.Name == "" || names[g.Name] {
			errs = append(errs, fmt.Errorf("%s: want a name of its own", what))
		}
		names[g.Name] = true
		if g.Weight > mostWeight {
			errs = append(errs, fmt.Errorf("%s: weight %d: want a whole number up to %d", what, g.Weight, mostWeight))
		}
		sum += min(g.Weight, mostWeight)
		if g.Kind != "" && g.Kind != kindTrajectory && g.Kind != kindDocument {
			errs = append(errs, fmt.Errorf("%s: kind: %q: want trajectory or document", what, g.Kind))
		}
		for _, pattern := range g.Inputs {
			if _, err := path.Match(pattern, ""); err != nil {
				errs = append(errs, fmt.Errorf("%s: inputs: %q: %w", what, pattern, err))
			}
		}
	}
	if sum == 0 {
		errs = append(errs, errors.New("groups: no group has a weight"))
	}
	return errors.Join(errs...)
}

// groupOf returns the place of the group that takes a record, or -1.
func (m *Mix) groupOf(input, source, kind string) int {
	return slices.IndexFunc(m.Groups, func(g MixGroup) bool {
		return (g.Kind == "" || g.Kind == kind) && (len(g.Sources) == 0 || slices.Contains(g.Sources, source)) &&
			(len(g.Inputs) == 0 || slices.ContainsFunc(g.Inputs, func(pattern string) bool {
				match, _ := path.Match(pattern, input) // the patterns are good
				return match || strings.HasPrefix(input, strings.TrimSuffix(pattern, "/")+"/")
			}))
	})
}

// MixShare is what a mix has made of a group.
type MixShare struct {
	Name     string `json:"name"`
	Weight   uint64 `json:"weight"`
	Records  int64  `json:"records"` // that were there, without what the plan drops for other reasons
	Bytes    int64  `json:"bytes"`   // of their texts
	Mixed    int64  `json:"mixed_records"`
	MixBytes int64  `json:"mixed_bytes"`

	base   int64 // copies that each record has
	target int64 // in records or bytes
	left   int64 // of it, beside base
}

// MixRows are the rows of a group.
type MixRows struct {
	Name    string `json:"name"`
	Rows    int64  `json:"rows"`
	Tokens  int64  `json:"tokens"`
	Trained int64  `json:"trained_tokens"`
}

// shares makes targets out of what there is: together, the groups are to be as large as they are.
func (m *Mix) shares(found []MixShare) error {
	weights, all := uint64(0), int64(0)
	size := func(s *MixShare) int64 {
		if m.By == mixBytes {
			return s.Bytes
		}
		return s.Records
	}
	for i := range found {
		weights += m.Groups[i].Weight
		all += size(&found[i])
	}
	for i := range found {
		s := &found[i]
		if size(s) == 0 && s.Weight > 0 {
			return &UsageError{fmt.Errorf("--mix: group %q: no record of the inputs is of it; mend its inputs, sources or kind, or leave it out", s.Name)}
		}
		if size(s) == 0 {
			continue
		}
		hi, lo := bits.Mul64(uint64(all), s.Weight)
		target, _ := bits.Div64(hi, lo, weights) // it is no more than all
		s.target = int64(target)
		s.base, s.left = s.target/size(s), s.target%size(s)
	}
	return nil
}

// newMixRows returns empty sums for the groups, and one for what is of none.
func (m *Mix) newMixRows() []MixRows {
	if m == nil {
		return nil
	}
	rows := make([]MixRows, 0, len(m.Groups)+1)
	for i := range m.Groups {
		rows = append(rows, MixRows{Name: m.Groups[i].Name})
	}
	return append(rows, MixRows{})
}

// soundMix tells whether the mix of a plan is one.
func (p *Plan) soundMix() error {
	if p.Mix == nil {
		return nil
	}
	return p.Mix.Validate()
}

// mixErrors says what of the options does not go together.
func (o *Options) mixErrors() error {
	if o.Mix == nil {
		return nil
	}
	err := o.Mix.Validate()
	if o.streams() {
		err = errors.Join(err, errors.New("standard input has no second reading, so that its shares are not known; write it to a file and name that"))
	}
	if err != nil {
		return fmt.Errorf("--mix: %w", err)
	}
	return nil
}
