package pipelines

import (
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// ShownSpan is a stretch of an observation that carries loss whatever the draw: bytes [Start, End) of the text as it is
// shown.
type ShownSpan struct {
	Tokens *turnmill.Span `json:"tokens,omitempty"` // of the row; nil without a row
	Start  int            `json:"start"`
	End    int            `json:"end"`
	Text   string         `json:"text"`
}

// addSpan notes a span of the observation. One whose borders lie inside a character begins and ends with the next.
func (t *ShownTurn) addSpan(start, end int, tokens *turnmill.Span) {
	border := func(i int) int {
		for i = min(i, len(t.Observation)); i < len(t.Observation) && !utf8.RuneStart(t.Observation[i]); {
			i++
		}
		return i
	}
	start, end = border(start), border(end)
	t.Spans = append(t.Spans, ShownSpan{tokens, start, end, strings.Clone(t.Observation[start:end])})
}

// spans finds the kept spans of a turn in its text.
func (v *rowView) spans(shown *ShownTurn, t *stats.TurnRow) {
	shown.Parted = t.KeptSpans != nil
	var scratch []byte
	size, at := 0, t.TokenStart
	walk := func(to int32) int {
		for ; at < to; at++ {
			scratch = v.model.AppendText(scratch[:0], v.ids[at])
			size += len(scratch)
		}
		return size
	}
	for i := 1; i < len(t.KeptSpans); i += 2 {
		span := turnmill.Span{Start: t.TokenStart + t.KeptSpans[i-1], End: t.TokenStart + t.KeptSpans[i]}
		start := walk(span.Start)
		shown.addSpan(start, walk(min(span.End, t.TokenEnd-1)), &span)
	}
}
