package mask

import (
	"bytes"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

const (
	maxNested = 4       // how often in a row a string that is JSON is decoded again
	keepBytes = 1 << 20 // buffers for larger texts are given back after the turn
)

// splitter finds the stretches of a text that words are cut from: of JSON the keys, the decoded strings
// and whatever stands between strings; of other texts the text itself.
//
// Only escapes make a difference. Quotes, brackets, colons and commas separate words in any case, and
// numbers and literals are cut by the same rules as text, so JSON without a backslash has the words of its
// raw text, and so has every part of JSON that holds none.
//
//	{"a":1,"cmd":"ls\n-l","n":[true]}
//	|------------|======|-----------|    - a raw stretch   = the string decoded, a stretch of its own
type splitter struct {
	doc     jsonscan.Doc
	decoded [maxNested + 1][]byte // the string in hand at each level
	places  [maxNested + 1]place  // where it stands
}

// each calls visit with every stretch of text, which is trimmed, and where it stands: at byte at of a text of level
// strings that were decoded (0: of text itself); see splitter.origin. A stretch is valid during the call.
//
// A text is JSON when it begins with a brace, a bracket or a quote and is one or more JSON values (RFC
// 8259, at most 10,000 open arrays and objects), each two with a blank between them. One fault makes all of
// it raw text.
func (s *splitter) each(text []byte, visit func(stretch []byte, level, at int)) {
	if bytes.IndexByte(text, '\\') >= 0 && mayBeJSON(text) {
		if _, err := s.doc.ParseMany(text); err == nil {
			s.values(text, 0, 0, visit)
			return
		}
	}
	visit(text, 0, 0)
}

// values visits JSON that is known to be valid and begins at byte at of its level. The tape of the parse is not needed
// for it: up to the first backslash quotes come in pairs, so the last quote before it opens the string that holds it.
func (s *splitter) values(text []byte, level, at int, visit func(stretch []byte, level, at int)) {
	for {
		slash := bytes.IndexByte(text, '\\')
		if slash < 0 {
			visit(text, level, at)
			return
		}
		open := bytes.LastIndexByte(text[:slash], '"')
		visit(text[:open], level, at)
		str, n, err := s.doc.ParsePrefix(text[open:])
		if err != nil {
			panic("mask: a string of valid JSON does not parse: " + err.Error())
		}
		s.decoded[level] = str.AppendString(s.decoded[level][:0])
		s.places[level] = place{raw: text[open+1 : open+n-1], at: at + open + 1}
		text, at = text[open+n:], at+open+n
		inner := trim(s.decoded[level])
		if level < maxNested && !afterKey(text) && s.nested(inner) {
			s.values(inner, level+1, leading(s.decoded[level]), visit)
		} else {
			visit(s.decoded[level], level+1, 0)
		}
	}
}

// nested tells whether a decoded string is exactly one array or object that has to be decoded in turn.
func (s *splitter) nested(text []byte) bool {
	if bytes.IndexByte(text, '\\') < 0 || text[0] == '"' || !mayBeJSON(text) {
		return false
	}
	_, err := s.doc.Parse(text)
	return err == nil
}

// afterKey tells whether rest, which follows a string, makes that string a member's key.
func afterKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// mayBeJSON looks at the first two characters. It spares the parser prompts, log levels and the like,
// which begin with a bracket or brace often.
func mayBeJSON(text []byte) bool {
	if len(text) < 2 {
		return false
	}
	second := func(allowed string) bool {
		rest := bytes.TrimLeft(text[1:], " \t\r\n")
		return len(rest) > 0 && bytes.IndexByte([]byte(allowed), rest[0]) >= 0
	}
	switch text[0] {
	case '"':
		return true
	case '{':
		return second(`"}`)
	case '[':
		return second(`]{["-0123456789tfn`)
	}
	return false
}

// release gives back what an unusually long text left behind.
func (s *splitter) release() {
	*s = splitter{}
}
