package bpe

import (
	"bytes"
	"fmt"

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
	names   []string           // by id, as in the file; "" for ids that the file does not have
	byteOf  [alphabetEnd]int16 // the byte that each character of the alphabet stands for, or -1
	literal map[int32]bool     // ids of added tokens, which stand for their own text
}

// vocab reads the object token -> id.
func (l *loader) vocab(v jsonscan.Value) error {
	const path = "model.vocab"
	if v.Kind() != jsonscan.Object {
		return broken(path, found(v), "it is an object of tokens and ids")
	}
	n := v.Len()
	l.m.ids = make(map[string]int32, n+64)
	l.names = make([]string, 0, n+64)
	var arena jsonscan.Arena
	for k, val := range v.Members() {
		id, ok := val.Int()
		name := arena.Close(k.AppendString(arena.Open()))
		if !ok || id < 0 {
			return broken(path, fmt.Sprintf("the id of %q is %s", name, found(val)), "ids are whole numbers from 0")
		}
		if id > maxID {
			return &LoadError{Path: path, Found: fmt.Sprintf("an object with id %d", id),
				Want: fmt.Sprintf("takes ids up to %d", maxID), Unsupported: true}
		}
		if err := l.name(path, int32(id), name); err != nil {
			return err
		}
		l.m.ids[name] = int32(id)
	}
	return l.byteTokens()
}

// name notes that id is called name; every id has one name only.
func (l *loader) name(path string, id int32, name string) error {
	if name == "" {
		return broken(path, fmt.Sprintf("id %d has an empty text", id), "every token has a text")
	}
	for int(id) >= len(l.names) {
		l.names = append(l.names, "")
	}
	if old := l.names[id]; old != "" && old != name {
		return broken(path, fmt.Sprintf("id %d belongs to %q and to %q", id, old, name), "an id belongs to one token")
	}
	l.names[id] = name
	return nil
}

// byteTokens finds the 256 tokens of single bytes; with all of them nothing is ever unknown.
func (l *loader) byteTokens() error {
	for r := range l.byteOf {
		l.byteOf[r] = -1
	}
	for b, r := range byteAlphabet() {
		id, ok := l.m.ids[string(r)]
		if !ok {
			return &LoadError{Path: "model.vocab", Found: fmt.Sprintf("an object without %q, the token of byte 0x%02X", string(r), b),
				Want: "needs the tokens of all 256 bytes", Unsupported: true}
		}
		l.m.byteID[b] = id
		l.byteOf[r] = int16(b)
	}
	return nil
}

// decode appends the bytes that a vocabulary entry stands for. An entry with a character outside the
// alphabet stands for its own text, as in the library's decoder.
func (l *loader) decode(dst []byte, name string) []byte {
	n := len(dst)
	for _, r := range name {
		if r >= alphabetEnd || l.byteOf[r] < 0 {
			return append(dst[:n], name...)
		}
		dst = append(dst, byte(l.byteOf[r]))
	}
	return dst
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
		if err := l.merge(buf[:cut], buf[cut:], buf); err != nil {
			err.Path = fmt.Sprintf("%s[%d]", path, rank)
			return err
		}
		rank++
	}
	return nil
}

// merge adds one pair of tokens.
func (l *loader) merge(a, b, product []byte) *LoadError {
	left, okA := l.m.ids[string(a)]
	right, okB := l.m.ids[string(b)]
	made, okC := l.m.ids[string(product)]
	if !okA || !okB || !okC {
		return &LoadError{Found: fmt.Sprintf("merge of %q and %q", a, b), Want: "both and what they make stand in model.vocab"}
	}
	if !l.m.merges.add(left, right, made) {
		return &LoadError{Found: fmt.Sprintf("merge of %q and %q for the second time", a, b), Want: "each pair is listed once"}
	}
	return nil
}

// splitMerge appends what a merge makes to buf and returns where its second part begins.
func splitMerge(buf []byte, e jsonscan.Value) (_ []byte, cut int, ok bool) {
	switch e.Kind() {
	case jsonscan.String:
		buf = e.AppendString(buf)
		cut = bytes.IndexByte(buf, ' ')
		if cut < 0 || bytes.HasPrefix(buf, []byte("#version")) {
			return buf, 0, false
		}
		buf = append(buf[:cut], buf[cut+1:]...)
		return buf, cut, cut > 0 && cut < len(buf) && bytes.IndexByte(buf[cut:], ' ') < 0
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
