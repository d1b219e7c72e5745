package mask

import (
	"slices"

	"github.com/turnmill/turnmill"
)

// Explanation shows what a decision rests on, for people. The three lists are sorted by bytes.
type Explanation struct {
	Counts      Counts
	Action      []string // A, the distinct words of the action
	Observation []string // O
	Shared      []string // the words of both
	Rows        []int    // rows of the table whose bounds hold, as Matching gives them
}

// Explain measures a turn as Measurer does, slowly, and keeps the words. Its Counts are those that
// Masker.Decide finds.
func Explain(t *Table, turn *turnmill.Turn) Explanation {
	act, obs := trim(bytesOf(turn.Action)), trim(bytesOf(turn.Observation))
	e := Explanation{Action: distinctWords(act), Observation: distinctWords(obs)}
	for _, w := range e.Action {
		if _, found := slices.BinarySearch(e.Observation, w); found {
			e.Shared = append(e.Shared, w)
		}
	}
	e.Counts = Counts{
		ActionWords:      len(e.Action),
		ObservationWords: len(e.Observation),
		SharedWords:      len(e.Shared),
		ActionChars:      codePoints(act),
		ObservationChars: codePoints(obs),
	}
	e.Rows = Matching(t, e.Counts)
	return e
}

// distinctWords returns the words of a trimmed text, sorted, each once.
func distinctWords(text []byte) []string {
	var split splitter
	var words []string
	split.each(text, func(stretch []byte, _, _ int) { words = appendWords(words, string(stretch)) })
	slices.Sort(words)
	return slices.Compact(words)
}

// appendWords appends the words of a stretch in order, repeated ones included.
func appendWords(words []string, stretch string) []string {
	eachWord(stretch, func(word []byte) { words = append(words, string(word)) })
	return words
}
