package formats

import (
	"strconv"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Decoder turns one framed record into what it holds. It serves one goroutine.
type Decoder interface {
	// Decode replaces what out holds. The texts in out share memory with raw and with out: they are valid
	// until raw changes or out is used again. The decoder keeps no reference to raw after the next call.
	// An error is a *turnmill.RecordError with Step, Reason, Err and mostly Hint set, its Pos left to the
	// caller; it costs the record, and out is empty then.
	Decode(raw []byte, out *Decoded) error
}

// Decoded is what one record holds, and the memory that its texts lie in. The zero value is ready; one
// Decoded may serve several decoders in turn, but one goroutine at a time.
//
// A trajectory whose record has no id of its own has ID "": the caller sets ContentID once it has done
// with repairs and scrubbing. The same holds for documents and DocumentContentID.
type Decoded struct {
	Trajectories []turnmill.Trajectory
	Documents    []turnmill.Document
	Rejected     []TrajectoryError // trajectories of the record that failed; the others stand
	Notes        turnmill.Notes
	// Copied counts the messages and steps that repeat what stands elsewhere, in this record or in the run's
	// other files. No turns come of them.
	Copied int64
	// Lost are the stretches of a record of layout Whole that could not be read: a cut line, a line that is
	// no event. The rest of the record stands.
	Lost []Stretch

	arena  jsonscan.Arena
	doc    jsonscan.Doc // the record
	inner  jsonscan.Doc // JSON that stands inside one of its strings
	buffer []byte       // the text that inner reads
	pieces []string     // a text in the making
}

// TrajectoryError says why one of several trajectories of a record was rejected.
type TrajectoryError struct {
	Ordinal int // among the record's trajectories, from 0, rejected ones included
	Reason  turnmill.Reason
	Err     error
}

// Stretch is a part of a record that could not be read. It is a loss like that of a record.
type Stretch struct {
	Offset, Bytes int64 // within the record
	Reason        turnmill.Reason
	Err           error
}

// What is kept from one record to the next, so that one huge record does not hold its memory for the rest
// of a run: the memory of so many turns, and so many bytes of JSON inside strings.
const (
	keepTurns = 1 << 14
	keepBytes = 16 << 20
)

func (d *Decoded) reset() {
	d.Trajectories, d.Documents, d.Rejected = d.Trajectories[:0], d.Documents[:0], d.Rejected[:0]
	d.Notes, d.Copied, d.Lost = turnmill.Notes{}, 0, d.Lost[:0]
	d.arena.Reset()
	if cap(d.buffer) > keepBytes {
		d.buffer = nil
	}
}

// decode parses raw and hands it to record. Where either fails the record is lost, and d is empty.
func (d *Decoded) decode(raw []byte, record func(jsonscan.Value, *Decoded) error) error {
	v, err := d.parse(raw)
	if err == nil {
		err = record(v, d)
	}
	if err != nil {
		d.reset()
	}
	return err
}

// parse empties d and reads raw as one JSON value.
func (d *Decoded) parse(raw []byte) (jsonscan.Value, error) {
	d.reset()
	d.doc.NonFinite = true
	v, err := d.doc.Parse(raw)
	if err != nil {
		return v, notJSON(err)
	}
	d.noteRepairs(d.doc.Repairs())
	return v, nil
}

// noteRepairs counts what was mended in a document.
func (d *Decoded) noteRepairs(r jsonscan.Repairs) {
	d.Notes[turnmill.NoteBadUTF8] += int64(r.BadUTF8)
	d.Notes[turnmill.NoteNonFinite] += int64(r.NonFinite)
	d.noteInner(r)
}

// noteInner counts repairs of JSON that stands inside a string: its bytes have been seen, as
// part of the string, when the record was read.
func (d *Decoded) noteInner(r jsonscan.Repairs) {
	d.Notes[turnmill.NoteLoneSurrogate] += int64(r.LoneSurrogate)
	d.Notes[turnmill.NoteDuplicateKey] += int64(r.DuplicateKey)
}

func (d *Decoded) note(n turnmill.Note) { d.Notes[n]++ }

// trajectory adds an empty trajectory under the record's own id, which further trajectories carry with
// "#2", "#3" and so on. The pointer is valid until the next one is added.
func (d *Decoded) trajectory(source, own string) *turnmill.Trajectory {
	n := len(d.Trajectories)
	if n < cap(d.Trajectories) {
		d.Trajectories = d.Trajectories[:n+1]
	} else {
		d.Trajectories = append(d.Trajectories, turnmill.Trajectory{})
	}
	t := &d.Trajectories[n]
	turns := t.Turns[:0]
	if cap(turns) > keepTurns {
		turns = nil
	}
	*t = turnmill.Trajectory{ID: d.ownID(own, n+len(d.Rejected)), Source: source, Turns: turns}
	return t
}

// refuse takes back what was made of a trajectory, the one at position n if there is one, and rejects it.
func (d *Decoded) refuse(n int, err error) {
	e := recordError(err)
	d.Trajectories = d.Trajectories[:n]
	d.Rejected = append(d.Rejected, TrajectoryError{Ordinal: n + len(d.Rejected), Reason: e.Reason, Err: e.Err})
}

func (d *Decoded) ownID(own string, ordinal int) string {
	if own == "" || ordinal == 0 {
		return own
	}
	b := append(append(d.arena.Open(), own...), '#')
	return d.arena.Close(strconv.AppendInt(b, int64(ordinal)+1, 10))
}

// finish settles the domain of a trajectory that is complete and counts what it lacks.
func (d *Decoded) finish(t *turnmill.Trajectory, o Options) {
	if o.Domain != "" {
		t.Domain = o.Domain
	}
	if t.Domain == "" {
		t.Domain = turnmill.DomainUnknown
	}
	if t.Domain == turnmill.DomainUnknown {
		d.note(turnmill.NoteUnknownDomain)
	}
	if t.System.ActionSpace == "" {
		d.note(turnmill.NoteNoTools)
	}
}

// text returns a record that is a text, with U+FFFD for each byte that is not UTF-8, counted.
func (d *Decoded) text(raw []byte) string {
	b := d.arena.Open()
	if utf8.Valid(raw) {
		b = append(b, raw...)
	} else {
		for len(raw) > 0 {
			r, n := utf8.DecodeRune(raw)
			if r == utf8.RuneError && n == 1 {
				d.note(turnmill.NoteBadUTF8)
			}
			b, raw = utf8.AppendRune(b, r), raw[n:]
		}
	}
	return d.arena.Close(b)
}

// parseInner reads s as JSON by the strict rules. The result is valid until the next call.
func (d *Decoded) parseInner(s string) (jsonscan.Value, error) {
	d.buffer = append(d.buffer[:0], s...)
	return d.inner.Parse(d.buffer)
}

// key returns a member's key.
func (d *Decoded) key(k jsonscan.Value) string { return k.Str(&d.arena) }

// id returns a string, or a number in its own spelling; anything else is no id.
func (d *Decoded) id(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Number {
		return v.RawStr()
	}
	return v.Str(&d.arena)
}

// join returns the texts with sep between each two; one text is returned as it is.
func (d *Decoded) join(texts []string, sep string) string {
	if len(texts) == 0 {
		return ""
	}
	if len(texts) == 1 {
		return texts[0]
	}
	b := append(d.arena.Open(), texts[0]...)
	for _, s := range texts[1:] {
		b = append(append(b, sep...), s...)
	}
	return d.arena.Close(b)
}

// verbatim returns a value's JSON text as it stands, with U+FFFD for each byte that is not UTF-8.
func (d *Decoded) verbatim(v jsonscan.Value) string {
	raw := v.RawStr()
	if utf8.ValidString(raw) {
		return raw
	}
	b := d.arena.Open()
	for _, r := range raw { // ranging over a string yields U+FFFD for each such byte
		b = utf8.AppendRune(b, r)
	}
	return d.arena.Close(b)
}

// meta returns an object's JSON text for Trajectory.Meta, on one line: line breaks between tokens are left
// out, so that the unified form can hold it as it is. Other kinds give "".
func (d *Decoded) meta(v jsonscan.Value) string {
	if v.Kind() != jsonscan.Object {
		return ""
	}
	raw := d.verbatim(v)
	if onOneLine(raw) {
		return raw
	}
	return d.arena.Close(appendOneLine(d.arena.Open(), raw))
}

// member is a member of an object that goes to Trajectory.Meta.
type member struct {
	name, text string
	json       bool // text is JSON as it stands
}

// number returns a member for a number in its own spelling; for anything else, NaN included, an empty one.
func number(name string, v jsonscan.Value) member {
	if raw := v.RawStr(); v.Kind() == jsonscan.Number && raw[len(raw)-1] <= '9' {
		return member{name, raw, true}
	}
	return member{}
}

// listed returns a member that is a list of values, which are JSON already; an empty one for none.
func (d *Decoded) listed(name string, values []string) member {
	if len(values) == 0 {
		return member{}
	}
	b := append(d.arena.Open(), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return member{name, d.arena.Close(append(b, ']')), true}
}

// object returns an object of the members that are not empty, or "" when all are.
func (d *Decoded) object(members ...member) string {
	w := objectWriter{dst: append(d.arena.Open(), '{')}
	for _, m := range members {
		if m.json {
			w.key(m.name)
			w.dst = append(w.dst, m.text...)
		} else {
			w.text(m.name, m.text)
		}
	}
	if len(w.dst) == 1 {
		return ""
	}
	return d.arena.Close(append(w.dst, '}'))
}

// keepMap is how many entries of a map have their memory kept from one record to the next.
const keepMap = 1 << 10

// emptied returns m without its entries, or a new map. Emptying costs what a map has grown to, whatever it
// holds, so that one large record would make all later ones slow.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > keepMap {
		return map[K]V{}
	}
	clear(m)
	return m
}
