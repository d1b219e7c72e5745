package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// AppendUnified appends t in the unified form: one JSON object without a line feed at its end, keys in
// the form's order, absent values left out, no blanks, U+0085, U+2028 and U+2029 escaped, Meta as it
// stands. The decoder of the format "turnmill" reads back equal values.
func AppendUnified(dst []byte, t *turnmill.Trajectory) []byte {
	return appendTrajectory(dst, t, false)
}

// AppendCanonical appends the form of t whose hash is its id when the source gives none: the unified form
// without id, meta and thought, with the least escapes.
func AppendCanonical(dst []byte, t *turnmill.Trajectory) []byte {
	return appendTrajectory(dst, t, true)
}

// AppendDocument is AppendUnified for a document.
func AppendDocument(dst []byte, d *turnmill.Document) []byte { return appendDocument(dst, d, false) }

// AppendCanonicalDocument is AppendCanonical for a document.
func AppendCanonicalDocument(dst []byte, d *turnmill.Document) []byte {
	return appendDocument(dst, d, true)
}

// ContentID returns "sha256:" and the first 32 hex digits of the hash of t's canonical form. It works in
// scratch, which may be nil, and returns it for the next call.
func ContentID(t *turnmill.Trajectory, scratch []byte) (string, []byte) {
	scratch = AppendCanonical(scratch[:0], t)
	return contentID(scratch), scratch
}

// DocumentContentID is ContentID for a document.
func DocumentContentID(d *turnmill.Document, scratch []byte) (string, []byte) {
	scratch = AppendCanonicalDocument(scratch[:0], d)
	return contentID(scratch), scratch
}

func contentID(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func appendTrajectory(dst []byte, t *turnmill.Trajectory, canonical bool) []byte {
	w := objectWriter{append(dst, '{'), canonical}
	if !canonical {
		w.text("id", t.ID)
	}
	w.text("domain", string(t.Domain))
	w.text("source", t.Source)
	w.text("source_kind", t.SourceKind)
	w.text("task_id", t.TaskID)
	w.text("agent", t.Agent)
	if t.Observed != turnmill.ObservedUnset {
		w.key("observed")
		w.dst = strconv.AppendBool(w.dst, t.Observed == turnmill.ObservedTrue)
	}
	w.system(&t.System)
	w.key("turns")
	w.dst = append(w.dst, '[')
	for i := range t.Turns {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.turn(&t.Turns[i])
	}
	w.dst = append(w.dst, ']')
	w.meta(t.Meta)
	return append(w.dst, '}')
}

func appendDocument(dst []byte, d *turnmill.Document, canonical bool) []byte {
	w := objectWriter{append(dst, '{'), canonical}
	if !canonical {
		w.text("id", d.ID)
	}
	w.text("kind", "document")
	w.text("domain", string(d.Domain))
	w.text("source", d.Source)
	w.text("source_kind", d.SourceKind)
	w.key("text")
	w.quote(d.Text)
	w.meta(d.Meta)
	return append(w.dst, '}')
}

// objectWriter writes the members of JSON objects. dst ends in '{' exactly when an object has no member.
type objectWriter struct {
	dst       []byte
	canonical bool
}

func (w *objectWriter) key(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

func (w *objectWriter) quote(s string) {
	if w.canonical {
		w.dst = jsonscan.AppendQuoted(w.dst, s)
	} else {
		w.dst = jsonscan.AppendQuotedLine(w.dst, s)
	}
}

// text writes a member that is left out when s is empty.
func (w *objectWriter) text(name, s string) {
	if s != "" {
		w.key(name)
		w.quote(s)
	}
}

func (w *objectWriter) system(p *turnmill.SystemPrompt) {
	if *p == (turnmill.SystemPrompt{}) {
		return
	}
	w.key("system")
	w.dst = append(w.dst, '{')
	w.text("task_description", p.TaskDescription)
	w.text("action_space", p.ActionSpace)
	w.text("initial_state", p.InitialState)
	w.text("demonstrations", p.Demonstrations)
	w.text("simulation_instruction", p.SimulationInstruction)
	w.dst = append(w.dst, '}')
}

func (w *objectWriter) turn(t *turnmill.Turn) {
	w.dst = append(w.dst, `{"index":`...)
	w.dst = strconv.AppendInt(w.dst, int64(t.Index), 10)
	w.text("state", t.State)
	if t.HasAction {
		w.key("action")
		w.quote(t.Action)
	}
	w.key("observation")
	w.quote(t.Observation)
	w.text("tool", t.Tool)
	if t.Dialogue {
		w.dst = append(w.dst, `,"dialogue":true`...)
	}
	if !w.canonical {
		w.text("thought", t.Thought)
	}
	w.dst = append(w.dst, '}')
}

func (w *objectWriter) meta(s string) {
	if s != "" && !w.canonical {
		w.key("meta")
		w.dst = appendOneLine(w.dst, s)
	}
}

// onOneLine tells whether JSON text holds nothing that some reader takes for the end of a line.
func onOneLine(s string) bool {
	for _, end := range [...]string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.Contains(s, end) {
			return false
		}
	}
	return true
}

// appendOneLine appends JSON text with such characters removed between tokens and escaped inside strings.
// Valid JSON has CR and LF between tokens only, and the other three inside strings only.
func appendOneLine(dst []byte, s string) []byte {
	if onOneLine(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		switch r {
		case '\n', '\r':
		case 0x85:
			dst = append(dst, `\u0085`...)
		case 0x2028:
			dst = append(dst, `\u2028`...)
		case 0x2029:
			dst = append(dst, `\u2029`...)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return dst
}
