package pipelines

import (
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
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
	order := chosenOnce(c.chosen, func(l *exampleLine) uint64 { return l.Rank }, func(l *exampleLine) *[]int { return &l.Kinds })
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
		again.Action, again.Observation = l.Action, l.Observation
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

// recordExamples holds the examples of records against the rejects and the commit: what was lost is chosen again, and
// what was mended is of a note that the commit counts. Their texts, and which records were mended, only the inputs prove.
func (p *partitionCheck) recordExamples(i int) error {
	path := recordExamplesPath(i)
	want := chosenRecords(p.records.lost, lostNumbers)
	got, rows := newRecordSampler(p.plan.Mask.Seed, mostKinds), 0
	err := readRecordExamples(p.root, i, &got, func(l *recordLine) {
		rows++
		switch {
		case rows > len(want):
			if l.Lost != nil || l.Mended == nil || l.Status != "" || l.Reason != "" || l.Detail != "" {
				p.fault(path, "line %d: the rejects give %d lost records to show", rows+2, len(want))
			}
		default:
			again := *want[rows-1]
			again.Text = l.Text
			if !reflect.DeepEqual(&again, l) {
				p.fault(path, "line %d: %s, offset %d: the rejects give %s, offset %d here, or something else about it", rows+2, l.Path, l.Offset, again.Path, again.Offset)
			}
		}
	})
	if err != nil {
		return err
	}
	if rows < len(want) || !slices.Equal(got.lost.Kinds(), p.records.lost.Kinds()) {
		p.fault(path, "%d lost records; the rejects give %d, or of other kinds", rows, len(want))
	}
	p.notesShown(path, got.mended)
	p.fileRows(path, int64(rows))
	p.report.Examples += int64(rows)
	return nil
}

// notesShown proves that each note of records that the commit counts has its examples, and no other has.
func (p *partitionCheck) notesShown(path string, mended *figures.Reservoir[*recordLine]) {
	want := map[figures.Kind]bool{}
	for _, by := range []map[turnmill.Domain]map[string]int64{p.commit.Counts.Repairs, p.commit.Counts.Notices} {
		for d, notes := range by {
			for name := range notes {
				if d != stats.InputNotes { // what the framer saw may be of no record
					want[figures.Kind{Of: ofNotes, Name: figures.Name(string(d)), What: noteKind(name)}] = true
				}
			}
		}
	}
	for _, k := range mended.Kinds() {
		if !want[k] && k.Name != string(stats.InputNotes) || len(mended.Of(k)) == 0 {
			p.fault(path, "%s of domain %q: the commit counts none, or no record is shown", k.What, k.Name)
		}
		delete(want, k)
	}
	if len(want) > 0 && len(mended.Kinds()) < mostKinds {
		p.fault(path, "%d notes that the commit counts have no record", len(want))
	}
}
