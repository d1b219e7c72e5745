package mask

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

// Spec is a Table as a person writes it, and as manifests hold it. Its tags are JSON's; a struct of the same
// fields with a YAML decoder's tags converts to it directly, row by row. In a file:
//
//	short: 100              # code points
//	other: 100%
//	rows:                   # tried in this order
//	  - category: echo
//	    keep: 5%
//	    overlap_min: 70%
//	    novelty_below: 30%
//	  - category: action
//	    keep: 100%
//	    novelty_min: 50%
//	    ratio_max: 1
//	    or_short: true      # ratio_max, or short
type Spec struct {
	Short *int64    `json:"short,omitempty"` // nil: DefaultShort
	Other string    `json:"other,omitempty"` // "": 100%
	Rows  []RowSpec `json:"rows"`
}

// RowSpec is a Row as a person writes it. Numbers are decimals with or without a percent sign: "70%",
// "12.5%", "0.05" and "1.5" are taken exactly. An empty bound is not set; Keep has to be there.
type RowSpec struct {
	Category string `json:"category"`
	Keep     string `json:"keep"`

	OverlapMin   string `json:"overlap_min,omitempty"`
	OverlapBelow string `json:"overlap_below,omitempty"`
	NoveltyMin   string `json:"novelty_min,omitempty"`
	NoveltyBelow string `json:"novelty_below,omitempty"`

	RatioAbove string `json:"ratio_above,omitempty"`
	RatioMin   string `json:"ratio_min,omitempty"`
	RatioBelow string `json:"ratio_below,omitempty"`
	RatioMax   string `json:"ratio_max,omitempty"`
	OrShort    bool   `json:"or_short,omitempty"`
}

func (r *RowSpec) bounds() [len(boundKinds)]*string {
	return [...]*string{
		&r.OverlapMin, &r.OverlapBelow, &r.NoveltyMin, &r.NoveltyBelow,
		&r.RatioAbove, &r.RatioMin, &r.RatioBelow, &r.RatioMax,
	}
}

// FromSpec returns the table that spec describes, valid. The error joins all problems, each with its row.
func FromSpec(spec Spec) (Table, error) {
	t := Table{Short: DefaultShort, Other: turnmill.Ratio{Num: 1, Den: 1}}
	if spec.Short != nil {
		t.Short = *spec.Short
	}
	var errs []error
	if spec.Other != "" {
		var err error
		if t.Other, err = parseRatio(spec.Other); err != nil {
			errs = append(errs, fmt.Errorf("mask table: other: keep %w", err))
		}
	}
	for i := range spec.Rows {
		row, err := spec.Rows[i].row()
		if err != nil {
			errs = append(errs, fmt.Errorf("mask table: row %d (%s): %w", i+1, spec.Rows[i].Category, err))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(errs) > 0 {
		return Table{}, errors.Join(errs...)
	}
	if err := t.Validate(); err != nil {
		return Table{}, err
	}
	return t, nil
}

// row returns the first problem of the row only: the rest of it may follow from the first.
func (r *RowSpec) row() (Row, error) {
	category, ok := turnmill.ParseCategory(r.Category)
	if !ok {
		return Row{}, errors.New("no such category; try retrieval, expansion, action, transform, boilerplate or echo")
	}
	row := Row{Category: category, OrShort: r.OrShort}
	if r.Keep == "" {
		return Row{}, errors.New("keep is missing; write a share such as keep: 50%")
	}
	var err error
	if row.Keep, err = parseRatio(r.Keep); err != nil {
		return Row{}, fmt.Errorf("keep %w", err)
	}
	for i, text := range r.bounds() {
		if *text == "" {
			continue
		}
		if *row.bounds()[i], err = parseRatio(*text); err != nil {
			return Row{}, fmt.Errorf("%s %w", boundKinds[i].name, err)
		}
	}
	return row, nil
}

// Spec returns the table as FromSpec takes it: shares as percentages, length ratios as plain numbers. It
// needs a valid table.
func (t *Table) Spec() Spec {
	short := t.Short
	spec := Spec{Short: &short, Other: percentage(t.Other)}
	for i := range t.Rows {
		r := &t.Rows[i]
		row := RowSpec{Category: r.Category.String(), Keep: percentage(r.Keep), OrShort: r.OrShort}
		for k, at := range r.bounds() {
			switch {
			case at.Den == 0:
			case boundKinds[k].on == lengthRatio:
				*row.bounds()[k] = decimal(rat(*at))
			default:
				*row.bounds()[k] = percentage(*at)
			}
		}
		spec.Rows = append(spec.Rows, row)
	}
	return spec
}

// parseDigits is what an unsigned 64-bit integer holds of any digits; Validate asks for fewer.
const parseDigits = 18

// parseRatio takes a decimal with or without a percent sign as an exact ratio in lowest terms. Its errors
// begin with the text.
func parseRatio(text string) (turnmill.Ratio, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number = strings.TrimRight(number, " ")
	whole, fraction, point := strings.Cut(number, ".")
	places := len(fraction)
	if percent {
		places += 2
	}
	digits := whole + fraction
	if len(digits) > parseDigits || places > parseDigits {
		return turnmill.Ratio{}, fmt.Errorf("%q has more than %d digits; round it", text, maxDigits)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || whole == "" || point && fraction == "" {
		return turnmill.Ratio{}, fmt.Errorf("%q is not a decimal number; write it as 70%% or 1.5", text)
	}
	den := uint64(1)
	for range places {
		den *= 10
	}
	return reduce(turnmill.Ratio{Num: n, Den: den}), nil
}

func percentage(r turnmill.Ratio) string {
	return decimal(new(big.Rat).Mul(rat(r), big.NewRat(100, 1))) + "%"
}

// decimal writes a number whose decimal is finite, as all in a valid table are.
func decimal(r *big.Rat) string {
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}

func rat(r turnmill.Ratio) *big.Rat {
	n, d := new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den)
	return new(big.Rat).SetFrac(n, d)
}
