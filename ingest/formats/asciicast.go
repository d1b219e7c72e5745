package formats

import (
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/screen"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// asciicast decodes recordings of terminals. It gathers the events of a file, then plays them on a screen:
//
//	lines  -->  header, events       what is no event costs itself alone
//	events -->  keys and screens     asciicast_play.go
type asciicast struct {
	acts
	wholeFile
	header        bool
	version       int64
	columns, rows int
	meta          string
	events        []castEvent
	exit          string
	term          *screen.Screen
}

// castEvent is an event of a recording.
type castEvent struct {
	code byte // o, i or r
	text string
}

func (a *asciicast) Decode(raw []byte, out *Decoded) error {
	out.reset()
	a.out, a.header, a.meta, a.exit, a.events, a.wholeFile.doc.NonFinite = out, false, "", "", a.events[:0], true
	a.comments = true
	a.readFile(raw, out, a)
	if !a.header {
		return out.refuseWhole(asciicastName, "no header with a version and a size")
	}
	term, err := screen.New(a.columns, a.rows)
	if err != nil {
		out.reset()
		return reject(turnmill.ReasonBadField, "the header: %w", err)
	}
	a.term = term
	a.begin(out.trajectory(asciicastName, ""), out)
	a.t.Observed = turnmill.ObservedTrue
	a.play()
	a.acts.finish()
	a.t.Domain, a.t.Meta = turnmill.DomainTerminal, a.meta
	if a.exit != "" {
		a.t.Meta = a.withExit()
	}
	out.finish(a.t, a.opts)
	a.term = nil
	return nil
}

// value takes the header or an event.
func (a *asciicast) value(v jsonscan.Value, base int64) {
	var err error
	switch {
	case v.Kind() == jsonscan.Array && v.At(0).Kind() == jsonscan.Object: // the lines as one list
		for e := range v.Elems() {
			a.value(e, base)
		}
	case !a.header && v.Kind() == jsonscan.Object:
		err = a.head(v, base)
	case v.Kind() == jsonscan.Array && a.header:
		err = a.event(v)
	default:
		err = wrongFormat(asciicastName, "neither a header nor an event")
	}
	if err != nil {
		a.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

func (a *asciicast) head(v jsonscan.Value, base int64) error {
	if why, _ := recogniseAsciicast(v); why != "" {
		return wrongFormat(asciicastName, why)
	}
	arena := &a.out.arena
	a.header = true
	a.version, _ = v.Get("version").Int()
	a.columns, a.rows, _ = castSize(v)
	kind := v.Get("env").Get("TERM")
	if t := v.Get("term").Get("type"); t.Present() {
		kind = t
	}
	a.meta = a.out.object(
		member{name: "title", text: v.Get("title").Str(arena)},
		member{name: "command", text: v.Get("command").Str(arena)},
		member{name: "term", text: kind.Str(arena)},
		member{"width", strconv.Itoa(a.columns), true},
		member{"height", strconv.Itoa(a.rows), true},
	)
	for e := range v.Get("stdout").Elems() {
		if err := a.frame(e); err != nil {
			a.out.lost(base+int64(e.Offset()), int64(len(e.Raw())), err)
		}
	}
	return nil
}

// withExit adds the exit status to the meta, which is an object that is not empty.
func (a *asciicast) withExit() string {
	b := append(a.out.arena.Open(), a.meta[:len(a.meta)-1]...)
	b = jsonscan.AppendQuotedLine(append(b, `,"exit":`...), a.exit)
	return a.out.arena.Close(append(b, '}'))
}

// frame takes an event of version 1: [delay, text].
func (a *asciicast) frame(v jsonscan.Value) error {
	text := v.At(1)
	if v.Len() != 2 || v.At(0).Kind() != jsonscan.Number || text.Kind() != jsonscan.String {
		return reject(turnmill.ReasonBadField, "an event of stdout that is not [delay, text]")
	}
	a.events = append(a.events, castEvent{'o', text.Str(&a.out.arena)})
	return nil
}

// event takes an event of versions 2 and 3: [time, code, data].
func (a *asciicast) event(v jsonscan.Value) error {
	code, data := v.At(1), v.At(2)
	at := v.At(0)
	if v.Len() != 3 || at.Kind() != jsonscan.Number || at.Raw()[0] == '-' || code.Kind() != jsonscan.String || data.Kind() != jsonscan.String {
		return reject(turnmill.ReasonBadField, "an event that is not [time, code, data]")
	}
	text := data.Str(&a.out.arena)
	switch {
	case code.Is("o"), code.Is("i"):
		name, _ := code.Plain()
		a.events = append(a.events, castEvent{name[0], text})
	case code.Is("r"):
		if _, _, ok := resizeTo(text); !ok {
			return reject(turnmill.ReasonBadField, "a resize to %q, want COLUMNSxROWS", text)
		}
		a.events = append(a.events, castEvent{'r', text})
	case code.Is("x"):
		a.exit = text
	}
	return nil
}

// resizeTo reads "80x24".
func resizeTo(text string) (columns, rows int, ok bool) {
	c, r, ok := strings.Cut(text, "x")
	columns, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	return columns, rows, ok && errC == nil && errR == nil && columns > 0 && rows > 0 && columns <= screen.MaxSide && rows <= screen.MaxSide
}
