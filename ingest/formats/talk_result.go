package formats

import "github.com/turnmill/turnmill/internal/jsonscan"

// result reads a result: a text, a list of parts, or any other JSON, on one line.
func (t *talk) result(id, content jsonscan.Value) (result, error) {
	r := result{id: t.callID(id)}
	switch content.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return r, nil
	case jsonscan.String:
		r.text = content.Str(&t.out.arena)
		return r, nil
	case jsonscan.Array:
		if messageParts(content) {
			w, ok := t.out.content(content, &t.aside)
			if !ok {
				return r, badField("content", "a text or a list of parts", content)
			}
			r.text, r.mute = w.text, w.mute
			return r, nil
		}
	}
	r.text = t.out.arena.Close(appendCompact(t.out.arena.Open(), content))
	return r, nil
}

// messageParts tells a list of content parts from a list of other values.
func messageParts(list jsonscan.Value) bool {
	for p := range list.Elems() {
		k, _ := part(p)
		if p.Kind() != jsonscan.Object || !p.Get("type").Present() || k == partTyped || k == partBlock || k == partBroken {
			return false
		}
		if k == partOther && !p.Get("source").Present() && !p.Get("image_url").Present() && !p.Get("data").Present() && !p.Get("file_id").Present() {
			return false
		}
	}
	return list.Len() > 0
}

// appendCompact appends a value's JSON without the blanks between its tokens, which are those of the file
// that holds it.
func appendCompact(dst []byte, v jsonscan.Value) []byte {
	from := len(dst)
	dst, _ = v.AppendVerbatim(dst)
	return withoutBlanks(dst, from)
}

// withoutBlanks takes the blanks between tokens out of the JSON that begins at from.
func withoutBlanks(dst []byte, from int) []byte {
	to, quoted := from, false
	for i := from; i < len(dst); i++ {
		c := dst[i]
		switch {
		case quoted && c == '\\' && i+1 < len(dst):
			dst[to] = c
			to, i = to+1, i+1
			c = dst[i]
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		dst[to] = c
		to++
	}
	return dst[:to]
}
