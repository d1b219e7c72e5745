package mask

import (
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// spanner finds the new spans of an observation: the maximal runs of it whose words are not words of the action.
//
//	action       book flight 12 for Ada
//	observation  {"flight": 12, "for": "Ada", "seat": "4C"}
//	                                           ^^^^^^^^^^^^   new: seat, 4c, and what follows
//
// Each byte belongs to the word that it is a part of, or else to the word before it: what follows a new word says
// that the word is over, and what follows a copied one is copied with it. What stands before the first word belongs
// to none, and is not new. Of a run of Chinese or Japanese characters each belongs to both its pairs, and is new when
// one of them is: no word that is new lies outside a span. Where a word was spelt with escapes of JSON its span holds
// the escapes, in the text as it stands.
//
// A turn has at most mostSpans of them; what comes behind the last goes by the draw.
type spanner struct {
	spans []turnmill.Span
	fresh bool // the word before is new, and its span is open
}

// mostSpans bounds what is held of one turn: 8 MiB here, and as much in its labels' columns.
const mostSpans = 1 << 20

// word takes the next word, or character of a run of pairs, at bytes [from, to) of the text.
func (s *spanner) word(from, to int, fresh bool) {
	last := len(s.spans) - 1
	if s.fresh {
		s.spans[last].End = int32(from)
	}
	if touches := last >= 0 && s.spans[last].End == int32(from); !touches && len(s.spans) == mostSpans {
		fresh = false
	}
	switch s.fresh = fresh; {
	case !fresh:
	case last >= 0 && s.spans[last].End == int32(from):
		s.spans[last].End = int32(to)
	default:
		s.spans = append(s.spans, turnmill.Span{Start: int32(from), End: int32(to)})
	}
}

// end takes the length of the whole text.
func (s *spanner) end(n int) {
	if s.fresh {
		s.spans[len(s.spans)-1].End = int32(n)
	}
}

// spansOf appends the new spans of an observation to dst, as bytes of it. The turn is the one that Measure has
// measured last.
func (m *Measurer) spansOf(dst []turnmill.Span, observation string) []turnmill.Span {
	text := bytesOf(observation)
	start := leading(text)
	s := spanner{spans: dst}
	m.locate(trim(text), func(from, to int, fresh bool) { s.word(start+from, start+to, fresh) })
	if m.word = m.word[:0]; len(text) > keepBytes {
		m.split.release()
		m.word = nil
	}
	s.end(len(text))
	return s.spans
}

// locate calls visit with the words of a text in their order, and with each character of a run of pairs instead of
// the pairs: where it stands in the text, and whether it is new: no word of the action, or a part of a pair that is
// none. Words are those that scan enters.
func (m *Measurer) locate(text []byte, visit func(from, to int, fresh bool)) {
	m.split.each(text, func(stretch []byte, level, at int) {
		l := locator{m: m, b: stretch, visit: func(from, to int, fresh bool) {
			from = m.split.origin(level, at+from)
			visit(from, m.split.origin(level, at+to), fresh)
		}}
		l.scan()
	})
}

// locator walks over the words of one stretch.
type locator struct {
	m     *Measurer
	b     []byte
	visit func(from, to int, fresh bool)
}

func (l *locator) scan() {
	for i := 0; i < len(l.b); {
		r, n := decodeRune(l.b, i)
		switch kind := kindOf(r); {
		case kind == kindPairing:
			i = l.pairs(i)
		case kind > kindPairing:
			i = l.word(i)
		default:
			i += n
		}
	}
}

// word takes the word that begins at i and returns its end.
func (l *locator) word(i int) int {
	end, ascii := i, true
	for end < len(l.b) {
		r, n := decodeRune(l.b, end)
		if kindOf(r) <= kindPairing {
			break
		}
		ascii = ascii && n == 1
		end += n
	}
	key := uint64(0)
	if ascii {
		key = keyOf(l.b, i, end, lowerBits)
	} else {
		key = l.m.keyOfMixed(l.b[i:end])
	}
	l.visit(i, end, l.fresh(key))
	return end
}

// fresh tells whether the action has not got a word.
func (l *locator) fresh(key uint64) bool { return l.m.words.sides(key)&sideAction == 0 }

// keyOfMixed is the key of a word that is not all ASCII.
func (m *Measurer) keyOfMixed(word []byte) uint64 {
	m.word = m.word[:0]
	for i := 0; i < len(word); {
		r, n := decodeRune(word, i)
		if r == '_' {
			m.word = append(m.word, '_'|0x20) // as lowerBits has it
		} else {
			m.word = utf8.AppendRune(m.word, r+lower[kindOf(r)])
		}
		i += n
	}
	return keyOf(m.word, 0, len(m.word), 0)
}

// pairs takes the characters of the run that begins at i and returns its end. A run of one is a word of its own.
func (l *locator) pairs(i int) int {
	from, before, alone := i, false, true // the character at hand, and whether the pair that ends with it is new
	_, n := decodeRune(l.b, i)
	to := i + n
	for to < len(l.b) {
		r, n := decodeRune(l.b, to)
		if kindOf(r) != kindPairing {
			break
		}
		fresh := l.fresh(keyOf(l.b, from, to+n, 0))
		l.visit(from, to, before || fresh)
		from, to, before, alone = to, to+n, fresh, false
	}
	if alone {
		before = l.fresh(keyOf(l.b, from, to, 0))
	}
	l.visit(from, to, before)
	return to
}
