package stats

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// InputNotes is the key under which notes stand that no domain is known for: what the framer saw.
const InputNotes turnmill.Domain = "input"

// Counts is everything that is counted on the way, for a few records, a partition or a run; it is written
// as it stands. Counts merge: Add is associative and commutative, so that workers and partitions may be
// added in any order. Make one with NewCounts.
type Counts struct {
	Ledger  Ledgers                                   `json:"ledger"`
	Tokens  Tokens                                    `json:"tokens"`
	Repairs map[turnmill.Domain]map[string]int64      `json:"repairs"`         // notes that changed text
	Notices map[turnmill.Domain]map[string]int64      `json:"notices"`         // notes that did not
	Secrets map[turnmill.Domain]map[string]int64      `json:"secrets"`         // places by kind
	Mask    map[turnmill.Domain]map[string]*MaskCount `json:"mask_statistics"` // by category
	Sources *Sources                                  `json:"-"`               // nil unless asked for
}

// Ledgers holds the ledger of the whole and those of the domains. Records that were never decoded have no
// domain, so the domains' records need not add up to the total.
type Ledgers struct {
	Total   *Ledger                     `json:"total"`
	Domains map[turnmill.Domain]*Ledger `json:"domains"`
}

// Tokens counts what lies in the shards.
type Tokens struct {
	Rows    int64 `json:"rows"`
	All     int64 `json:"all"`
	Trained int64 `json:"trained"`
	Context int64 `json:"context"` // All less Trained
}

// MaskCount counts the turns of one domain and category that the mask decided about: targets that were
// encoded.
type MaskCount struct {
	Turns             int64   `json:"turns"`
	KeptTurns         int64   `json:"kept_turns"`
	ObservationTokens int64   `json:"observation_tokens"` // without end tokens
	TargetTokens      int64   `json:"target_tokens"`      // would carry loss without the mask
	KeptTokens        int64   `json:"kept_tokens"`        // carry loss
	ExpectedShare     float64 `json:"expected_share"`     // the table's keep ratio, one for all turns of a category
	// ExpectedMillionths are the tokens that are expected to carry loss where a turn is kept in part, in millionths of a
	// token; else 0. ExpectedShare is their share of TargetTokens then.
	ExpectedMillionths int64 `json:"expected_millionths,omitempty"`
}

// NewCounts returns empty counts.
func NewCounts() *Counts {
	c := &Counts{}
	c.Reset()
	return c
}

// Reset makes c empty and keeps its maps.
func (c *Counts) Reset() {
	if c.Ledger.Domains == nil {
		c.Ledger.Domains = map[turnmill.Domain]*Ledger{}
		c.Repairs = map[turnmill.Domain]map[string]int64{}
		c.Notices = map[turnmill.Domain]map[string]int64{}
		c.Secrets = map[turnmill.Domain]map[string]int64{}
		c.Mask = map[turnmill.Domain]map[string]*MaskCount{}
	}
	c.Ledger.Total, c.Tokens = newLedger(), Tokens{}
	clear(c.Ledger.Domains)
	clear(c.Repairs)
	clear(c.Notices)
	clear(c.Secrets)
	clear(c.Mask)
	if c.Sources != nil {
		c.Sources.reset()
	}
}

// Repeat turns the counts of a copy of what was counted before into those of a repetition: what came in was repeated,
// and what was noted is noted already.
func (c *Counts) Repeat() {
	for _, l := range c.Ledger.Domains {
		for _, a := range []*Account{&l.Records, &l.Trajectories, &l.Turns, &l.LossTokens} {
			a.In, a.Repeated = 0, a.Repeated+a.In
		}
	}
	l := c.Ledger.Total
	for _, a := range []*Account{&l.Trajectories, &l.Turns, &l.LossTokens} {
		a.In, a.Repeated = 0, a.Repeated+a.In
	}
	l.Records.In, l.Records.Repeated = 0, l.Records.Out+l.Records.AllDropped()+l.Records.AllRejected() // whose copies no framer sees
	clear(c.Repairs)
	clear(c.Notices)
	clear(c.Secrets)
}

// Domain returns the ledger of a domain.
func (c *Counts) Domain(d turnmill.Domain) *Ledger {
	l := c.Ledger.Domains[d]
	if l == nil {
		l = newLedger()
		c.Ledger.Domains[own(d)] = l
	}
	return l
}

