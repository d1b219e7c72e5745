package formats

import (
	"bytes"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// wholeFile reads the values of a record of layout Whole, for formats whose files are one run or some runs
// together: a value a line or, where the first line is no whole value, values or one array over any number
// of lines. A line that is damaged costs itself alone.
type wholeFile struct {
	doc   jsonscan.Doc // of the value at hand; its texts outlive it, for they lie in the record or the arena
	parts []frame.Part

	comments bool // lines that begin with # are comments
}

// valueReader takes the values of a file. Offsets in the document that holds v count from base.
type valueReader interface {
	value(v jsonscan.Value, base int64)
}

func (w *wholeFile) readFile(raw []byte, out *Decoded, to valueReader) {
	first, _, _ := bytes.Cut(trimPadding(raw), []byte{'\n'})
	if _, err := w.doc.Parse(first); err != nil {
		text := trimPadding(raw)
		if v, err := w.doc.ParseMany(text); err == nil {
			out.noteRepairs(w.doc.Repairs())
			base := int64(cap(raw) - cap(text))
			for ; v.Kind() != jsonscan.Invalid; v = v.Next() {
				to.value(v, base)
			}
			return
		}
	}
	for from := 0; from < len(raw); {
		line, _, _ := bytes.Cut(raw[from:], []byte{'\n'})
		w.line(line, int64(from), out, to)
		from += len(line) + 1
	}
}

// line reads a line that starts at base. One that is not one value may hold several, or a cut one and the
// next.
func (w *wholeFile) line(line []byte, base int64, out *Decoded, to valueReader) {
	text := bytes.TrimLeft(line, blanks)
	base += int64(len(line) - len(text))
	if text = bytes.TrimRight(text, blanks); len(text) == 0 || w.comments && text[0] == '#' {
		return
	}
	if v, err := w.doc.Parse(text); err == nil {
		out.noteRepairs(w.doc.Repairs())
		to.value(v, base)
		return
	}
	w.parts = frame.Split(w.parts[:0], text, &w.doc, &out.Notes)
	for _, p := range w.parts {
		at := base + int64(p.From)
		if p.Err != nil {
			out.lost(at, int64(p.To-p.From), notJSON(p.Err))
			continue
		}
		if v, err := w.doc.Parse(text[p.From:p.To]); err == nil {
			out.noteRepairs(w.doc.Repairs())
			to.value(v, at)
		}
	}
}

// lost counts a stretch of a record that could not be read.
func (d *Decoded) lost(offset, size int64, err error) {
	e := recordError(err)
	d.Lost = append(d.Lost, Stretch{Offset: offset, Bytes: size, Reason: e.Reason, Err: e.Err})
}

// refuseWhole rejects a record of which nothing could be read, for what is wrong with its first line.
func (d *Decoded) refuseWhole(format, why string) error {
	err := wrongFormat(format, why)
	if len(d.Lost) > 0 && d.Lost[0].Reason != recordError(err).Reason {
		err = reject(d.Lost[0].Reason, "%w", d.Lost[0].Err)
	}
	d.reset()
	return err
}
