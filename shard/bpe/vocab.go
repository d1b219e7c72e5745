package bpe

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

const (
	// maxID is the largest id: two ids and a rank share a word in the merge table, three ids one in the cache.
	maxID = 1<<21 - 2
	// maxMerges bounds ranks for the same reason.
	maxMerges = 1<<22 - 1
)

// loader holds what only loading needs.
type loader struct {
	m       *Model
	byteOf  [alphabetEnd]int16 // the byte that each character of the alphabet stands for, or -1
	literal map[int32]bool     // ids of added tokens, which stand for their own text
	odd     map[int32]bool     // ids of entries with a character outside the alphabet
	made    int32              // what the last merge made
	raw     []byte             // the bytes of a merge
}

func newLoader() *loader {
	return &loader{m: &Model{}, byteOf: alphabetBytes(), literal: map[int32]bool{}, odd: map[int32]bool{}}
}

// room makes room for a vocabulary of about n entries.
func (l *loader) room(n int) {
	l.m.words.init(n)
	l.m.text = makeTable[byte](8 * n)[:0]
	l.m.starts, l.m.lens = makeTable[uint32](n + 64)[:0], makeTable[uint32](n + 64)[:0]
}

// vocab reads the object token -> id.
func (l *loader) vocab(v jsonscan.Value) error {
	const path = "model.vocab"
	if v.Kind() != jsonscan.Object {
		return broken(path, found(v), "it is an object of tokens and ids")
	}
	l.room(v.Len())
	var name []byte
	for k, val := range v.Members() {
		id, ok := val.Int()
		name = k.AppendString(name[:0])
		if !ok || id < 0 {
			return broken(path, fmt.Sprintf("the id of %q is %s", name, found(val)), "ids are whole numbers from 0")
		}
		if id > maxID {
			return &LoadError{Path: path, Found: fmt.Sprintf("an object with id %d", id),
				Want: fmt.Sprintf("takes ids up to %d", maxID), Unsupported: true}
		}
		if err := l.entry(path, int32(id), name); err != nil {
			return err
		}
	}
	return l.byteTokens()
}

// entry adds an entry of the vocabulary. One with a character outside the alphabet stands for its own text,
// as in the library's decoder.
func (l *loader) entry(path string, id int32, name []byte) error {
	from := len(l.m.text)
	var plain bool
	if l.m.text, plain = l.decode(l.m.text, name); !plain {
		l.m.text = append(l.m.text, name...)
	}
	if err := l.place(path, id, from); err != nil {
		return err
	}
	l.m.entries++
	if plain {
		l.m.words.add(l.m, id)
		return nil
	}
	l.m.name(string(name), id)
	l.odd[id] = true
	return nil
}

// place notes that id stands for text[from:]; every id stands for one text only.
func (l *loader) place(path string, id int32, from int) error {
	m := l.m
	if from == len(m.text) {
		return broken(path, fmt.Sprintf("id %d has an empty text", id), "every token has a text")
	}
	for int(id) >= len(m.starts) {
		m.starts, m.lens = append(m.starts, 0), append(m.lens, 0)
	}
	if m.lens[id] != 0 {
		return broken(path, fmt.Sprintf("id %d belongs to %q and to %q", id, m.AppendText(nil, id), m.text[from:]), "an id belongs to one token")
	}
	m.starts[id], m.lens[id] = uint32(from), uint32(len(m.text)-from)
	return nil
}

// byteTokens finds the 256 tokens of single bytes; with all of them nothing is ever unknown.
func (l *loader) byteTokens() error {
	for b, r := range byteAlphabet() {
		id := l.m.words.get(l.m, []byte{byte(b)})
		if id < 0 {
			return &LoadError{Path: "model.vocab", Found: fmt.Sprintf("an object without %q, the token of byte 0x%02X", string(r), b),
				Want: "needs the tokens of all 256 bytes", Unsupported: true}
		}
		l.m.byteID[b] = id
	}
	return nil
}

// decode appends the bytes that a name stands for. plain is false, and dst unchanged, for a name with a
// character outside the alphabet.
func (l *loader) decode(dst, name []byte) (_ []byte, plain bool) {
	n := len(dst)
	for i := 0; i < len(name); {
		r := rune(name[i])
		i++
		if r >= utf8.RuneSelf {
			if r < 0xC2 || r > 0xC5 || i == len(name) || name[i]&0xC0 != 0x80 { // three bytes or four, or no UTF-8
				return dst[:n], false
			}
			r = r&0x1F<<6 | rune(name[i])&0x3F
			i++
		}
		if r >= alphabetEnd || l.byteOf[r] < 0 {
			return dst[:n], false
		}
		dst = append(dst, byte(l.byteOf[r]))
	}
	return dst, true
}

