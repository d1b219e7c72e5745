package bpe

import (
	"fmt"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// added reads added_tokens. The library gives each token the id that its text has in the vocabulary, else
// it counts on from the number of entries there, and passes over the ids in the file; a file whose ids
// differ is refused.
func (l *loader) added(v jsonscan.Value) error {
	const path = "added_tokens"
	if v.Present() && v.Kind() != jsonscan.Array {
		return broken(path, found(v), "it is an array")
	}
	next := int32(l.m.entries)
	i := 0
	for e := range v.Elems() {
		at := fmt.Sprintf("%s[%d]", path, i)
		t, err := l.addedToken(at, e)
		if err != nil {
			return err
		}
		want, known := l.m.ID(t.Text)
		if !known {
			want = next
		}
		if t.ID != want {
			return &LoadError{Path: at + ".id", Found: fmt.Sprintf("%d for %q", t.ID, t.Text),
				Want: fmt.Sprintf("numbers as the library does, which makes it %d,", want), Unsupported: true}
		}
		if !known {
			next++
		}
		if err := l.addedText(at, t, known); err != nil {
			return err
		}
		l.m.name(t.Text, t.ID)
		l.m.added = append(l.m.added, t)
		i++
	}
	l.m.raw.finish()
	l.m.normal.finish()
	return nil
}

// addedToken reads one entry. Flags may be absent: then they are what the library's own constructor sets.
func (l *loader) addedToken(at string, e jsonscan.Value) (AddedToken, error) {
	var t AddedToken
	id, ok := e.Get("id").Int()
	t.Text = string(e.Get("content").AppendString(nil))
	if !ok || id < 0 || t.Text == "" {
		return t, broken(at, found(e), "an added token has an id from 0 and a content")
	}
	if id > maxID {
		return t, &LoadError{Path: at + ".id", Found: fmt.Sprint(id), Want: fmt.Sprintf("takes ids up to %d", maxID), Unsupported: true}
	}
	t.ID = int32(id)
	for k, v := range e.Members() {
		name := string(k.AppendString(nil))
		switch name {
		case "id", "content":
		case "special", "normalized", "lstrip", "rstrip", "single_word":
			if v.Kind() != jsonscan.True && v.Kind() != jsonscan.False {
				return t, broken(at+"."+name, found(v), "it is true or false")
			}
		default:
			return t, &LoadError{Path: at + "." + name, Found: "a member of unknown meaning",
				Want: "knows only id, content, special, normalized, lstrip, rstrip, single_word", Unsupported: true}
		}
	}
	for _, name := range []string{"lstrip", "rstrip", "single_word"} {
		if e.Get(name).Kind() == jsonscan.True {
			return t, unsupported(at+"."+name, e.Get(name), "takes an added token only as it is written")
		}
	}
	t.Special = e.Get("special").Kind() == jsonscan.True
	t.normalized = e.Get("normalized").Kind() == jsonscan.True || !e.Get("normalized").Present() && !t.Special
	return t, nil
}

// addedText notes what an added token stands for and how it is found. known tells that the vocabulary has
// its text too.
func (l *loader) addedText(at string, t AddedToken, known bool) error {
	if l.literal[t.ID] {
		return broken(at, fmt.Sprintf("%q for the second time", t.Text), "an added token is listed once")
	}
	l.literal[t.ID] = true
	if known {
		// Two meanings of one id, or a control token that ordinary text can merge into, would be silent faults.
		if string(l.m.textOf(t.ID)) != t.Text {
			return &LoadError{Path: at, Found: fmt.Sprintf("%q, in the vocabulary the text of other bytes", t.Text),
				Want: "gives an id one meaning", Unsupported: true}
		}
		if l.m.whole || l.m.merges.makes(t.ID) || len(t.Text) == 1 {
			return &LoadError{Path: at, Found: fmt.Sprintf("%q, which ordinary text may become too", t.Text),
				Want: "keeps added tokens apart from text", Unsupported: true}
		}
	}
	if !known {
		from := len(l.m.text)
		l.m.text = append(l.m.text, t.Text...)
		if err := l.place(at, t.ID, from); err != nil {
			return err
		}
	}
	set, text := &l.m.raw, t.Text
	if t.normalized {
		set = &l.m.normal
		if l.m.nfc {
			var n normalizer
			text = string(n.append(nil, []byte(t.Text)))
		}
	}
	if !set.add(text, len(l.m.added)) {
		return broken(at, fmt.Sprintf("%q, after NFC the text of an earlier one", t.Text), "an added token is listed once")
	}
	return nil
}
