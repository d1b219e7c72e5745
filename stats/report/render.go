package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var styleText string

//go:embed whatif.js
var scriptText string

// mostBytes is the size below which every report stays.
const mostBytes = 2_000_000

// Write writes the page. The same figures give the same bytes.
func Write(w io.Writer, p *Page) error {
	t, err := template.New("page").Funcs(functions).Parse(pageText + beyondText)
	if err != nil {
		return err
	}
	v, err := p.view()
	if err != nil {
		return err
	}
	var page string
	for _, amount := range amounts {
		var b bytes.Buffer
		v.choose(amount)
		if err := t.Execute(&b, v); err != nil {
			return err
		}
		if page = visible(b.String()); len(page) < mostBytes { // names may hold control characters too
			break
		}
	}
	_, err = io.WriteString(w, page)
	return err
}

// view is the page as the template takes it.
type view struct {
	*Page
	Style    template.CSS
	Script   template.JS
	Policy   string // of the content: no script but ours
	Data     template.JS
	Whole    group
	Sections []section // a dimension each
	Sets     []exampleSet
	Shown    int // examples of turns
	Lost     []recordSet

	examples []shownExample                  // by number; Number 0: not shown
	anchors  map[figures.Kind]string         // of what has examples
	sets     map[string]string               // of all examples of a group, by its ID
	told     [figures.NumDimensions][]string // what examples are of
	bounds   map[string][]float64
}

// section holds the groups of a dimension.
type section struct {
	Name, Plural string
	Groups       []group
	Names        int
	Lossy        bool
	Rest         bool // the last group is all others
}

func (p *Page) view() (*view, error) {
	data, err := json.Marshal(p.whatIf()) // escapes <, > and &
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(scriptText))
	v := &view{
		Page: p, Style: template.CSS(styleText), Script: template.JS(scriptText), Data: template.JS(data),
		Policy: fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:])),
		bounds: p.Table.lines(),
	}
	v.Whole = v.group("", "whole", p.Figures.Whole)
	plurals := [...]string{"domains", "sources", "agents", "tools", "provenance"}
	for d := range figures.NumDimensions {
		dim := &p.Figures.Dims[d]
		s := section{Name: d.String(), Plural: plurals[d], Names: dim.Names, Lossy: dim.Lossy, Rest: dim.Rest != nil}
		for i, g := range dim.All() {
			s.Groups = append(s.Groups, v.group(d.String(), d.String()+"-"+strconv.Itoa(i+1), g))
		}
		v.Sections = append(v.Sections, s)
	}
	return v, nil
}

// lines returns where the table has bounds, by statistic, each place once.
func (t *Table) lines() map[string][]float64 {
	lines := map[string][]float64{}
	for i := range t.Rows {
		for _, b := range t.Rows[i].Bounds {
			if at := b.At.Float(); !slices.Contains(lines[b.On], at) {
				lines[b.On] = append(lines[b.On], at)
			}
		}
	}
	return lines
}

// title is a group's name for people.
func title(d figures.Dimension, name string) string {
	switch {
	case name == figures.RestName:
		return "all others"
	case name == "" && d == figures.Tool:
		return "no tool named"
	case d == figures.Provenance:
		return map[string]string{"true": "observed", "false": "simulated", "": "not said"}[name]
	case name == "":
		return "not named"
	}
	return name
}

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

// share is a realised share against what was to be expected.
type share struct {
	Realised, Expected string
	Band               string // two deviations; "" where nothing is drawn
	Outside            bool   // further than chance takes it once in a thousand times
	Drawing            template.HTML
}

