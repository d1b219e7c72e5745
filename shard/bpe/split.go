package bpe

import "unicode/utf8"

// splitKind says which file writes the family's regular expression out.
type splitKind uint8

const (
	wordKind     splitKind = iota // split_words.go
	caseKind                      // split_case.go
	deepseekKind                  // split_deepseek.go
	gpt2Kind                      // split_gpt2.go
)

// letters are the classes of class_tables.go that make up \p{L}.
const letters = "Ulx"

// splitter cuts a piece between added tokens into pre-tokens: fill goes through ASCII 64 bytes at a time,
// next one character after the other. It is read-only. Its classes are those of class_tables.go, mapped to
// what the family tells apart.
type splitter struct {
	kind   splitKind
	digits int       // most numbers in one pre-token, 0 for any
	bytes  [256]byte // class of each byte, and of all characters that begin with it; W where those differ
	width  [256]byte // number of bytes of the characters that begin with each
	of     [128]byte // class of the family for each class of the table
	edge   [128]bool // classes before which a run of blanks stays whole, as at the end of the text
	table  *codeTable
}

func newSplitter(f *family) *splitter {
	s := &splitter{kind: f.kind, digits: f.digits}
	for _, c := range []byte("UlxMNSRPoW") {
		s.of[c] = c
	}
	for from, to := range f.classes {
		for i := range len(from) {
			s.of[from[i]] = to
		}
	}
	for b := range s.bytes {
		s.bytes[b], s.width[b] = s.of[byteClass[b]], 1
		if b >= 0xC2 && b < 0xF0 {
			s.bytes[b], s.width[b] = s.leadClass(byte(b))
		}
	}
	if f.kind == deepseekKind {
		for _, c := range []byte("Nkqu") {
			s.edge[c] = true
		}
	}
	s.table = newCodeTable(s)
	return s
}

// next returns the end of the pre-token that begins at text[i]; i < len(text), and text is one piece
// between added tokens: the rule about blanks at the end looks at the piece's end (regular expression
// `\s+(?!\S)`).
func (s *splitter) next(text []byte, i int) int {
	switch s.kind {
	case caseKind:
		return s.cased(text, i)
	case deepseekKind:
		return s.deepseek(text, i)
	case gpt2Kind:
		return s.gpt2(text, i)
	}
	return s.word(text, i)
}

// class returns the class of the character at text[i] and its length.
func (s *splitter) class(text []byte, i int) (byte, int) {
	b := text[i]
	if c := s.bytes[b]; c != 'W' {
		return c, int(s.width[b])
	}
	r, n := utf8.DecodeRune(text[i:])
	return s.wide(r), n
}

// wide returns the class of a character above U+007F.
func (s *splitter) wide(r rune) byte {
	c := s.of[classOf(r)]
	if s.kind == deepseekKind && isKanaOrHan(r) {
		c = inKanaOrHan(c)
	}
	return c
}

// leadClass returns the class that all characters of two or three bytes with a first byte share, or W, and
// their length: Han and Hangul need no look at single characters.
func (s *splitter) leadClass(b byte) (class, width byte) {
	first, last := rune(b&0x1F)<<6, rune(b&0x1F)<<6+1<<6
	width = 2
	if b >= 0xE0 {
		first, last, width = max(rune(b&0x0F)<<12, 0x800), rune(b&0x0F)<<12+1<<12, 3
	}
	class = s.wide(first)
	for r := first + 1; r < last; r++ {
		if s.wide(r) != class {
			return 'W', width
		}
	}
	return class, width
}

// classOf returns the class of a character above U+007F in class_tables.go.
func classOf(r rune) byte {
	if r < classLimit {
		return classBlocks[int(classIndex[r>>6])<<6|int(r&63)]
	}
	if r >= marksFrom && r <= marksTo {
		return 'M'
	}
	return 'o'
}

// run returns the end of the characters of class c that begin at text[i].
func (s *splitter) run(text []byte, i int, c byte) int {
	for i < len(text) {
		d, n := s.class(text, i)
		if d != c {
			break
		}
		i += n
	}
	return i
}

// numbers returns the end of the pre-token of numbers that begins at text[i].
func (s *splitter) numbers(text []byte, i int) int {
	if s.digits == 0 {
		return s.run(text, i, 'N')
	}
	for k := 0; k < s.digits && i < len(text); k++ {
		c, n := s.class(text, i)
		if c != 'N' {
			break
		}
		i += n
	}
	return i
}

// lineEnds returns the end of the CR and LF that begin at text[i].
func lineEnds(text []byte, i int) int {
	for i < len(text) && (text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// blanks returns the end of the pre-token of blanks that begins at text[i], where no word and no others
// follow the first of them: up to the last line end, else all of them but the last one, which is left to
// what follows.
func (s *splitter) blanks(text []byte, i int) int {
	end, last, line := i, i, 0 // the run's end, its last character, the end of its last line end
	whole := true
	for end < len(text) {
		c, n := s.class(text, end)
		if c != 'S' && c != 'R' {
			whole = s.edge[c]
			break
		}
		last = end
		end += n
		if c == 'R' {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case whole || last == i:
		return end
	}
	return last
}

// contraction returns the end of the contraction at text[i], an apostrophe, or 0: 's 't 'm 'd 're 've 'll.
// Without regard to case (fold), U+017F, the long s, is an s too; no other character beyond ASCII folds
// into these.
func contraction(text []byte, i int, fold bool) int {
	if i+1 >= len(text) {
		return 0
	}
	lower := func(b byte) byte {
		if fold && b >= 'A' && b <= 'Z' {
			return b | 0x20
		}
		return b
	}
	second := byte(0)
	if i+2 < len(text) {
		second = lower(text[i+2])
	}
	switch first := lower(text[i+1]); {
	case first == 's' || first == 't' || first == 'm' || first == 'd':
		return i + 2
	case (first == 'r' || first == 'v') && second == 'e', first == 'l' && second == 'l':
		return i + 3
	case fold && first == 0xC5 && second == 0xBF:
		return i + 3
	}
	return 0
}
