package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// Diff is what the figures of two finished runs differ in: two corpora, or one with two tables.
type Diff struct {
	Unit  string     `json:"unit"` // of lengths: tokens where both runs have them, else characters
	Lines []DiffLine `json:"lines"`
}

// DiffLine compares two shares of one domain. Turns is a share of its turns that the mask decided about, Length of
// what they are long: of a category, or of what the table is expected to keep ("kept"). A run that has no such
// turns has NaN.
type DiffLine struct {
	Domain string // "all" first
	What   string
	Turns  [2]float64
	Length [2]float64
}

// Moved is how far the two shares are apart, the larger of both; a domain that only one run has is all the way off.
func (l *DiffLine) Moved() float64 {
	apart := func(s [2]float64) float64 {
		switch a, b := math.IsNaN(s[0]), math.IsNaN(s[1]); {
		case a && b:
			return 0
		case a || b:
			return 1
		}
		return math.Abs(s[0] - s[1])
	}
	return max(apart(l.Turns), apart(l.Length))
}

// MarshalJSON writes a line with its members in this order. A share that a run does not have is null.
func (l *DiffLine) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Domain  string   `json:"domain"`
		ShareOf string   `json:"share_of"`
		TurnsA  *float64 `json:"turns_a"`
		TurnsB  *float64 `json:"turns_b"`
		LengthA *float64 `json:"length_a"`
		LengthB *float64 `json:"length_b"`
		Moved   float64  `json:"moved"`
	}{l.Domain, l.What, number(l.Turns[0]), number(l.Turns[1]), number(l.Length[0]), number(l.Length[1]), l.Moved()})
}

// DriftError says that a share has moved further than it may: exit code 3.
type DriftError struct {
	Lines     int
	Most      DiffLine
	Tolerance float64
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("%d shares have moved by more than %.4g; most of all %s of domain %s, by %.4g; look into it, or raise --tolerance",
		e.Lines, e.Tolerance, e.Most.What, e.Most.Domain, e.Most.Moved())
}

// DiffRuns compares two finished runs by their turns tables. With the diff it returns a *DriftError when a share has
// moved by more than tolerance.
func DiffRuns(ctx context.Context, a, b string, tolerance float64) (*Diff, error) {
	if !(tolerance >= 0 && tolerance <= 1) {
		return nil, &UsageError{fmt.Errorf("--tolerance %v: want a share from 0 to 1", tolerance)}
	}
	var runs [2]*figures.Figures
	tokens := true
	for i, path := range [2]string{a, b} {
		r, err := openRun(path)
		if err != nil {
			return nil, err
		}
		if runs[i], err = figuresOf(ctx, path, r.plan, &r.table, r.partitions); err != nil {
			return nil, err
		}
		tokens = tokens && r.plan.tokens()
	}
	d := &Diff{Unit: "characters"}
	if tokens {
		d.Unit = "tokens"
	}
	d.add("all", [2]*figures.Group{runs[0].Whole, runs[1].Whole}, tokens)
	for _, name := range domainsOf(runs) {
		d.add(name, [2]*figures.Group{domainNamed(runs[0], name), domainNamed(runs[1], name)}, tokens)
	}
	drift := &DriftError{Tolerance: tolerance}
	for _, l := range d.Lines {
		if l.Moved() > tolerance {
			drift.Lines++
			if l.Moved() > drift.Most.Moved() || drift.Lines == 1 {
				drift.Most = l
			}
		}
	}
	if drift.Lines > 0 {
		return d, drift
	}
	return d, nil
}

// domainsOf returns the domains of both runs, those of the first in its order and then what the second has more.
func domainsOf(runs [2]*figures.Figures) []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range runs {
		for _, g := range f.Dims[figures.Domain].All() {
			if !seen[g.Name] {
				seen[g.Name] = true
				names = append(names, g.Name)
			}
		}
	}
	return names
}

func domainNamed(f *figures.Figures, name string) *figures.Group {
	for _, g := range f.Dims[figures.Domain].All() {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// add compares a domain: every category that one of the runs has, and what is kept.
func (d *Diff) add(name string, groups [2]*figures.Group, tokens bool) {
	if name == figures.RestName {
		name = "all others"
	}
	kept := DiffLine{Domain: name, What: "kept"}
	lines := make([]DiffLine, turnmill.NumCategories)
	var seen [turnmill.NumCategories]bool
	for i, g := range groups {
		kept.Turns[i], kept.Length[i] = math.NaN(), math.NaN()
		var all figures.Sum
		if g != nil {
			all = g.Decided()
		}
		length := lengthOf(&all, tokens)
		var keptTurns, keptLength float64
		for c := range lines {
			l := &lines[c]
			l.Domain, l.What, l.Turns[i], l.Length[i] = name, turnmill.Category(c).String(), math.NaN(), math.NaN()
			if all.Turns == 0 {
				continue
			}
			s := &g.Categories[c]
			seen[c] = seen[c] || s.Turns > 0
			l.Turns[i], l.Length[i] = float64(s.Turns)/float64(all.Turns), float64(lengthOf(s, tokens))/max(float64(length), 1)
			keptTurns += s.Keep * l.Turns[i]
			keptLength += s.Keep * l.Length[i]
		}
		if all.Turns > 0 {
			kept.Turns[i], kept.Length[i] = keptTurns, keptLength
		}
	}
	for c := range lines {
		if seen[c] {
			d.Lines = append(d.Lines, lines[c])
		}
	}
	if kept.Turns[0] == kept.Turns[0] || kept.Turns[1] == kept.Turns[1] {
		d.Lines = append(d.Lines, kept)
	}
}

func lengthOf(s *figures.Sum, tokens bool) int64 {
	if tokens {
		return s.TargetTokens
	}
	return s.Chars
}