type chart struct {
	Name      string
	Drawing   template.HTML
	Quantiles string
	More      string
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
		keepTurns, keepLength := v.expected(s)
		wantTurns += float64(keepTurns * float64(s.Turns))
		wantLength += float64(keepLength * float64(v.lengthOf(s)))
		turnSquares += float64(s.Keep * (1 - s.Keep) * float64(s.Turns))
		lengthSquares += float64(s.Keep * (1 - s.Keep) * v.squaresOf(s))
		out.Categories = append(out.Categories, category{
			Name: c.String(), Sum: s, TurnShare: percent(turns[c]), LengthShare: percent(lengths[c]), Length: v.lengthOf(s), Keep: percent(s.Keep),
			Turns:   v.share(keepTurns, ratio(s.KeptTurns, s.Turns), figures.Deviation(s.Keep, float64(s.Turns), float64(s.Turns)), 1/float64(s.Turns)),
			Lengths: v.share(keepLength, ratio(v.keptOf(s), v.lengthOf(s)), v.deviation(s), v.mostOf(s)/float64(max(v.lengthOf(s), 1))),
		})
	}
	if n := float64(out.All.Turns); n > 0 {
		out.Expected = v.share(wantTurns/n, ratio(out.All.KeptTurns, out.All.Turns), math.Sqrt(turnSquares)/n, 1/n)
	}
	if all > 0 {
		out.Length = v.share(wantLength/float64(all), ratio(v.keptOf(&out.All), all), math.Sqrt(lengthSquares)/float64(all), v.mostOf(&out.All)/float64(all))
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

func (v *view) lengthOf(s *figures.Sum) int64 {
	if v.Tokens {
		return s.TargetTokens
	}
	return s.Chars
}

func (v *view) keptOf(s *figures.Sum) int64 {
	if v.Tokens {
		return s.TrainedTokens
	}
	return s.KeptChars
}

// expected returns the shares of turns and of length that a category is expected to keep: the table's ratio, unless
// turns are kept in part.
func (v *view) expected(s *figures.Sum) (turns, length float64) {
	switch {
	case v.Mode != "span" && v.Mode != "changed":
		return s.Keep, s.Keep
	case v.Tokens:
		length = s.ExpectedTokens / float64(max(s.TargetTokens, 1))
	default:
		length = s.ExpectedChars / float64(max(s.Chars, 1))
	}
	return s.ExpectedTurns / float64(s.Turns), length
}

func (v *view) squaresOf(s *figures.Sum) float64 {
	if v.Tokens {
		if v.Mode == "token" { // a draw a token
			return float64(s.TargetTokens)
		}
		return s.SquaredTargets.Float()
	}
	return s.SquaredChars.Float()
}

func (v *view) deviation(s *figures.Sum) float64 {
	return figures.Deviation(s.Keep, v.squaresOf(s), float64(v.lengthOf(s)))
}

// mostOf is the longest of what is drawn at once.
func (v *view) mostOf(s *figures.Sum) float64 {
	switch {
	case v.Tokens && v.Mode == "token":
		return 1
	case v.Tokens:
		return float64(s.MostTargets)
	}
	return float64(s.MostChars)
}

// outsideDoubt: of so many shares one is marked by chance, at most.
const outsideDoubt = 1000

// share sets a realised share beside the expected one, of which one draw is most at most. In the modes off and weight
// nothing is drawn, in span and changed not all of a turn is.
func (v *view) share(expected, realised, deviation, most float64) share {
	s := share{Realised: percent(realised), Expected: percent(expected)}
	if v.Mode != "turn" && !(v.Mode == "token" && v.Tokens) || deviation == 0 {
		return s
	}
	s.Band = "± " + percent(2*deviation)
	s.Outside = math.Abs(realised-expected) > figures.Bound(deviation*deviation, most, outsideDoubt)
	s.Drawing = band(expected, deviation, realised)
	return s
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

// spoken lists shares for who does not see the bar.
func spoken(shares [turnmill.NumCategories]float64) string {
	var parts []string
	for _, c := range barOrder {
		if shares[c] > 0 {
			parts = append(parts, c.String()+" "+percent(shares[c]))
		}
	}
	if len(parts) == 0 {
		return "no turns"
	}
	return strings.Join(parts, ", ")
}

func counts(m map[string]int64) []Count {
	var out []Count
	for name, n := range m {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.N != b.N {
			return int(b.N - a.N)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func ratio(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// percent writes a share for people: one decimal, two where it is small.
func percent(x float64) string {
	switch p := 100 * x; {
	case math.IsNaN(p):
		return "-"
	case p == 0:
		return "0%"
	case p < 0.01:
		return "<0.01%"
	case p < 1:
		return strconv.FormatFloat(p, 'f', 2, 64) + "%"
	case p > 99.9 && p < 100:
		return ">99.9%"
	default:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	}
}

// figure writes a number with three digits.
func figure(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Thousands writes n with a comma between each three digits.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(s) - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

var functions = template.FuncMap{
	"n": Thousands,
	"turns": func(n int64) string {
		if n == 1 {
			return "1 turn"
		}
		return Thousands(n) + " turns"
	},
	"n64":    func(n int) string { return Thousands(int64(n)) },
	"linked": linked,
	"reason": linkedReason,
	"at":     func(to string, n int64) linkedCount { return linkedCount{To: to, N: n} },
	"legend": func() []turnmill.Category { return barOrder[:] },

	"positions": func() []string { return figures.PositionNames[:] },
	"share":     func(n, of int64) string { return percent(ratio(n, of)) },
}
