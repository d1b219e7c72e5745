package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/turnmill/turnmill/stats/figures"
)

// chart is a drawing with its name and its figures in words.
type chart struct {
	Name      string
	Drawing   template.HTML
	Quantiles string
	More      string
}

func (v *view) charts(g *figures.Group) []chart {
	shares := func(name string, s *figures.Shares) chart {
		text := "no turn has it"
		if s.Count() > 0 {
			text = fmt.Sprintf("5%%: %s, quartiles %s, %s, %s, 95%%: %s", percent(s.Quantile(.05)), percent(s.Quantile(.25)), percent(s.Quantile(.5)), percent(s.Quantile(.75)), percent(s.Quantile(.95)))
		}
		return chart{Name: name, Drawing: shareHistogram(s, v.bounds[strings.ToLower(name)], "Distribution of "+name), Quantiles: text, More: undefined(s.Undefined, 0)}
	}
	r := &g.LengthRatio
	text := "no turn has it"
	if r.Count() > 0 {
		text = fmt.Sprintf("5%%: %s, quartiles %s, %s, %s, 95%%: %s", figure(r.Quantile(.05)), figure(r.Quantile(.25)), figure(r.Quantile(.5)), figure(r.Quantile(.75)), figure(r.Quantile(.95)))
	}
	return []chart{
		shares("Overlap", &g.Overlap), shares("Novelty", &g.Novelty), shares("Jaccard", &g.Jaccard),
		{Name: "Length ratio", Drawing: ratioHistogram(r, v.bounds["length_ratio"], "Distribution of length ratio, by doublings"), Quantiles: text, More: undefined(r.Undefined, r.Unbounded)},
	}
}

func undefined(n, unbounded int64) string {
	var parts []string
	if n > 0 {
		parts = append(parts, Thousands(n)+" undefined")
	}
	if unbounded > 0 {
		parts = append(parts, Thousands(unbounded)+" after an empty action")
	}
	return strings.Join(parts, ", ")
}
