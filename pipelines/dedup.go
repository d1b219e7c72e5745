package pipelines

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/ingest/formats"
)

// The values of --dedup.
const (
	dedupNone  = "none"
	dedupExact = "exact"
	dedupTurns = "turns"
	dedupNear  = "near"
)

// defaultNear is the default of --near-threshold.
const defaultNear = "0.8"

// dedupNames are all of them.
var dedupNames = [...]string{dedupNone, dedupExact, dedupTurns, dedupNear}

// exact prints the canonical form, which is the content without id, meta and thought.
type exact struct{ canonical []byte }

func (e *exact) Trajectory(t *turnmill.Trajectory, p *dedup.Print) {
	if len(t.Turns) == 0 { // it has nothing that could be had twice
		return
	}
	e.canonical = formats.AppendCanonical(e.canonical[:0], t)
	e.print(p)
}

func (e *exact) Document(d *turnmill.Document, p *dedup.Print) {
	if d.Text == "" {
		return
	}
	e.canonical = formats.AppendCanonicalDocument(e.canonical[:0], d)
	e.print(p)
}

func (e *exact) print(p *dedup.Print) {
	sum := sha256.Sum256(e.canonical)
	p.Keys = append(p.Keys, [2]uint64{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])})
}

// Same has nothing to compare: the key says it all.
func (e *exact) Same(_, _ []uint64) bool { return true }

// newMethod returns how the plan tells duplicates, or nil.
func newMethod(c *Config) dedup.Method {
	switch c.Dedup {
	case dedupExact:
		return &exact{}
	case dedupTurns:
		return &dedup.Turns{}
	case dedupNear:
		least, _ := parseKeep(c.NearThreshold) // a plan that is sound has one
		return &dedup.Near{Threshold: least.ratio}
	}
	return nil
}

// duplicateReason is why a duplicate is dropped.
func duplicateReason(c *Config) turnmill.Reason {
	switch c.Dedup {
	case dedupTurns:
		return turnmill.ReasonDuplicateTurns
	case dedupNear:
		return turnmill.ReasonNearDuplicate
	}
	return turnmill.ReasonDuplicate
}

// scanReasons are why the plan drops trajectories and documents.
func (p *Plan) scanReasons() (reasons []turnmill.Reason) {
	if p.Config.Dedup != dedupNone {
		reasons = append(reasons, duplicateReason(&p.Config))
	}
	if len(p.Benchmarks) > 0 {
		reasons = append(reasons, turnmill.ReasonContaminated)
	}
	if p.Mix != nil {
		reasons = append(reasons, turnmill.ReasonMixedOut)
	}
	return reasons
}

// nearThreshold resolves the option of that name, in the least decimals; "" for the methods that have none.
func (o *Options) nearThreshold() (string, error) {
	least, err := parseKeep(o.NearThreshold)
	if err == nil && least.ratio.Num == 0 {
		err = errors.New("want a share above 0, as in " + defaultNear)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("--near-threshold %q: %w", o.NearThreshold, err)
	case o.Dedup == dedupNear:
		return least.text, nil
	case least.text != defaultNear:
		return "", fmt.Errorf("--near-threshold %s: --dedup near alone goes by it; leave it out, or add that", o.NearThreshold)
	}
	return "", nil
}

// soundThreshold tells whether the threshold of a plan is written as turnmill writes it.
func (c *Config) soundThreshold() error {
	o := Options{Dedup: c.Dedup, NearThreshold: c.NearThreshold}
	if c.Dedup != dedupNear {
		o.NearThreshold = defaultNear
	}
	if text, err := o.nearThreshold(); err != nil || text != c.NearThreshold {
		return fmt.Errorf("dedup %s has a near-threshold of %q", c.Dedup, c.NearThreshold)
	}
	return nil
}

// firstOf and lastOf are how many members of a group that share a key are compared with each that comes later: the
// first ones, which mostly stay, and those just before it. So a key that everything has costs no more than its share.
const (
	firstOf = 8
	lastOf  = 8
)

// group finds the candidates among what shares a key; seqs come in order.
type group struct {
	exact bool
	first []uint64
	last  []uint64
}

func (g *group) reset() { g.first, g.last = g.first[:0], g.last[:0] }

// add calls pair for each earlier member that a member is to be compared with.
func (g *group) add(seq uint64, pair func(earlier uint64) error) error {
	for _, list := range [][]uint64{g.first, g.last} {
		for _, earlier := range list {
			if earlier == seq { // one that has a key twice
				return nil
			}
		}
	}
	for _, list := range [][]uint64{g.first, g.last} {
		for _, earlier := range list {
			if err := pair(earlier); err != nil {
				return err
			}
		}
	}
	switch {
	case len(g.first) == 0 || !g.exact && len(g.first) < firstOf:
		g.first = append(g.first, seq)
	case g.exact: // the first stays, and stands for all
	default:
		if len(g.last) == lastOf {
			g.last = append(g.last[:0], g.last[1:]...)
		}
		g.last = append(g.last, seq)
	}
	return nil
}

// dedupErrors says what of the options does not go together.
func (o *Options) dedupErrors() (errs []error) {
	if err := oneOf("dedup", o.Dedup, dedupNames[:]...); err != nil {
		errs = append(errs, err)
	}
	if _, err := o.nearThreshold(); err != nil {
		errs = append(errs, err)
	}
	if o.streams() && len(o.Decontaminate) > 0 {
		errs = append(errs, errors.New("--decontaminate: standard input has no second reading, and what is dropped is decided before the run; write it to a file and name that"))
	}
	if o.streams() && o.Dedup != dedupNone {
		errs = append(errs, fmt.Errorf("--dedup %s: standard input has no second reading, so that nothing can be told of the whole of it; write it to a file and name that", o.Dedup))
	}
	return errs
}