// merges reads the list of pairs, "a b" or ["a","b"], lowest rank first.
func (l *loader) merges(v jsonscan.Value) error {
	const path = "model.merges"
	if v.Kind() != jsonscan.Array {
		return broken(path, found(v), "it is an array of pairs")
	}
	n := v.Len()
	if n > maxMerges {
		return &LoadError{Path: path, Found: found(v), Want: fmt.Sprintf("takes up to %d merges", maxMerges), Unsupported: true}
	}
	l.m.merges.init(n)
	kind := v.At(0).Kind()
	var buf []byte
	rank := 0
	for e := range v.Elems() {
		var cut int
		var ok bool
		if buf, cut, ok = splitMerge(buf[:0], e); !ok || e.Kind() != kind {
			return broken(fmt.Sprintf("%s[%d]", path, rank), found(e), `every merge is "a b", or every one ["a","b"]`)
		}
		if fault := l.merge(buf, cut); fault != nil {
			fault.Path = fmt.Sprintf("%s[%d]", path, rank)
			return fault
		}
		rank++
	}
	return nil
}

// merge adds the merge of both parts of a name cut in two. The Path of the error is left open.
func (l *loader) merge(name []byte, cut int) *LoadError {
	left, right, made := l.tokens(name, cut)
	if left < 0 || right < 0 || made < 0 {
		return &LoadError{Found: fmt.Sprintf("merge of %q and %q", name[:cut], name[cut:]), Want: "both and what they make stand in model.vocab"}
	}
	if !l.m.merges.add(left, right, made) {
		return &LoadError{Found: fmt.Sprintf("merge of %q and %q for the second time", name[:cut], name[cut:]), Want: "each pair is listed once"}
	}
	return nil
}

// tokens returns the ids of both parts of a name cut in two, and of the whole; -1 for those that are none.
func (l *loader) tokens(name []byte, cut int) (left, right, whole int32) {
	var plainA, plainB bool
	l.raw, plainA = l.decode(l.raw[:0], name[:cut])
	n := len(l.raw)
	l.raw, plainB = l.decode(l.raw, name[cut:])
	if plainA && plainB {
		w := &l.m.words
		return w.get(l.m, l.raw[:n]), w.get(l.m, l.raw[n:]), l.product(l.raw)
	}
	id := func(part []byte) int32 {
		if id, ok := l.m.ID(string(part)); ok {
			return id
		}
		return -1
	}
	return id(name[:cut]), id(name[cut:]), id(name)
}

// product returns the entry of the vocabulary with these bytes, or -1. Merges mostly make one token after the
// other, or one in several ways: those two are looked at first, and need no search.
func (l *loader) product(raw []byte) int32 {
	for _, id := range [...]int32{l.made, l.made + 1} {
		if int(id) < len(l.m.lens) && !l.odd[id] && string(l.m.textOf(id)) == string(raw) {
			l.made = id
			return id
		}
	}
	id := l.m.words.get(l.m, raw)
	l.made = max(id, 0)
	return id
}

// splitMerge appends what a merge makes to buf and returns where its second part begins.
func splitMerge(buf []byte, e jsonscan.Value) (_ []byte, cut int, ok bool) {
	switch e.Kind() {
	case jsonscan.String:
		return splitAtBlank(e.AppendString(buf))
	case jsonscan.Array:
		n := 0
		for part := range e.Elems() {
			if n++; n == 2 {
				cut = len(buf)
			}
			if part.Kind() != jsonscan.String {
				return buf, 0, false
			}
			buf = part.AppendString(buf)
		}
		return buf, cut, n == 2 && cut > 0 && cut < len(buf)
	}
	return buf, 0, false
}

// splitAtBlank takes the one blank out of "a b" and returns where it was.
func splitAtBlank(buf []byte) (_ []byte, cut int, ok bool) {
	cut = bytes.IndexByte(buf, ' ')
	if cut < 0 || bytes.HasPrefix(buf, []byte("#version")) {
		return buf, 0, false
	}
	buf = append(buf[:cut], buf[cut+1:]...)
	return buf, cut, cut > 0 && cut < len(buf) && bytes.IndexByte(buf[cut:], ' ') < 0
}
