package report

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// whatIf is the data of the script: the grid, the table in force, and the cells of each domain.
type whatIf struct {
	Unit    string         `json:"unit"` // of lengths
	Mode    string         `json:"mode"`
	Overlap []string       `json:"overlap"` // thresholds as a table's file has them
	Novelty []string       `json:"novelty"`
	Ratio   []string       `json:"length_ratio"`
	Short   []int64        `json:"short"`
	Table   whatIfTable    `json:"table"`
	Domains []whatIfDomain `json:"domains"`
}

type whatIfTable struct {
	Short int64   `json:"short"`
	Other string  `json:"other"`
	Rows  []Row   `json:"rows"`
	Kinds []Bound `json:"kinds"`
}

// whatIfDomain holds a domain's cells, each as numbers to the base 36: the step from the number of the cell before,
// the length of its turns, and where there is more than one turn their number, norm (figures.Cell.Norm) and the
// longest.
//
//	"1z.4k 3.130.2.t0.rs ..."     cell 71 has one turn of 164, cell 74 two of 1404 together, the longer of 1000
type whatIfDomain struct {
	Name  string `json:"name"`
	Cells string `json:"cells"`
}

func (p *Page) whatIf() *whatIf {
	j := p.Figures.Joint
	w := &whatIf{Unit: p.unit(), Mode: p.Mode, Short: j.Grid.Short, Table: whatIfTable{p.Table.Short, p.Table.Other, p.Table.Rows, p.Table.Kinds}}
	w.Overlap, w.Novelty = percentages(j.Grid.Overlap), percentages(j.Grid.Novelty)
	for _, at := range j.Grid.LengthRatio {
		w.Ratio = append(w.Ratio, decimal(rat(at)))
	}
	for _, g := range p.Figures.Dims[figures.Domain].All() {
		w.Domains = append(w.Domains, whatIfDomain{title(figures.Domain, g.Name), cellsOf(j.Cells(g.Name))})
	}
	return w
}

func (p *Page) unit() string {
	if p.Tokens {
		return "tokens"
	}
	return "characters"
}

func cellsOf(cells []figures.JointCell) string {
	var b strings.Builder
	last := uint64(0)
	number := func(n uint64) { b.WriteString(strconv.FormatUint(n, 36)) }
	for i := range cells {
		c := &cells[i]
		if i > 0 {
			b.WriteByte(' ')
		}
		number(c.Key - last)
		b.WriteByte('.')
		number(uint64(c.Length))
		if c.Turns > 1 {
			b.WriteByte('.')
			number(uint64(c.Turns))
			b.WriteByte('.')
			number(uint64(c.Norm()))
			b.WriteByte('.')
			number(uint64(c.Most))
		}
		last = c.Key
	}
	return b.String()
}

func percentages(grid []turnmill.Ratio) []string {
	var all []string
	for _, at := range grid {
		all = append(all, decimal(new(big.Rat).Mul(rat(at), big.NewRat(100, 1)))+"%")
	}
	return all
}

// decimal writes a number whose decimal is finite, as all thresholds' are.
func decimal(r *big.Rat) string {
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}

func rat(r turnmill.Ratio) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den))
}
