package pipelines

import (
	"cmp"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// exampleCheck chooses a partition's examples again, from its turns.
type exampleCheck struct {
	kinder
	seed   string
	chosen *figures.Reservoir[*exampleLine]
}

func newExampleCheck(p *Plan, table *mask.Table) *exampleCheck {
	return &exampleCheck{kinder: newKinder(table, p.tokens()), seed: p.Mask.Seed, chosen: figures.NewReservoir[*exampleLine](mostKinds)}
}

func (c *exampleCheck) turn(row *stats.TurnRow) {
	kinds := c.of(row)
	if len(kinds) == 0 {
		return
	}
	rank := figures.Rank(c.seed, row.ID, row.Turn)
	var one *exampleLine
	for _, k := range kinds {
		kept := c.chosen.At(k)
		if kept == nil || !kept.Wants(rank) {
			continue
		}
		if one == nil {
			l := lineOf(row, rank)
			one = &l
		}
		kept.Put(rank, one)
	}
}

// compare holds the examples that lie there against those that were chosen. Their texts only the inputs prove.
func (c *exampleCheck) compare(root string, i int, fault func(string, string, ...any)) (rows int64, err error) {
	path := examplesPath(i)
	want := map[*exampleLine][]int{}
	var order []*exampleLine
	for n, k := range c.chosen.Kinds() {
		for _, e := range c.chosen.Of(k) {
			if want[e.Value] == nil {
				order = append(order, e.Value)
			}
			want[e.Value] = append(want[e.Value], n)
		}
	}
	slices.SortStableFunc(order, func(a, b *exampleLine) int { return cmp.Compare(a.Rank, b.Rank) })
	err = readExamples(root, i, func(kinds []figures.Kind) {
		if !slices.Equal(kinds, c.chosen.Kinds()) {
			fault(path, "its kinds are not those of the turns table")
		}
	}, func(l *exampleLine) error {
		n := int(rows)
		rows++
		if n >= len(order) {
			fault(path, "line %d: the turns table gives %d examples", n+2, len(order))
			return errApart
		}
		again := *order[n]
		again.Kinds, again.Action, again.Observation = want[order[n]], l.Action, l.Observation
		if !reflect.DeepEqual(&again, l) {
			fault(path, "line %d: turn %d of %s: the turns table gives turn %d of %s here, or other figures", n+2, l.Turn, l.ID, again.Turn, again.ID)
			return errApart
		}
		if c.tooLong(&l.Action, l.ActionChars) || c.tooLong(&l.Observation, l.ObservationChars) {
			fault(path, "line %d: turn %d of %s: a text of more or fewer characters than the turn has", n+2, l.Turn, l.ID)
		}
		return nil
	})
	if err == nil && int(rows) < len(order) {
		fault(path, "%d examples; the turns table gives %d", rows, len(order))
	}
	return rows, err
}

// tooLong tells whether an excerpt is of another text than one with so many code points, blanks at its ends apart.
func (c *exampleCheck) tooLong(x *excerpt, chars int64) bool {
	all := int64(utf8.RuneCountInString(x.Head)+utf8.RuneCountInString(x.Tail)) + x.Skipped
	return all < chars || x.Skipped > 0 && x.Skipped+headRunes+tailRunes != all
}
