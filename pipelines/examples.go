package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/internal/zstdio"
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

// exampleLine is one example.
type exampleLine struct {
	Rank             uint64  `json:"rank"`
	Kinds            []int   `json:"kinds"` // in the file's first line
	ID               string  `json:"id"`
	Turn             int32   `json:"turn"`
	Domain           string  `json:"domain"`
	Source           string  `json:"source,omitempty"`
	Agent            string  `json:"agent,omitempty"`
	Tool             string  `json:"tool,omitempty"`
	ActionWords      int32   `json:"action_words"`
	ObservationWords int32   `json:"observation_words"`
	SharedWords      int32   `json:"shared_words"`
	ActionChars      int64   `json:"action_chars"`
	ObservationChars int64   `json:"observation_chars"`
	Category         string  `json:"category"`
	Keep             float64 `json:"keep"`
	Kept             bool    `json:"kept"`
	Status           string  `json:"status"`
	Reason           string  `json:"reason,omitempty"`
	Action           excerpt `json:"action"`
	Observation      excerpt `json:"observation"`
}

// excerpt is a text without its middle. Marks are pairs of bytes and kind (mask.MarkKind); without them the text
// was too long to be marked, or is empty.
type excerpt struct {
	Head      string `json:"head"`
	HeadMarks []int  `json:"head_marks,omitempty"`
	Skipped   int64  `json:"skipped,omitempty"` // code points
	Tail      string `json:"tail,omitempty"`
	TailMarks []int  `json:"tail_marks,omitempty"`
}

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

func lineOf(row *stats.TurnRow, rank uint64) exampleLine {
	return exampleLine{
		Rank: rank, ID: strings.Clone(row.ID), Turn: row.Turn, Domain: strings.Clone(row.Domain), Source: strings.Clone(row.Source),
		Agent: strings.Clone(figures.Name(row.Agent)), Tool: strings.Clone(figures.Name(row.Tool)),
		ActionWords: row.ActionWords, ObservationWords: row.ObservationWords, SharedWords: row.SharedWords,
		ActionChars: row.ActionChars, ObservationChars: row.ObservationChars,
		Category: row.Category, Keep: row.Keep, Kept: row.Kept, Status: row.Status, Reason: row.Reason,
	}
}

// markedExcerpts cuts the two texts of a turn and marks their words.
func markedExcerpts(table *mask.Table, action, observation string) (a, o excerpt) {
	e := mask.Explain(table, &turnmill.Turn{Action: action, Observation: observation})
	a, o = excerptOf(action), excerptOf(observation)
	a.mark(&e, e.Action, mask.Escaped(action))
	o.mark(&e, e.Observation, mask.Escaped(observation))
	return a, o
}

func (x *excerpt) mark(e *mask.Explanation, own []string, escapes bool) {
	x.HeadMarks, x.TailMarks = marksOf(e, x.Head, own, escapes), marksOf(e, x.Tail, own, escapes)
}

// excerptOf cuts the middle out of a long text.
func excerptOf(text string) excerpt {
	head := bytesOfRunes(text, headRunes+tailRunes)
	if head == len(text) {
		return excerpt{Head: strings.Clone(text)}
	}
	head = bytesOfRunes(text, headRunes)
	tail := len(text)
	for range tailRunes {
		_, n := utf8.DecodeLastRuneInString(text[:tail])
		tail -= n
	}
	return excerpt{Head: strings.Clone(text[:head]), Skipped: int64(utf8.RuneCountInString(text[head:tail])), Tail: strings.Clone(text[tail:])}
}

// bytesOfRunes returns where the first n code points of a text end.
func bytesOfRunes(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
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

// writeExamples writes what a reservoir holds, each example once, and returns how many there are.
func writeExamples(to io.Writer, r *figures.Reservoir[*sample]) (rows int64, err error) {
	z, err := zstdio.NewWriter(to)
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriter(z)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	kinds := append([]figures.Kind{}, r.Kinds()...)
	err = e.Encode(kinds)
	for _, s := range examplesIn(r) {
		if err == nil {
			err = e.Encode(&s.line)
		}
		rows++
	}
	return rows, errors.Join(err, b.Flush(), z.Close())
}

// examplesIn returns every example of a reservoir once, by rank, with its kinds as their numbers.
func examplesIn(r *figures.Reservoir[*sample]) []*sample {
	var all []*sample
	seen := map[*sample]bool{}
	for i, k := range r.Kinds() {
		for _, e := range r.Of(k) {
			if !seen[e.Value] {
				seen[e.Value] = true
				e.Value.line.Kinds = nil
				all = append(all, e.Value)
			}
			e.Value.line.Kinds = append(e.Value.line.Kinds, i)
		}
	}
	slices.SortStableFunc(all, func(a, b *sample) int {
		switch {
		case a.line.Rank < b.line.Rank:
			return -1
		case a.line.Rank > b.line.Rank:
			return 1
		}
		return 0
	})
	return all
}

// readExamples reads what writeExamples wrote, and calls kinds once and then each with every example.
func readExamples(root string, i int, kinds func([]figures.Kind), each func(*exampleLine) error) error {
	path := examplesPath(i)
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := zstdio.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	defer z.Close()
	d := json.NewDecoder(bufio.NewReader(z))
	d.DisallowUnknownFields()
	var names []figures.Kind
	if err := d.Decode(&names); err != nil {
		return fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	kinds(names)
	for n := 1; ; n++ {
		l := &exampleLine{}
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w: line %d: %w", path, turnmill.ErrCorrupt, n+1, err)
		}
		for _, k := range l.Kinds {
			if k < 0 || k >= len(names) {
				return fmt.Errorf("%s: %w: line %d: kind %d of %d", path, turnmill.ErrCorrupt, n+1, k, len(names))
			}
		}
		if err := each(l); err != nil {
			return err
		}
	}
}

// collectExamples gathers the examples of a run from those of its partitions.
func collectExamples(root string, partitions int) (*figures.Reservoir[*sample], error) {
	all := figures.NewReservoir[*sample](reportKinds)
	for i := range partitions {
		var names []figures.Kind
		err := readExamples(root, i, func(k []figures.Kind) {
			names = k
			for _, name := range names {
				all.At(name)
			}
		}, func(l *exampleLine) error {
			s := &sample{line: *l}
			for _, k := range l.Kinds {
				if kept := all.At(names[k]); kept != nil && kept.Wants(l.Rank) {
					kept.Put(l.Rank, s)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
