package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// innerJSON reads JSON that stands in strings. It leaves Decoded's inner document to the arguments of calls.
type innerJSON struct{ doc jsonscan.Doc }

// parse reads a text as JSON. Strings of the value stay as long as the record's; the value itself is valid
// until the next call.
func (in *innerJSON) parse(d *Decoded, text string) (jsonscan.Value, error) {
	b := append(d.arena.Open(), text...)
	d.arena.Close(b) // the strings of the value lie there
	v, err := in.doc.Parse(b)
	if err != nil {
		return jsonscan.Value{}, err
	}
	d.noteInner(in.doc.Repairs())
	return v, nil
}

// calls adds the call that a string holds as JSON, {"name", "arguments"}, or all of a list of them. A string
// that holds none is the action as it stands, and is counted.
func (in *innerJSON) calls(a *acts, s jsonscan.Value) {
	v, err := in.parse(a.out, s.Str(&a.out.arena))
	if err == nil && v.Kind() == jsonscan.Array && v.Len() > 0 {
		for c := range v.Elems() {
			a.call(callOf(a.out, c, c))
		}
		return
	}
	a.call(callOf(a.out, v, s))
}

// callOf reads a call and writes its text, for the document that it lies in is used again. as is what stands
// for it when it is none.
func callOf(d *Decoded, v, as jsonscan.Value) call {
	k, err := d.readCall(v)
	if err != nil || k.name == "" {
		d.note(turnmill.NoteBadArguments)
		text := as.Str(&d.arena)
		if as.Kind() != jsonscan.String {
			text = d.verbatim(as)
		}
		return call{text: text, answer: -1}
	}
	k.text = d.arena.Close(d.appendCall(d.arena.Open(), &k))
	k.args = jsonscan.Value{}
	return k
}
