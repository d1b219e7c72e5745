package report

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// group is a group of turns as the template takes it.
type group struct {
	*figures.Group
	ID, Title  string
	Of         string // its dimension; "" for the whole
	All        figures.Sum
	Bar        template.HTML // by turns
	BarLength  template.HTML
	Categories []category
	Expected   share // of turns
	Length     share // of what is measured
	Context    []Count
	Dropped    []Count
	Charts     []chart
	Density    template.HTML
	Undefined  int64 // turns that the density leaves out
	Unit       string
	HasTokens  bool
	AllLength  int64

	v *view
}

// Others tells whether some turns are of category other.
func (g group) Others() bool { return g.Other != [figures.NumOther]int64{} }

// Near returns the links to turns near a border of the table.
func (g group) Near() []linkedCount {
	var all []linkedCount
	for _, what := range g.v.whats(figures.Domain) {
		if name, border := strings.CutPrefix(what, "border: "); border {
			if to := g.Examples(what); to != "" {
				all = append(all, linkedCount{Name: name, To: to})
			}
		}
	}
	return all
}

// category is a line of a group's table.
type category struct {
	Name                   string
	Sum                    *figures.Sum
	TurnShare, LengthShare string
	Length                 int64
	Keep                   string
	Turns, Lengths         share
}

func (v *view) group(of, id string, g *figures.Group) group {
	d := slices.Index([]string{"domain", "source", "agent", "tool", "provenance"}, of)
	out := group{Group: g, ID: id, Title: title(figures.Dimension(d), g.Name), Of: of, All: g.Decided(), v: v,
		Context: counts(g.Context), Dropped: counts(g.Dropped), Unit: v.unit(), HasTokens: v.Tokens}
	out.AllLength = v.lengthOf(&out.All)
	if of == "" {
		out.Title = "The whole"
	}
	var turns, lengths [turnmill.NumCategories]float64
	all := out.AllLength
	var wantTurns, wantLength, turnSquares, lengthSquares float64
	for _, c := range barOrder {
		s := &g.Categories[c]
		if s.Turns == 0 {
			continue
		}
		turns[c] = ratio(s.Turns, out.All.Turns)
		lengths[c] = ratio(v.lengthOf(s), all)
		// A product that is converted is rounded: no machine fuses it with the sum.
		keepTurns, keepLength := s.Expected(v.Mode, v.Tokens)
		wantTurns += float64(keepTurns * float64(s.Turns))
		wantLength += float64(keepLength * float64(v.lengthOf(s)))
		turnSquares += float64(s.Keep * (1 - s.Keep) * float64(s.Turns))
		lengthSquares += float64(s.Keep * (1 - s.Keep) * v.squaresOf(s))
		out.Categories = append(out.Categories, category{
			Name: c.String(), Sum: s, TurnShare: percent(turns[c]), LengthShare: percent(lengths[c]), Length: v.lengthOf(s), Keep: percent(s.Keep),
			Turns:   v.turnShare(keepTurns, ratio(s.KeptTurns, s.Turns), figures.Deviation(s.Keep, float64(s.Turns), float64(s.Turns)), 1/float64(s.Turns)),
			Lengths: v.lengthShare(keepLength, ratio(v.keptOf(s), v.lengthOf(s)), v.deviation(s), v.mostOf(s)/float64(max(v.lengthOf(s), 1))),
		})
	}
	if n := float64(out.All.Turns); n > 0 {
		out.Expected = v.turnShare(wantTurns/n, ratio(out.All.KeptTurns, out.All.Turns), math.Sqrt(turnSquares)/n, 1/n)
	}
	if all > 0 {
		out.Length = v.lengthShare(wantLength/float64(all), ratio(v.keptOf(&out.All), all), math.Sqrt(lengthSquares)/float64(all), v.mostOf(&out.All)/float64(all))
	}
	out.Bar = bar(turns, "Categories by turns: "+spoken(turns))
	out.BarLength = bar(lengths, "Categories by "+v.unit()+": "+spoken(lengths))
	out.Charts = v.charts(g)
	out.Density = density(g, v.bounds["novelty"], v.bounds["overlap"], "Turns by novelty and overlap")
	for i := range g.Density {
		for _, n := range g.Density[i] {
			out.Undefined -= n
		}
	}
	out.Undefined += out.All.Turns
	return out
}
