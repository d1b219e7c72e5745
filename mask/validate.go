package mask

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

const (
	maxShort  = 10_000 // code points; no reading of "short" goes further
	maxDigits = 15     // of a bound or keep ratio; both parts of such a ratio are at most 10^15
)

// Validate returns all problems of the table, joined: ratios out of range, categories that repeat, and rows
// that no turn can reach, with the rows that hide them. Reachability is decided exactly, over everything
// that counts of words and characters can be.
func (t *Table) Validate() error {
	errs := t.unsound()
	sound := len(errs) == 0
	first := map[turnmill.Category]int{}
	for i := range t.Rows {
		if at, found := first[t.Rows[i].Category]; found {
			errs = append(errs, fmt.Errorf("mask table: %s: the category has %s already; give each category one row", t.nameRow(i), t.nameRow(at)))
			continue
		}
		first[t.Rows[i].Category] = i
	}
	if !sound {
		return errors.Join(errs...) // there is no telling what a row reaches
	}
	for i, hiders := range newSpace(t).hidden() {
		switch {
		case hiders == nil:
		case len(hiders) == 0:
			errs = append(errs, fmt.Errorf("mask table: %s: no turn can fulfil its bounds; widen one of them", t.nameRow(i)))
		default:
			errs = append(errs, fmt.Errorf("mask table: %s: never reached, %s above it takes every such turn; try moving it up, above %s",
				t.nameRow(i), t.nameRows(hiders), t.nameRow(hiders[0])))
		}
	}
	return errors.Join(errs...)
}

// unsound returns what is wrong with the table's numbers.
func (t *Table) unsound() []error {
	var errs []error
	if t.Short < 0 || t.Short > maxShort {
		errs = append(errs, fmt.Errorf("mask table: short %d is not between 0 and %d code points; the default is %d", t.Short, maxShort, DefaultShort))
	}
	if len(t.Rows) == 0 {
		errs = append(errs, errors.New("mask table: no rows; to train on every turn use the mask mode off"))
	}
	if err := checkShare(t.Other); err != nil {
		errs = append(errs, fmt.Errorf("mask table: other: keep %w", err))
	}
	for i := range t.Rows {
		for _, err := range t.Rows[i].problems() {
			errs = append(errs, fmt.Errorf("mask table: %s: %w", t.nameRow(i), err))
		}
	}
	return errs
}

func (t *Table) nameRow(i int) string {
	name := fmt.Sprintf("category %d", t.Rows[i].Category)
	if c := t.Rows[i].Category; int(c) < turnmill.NumCategories {
		name = c.String()
	}
	return fmt.Sprintf("row %d (%s)", i+1, name)
}

func (t *Table) nameRows(rows []int) string {
	names := make([]string, len(rows))
	for k, i := range rows {
		names[k] = t.nameRow(i)
	}
	return strings.Join(names, " with ")
}

// problems returns what is wrong with a row taken alone.
func (r *Row) problems() []error {
	var errs []error
	if int(r.Category) >= int(turnmill.CategoryOther) {
		errs = append(errs, errors.New("not a category for a row; other is what no row takes, and has a keep ratio of its own"))
	}
	if err := checkShare(r.Keep); err != nil {
		errs = append(errs, fmt.Errorf("keep %w", err))
	}
	onLength := false
	for i, at := range r.bounds() {
		kind := &boundKinds[i]
		if at.Den == 0 {
			if at.Num != 0 {
				errs = append(errs, fmt.Errorf("%s %d/0 is not a number; leave the bound out or give it a denominator", kind.name, at.Num))
			}
			continue
		}
		check := checkShare
		if kind.on == lengthRatio {
			check, onLength = checkNumber, true
		}
		if err := check(*at); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", kind.name, err))
		}
	}
	if r.OrShort && !onLength {
		errs = append(errs, errors.New("or_short without a bound on the length ratio changes nothing; add ratio_max, or leave it out"))
	}
	return errs
}

// checkShare checks a keep ratio or a bound of overlap or novelty.
func checkShare(r turnmill.Ratio) error {
	if err := checkNumber(r); err != nil {
		return err
	}
	if r.Num > r.Den {
		return fmt.Errorf("%s is above 100%%; write a share such as 70%% or 0.7", decimal(rat(r)))
	}
	return nil
}

// checkNumber asks for a decimal of at most maxDigits digits, so that the table can be written down again.
func checkNumber(r turnmill.Ratio) error {
	if r.Den == 0 {
		return fmt.Errorf("%d/0 is not a number; give it a denominator", r.Num)
	}
	places, exact := rat(r).FloatPrec()
	digits := strings.TrimLeft(strings.Replace(rat(r).FloatString(places), ".", "", 1), "0")
	if !exact || places > maxDigits || len(digits) > maxDigits {
		return fmt.Errorf("%d/%d has no decimal of at most %d digits; round it", r.Num, r.Den, maxDigits)
	}
	return nil
}

// hidden returns, for each row, nil when some turn reaches it, and otherwise the rows that take the turns
// which fulfil its bounds: none when no turn does.
func (s *space) hidden() [][]int {
	reached := make([]bool, len(s.table.Rows))
	hiders := make([][]int, len(s.table.Rows))
	for i := range hiders {
		hiders[i] = []int{}
	}
	s.each(func(p point) {
		first := -1
		for i := range s.table.Rows {
			switch {
			case !s.table.Rows[i].matches(p.short, s.compare(p)):
			case first < 0:
				first, reached[i] = i, true
			case !slices.Contains(hiders[i], first):
				hiders[i] = append(hiders[i], first)
			}
		}
	})
	for i := range hiders {
		slices.Sort(hiders[i])
		if reached[i] {
			hiders[i] = nil
		}
	}
	return hiders
}
