package formats

import (
	"bytes"
	"crypto/sha256"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Join says how the files of a run that lies in several find one another. Every value of such a file is a part
// of a known kind, told by content, so that one file may as well hold several parts, or a run whole.
//
//	event   {"start_state":"a","stop_state":"b"}   takes a, b  --+
//	screen  {"state_str":"a"}                      gives a       +-- one run
//	screen  {"state_str":"b"}                      gives b     --+
type Join struct {
	// Part tells what one value is to a run: a bit for each of its kinds, and its keys.
	Part func(v jsonscan.Value, p *Parts)
	// Lacks says what a run with parts of these kinds has too little of to be decoded; "" is nothing.
	Lacks func(kinds uint16) string
	// Single are the kinds of which a run has one file: two of them in a folder are two runs. Where it is 0
	// nothing can tell, and what lies in one folder is one run.
	Single uint16
	// Begins are the kinds of which each run has one: what keys joined without one is no run yet, and goes with
	// the run of its folder. Where it is 0, what lacks nothing is a run.
	Begins uint16
	// Whole are the kinds of files that hold a run whole, whatever lies beside them.
	Whole uint16
	// Above are the kinds that lie beside a run's other files or one folder above them.
	Above uint16
}

// Key is the hash of a name by which parts find one another.
type Key [16]byte

// Parts is what a file holds of a run.
type Parts struct {
	Kinds        uint16
	Gives, Takes []Key // may repeat

	text []byte
}

// Key returns the key that a value is: a string's text, or another scalar's spelling.
func (p *Parts) key(v jsonscan.Value) Key {
	if p.text = p.text[:0]; v.Kind() == jsonscan.String {
		p.text = v.AppendString(p.text)
	} else {
		p.text = append(p.text, v.Raw()...)
	}
	sum := sha256.Sum256(p.text)
	return Key(sum[:16])
}

// Look reads a file of a format that has a Join, and tells what it holds of a run. Damage in it is passed over:
// the decoder will reject it.
func (f Format) Look(data []byte) Parts {
	var r partReader
	look := looker{join: f.Join}
	var out Decoded
	r.readPart(data, 0, &out, &look)
	return look.Parts
}

type looker struct {
	Parts
	join *Join
}

func (l *looker) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			l.join.Part(e, &l.Parts)
		}
		return
	}
	l.join.Part(v, &l.Parts)
}

// Part is one file of a run.
type Part struct {
	Name string // its path in the plan
	Data []byte
}

// PartsDecoder decodes runs that lie in several files.
type PartsDecoder interface {
	// Decode takes a file that holds a run whole.
	Decoder
	// DecodeParts is Decode for the files of one run, in any order. Stretches count as if the files stood one
	// after another.
	DecodeParts(parts []Part, out *Decoded) error
}

// partReader reads the values of the files of a run.
type partReader struct {
	wholeFile
	one [1]Part
}

// decodeOne decodes a file that holds a run whole as the one file of the run.
func (r *partReader) decodeOne(raw []byte, out *Decoded, decode func([]Part, *Decoded) error) error {
	r.one[0] = Part{Data: raw}
	err := decode(r.one[:], out)
	r.one[0] = Part{}
	return err
}

// complete refuses a run with nothing of its format in it, or with too little.
func (d *Decoded) complete(format string, kinds uint16, nothing string, lacks func(uint16) string) error {
	if kinds == 0 {
		return d.refuseWhole(format, nothing)
	}
	if what := lacks(kinds); what != "" {
		d.reset()
		return reject(turnmill.ReasonMissingPart, "%s", what)
	}
	return nil
}

// recognisePart is Format.Recognise for values that are parts, or lists of them.
func recognisePart(v jsonscan.Value, kindOf func(jsonscan.Value) (uint16, string, int)) (why string, marks int) {
	if v.Kind() == jsonscan.Array && v.Len() > 0 {
		v = v.At(0)
	}
	_, why, marks = kindOf(v)
	return why, marks
}

func (r *partReader) readParts(parts []Part, out *Decoded, to valueReader) {
	base := int64(0)
	for i := range parts {
		r.readPart(parts[i].Data, base, out, to)
		base += int64(len(parts[i].Data))
	}
}

// readPart reads one file: a value a line, or values over any number of lines. What of it is damaged costs
// itself alone.
func (r *partReader) readPart(raw []byte, base int64, out *Decoded, to valueReader) {
	r.doc.NonFinite = true
	text, at := scriptValue(raw)
	base += int64(at)
	first, rest, _ := bytes.Cut(text, []byte{'\n'})
	if _, err := r.doc.Parse(trimPadding(first)); err == nil && len(rest) > 0 {
		for from := 0; from < len(text); {
			line, _, _ := bytes.Cut(text[from:], []byte{'\n'})
			r.line(line, base+int64(from), out, to)
			from += len(line) + 1
		}
		return
	}
	v, err := r.doc.ParseMany(text)
	if err != nil { // cut into what is whole and what is not
		r.line(text, base, out, to)
		return
	}
	out.noteRepairs(r.doc.Repairs())
	for ; v.Kind() != jsonscan.Invalid; v = v.Next() {
		to.value(v, base)
	}
}

// scriptValue returns what a script assigns to its one variable, as in "var x = {...};", and where that starts;
// of any other text the text, without padding.
func scriptValue(raw []byte) (text []byte, at int) {
	text = trimPadding(raw)
	if _, after, ok := bytes.Cut(text[:min(len(text), scriptHead)], []byte{'='}); ok && bytes.HasPrefix(text, []byte("var ")) {
		text = trimPadding(text[len(text[:min(len(text), scriptHead)])-len(after):])
		text = trimPadding(bytes.TrimSuffix(text, []byte{';'}))
	}
	return text, cap(raw) - cap(text)
}

// scriptHead is how far into a script its first "=" may stand.
const scriptHead = 200
