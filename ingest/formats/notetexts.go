package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// NoteTexts counts what stands in the trajectories and documents that came out, whatever format they are of: U+0000
// in their texts, and those that are marked as a benchmark's. It may be called again: it sets the counts.
func (d *Decoded) NoteTexts() {
	nul, marked := 0, int64(0)
	for i := range d.Trajectories {
		t := &d.Trajectories[i]
		for _, part := range t.System.Parts() {
			nul += strings.Count(part, "\x00")
		}
		for k := range t.Turns {
			turn := &t.Turns[k]
			nul += strings.Count(turn.State, "\x00") + strings.Count(turn.Action, "\x00") + strings.Count(turn.Observation, "\x00") + strings.Count(turn.Thought, "\x00")
		}
		if ofBenchmark(t.Meta) {
			marked++
		}
	}
	for i := range d.Documents {
		nul += strings.Count(d.Documents[i].Text, "\x00")
		if ofBenchmark(d.Documents[i].Meta) {
			marked++
		}
	}
	d.Notes[turnmill.NoteNUL], d.Notes[turnmill.NoteBenchmark] = int64(nul), marked
}

// ofBenchmark tells whether meta has "benchmark": true. A benchmark's name there, as BrowserGym's runs have it, says
// where a run took place, not that it is part of a test set.
func ofBenchmark(meta string) bool {
	if !strings.Contains(meta, `"benchmark"`) {
		return false
	}
	doc := jsonscan.Doc{NonFinite: true}
	v, err := doc.Parse([]byte(meta))
	return err == nil && v.Get("benchmark").Kind() == jsonscan.True
}
