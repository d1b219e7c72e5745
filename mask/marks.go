package mask

import (
	"slices"
	"unicode/utf8"
)

// MarkKind says what a stretch of a text is.
type MarkKind uint8

// Stretches without a word of the turn, with words of this side alone, and with words of both sides.
const (
	MarkPlain MarkKind = iota
	MarkOwn
	MarkShared
)

// Mark is a stretch of so many bytes.
type Mark struct {
	Bytes int
	Kind  MarkKind
}

// Marks cuts a piece of one of the turn's texts into stretches, for people: their bytes add up to the piece's. own
// are the words of its side, Explanation.Action or Observation. What lies between two words of one kind is of
// that kind. escapes says that the whole text is JSON (Escaped): words are of decoded strings and the piece is
// not decoded, so a backslash and the letter after it stand between words.
func (e *Explanation) Marks(piece string, own []string, escapes bool) []Mark {
	m := marker{shared: e.Shared, own: own}
	for i := 0; i < len(piece); {
		r, n := utf8.DecodeRuneInString(piece[i:])
		switch kind := kindOf(r); {
		case escapes && r == '\\':
			n = escapeBytes(piece[i:])
			m.add(n, MarkPlain)
			m.escaped = true
		case kind == kindPairing:
			n = m.pairs(piece[i:])
		case kind > kindPairing:
			n = m.word(piece[i:])
		default:
			m.add(n, MarkPlain)
		}
		i += n
	}
	return m.joined()
}

// Escaped tells whether a text may be JSON with escapes in its strings.
func Escaped(text string) bool { return mayBeJSON(trim(bytesOf(text))) }

// escapeBytes returns the length of the escape that a piece begins with.
func escapeBytes(piece string) int {
	switch {
	case len(piece) < 2:
		return len(piece)
	case piece[1] == 'u':
		return min(6, len(piece))
	case piece[1] < utf8.RuneSelf:
		return 2
	}
	return 1
}

type marker struct {
	shared, own []string
	marks       []Mark
	escaped     bool // what stands before is an escape
	lower       []byte
}

func (m *marker) add(bytes int, kind MarkKind) {
	m.escaped = false
	if n := len(m.marks); n > 0 && m.marks[n-1].Kind == kind {
		m.marks[n-1].Bytes += bytes
	} else if bytes > 0 {
		m.marks = append(m.marks, Mark{bytes, kind})
	}
}

func (m *marker) kind(word string) MarkKind {
	if _, found := slices.BinarySearch(m.shared, word); found {
		return MarkShared
	}
	if _, found := slices.BinarySearch(m.own, word); found {
		return MarkOwn
	}
	return MarkPlain
}

// word marks the word that a piece begins with. Where JSON stands in a string of JSON, the letter of the inner
// escape touches the word: \\nalpha.
func (m *marker) word(piece string) int {
	m.lower = m.lower[:0]
	n := 0
	for n < len(piece) {
		r, size := utf8.DecodeRuneInString(piece[n:])
		k := kindOf(r)
		if k <= kindPairing {
			break
		}
		m.lower = utf8.AppendRune(m.lower, r+lower[k])
		n += size
	}
	kind := m.kind(string(m.lower))
	if kind == MarkPlain && m.escaped && n > 1 && piece[0] < utf8.RuneSelf {
		if rest := m.kind(string(m.lower[1:])); rest != MarkPlain {
			m.add(1, MarkPlain)
			m.add(n-1, rest)
			return n
		}
	}
	m.add(n, kind)
	return n
}

// pairs marks a run of characters whose words are adjacent pairs: a character takes the kind of the better of its two.
func (m *marker) pairs(piece string) int {
	var ends []int
	n := 0
	for n < len(piece) {
		r, size := utf8.DecodeRuneInString(piece[n:])
		if kindOf(r) != kindPairing {
			break
		}
		n += size
		ends = append(ends, n)
	}
	if len(ends) == 1 {
		m.add(n, m.kind(piece[:n]))
		return n
	}
	from, before := 0, MarkPlain // the kind of the pair that ends here
	for i, end := range ends {
		kind := before
		if i+1 < len(ends) {
			before = m.kind(piece[from:ends[i+1]])
			kind = max(kind, before)
		}
		m.add(end-from, kind)
		from = end
	}
	return n
}

// joined lets what lies between two stretches of a kind belong to them.
func (m *marker) joined() []Mark {
	var out []Mark
	for i, mark := range m.marks {
		n := len(out)
		if mark.Kind == MarkPlain && n > 0 && i+1 < len(m.marks) && m.marks[i+1].Kind == out[n-1].Kind {
			mark.Kind = out[n-1].Kind
		}
		if n > 0 && out[n-1].Kind == mark.Kind {
			out[n-1].Bytes += mark.Bytes
		} else {
			out = append(out, mark)
		}
	}
	return out
}
