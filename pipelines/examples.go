package pipelines

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// Examples of an audit, chosen by hash (stats/figures), whoever works on what:
//
//	worker     of each job the turns with the least ranks of each kind, with their texts
//	consumer   of the partition the same, texts cut and marked            -> examples/pNNNNN.jsonl.zst
//	report     of the run the same
//
// The first line of a file holds its kinds in the order of first sight; each other line is an exampleLine.

// mostKinds is how many kinds of domains, how many categories of others and how much else of others a partition has
// examples of; reportKinds are those of a run.
const (
	mostKinds   = 400
	reportKinds = 1000
)

// Sizes of an example's texts. Words of a text above markBytes are not marked.
const (
	headRunes = 900
	tailRunes = 300
	markBytes = 64 << 10
)

func examplesPath(i int) string { return fmt.Sprintf("examples/p%05d.jsonl.zst", i) }

// sample is an example as partitions and reports keep it.
type sample struct {
	line    exampleLine
	noTexts string // why there are none
}

// candidate is a turn that may become an example. Its texts are its outcome's; those of a turn that is too long to be
// marked are excerpts already.
type candidate struct {
	row                 stats.TurnRow
	rank                uint64
	action, observation string
	cut                 [2]excerpt
	whole               bool    // action and observation are there
	admitted            *sample // once it is one
}

// sampler chooses the examples of one outcome.
type sampler struct {
	kinder
	seed   string
	chosen *figures.Reservoir[*candidate]
	used   int // of candidates
	store  []*candidate

	records recordSampler
}

// kinder tells what a turn is an example of. It serves one goroutine.
type kinder struct {
	table   *mask.Table
	tokens  bool
	borders []mask.Border
	names   []string
	kinds   []figures.Kind
}

func newKinder(table *mask.Table, tokens bool) kinder {
	k := kinder{table: table, tokens: tokens, borders: table.Borders()}
	for _, b := range k.borders {
		k.names = append(k.names, borderKind+b.Name(table))
	}
	return k
}

// What kinds are called, beside categories. Borders are a domain's alone.
const (
	borderKind     = "border: "
	droppedKind    = "dropped: "
	contextKind    = "context: "
	repetitiveKind = "repetitive"
	leakedKind     = "leaked answer"
)

// of returns the kinds of a turn, valid until the next call. They follow from the turn's row.
func (k *kinder) of(row *stats.TurnRow) []figures.Kind {
	k.kinds = k.kinds[:0]
	domain := figures.Domain.String()
	switch {
	case row.Category == "":
	case decided(row, k.tokens):
		c := countsOf(row)
		k.add(row, row.Category)
		for i, b := range k.borders {
			if _, near := b.Near(k.table, c); near {
				k.kinds = append(k.kinds, figures.Kind{Of: domain, Name: figures.Name(row.Domain), What: k.names[i]})
			}
		}
		if row.Category == turnmill.CategoryOther.String() && c.ObservationWords > 0 && 2*(c.ObservationWords-c.SharedWords) < c.ObservationWords {
			k.add(row, repetitiveKind)
		}
		if row.AnswerLeaked != nil && *row.AnswerLeaked {
			k.add(row, leakedKind)
		}
	case row.Status == turnmill.StatusDropped.String():
		k.add(row, droppedKind+row.Reason)
	default:
		k.add(row, contextKind+row.Reason)
	}
	return k.kinds
}

// add adds a kind of each dimension.
func (k *kinder) add(row *stats.TurnRow, what string) {
	for d, name := range namesOf(row) {
		k.kinds = append(k.kinds, figures.Kind{Of: figures.Dimension(d).String(), Name: figures.Name(name), What: what})
	}
}

func (s *setup) newSampler() *sampler {
	if !s.plan.audits() {
		return nil
	}
	return &sampler{kinder: newKinder(&s.table, s.plan.tokens()), seed: s.plan.Mask.Seed, chosen: figures.NewPassing[*candidate](), records: newPassingRecords(s.plan.Mask.Seed)}
}

// reset forgets the candidates; their memory serves the next outcome's.
func (s *sampler) reset() {
	s.chosen.Reset()
	s.records.reset()
	for _, c := range s.store[:s.used] {
		*c = candidate{} // it would hold the memory of a huge record
	}
	if len(s.store) > mostStored {
		s.store = nil
	}
	s.used = 0
}

// mostStored is how many candidates are kept for the next outcome.
const mostStored = 1 << 10

// turn looks at one turn, whose texts it copies into the outcome's memory if it may be an example.
func (s *sampler) turn(row *stats.TurnRow, turn *turnmill.Turn, arena *jsonscan.Arena) {
	kinds := s.of(row)
	if len(kinds) == 0 {
		return
	}
	rank := figures.Rank(s.seed, row.ID, row.Turn)
	var one *candidate
	for _, k := range kinds {
		kept := s.chosen.At(k)
		if !kept.Wants(rank) {
			continue
		}
		if one == nil {
			one = s.candidate(row, turn, rank, arena)
		}
		kept.Put(rank, one)
	}
}

func (s *sampler) candidate(row *stats.TurnRow, turn *turnmill.Turn, rank uint64, arena *jsonscan.Arena) *candidate {
	if s.used == len(s.store) {
		s.store = append(s.store, &candidate{})
	}
	c := s.store[s.used]
	s.used++
	*c = candidate{row: *row, rank: rank, whole: len(turn.Action) <= markBytes && len(turn.Observation) <= markBytes}
	if c.whole {
		c.action, c.observation = arena.Copy(turn.Action), arena.Copy(turn.Observation)
	} else {
		c.cut = [2]excerpt{excerptOf(turn.Action), excerptOf(turn.Observation)}
	}
	return c
}

// admit makes a candidate an example, once, with memory of its own.
func (c *candidate) admit(table *mask.Table) *sample {
	if c.admitted == nil {
		c.admitted = &sample{line: lineOf(&c.row, c.rank)}
		l := &c.admitted.line
		if l.Action, l.Observation = c.cut[0], c.cut[1]; c.whole {
			l.Action, l.Observation = markedExcerpts(table, c.action, c.observation)
		}
	}
	return c.admitted
}

// gather takes the examples of an outcome into those of the partition.
func gather(into *figures.Reservoir[*sample], s *sampler, table *mask.Table) {
	for _, k := range s.chosen.Kinds() {
		kept := into.At(k)
		if kept == nil {
			continue
		}
		for _, e := range s.chosen.Of(k) {
			if kept.Wants(e.Rank) {
				kept.Put(e.Rank, e.Value.admit(table))
			}
		}
	}
}
