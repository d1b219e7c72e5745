package formats

import (
	"fmt"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const asciicastName = "asciicast"

func asciicastFormat() Format {
	return Format{
		Name:      asciicastName,
		Title:     "recordings of terminals by asciinema, versions 1, 2 and 3: a whole file is one recording",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseAsciicast,
		New:       func(o Options) Decoder { return &asciicast{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "The header: version, width and height, or term.cols and term.rows; title, command and env.TERM go to\n" +
				"meta. Events: o (output), i (input), r (resize), x (exit status, to meta); m and others are passed over.\n" +
				"Output goes through a terminal emulator: texts are what its screen shows, without blanks at line ends.",
			Pairing: "With input events, keys up to a line end, or to a control key that acts (C-c, C-d, C-z, C-\\), are an\n" +
				"action, and each event is one while a full-screen program runs. Without them, what was typed is read\n" +
				"off the screen where the shell brackets it (ESC[?2004h to ESC[?2004l). The observation is the whole\n" +
				"screen before the next key, or when the next prompt stands. An action is [{\"keystrokes\":K}]; a line\n" +
				"that was read off the screen ends with a line feed. An action that no output follows is unanswered.\n" +
				"A recording without input and without brackets has no actions: its output is one orphan observation.",
			State:    "the screen before the action",
			Domain:   "terminal",
			ID:       "none: a recording goes by its content",
			Stripped: "times, markers, colours",
			Sample:   `{"version":1,"width":80,"height":24,"stdout":[[0.1,"\u001b[?2004h$ "],[1.5,"ls"],[0.2,"\r\n\u001b[?2004l\r"],[0.1,"a.txt\r\n"],[0.1,"\u001b[?2004h$ "]]}`,
		},
	}
}

// recogniseAsciicast takes a header. The events of newer versions are lines of their own.
func recogniseAsciicast(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "no header of a recording", 0
	}
	version, ok := v.Get("version").Int()
	columns, rows, sized := castSize(v)
	switch {
	case !ok:
		return "no number in version", 0
	case !sized && !v.Get("stdout").Present():
		return "no width and height, nor term.cols and term.rows", 0
	case version < 1 || version > 3:
		return fmt.Sprintf("asciicast version %d, want 1, 2 or 3", version), 4
	case !sized || columns < 1 || rows < 1:
		return "no width and height of the screen", 3
	case version == 1 && v.Get("stdout").Kind() != jsonscan.Array && v.Get("stdout").Kind() != jsonscan.Invalid:
		return "stdout is " + article(v.Get("stdout").Kind()) + ", want an array", 3
	}
	return "", 5
}

// castSize returns the size that a header states.
func castSize(v jsonscan.Value) (columns, rows int, ok bool) {
	c, r := v.Get("width"), v.Get("height")
	if term := v.Get("term"); term.Kind() == jsonscan.Object {
		c, r = term.Get("cols"), term.Get("rows")
	}
	x, okX := c.Int()
	y, okY := r.Int()
	const most = 1 << 20 // far above what a screen allows, far below what an int holds
	if !okX || !okY || x > most || y > most || x < -most || y < -most {
		return 0, 0, false
	}
	return int(x), int(y), true
}
