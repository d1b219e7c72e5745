package bpe

import (
	"bytes"
	"unicode/utf8"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// loadFast reads a sound file of the usual spelling without a node for each of a million strings. It cuts the
// vocabulary and the merges out, and reads the rest as any JSON:
//
//	{"version":"1.0", … "model":{"type":"BPE", … "vocab":{"!":0,"\"":1,…},"merges":["Ġ Ġ",…]}}
//	                                                    |-----------------|         |----------|
//
// It returns nil for whatever it does not know or finds wrong: then the file is read again in the other way,
// which says what is wrong with it.
func loadFast(data []byte) *Model {
	rest, vocab, merges := cutModel(data)
	if vocab == nil || merges == nil {
		return nil
	}
	var doc jsonscan.Doc
	root, err := parse(&doc, rest)
	if err != nil {
		return nil
	}
	l := newLoader()
	if l.shape(root) != nil || !l.fastVocab(vocab) || l.byteTokens() != nil || !l.fastMerges(merges) || l.finish(root) != nil {
		return nil
	}
	return l.m
}

// cutModel returns the document with an empty vocabulary and no merges, and what it took out, brackets
// included; nil for what it did not find.
func cutModel(data []byte) (rest, vocab, merges []byte) {
	s := scanner{data: data}
	from := 0
	s.object(func(key []byte) {
		if string(key) != "model" {
			s.skip()
			return
		}
		s.object(func(key []byte) {
			start := s.at
			s.skip()
			switch value := data[start:s.at]; {
			case string(key) == "vocab" && vocab == nil && len(value) > 0 && value[0] == '{':
				rest = append(append(rest, data[from:start]...), "{}"...)
				vocab, from = value, s.at
			case string(key) == "merges" && merges == nil && len(value) > 0 && value[0] == '[':
				rest = append(append(rest, data[from:start]...), "[]"...)
				merges, from = value, s.at
			}
		})
	})
	if s.bad {
		return nil, nil, nil
	}
	return append(rest, data[from:]...), vocab, merges
}

// fastVocab is vocab for the text of the object.
func (l *loader) fastVocab(text []byte) bool {
	l.room(bytes.Count(text, []byte{':'})) // one each, and some in names
	s := scanner{data: text}
	s.object(func(name []byte) {
		id := s.number()
		if s.bad || id > maxID || l.known(name) || l.entry("", int32(id), name) != nil {
			s.bad = true
		}
	})
	return !s.bad && s.at == len(text)
}

// known tells whether an entry has this name. It says so of a name, too, that is not UTF-8 or holds a control
// character: the other way to read looks into those.
func (l *loader) known(name []byte) bool {
	var plain bool
	if l.raw, plain = l.decode(l.raw[:0], name); plain {
		return l.m.words.get(l.m, l.raw) >= 0
	}
	if _, ok := l.m.names[string(name)]; ok {
		return true
	}
	return !utf8.Valid(name) || bytes.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}

// fastMerges is merges for the text of the array.
func (l *loader) fastMerges(text []byte) bool {
	pairs := bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("["))
	most := bytes.Count(text, []byte("\",")) + 1 // a few more where tokens hold such signs
	if pairs {
		most = bytes.Count(text, []byte("["))
	}
	l.m.merges.init(min(most, maxMerges))
	s := scanner{data: text}
	var buf []byte
	n := 0
	s.array(func() {
		var cut int
		ok := true
		if pairs {
			parts := 0
			buf = buf[:0]
			s.array(func() {
				cut, parts = len(buf), parts+1
				buf = append(buf, s.string()...)
			})
			ok = parts == 2 && cut > 0 && cut < len(buf)
		} else {
			buf, cut, ok = splitAtBlank(append(buf[:0], s.string()...))
		}
		if n++; s.bad || !ok || n > maxMerges || l.merge(buf, cut) != nil {
			s.bad = true
		}
	})
	return !s.bad && s.at == len(text)
}
