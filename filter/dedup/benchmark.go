package dedup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// Item is one task of a benchmark.
type Item struct {
	Name   string // for reports
	Source string // "" when it does not say
	TaskID string // so
	Texts  []string
}

// The sizes of what is compared. A text of fewer words than gramWords and of leastWords or more is one run of words.
const (
	gramWords  = 13
	leastWords = 8
	leastID    = 8 // bytes of a task id that is told without a source
)

// matchNum of matchDen is the share of a text's runs that a training text has when it is told to hold the task.
const (
	matchNum = 1
	matchDen = 2
)

// Benchmark holds the tasks of benchmarks:
//
//	item --> source and task id                     equal: the task
//	     --> texts --> runs of 13 words             half of those of one text: the task
//	                   without those of other items (instructions that all tasks have)
//
// It is filled by Add and sealed by Seal; then any number of Matchers read it. A run of words takes some 40 bytes.
type Benchmark struct {
	names []string
	ids   map[[2]string]int32
	texts []benchmarkText
	runs  map[uint64]int32 // hash to text; sharedRun for one that several items have
	sizes []int            // of runs, in words
}

type benchmarkText struct {
	item int32
	runs int // of its own
}

// sharedRun stands for a run that says nothing of one item.
const sharedRun = -1

// NewBenchmark returns one without items.
func NewBenchmark() *Benchmark {
	return &Benchmark{ids: map[[2]string]int32{}, runs: map[uint64]int32{}}
}

// Add adds an item. One whose source and task id came before is the same task again, from another file or version.
func (b *Benchmark) Add(it *Item) {
	key := [2]string{it.Source, it.TaskID}
	number, known := b.ids[key]
	if known = known && it.TaskID != ""; !known {
		number = int32(len(b.names))
		b.names = append(b.names, it.Name)
		if it.TaskID != "" && (it.Source != "" || telling(it.TaskID)) {
			b.ids[key] = number
		}
	}
	for _, text := range it.Texts {
		w := words(nil, text, false)
		if len(w) < leastWords {
			continue
		}
		place := int32(len(b.texts))
		b.texts = append(b.texts, benchmarkText{item: number})
		size := min(len(w), gramWords)
		if !slices.Contains(b.sizes, size) {
			b.sizes = append(b.sizes, size)
		}
		for i := size; i <= len(w); i++ {
			h := join(w[i-size : i])
			switch was, there := b.runs[h]; {
			case !there:
				b.runs[h] = place
			case was != sharedRun && b.texts[was].item != number:
				b.runs[h] = sharedRun
			}
		}
	}
}

// telling tells whether a task id names a task without its source.
func telling(id string) bool {
	return len(id) >= leastID && strings.ContainsFunc(id, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
}

// Seal counts what each text has of its own.
func (b *Benchmark) Seal() {
	for _, text := range b.runs {
		if text != sharedRun {
			b.texts[text].runs++
		}
	}
	slices.Sort(b.sizes)
}

// Items returns how many tasks there are.
func (b *Benchmark) Items() int { return len(b.names) }

// Matcher finds tasks of a benchmark in trajectories and documents. It serves one goroutine.
type Matcher struct {
	of    *Benchmark
	words []uint64
	found map[uint64]int32 // runs of the trajectory at hand
}

// NewMatcher returns one for a sealed benchmark.
func NewMatcher(b *Benchmark) *Matcher { return &Matcher{of: b, found: map[uint64]int32{}} }

// Trajectory returns why a trajectory holds a task of the benchmark; "" when it holds none.
func (m *Matcher) Trajectory(t *turnmill.Trajectory) string {
	if t.TaskID != "" {
		for _, key := range [][2]string{{t.Source, t.TaskID}, {"", t.TaskID}} {
			if item, ok := m.of.ids[key]; ok {
				return m.of.names[item] + ": its task id"
			}
		}
	}
	clear(m.found)
	for _, part := range t.System.Parts() {
		m.look(part)
	}
	for i := range t.Turns {
		m.look(t.Turns[i].Action)
		m.look(t.Turns[i].Observation)
		m.look(t.Turns[i].State)
	}
	return m.most()
}

// Document does so for a document.
func (m *Matcher) Document(d *turnmill.Document) string {
	clear(m.found)
	m.look(d.Text)
	return m.most()
}

// look finds the runs of a text.
func (m *Matcher) look(text string) {
	if len(text) < 2*leastWords-1 {
		return
	}
	m.words = words(m.words[:0], text, false)
	for _, size := range m.of.sizes {
		for i := size; i <= len(m.words); i++ {
			h := join(m.words[i-size : i])
			if place, ok := m.of.runs[h]; ok && place != sharedRun {
				m.found[h] = place
			}
		}
	}
}

// most returns the text of which the largest share was found, where that is enough; the first of several.
func (m *Matcher) most() string {
	if len(m.found) == 0 {
		return ""
	}
	counts := map[int32]int{}
	for _, place := range m.found {
		counts[place]++
	}
	best, runs := int32(-1), 0
	for place, n := range counts { // the order is of no account
		text := &m.of.texts[place]
		if n*matchDen < text.runs*matchNum {
			continue
		}
		if best >= 0 {
			a, b := n*m.of.texts[best].runs, runs*text.runs
			if a < b || a == b && place > best {
				continue
			}
		}
		best, runs = place, n
	}
	if best < 0 {
		return ""
	}
	text := &m.of.texts[best]
	return fmt.Sprintf("%s: %d of %d runs of %d words or fewer", m.of.names[text.item], runs, text.runs, gramWords)
}