// own returns a domain's name in memory of its own: a name that a record brings is valid until the next
// record only, and a key lives as long as its map.
func own(d turnmill.Domain) turnmill.Domain { return turnmill.Domain(strings.Clone(string(d))) }

// Each calls f with the ledger of the whole and with that of a domain.
func (c *Counts) Each(d turnmill.Domain, f func(*Ledger)) {
	f(c.Ledger.Total)
	f(c.Domain(d))
}

// AddNotes adds notes under a domain.
func (c *Counts) AddNotes(d turnmill.Domain, notes *turnmill.Notes) {
	if *notes == (turnmill.Notes{}) {
		return
	}
	for i, n := range notes {
		if n == 0 {
			continue
		}
		note := turnmill.Note(i)
		into := c.Notices
		if note.Repair() {
			into = c.Repairs
		}
		addNamed(into, d, note.String(), n)
	}
}

// AddSecrets counts places where a secret of a kind stood, or stands.
func (c *Counts) AddSecrets(d turnmill.Domain, kind string, n int64) {
	addNamed(c.Secrets, d, kind, n)
}

func addNamed(into map[turnmill.Domain]map[string]int64, d turnmill.Domain, name string, n int64) {
	m := into[d]
	if m == nil {
		m = map[string]int64{}
		into[own(d)] = m
	}
	m[name] += n
}

// AddTurn counts one turn that the mask decided about. It is to be called for targets that were encoded.
func (c *Counts) AddTurn(d turnmill.Domain, category string, t MaskCount) {
	cells := c.Mask[d]
	if cells == nil {
		cells = map[string]*MaskCount{}
		c.Mask[own(d)] = cells
	}
	m := cells[category]
	if m == nil {
		m = &MaskCount{}
		cells[category] = m
	}
	m.Turns += t.Turns
	m.KeptTurns += t.KeptTurns
	m.ObservationTokens += t.ObservationTokens
	m.TargetTokens += t.TargetTokens
	m.KeptTokens += t.KeptTokens
	m.ExpectedMillionths += t.ExpectedMillionths
	m.ExpectedShare = t.ExpectedShare
	if m.ExpectedMillionths > 0 {
		m.ExpectedShare = float64(m.ExpectedMillionths) / 1e6 / float64(m.TargetTokens)
	}
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	c.Ledger.Total.Add(o.Ledger.Total)
	for d, l := range o.Ledger.Domains {
		c.Domain(d).Add(l)
	}
	c.Tokens.Rows += o.Tokens.Rows
	c.Tokens.All += o.Tokens.All
	c.Tokens.Trained += o.Tokens.Trained
	c.Tokens.Context += o.Tokens.Context
	for d, names := range o.Repairs {
		for name, n := range names {
			addNamed(c.Repairs, d, name, n)
		}
	}
	for d, names := range o.Notices {
		for name, n := range names {
			addNamed(c.Notices, d, name, n)
		}
	}
	for d, kinds := range o.Secrets {
		for kind, n := range kinds {
			addNamed(c.Secrets, d, kind, n)
		}
	}
	for d, cells := range o.Mask {
		for category, m := range cells {
			c.AddTurn(d, category, *m)
		}
	}
	if o.Sources != nil {
		if c.Sources == nil {
			c.Sources = NewSources()
		}
		c.Sources.Add(o.Sources)
	}
}

// Balanced returns an error that names the first account that does not meet. Counts that were decoded are
// to be asked before anything else is done with them: what is missing is an error too.
func (c *Counts) Balanced() error {
	if err := c.complete(); err != nil {
		return err
	}
	if err := c.Ledger.Total.balanced("total"); err != nil {
		return err
	}
	for _, d := range slices.Sorted(maps.Keys(c.Ledger.Domains)) {
		if err := c.Ledger.Domains[d].balanced(string(d)); err != nil {
			return err
		}
	}
	return nil
}

// complete makes sure that decoding left no map or pointer nil.
func (c *Counts) complete() error {
	if c == nil || c.Ledger.Total == nil || c.Ledger.Domains == nil ||
		c.Repairs == nil || c.Notices == nil || c.Secrets == nil || c.Mask == nil {
		return errors.New("the counts lack a part")
	}
	for d, l := range c.Ledger.Domains {
		if l == nil {
			return fmt.Errorf("the counts lack the ledger of %s", d)
		}
	}
	for d, cells := range c.Mask {
		for category, m := range cells {
			if m == nil {
				return fmt.Errorf("the counts lack the mask statistics of %s, %s", d, category)
			}
		}
	}
	return nil
}
