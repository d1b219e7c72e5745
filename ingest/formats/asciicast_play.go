package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/screen"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Marks with which a shell tells its terminal that a line is being edited.
const (
	editBegins = "\x1b[?2004h"
	editEnds   = "\x1b[?2004l"
)

// play makes the turns of a recording.
func (a *asciicast) play() {
	input, brackets, output := false, false, false
	for i := range a.events {
		e := &a.events[i]
		input = input || e.code == 'i'
		output = output || e.code == 'o'
		brackets = brackets || e.code == 'o' && strings.Contains(e.text, editEnds)
	}
	switch {
	case input:
		a.playKeys()
	case brackets:
		a.playPrompts()
	case output:
		a.out.note(turnmill.NoteOrphanObservation)
	}
}

// other takes an event that is neither output nor input.
func (a *asciicast) other(e *castEvent) {
	if columns, rows, ok := resizeTo(e.text); ok && e.code == 'r' {
		_ = a.term.Resize(columns, rows) // too many cells: the screen keeps its size
	}
}

// look returns the screen.
func (a *asciicast) look() string { return a.out.arena.Copy(a.term.Text()) }

// did closes the turn of keys that were typed at the screen before.
func (a *asciicast) did(keys, before, after string) {
	a.agent()
	a.state = before
	b := jsonscan.AppendQuoted(append(a.out.arena.Open(), `[{"keystrokes":`...), keys)
	a.say(a.out.arena.Close(append(b, "}]"...)))
	a.results = append(a.results, result{text: after})
	a.end()
}

// playKeys plays a recording that holds its input.
func (a *asciicast) playKeys() {
	var keys []byte // of the action
	before := ""    // the screen before them
	acted, answered := false, false
	turn := func() {
		after := a.look()
		if acted && answered {
			a.did(string(keys), before, after)
		} else {
			a.out.note(turnmill.NoteUnansweredAction)
		}
		keys, acted, answered = keys[:0], false, false
	}
	for i := range a.events {
		e := &a.events[i]
		switch e.code {
		case 'o':
			a.term.Write(e.text)
			answered = answered || acted
		case 'i':
			if acted && answered {
				turn()
			}
			if len(keys) == 0 {
				before = a.look()
			}
			keys = append(keys, e.text...)
			acted = acted || actingKeys(e.text) || a.term.Alternate()
		default:
			a.other(e)
		}
	}
	if len(keys) > 0 {
		turn()
	}
}

// actingKeys tells keys that make the program act: line ends, and control keys that interrupt, end or stop.
func actingKeys(keys string) bool { return strings.ContainsAny(keys, "\r\n\x03\x04\x1a\x1c") }

// prompts follows a shell that brackets the lines that are edited.
type prompts struct {
	editing bool
	settled bool            // the prompt stands
	start   screen.Position // behind the prompt
	typed   string
	ran     bool // a line has been entered since the last prompt
	before  string
}

// playPrompts plays a recording without input: lines are read off the screen.
func (a *asciicast) playPrompts() {
	var p prompts
	shown := false // output since the line was entered
	for i := range a.events {
		e := &a.events[i]
		if e.code != 'o' {
			a.other(e)
			continue
		}
		if p.editing && !p.settled && strings.HasPrefix(strings.TrimLeft(e.text, "\r\n"), editEnds) {
			a.prompt(&p) // an empty one
		}
		shown = shown || p.ran
		for rest := e.text; rest != ""; {
			mark := editBegins
			if p.editing {
				mark = editEnds
			}
			part, after, found := strings.Cut(rest, mark)
			a.edit(&p, part)
			if rest = after; !found {
				break
			}
			a.term.Write(mark)
			if p.editing {
				a.entered(&p)
			} else {
				p.editing, p.settled = true, false
			}
			shown = false
		}
		if p.editing && !p.settled && a.promptStands(e.text) {
			a.prompt(&p)
		}
	}
	switch {
	case p.ran && shown:
		a.did(p.typed+"\n", p.before, a.look())
	case p.ran:
		a.out.note(turnmill.NoteUnansweredAction)
	}
}

// entered ends a line. One whose prompt came in the same piece of output cannot be told from the prompt, and
// hides what answered the line before.
func (a *asciicast) entered(p *prompts) {
	if !p.settled {
		a.out.note(turnmill.NoteUnansweredAction)
		if p.ran {
			a.out.note(turnmill.NoteUnansweredAction)
		}
	}
	p.editing, p.ran = false, p.settled
}

// edit writes output and, while a line is edited, reads it off the screen: without the line end at its end,
// with which the line is entered.
func (a *asciicast) edit(p *prompts, part string) {
	core := strings.TrimRight(part, "\r\n")
	a.term.Write(core)
	if p.editing && p.settled && core != "" {
		p.typed = a.out.arena.Copy(a.term.Between(p.start, a.term.Cursor()))
	}
	a.term.Write(part[len(core):])
}

// promptStands tells whether the prompt is there: it comes with the mark, before or behind it.
func (a *asciicast) promptStands(text string) bool {
	return a.term.Cursor().Column > 0 || !strings.HasSuffix(text, editBegins)
}

// prompt closes the turn of the line before, and begins the next.
func (a *asciicast) prompt(p *prompts) {
	now := a.look()
	if p.ran {
		a.did(p.typed+"\n", p.before, now)
	}
	a.term.Forget()
	p.settled, p.ran, p.typed, p.before, p.start = true, false, "", now, a.term.Cursor()
}
