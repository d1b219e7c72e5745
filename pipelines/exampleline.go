package pipelines

import (
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

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

func lineOf(row *stats.TurnRow, rank uint64) exampleLine {
	return exampleLine{
		Rank: rank, ID: strings.Clone(row.ID), Turn: row.Turn, Domain: strings.Clone(row.Domain), Source: strings.Clone(row.Source),
		Agent: strings.Clone(figures.Name(row.Agent)), Tool: strings.Clone(figures.Name(row.Tool)),
		ActionWords: row.ActionWords, ObservationWords: row.ObservationWords, SharedWords: row.SharedWords,
		ActionChars: row.ActionChars, ObservationChars: row.ObservationChars,
		Category: row.Category, Keep: row.Keep, Kept: row.Kept, Status: row.Status, Reason: row.Reason,
	}
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
