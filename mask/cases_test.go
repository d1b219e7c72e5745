package mask

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnmill/turnmill"
)

type workedCase struct {
	Name             string   `json:"name"`
	Action           string   `json:"action"`
	Observation      string   `json:"observation"`
	ActionWords      int      `json:"n_act"`
	ObservationWords int      `json:"n_obs"`
	SharedWords      int      `json:"n_both"`
	Overlap          *float64 `json:"overlap"`
	Novelty          *float64 `json:"novelty"`
	Jaccard          *float64 `json:"jaccard"`
	LengthRatio      *float64 `json:"length_ratio"`
	Category         string   `json:"category"`
	Keep             float64  `json:"keep"`
	ActionChars      int64    `json:"chars_action"`
	ObservationChars int64    `json:"chars_observation"`
	WordsAction      []string `json:"words_action"`
	WordsObservation []string `json:"words_observation"`
	Note             string   `json:"note"`
}

// TestWorkedCases checks every field of the worked examples: counts, statistics and decision through the
// fast path, word sets through Explain.
func TestWorkedCases(t *testing.T) {
	data, err := os.ReadFile("testdata/mask-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []workedCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 23 {
		t.Fatalf("%d worked cases, want 23", len(cases))
	}
	table := Default()
	masker, err := New(table, "0", ModeTurn)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			turn := &turnmill.Turn{Action: c.Action, Observation: c.Observation}
			d := decide(masker, "id", turn)
			got := workedCase{
				Name: c.Name, Action: c.Action, Observation: c.Observation, Note: c.Note,
				ActionWords: d.ActionWords, ObservationWords: d.ObservationWords, SharedWords: d.SharedWords,
				ActionChars: d.ActionChars, ObservationChars: d.ObservationChars,
				Category: d.Category.String(), Keep: d.Keep.Float(),
			}
			e := Explain(&table, turn)
			got.Overlap, got.Novelty = nullable(e.Counts.Overlap()), nullable(e.Counts.Novelty())
			got.Jaccard, got.LengthRatio = nullable(e.Counts.Jaccard()), nullable(e.Counts.LengthRatio())
			got.WordsAction, got.WordsObservation = e.Action, e.Observation
			if diff := cmp.Diff(c, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
			if e.Counts != countsOf(d) {
				t.Errorf("Explain counts %+v, Decide %+v", e.Counts, countsOf(d))
			}
		})
	}
}

func nullable(v float64, defined bool) *float64 {
	if !defined || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func countsOf(d turnmill.MaskDecision) Counts {
	return Counts{d.ActionWords, d.ObservationWords, d.SharedWords, d.ActionChars, d.ObservationChars}
}
