package hf

import (
	"fmt"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxID bounds ids, and with them the memory that a broken file can ask for.
const maxID = 1<<24 - 1

// read makes a model of a tokenizer.json: all that needs no library.
func read(data []byte) (*Model, error) {
	var doc jsonscan.Doc
	root, err := doc.Parse(data)
	if err != nil {
		return nil, broken("", err.Error(), "a tokenizer.json is one JSON object")
	}
	if root.Kind() != jsonscan.Object {
		return nil, broken("", "the file holds "+root.Kind().String(), "a tokenizer.json is one JSON object")
	}
	if r := doc.Repairs(); r.BadUTF8+r.LoneSurrogate+r.DuplicateKey > 0 {
		return nil, broken("", fmt.Sprintf("%d bytes that are not UTF-8, %d lone surrogates, %d repeated keys",
			r.BadUTF8, r.LoneSurrogate, r.DuplicateKey), "a tokenizer.json has none")
	}
	if err := checkAlone(root); err != nil {
		return nil, err
	}
	l := loader{m: &Model{unknown: -1}, spell: newSpelling(root)}
	if err := l.vocab(root.Get("model")); err != nil {
		return nil, err
	}
	if err := l.added(root.Get("added_tokens")); err != nil {
		return nil, err
	}
	l.finish()
	l.m.config = newConfig(root)
	return l.m, nil
}

// checkAlone refuses what makes ids depend on more than the text.
func checkAlone(root jsonscan.Value) error {
	d := root.Get("model").Get("dropout")
	if raw := string(d.Raw()); d.Present() && raw != "0" && raw != "0.0" {
		return refused("model.dropout", raw, "it leaves merges out by chance, and the same input must give the same ids", "the file without dropout")
	}
	for p := range parts(root.Get("pre_tokenizer"), "pretokenizers") {
		if p.Get("type").Is("Metaspace") && p.Get("prepend_scheme").Is("first") {
			return refused("pre_tokenizer: Metaspace.prepend_scheme", `"first"`,
				"a text is encoded without what stands before it, so its first word cannot be told from the row's", "a tokenizer with the scheme always or never")
		}
	}
	return nil
}

// loader holds what only loading needs.
type loader struct {
	m       *Model
	spell   spelling
	names   []string // by id, as in the file; "" for ids that the file does not have
	literal map[int32]bool
	entries int // of the vocabulary
}

// vocab reads the entries of the model: an object of texts and ids, or an array of texts and scores.
func (l *loader) vocab(model jsonscan.Value) error {
	const path = "model.vocab"
	v := model.Get("vocab")
	if v.Len() == 0 || v.Kind() != jsonscan.Object && v.Kind() != jsonscan.Array {
		return broken(path, "it is absent, empty or no list", "it holds the tokens")
	}
	l.entries = v.Len()
	l.m.ids = make(map[string]int32, v.Len()+64)
	l.names = make([]string, 0, v.Len()+64)
	var arena jsonscan.Arena
	if v.Kind() == jsonscan.Array { // Unigram
		for e := range v.Elems() {
			if e.At(0).Kind() != jsonscan.String {
				return broken(fmt.Sprintf("%s[%d]", path, len(l.names)), string(e.Raw()), "it is a text with its score")
			}
			name := arena.Close(e.At(0).AppendString(arena.Open()))
			if err := l.name(path, int64(len(l.names)), name); err != nil {
				return err
			}
		}
		if id, ok := model.Get("unk_id").Int(); ok && id >= 0 && id < int64(len(l.names)) {
			l.m.unknown = int32(id)
		}
		return nil
	}
	for k, val := range v.Members() {
		name := arena.Close(k.AppendString(arena.Open()))
		id, ok := val.Int()
		if !ok {
			id = -1
		}
		if err := l.name(path, id, name); err != nil {
			return err
		}
	}
	if id, ok := l.m.ids[model.Get("unk_token").Str(&arena)]; ok {
		l.m.unknown = id
	}
	return nil
}

// name notes that id is called name.
func (l *loader) name(path string, id int64, name string) error {
	if id < 0 || id > maxID {
		return broken(path, fmt.Sprintf("the id of %q is no whole number from 0 to %d", name, maxID), "ids are")
	}
	for int64(len(l.names)) <= id {
		l.names = append(l.names, "")
	}
	l.names[id] = name
	l.m.ids[name] = int32(id)
	return nil
}

// added reads added_tokens. The library gives each the id that its text has in the vocabulary, else it
// counts on, and passes over the ids in the file: a file whose ids differ would be encoded to other ids than
// its model was trained with, and is refused.
func (l *loader) added(v jsonscan.Value) error {
	const path = "added_tokens"
	entries := int32(l.entries)
	last := int32(-1) // the largest id of an added token so far
	l.literal = map[int32]bool{}
	i := 0
	for e := range v.Elems() {
		at := fmt.Sprintf("%s[%d]", path, i)
		flag := func(name string) bool { return e.Get(name).Kind() == jsonscan.True }
		t := addedToken{text: string(e.Get("content").AppendString(nil)), special: flag("special"),
			strips: flag("lstrip") || flag("rstrip") || flag("single_word")}
		id, ok := e.Get("id").Int()
		if !ok || t.text == "" {
			return broken(at, string(e.Raw()), "an added token has an id and a content")
		}
		var known bool
		if t.id, known = l.m.ids[t.text]; !known {
			t.id = max(entries, last+1)
		}
		if int64(t.id) != id {
			return refused(at+".id", fmt.Sprintf("%d for %q", id, t.text),
				fmt.Sprintf("the library would number it %d", t.id), "a file whose added tokens follow the vocabulary without a gap")
		}
		last = max(last, t.id)
		if err := l.name(at, id, t.text); err != nil {
			return err
		}
		l.literal[t.id] = t.special || !known // Gemma lists runs of blanks, which its merges make too
		l.m.added = append(l.m.added, t)
		i++
	}
	return nil
}

// finish lays out what each id stands for.
func (l *loader) finish() {
	m := l.m
	m.size = len(l.names)
	m.ends = make([]uint32, 1, m.size+1)
	for id, name := range l.names {
		if l.literal[int32(id)] {
			m.text = append(m.text, name...)
		} else {
			m.text = l.spell.append(m.text, name)
		}
		m.ends = append(m.ends, uint32(len(m.text)))
	}
}

// broken reports a file that is no sound tokenizer.json.
func broken(path, found, want string) error {
	return fmt.Errorf("%s: %s, but %s; try fetching the file again", where(path), short(found), want)
}

// refused reports a sound file with something that this engine does not do.
func refused(path, found, why, try string) error {
	return fmt.Errorf("%s is %s, which the engine hf refuses: %s; try %s", where(path), short(found), why, try)
}

func where(path string) string {
	if path == "" {
		return "tokenizer.json"
	}
	return "tokenizer.json: " + path
}

// short cuts what a message quotes.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
