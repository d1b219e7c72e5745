package report

import (
	_ "embed"
	"fmt"
	"html/template"

	"github.com/turnmill/turnmill/stats/figures"
)

//go:embed beyond.html.tmpl
var beyondText string

// beyondRow is the whole, or a domain, in the tables of what the mask does not look at.
type beyondRow struct {
	group
	Name string // for programs
	B    *figures.Beyond
}

// Beyond returns the whole and the domains; nil when no turn was looked at.
func (v *view) Beyond() []beyondRow {
	rows := []beyondRow{{v.Whole, "the whole", &v.Figures.Whole.Beyond}}
	if rows[0].B.All.Turns == 0 {
		return nil
	}
	for _, g := range v.Sections[figures.Domain].Groups {
		if g.Group.Beyond.All.Turns > 0 { // documents are nobody's answer
			rows = append(rows, beyondRow{g, g.Of + " " + g.Title, &g.Group.Beyond})
		}
	}
	return rows
}

// Leaks returns the domains and tools that have turns to judge by a reference answer, the whole first.
func (v *view) Leaks() []beyondRow {
	var rows []beyondRow
	for _, r := range v.Beyond() {
		if r.B.Judged.Turns > 0 {
			rows = append(rows, r)
		}
	}
	for _, g := range v.Sections[figures.Tool].Groups {
		if g.Group.Beyond.Leaked.Turns > 0 {
			name := g.Of + " " + g.Title
			if g.Group.Name != "" {
				g.Title = name
			}
			rows = append(rows, beyondRow{g, name, &g.Group.Beyond})
		}
	}
	return rows
}

// To is the link to the row's group.
func (r beyondRow) To() string { return "#" + r.ID }

// HasState tells whether a turn has a state.
func (r beyondRow) HasState() bool { return r.B.State.Turns > 0 }

// barCell is a bar of novelty in a row: turns below it against the action alone, and against action and state.
type barCell struct {
	At                     string
	Action, Both           int64
	ActionShare, BothShare string
}

// Bars returns the bars of the table.
func (r beyondRow) Bars() []barCell {
	var cells []barCell
	s := &r.B.State
	for _, b := range s.Bars {
		cells = append(cells, barCell{percentOf(b.At.Num, b.At.Den), b.Action, b.Both, percent(ratio(b.Action, s.Turns)), percent(ratio(b.Both, s.Turns))})
	}
	return cells
}

// percentOf writes a bound of the table.
func percentOf(num, den uint64) string { return percent(float64(num) / float64(den)) }

// quartiles writes the middle half of a distribution.
func quartiles(s *figures.Shares) string {
	if s.Count() == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, %s, %s", percent(s.Quantile(.25)), percent(s.Quantile(.5)), percent(s.Quantile(.75)))
}

// Alone and Both are the quartiles of novelty.
func (r beyondRow) Alone() string { return quartiles(&r.B.State.Action) }

// Both counts the state's words as known.
func (r beyondRow) Both() string { return quartiles(&r.B.State.Both) }

// Drawings shows both distributions.
func (r beyondRow) Drawings() []chart {
	s := &r.B.State
	lines, of := r.v.bounds["novelty"], template.HTMLEscapeString(r.Title)
	return []chart{
		{Name: r.Title + ": action alone", Drawing: shareHistogram(&s.Action, lines, "Distribution of novelty against the action, "+of)},
		{Name: r.Title + ": action and state", Drawing: shareHistogram(&s.Both, lines, "Distribution of novelty against action and state, "+of)},
	}
}

// unseenCell is what one stretch of trajectories has that stands nowhere before.
type unseenCell struct {
	Turns, Words, Unseen int64
	Share, Middle        string
}

// Stretches returns the cells of a row.
func (r beyondRow) Stretches() []unseenCell {
	var cells []unseenCell
	for i := range r.B.Unseen {
		u := &r.B.Unseen[i]
		c := unseenCell{Turns: u.Turns, Words: u.Words, Unseen: u.Unseen, Share: "-"}
		if u.Words > 0 {
			c.Share, c.Middle = percent(ratio(u.Unseen, u.Words)), percent(u.Shares.Quantile(.5))
		}
		cells = append(cells, c)
	}
	return cells
}

// Parts returns the trajectories of each provenance, those with an instruction, and those with a perturbation.
func (r beyondRow) Parts() []figures.Part {
	return append(r.B.Provenance[:len(r.B.Provenance):len(r.B.Provenance)], r.B.Instructed, r.B.Perturbed)
}
