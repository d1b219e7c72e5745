package mask

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
)

// DefaultShort is the length in code points up to which an observation counts as short: a line of status.
const DefaultShort = 100

// Table says what to do with a turn: the first row whose bounds hold gives its category and keep ratio.
// A Table that came from Default or FromSpec is valid; check others with Validate.
type Table struct {
	Short int64          // code points of the trimmed observation; at most that many are short
	Rows  []Row          // in the order in which they are tried
	Other turnmill.Ratio // keep ratio of what no row takes
}

// Row is one category with the bounds that all have to hold. A bound whose Den is zero is not set.
// Undefined statistics fulfil no bound.
type Row struct {
	Category turnmill.Category
	Keep     turnmill.Ratio // share of such turns that carry loss, at most 1

	OverlapMin   turnmill.Ratio // overlap >= this; the four shares are at most 1
	OverlapBelow turnmill.Ratio // overlap <
	NoveltyMin   turnmill.Ratio // novelty >=
	NoveltyBelow turnmill.Ratio // novelty <

	RatioAbove turnmill.Ratio // length ratio >
	RatioMin   turnmill.Ratio // length ratio >=
	RatioBelow turnmill.Ratio // length ratio <
	RatioMax   turnmill.Ratio // length ratio <=
	OrShort    bool           // a short observation fulfils the bounds of the length ratio whatever it is
}

// String returns the row for people: "echo: overlap >= 70%, novelty < 30%".
func (r *Row) String() string {
	var parts, lengths []string
	for i, at := range r.bounds() {
		switch kind := &boundKinds[i]; {
		case at.Den == 0:
		case kind.on == lengthRatio:
			lengths = append(lengths, kind.sign+" "+decimal(rat(*at)))
		default:
			parts = append(parts, kind.sign+" "+percentage(*at))
		}
	}
	if len(lengths) > 0 {
		ratio := strings.Join(lengths, ", ")
		if r.OrShort {
			ratio += " or short"
		}
		parts = append(parts, ratio)
	}
	return r.Category.String() + ": " + strings.Join(parts, ", ")
}

type statistic uint8

const (
	overlap statistic = iota
	novelty
	lengthRatio
	numStatistics = iota
)

// boundKinds describes a row's bounds in the order of Row.bounds: on which statistic, under which name in
// a table's file, and which signs of statistic minus bound fulfil it.
var boundKinds = [...]struct {
	name, sign         string // sign is for people
	on                 statistic
	below, same, above bool
}{
	{name: "overlap_min", sign: "overlap >=", on: overlap, same: true, above: true},
	{name: "overlap_below", sign: "overlap <", on: overlap, below: true},
	{name: "novelty_min", sign: "novelty >=", on: novelty, same: true, above: true},
	{name: "novelty_below", sign: "novelty <", on: novelty, below: true},
	{name: "ratio_above", sign: "length ratio >", on: lengthRatio, above: true},
	{name: "ratio_min", sign: "length ratio >=", on: lengthRatio, same: true, above: true},
	{name: "ratio_below", sign: "length ratio <", on: lengthRatio, below: true},
	{name: "ratio_max", sign: "length ratio <=", on: lengthRatio, below: true, same: true},
}

func (r *Row) bounds() [len(boundKinds)]*turnmill.Ratio {
	return [...]*turnmill.Ratio{
		&r.OverlapMin, &r.OverlapBelow, &r.NoveltyMin, &r.NoveltyBelow,
		&r.RatioAbove, &r.RatioMin, &r.RatioBelow, &r.RatioMax,
	}
}

// matches tells whether all bounds hold. compare orders a statistic against a bound.
func (r *Row) matches(short bool, compare func(on statistic, at turnmill.Ratio) (sign int, defined bool)) bool {
	return r.matchesBut(short, -1, compare)
}

// matchesBut is matches with the answer of one bound turned round; -1 turns none. Undefined statistics fulfil
// no bound either way.
func (r *Row) matchesBut(short bool, not int, compare func(on statistic, at turnmill.Ratio) (sign int, defined bool)) bool {
	for i, at := range r.bounds() {
		kind := &boundKinds[i]
		if at.Den == 0 || r.OrShort && short && kind.on == lengthRatio {
			continue
		}
		sign, defined := compare(kind.on, *at)
		holds := sign < 0 && kind.below || sign == 0 && kind.same || sign > 0 && kind.above
		if !defined || holds == (i == not) {
			return false
		}
	}
	return true
}

// Default returns the report's table in the order that keeps every row reachable. Echo is a part of
// boilerplate, so the printed order would never reach it; the lower half therefore runs from the most
// specific row to the least, and the upper half, where every row keeps all, as printed. "Short" belongs to
// the length ratio: as an alternative to novelty it would keep every short verbatim echo. Report, Table 3.
func Default() Table {
	percent := func(n uint64) turnmill.Ratio { return reduce(turnmill.Ratio{Num: n, Den: 100}) }
	return Table{
		Short: DefaultShort,
		Other: percent(100),
		Rows: []Row{
			{Category: turnmill.CategoryEcho, Keep: percent(5), OverlapMin: percent(70), NoveltyBelow: percent(30)},
			{Category: turnmill.CategoryBoilerplate, Keep: percent(10), OverlapMin: percent(50), NoveltyBelow: percent(50)},
			{Category: turnmill.CategoryTransform, Keep: percent(50), NoveltyBelow: percent(50), RatioBelow: percent(100)},
			{Category: turnmill.CategoryRetrieval, Keep: percent(100), NoveltyMin: percent(60), RatioAbove: percent(100)},
			{Category: turnmill.CategoryExpansion, Keep: percent(100), OverlapMin: percent(50), NoveltyMin: percent(50), RatioAbove: percent(150)},
			{Category: turnmill.CategoryAction, Keep: percent(100), NoveltyMin: percent(50), RatioMax: percent(100), OrShort: true},
		},
	}
}

// Hash returns the SHA-256, in hexadecimal, of the table's canonical text: one line for the limit, one a
// row in order, one for other, each ended by a line feed; bounds that are set in the order of Row, ratios
// in lowest terms, so the spelling of a table's file plays no part. It needs a valid table.
//
//	short 100
//	echo keep 1/20 overlap_min 7/10 novelty_below 3/10
//	action keep 1/1 novelty_min 1/2 ratio_max 1/1 or_short
//	other keep 1/1
func (t *Table) Hash() string {
	var b strings.Builder
	fraction := func(name string, r turnmill.Ratio) {
		r = reduce(r)
		fmt.Fprintf(&b, " %s %d/%d", name, r.Num, r.Den)
	}
	fmt.Fprintf(&b, "short %d\n", t.Short)
	for i := range t.Rows {
		r := &t.Rows[i]
		b.WriteString(r.Category.String())
		fraction("keep", r.Keep)
		for k, at := range r.bounds() {
			if at.Den != 0 {
				fraction(boundKinds[k].name, *at)
			}
		}
		if r.OrShort {
			b.WriteString(" or_short")
		}
		b.WriteByte('\n')
	}
	b.WriteString("other")
	fraction("keep", t.Other)
	b.WriteByte('\n')
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// reduce returns r in lowest terms.
func reduce(r turnmill.Ratio) turnmill.Ratio {
	n, d := r.Num, r.Den
	for d != 0 {
		n, d = d, n%d
	}
	if n == 0 {
		return r
	}
	return turnmill.Ratio{Num: r.Num / n, Den: r.Den / n}
}
