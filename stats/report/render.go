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
	"slices"
	"strconv"

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

var functions = template.FuncMap{
	"n":      Thousands,
	"turns":  func(n int64) string { return counted(n, "turn", "turns") },
	"n64":    func(n int) string { return Thousands(int64(n)) },
	"linked": linked,
	"reason": linkedReason,
	"at":     func(to string, n int64) linkedCount { return linkedCount{To: to, N: n} },
	"legend": func() []turnmill.Category { return barOrder[:] },

	"positions": func() []string { return figures.PositionNames[:] },
	"share":     func(n, of int64) string { return percent(ratio(n, of)) },
}
