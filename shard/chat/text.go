package chat

import (
	"slices"

	"github.com/turnmill/turnmill"
)

// Text grows the tokens of one message after another, and the spans of what they say, in the same loop:
// no span is ever found again by searching. Plain text is gathered into a stretch that ends at the next
// control token and is encoded once as a whole; borders of spans inside it map by byte offsets.
//
//	<|im_start|> assistant \n total 0 <|im_end|> \n
//	control      |--- one stretch ---| control   stretch
//	                        ^^^^^^^^^^^^^^^^^^^  observation: content and end token
//
// A token across a border belongs to the side of its last byte, and is counted.
type Text struct {
	IDs         []int32
	Action      turnmill.Span // of the turn written last, in IDs
	Observation turnmill.Span
	Reasoning   turnmill.Span   // of the answer written last, tags included, less what the prompt holds; empty without
	Spans       []turnmill.Span // of the turn written last: Place.Spans in IDs, valid until the next turn
	Prompt      int32           // of the turn written last: where the system prompt inside it ends, its start when there is none
	Forged      int             // control texts inside content, encoded as text
	Added       int             // other added tokens inside content
	Straddles   int             // tokens across a span's border

	encoder turnmill.Encoder
	stretch []byte
	marks   []mark
	pieces  []turnmill.Span // of the stretch, in bytes behind base: they become Spans
	base    int
	tokens  turnmill.Tokens
	err     error
}

// mark is a place inside the stretch: at is a byte offset, to is where the token's position goes.
type mark struct {
	at     int
	to     *int32
	border bool // of a span: a token across it is counted
}

// NewText returns an empty Text that encodes with e, which it alone uses.
func NewText(e turnmill.Encoder) *Text { return &Text{encoder: e} }

// keepBytes is the largest stretch whose memory is kept for the next trajectory, keepSpans the most spans.
const (
	keepBytes = 4 << 20
	keepSpans = 1 << 16
)

// Reset makes the text empty. IDs keeps its memory unless it has become very large.
func (t *Text) Reset() {
	if cap(t.stretch) > keepBytes {
		t.stretch, t.tokens = nil, turnmill.Tokens{}
	}
	if cap(t.IDs) > keepBytes {
		t.IDs = nil
	}
	if cap(t.Spans) > keepSpans {
		t.Spans = nil
	}
	t.IDs, t.stretch, t.marks = t.IDs[:0], t.stretch[:0], t.marks[:0]
	t.Spans, t.pieces = t.Spans[:0], nil
	t.Action, t.Observation, t.Reasoning, t.Prompt = turnmill.Span{}, turnmill.Span{}, turnmill.Span{}, 0
	t.Forged, t.Added, t.Straddles, t.err = 0, 0, 0, nil
}

// Err returns the first error of the encoder.
func (t *Text) Err() error { return t.err }

func (t *Text) plain(s string) { t.stretch = append(t.stretch, s...) }

// border notes that a span starts or ends here.
func (t *Text) border(to *int32) { t.marks = append(t.marks, mark{len(t.stretch), to, true}) }

// note notes a place that is no border of a span.
func (t *Text) note(to *int32) { t.marks = append(t.marks, mark{len(t.stretch), to, false}) }

// within notes pieces of what is written next, in bytes of it.
func (t *Text) within(pieces []turnmill.Span) {
	t.Spans, t.pieces, t.base = t.Spans[:0], pieces, len(t.stretch)
}

// control ends the stretch and appends a control token.
func (t *Text) control(id int32) {
	t.flush()
	t.IDs = append(t.IDs, id)
}

// flush encodes the stretch and places its marks: a border at byte p stands before the first token that
// ends after p.
func (t *Text) flush() {
	if len(t.stretch) == 0 && len(t.marks) == 0 {
		return
	}
	base := int32(len(t.IDs))
	t.tokens = turnmill.Tokens{IDs: t.IDs, Ends: t.tokens.Ends[:0]}
	if n := len(t.stretch); n > keepBytes { // growing by copies, step by step, would hold two of them
		t.tokens.IDs, t.tokens.Ends = slices.Grow(t.tokens.IDs, n/2), slices.Grow(t.tokens.Ends, n/2)
	}
	if len(t.stretch) > 0 && t.err == nil {
		t.err = t.encoder.Encode(&t.tokens, t.stretch)
	}
	t.IDs, t.tokens.IDs = t.tokens.IDs, nil
	ends := t.tokens.Ends
	i := 0
	for _, m := range t.marks {
		for i < len(ends) && int(ends[i]) <= m.at {
			i++
		}
		if m.border && i < len(ends) && (i == 0 && m.at > 0 || i > 0 && int(ends[i-1]) < m.at) {
			t.Straddles++
		}
		*m.to = base + int32(i)
	}
	if len(t.pieces) > 0 {
		t.Spans = appendInTokens(t.Spans, t.pieces, t.base, ends, base)
		t.pieces = nil
	}
	t.Forged += t.tokens.Forged
	t.Added += t.tokens.Added
	t.stretch, t.marks = t.stretch[:0], t.marks[:0]
}

// appendInTokens appends spans of bytes behind base as spans of tokens, which end at ends and are numbered from first.
// A token is in a span when its last byte is. Spans that meet become one, and one that no token ends in is left out.
func appendInTokens(dst, spans []turnmill.Span, base int, ends []int32, first int32) []turnmill.Span {
	i := 0
	for _, s := range spans {
		for i < len(ends) && int(ends[i]) <= base+int(s.Start) {
			i++
		}
		from := i
		for i < len(ends) && int(ends[i]) <= base+int(s.End) {
			i++
		}
		switch last := len(dst) - 1; {
		case i == from:
		case last >= 0 && dst[last].End == first+int32(from):
			dst[last].End = first + int32(i)
		default:
			dst = append(dst, turnmill.Span{Start: first + int32(from), End: first + int32(i)})
		}
	}
	return dst
}
