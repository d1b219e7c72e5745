package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// Diff is what the figures of two finished runs differ in: two corpora, or one with two tables.
type Diff struct {
	Unit  string     `json:"unit"` // of lengths: tokens where both runs have them, else characters
	Lines []DiffLine `json:"lines"`
}

// DiffLine compares two shares of one domain. Turns is a share of its turns that the mask decided about, Length of
// what they are long: of a category, or of what is expected to be kept ("kept"). A run that has no such turns has NaN.
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
	have := "shares have"
	if e.Lines == 1 {
		have = "share has"
	}
	return fmt.Sprintf("%s %s moved by more than %.4g; most of all %s of domain %s, by %.4g; look into it, or raise --tolerance",
		stats.Thousands(int64(e.Lines)), have, e.Tolerance, e.Most.What, e.Most.Domain, e.Most.Moved())
}

// DiffRuns compares two finished runs by their turns tables. With the diff it returns a *DriftError when a share has
// moved by more than tolerance.
func DiffRuns(ctx context.Context, a, b string, tolerance float64) (*Diff, error) {
	if !(tolerance >= 0 && tolerance <= 1) {
		return nil, &UsageError{fmt.Errorf("--tolerance %v: want a share from 0 to 1", tolerance)}
	}
	runs, sums, err := bothFigures(ctx, a, b)
	if err != nil {
		return nil, err
	}
	d := &Diff{Unit: "characters", Lines: []DiffLine{}}
	if runs[0].plan.tokens() && runs[1].plan.tokens() {
		d.Unit = "tokens"
	}
	modes := [2]string{runs[0].plan.Mask.Mode, runs[1].plan.Mask.Mode}
	d.add("all", [2]*figures.Group{sums[0].Whole, sums[1].Whole}, modes)
	for _, name := range domainsOf(sums) {
		d.add(name, [2]*figures.Group{domainNamed(sums[0], name), domainNamed(sums[1], name)}, modes)
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

// bothFigures adds up the turns of two runs under the same names, those that have most turns in both together: what
// stands apart in one does so in the other.
func bothFigures(ctx context.Context, a, b string) (runs [2]*finishedRun, sums [2]*figures.Figures, err error) {
	names := figures.NewNames()
	for i, path := range [2]string{a, b} {
		if runs[i], err = openRun(path); err == nil {
			err = runs[i].whole(addNames(ctx, path, runs[i].partitions, names))
		}
		if err != nil {
			return runs, sums, err
		}
	}
	for i, r := range runs {
		sums[i], err = figuresFor(ctx, r.root, r.plan, &r.table, r.partitions, names)
		if err = r.whole(err); err != nil {
			return runs, sums, err
		}
	}
	return runs, sums, nil
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

// add compares a domain: every category that one of the runs has, and what is expected to be kept: what the table
// keeps, and in the modes span and changed what carries loss besides.
func (d *Diff) add(name string, groups [2]*figures.Group, modes [2]string) {
	if name == figures.RestName {
		name = "all others"
	}
	tokens := d.Unit == "tokens"
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
			turns, share := s.Expected(modes[i], tokens)
			keptTurns += turns * l.Turns[i]
			keptLength += share * l.Length[i]
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
