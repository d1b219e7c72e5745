package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// inQuotes tells a string whose text has a pair of double quotes around it: "\"89\"".
func inQuotes(v jsonscan.Value) bool {
	text, _ := v.Plain()
	const mark = `\"`
	n := len(text)
	return n >= 2*len(mark) && string(text[:2]) == mark && string(text[n-2:]) == mark
}

// quoted tells whether one of the arguments stands in quotes.
func quoted(args jsonscan.Value) bool {
	for _, m := range args.Members() {
		if inQuotes(m) {
			return true
		}
	}
	return false
}

// unquoted returns the canonical text of a call with the quotes around its arguments taken off, one pair
// each.
func (d *Decoded) unquoted(k *call) string {
	b := append(appendCallName(d.arena.Open(), k.name), '{')
	n := 0
	for key, m := range k.args.Members() {
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(d.appendVerbatim(b, key), ':')
		from := len(b)
		b = d.appendVerbatim(b, m)
		if inQuotes(m) {
			d.note(turnmill.NoteExtraQuotes)
			b = append(b[:from+1], b[from+3:len(b)-3]...)
			b = append(b, '"')
		}
	}
	return d.arena.Close(append(b, "}}"...))
}
