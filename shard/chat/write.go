package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// Place is where in a row a turn stands, as far as its form depends on it.
type Place struct {
	State string                 // the current screen, "" where none is to be shown
	First *turnmill.SystemPrompt // of a row's first turn: the prompt; nil in the other turns
	Last  bool                   // no turn follows in the row
}

// Forms tells whether a row's first turn, and whether its last, is written unlike the turns between. What it
// says of the first holds for this prompt.
func (f *Format) Forms(p *turnmill.SystemPrompt) (first, last bool) {
	return f.inFirst(p), f.def.lastPrefix != ""
}

// inFirst tells whether a row's first turn holds the prompt.
func (f *Format) inFirst(p *turnmill.SystemPrompt) bool {
	return f.def.systemInUser != "" && p != nil && *p != turnmill.SystemPrompt{}
}

// System writes what stands before the first turn of a row: the control token that begins it, and the system
// message, unless the prompt is part of the first turn. The prompt is its parts that are not empty, in
// schema order, joined by a blank line.
func (f *Format) System(t *Text, p *turnmill.SystemPrompt) {
	if f.begin != none {
		t.control(f.begin)
	}
	if f.def.systemAlways || f.def.systemInUser == "" && *p != (turnmill.SystemPrompt{}) {
		f.open(t, &f.def.system, f.system)
		t.prompt(p)
		f.close(t, &f.def.system, f.system)
	}
	t.flush()
}

// Turn writes a turn as two messages and sets t.Action, t.Observation and t.Prompt.
func (f *Format) Turn(t *Text, turn *turnmill.Turn, p Place) {
	t.Prompt = int32(len(t.IDs))
	f.open(t, &f.def.user, f.user)
	if f.inFirst(p.First) {
		t.prompt(p.First)
		t.note(&t.Prompt)
		t.plain(f.def.systemInUser)
	}
	if p.State != "" {
		t.plain(stateHeader)
		t.plain(p.State)
		t.plain(actionHeader)
	}
	t.border(&t.Action.Start)
	t.plain(turn.Action)
	f.close(t, &f.def.user, f.user)
	t.Action.End = int32(len(t.IDs))
	f.open(t, &f.def.assistant, f.assistant)
	if p.Last {
		t.plain(f.def.lastPrefix)
	}
	t.border(&t.Observation.Start)
	t.plain(turn.Observation)
	f.close(t, &f.def.assistant, f.assistant)
	t.Observation.End = int32(len(t.IDs))
	t.flush()
	t.Added -= f.scaffold
	if p.Last {
		t.Added -= f.lastScaffold
	}
}

// Document writes a text with the control tokens around it and sets t.Observation to the text and its end
// token.
func (f *Format) Document(t *Text, text string) {
	if f.begin != none {
		t.control(f.begin)
	}
	t.border(&t.Observation.Start)
	t.plain(text)
	t.control(f.endOfText)
	t.Observation.End = int32(len(t.IDs))
}

// open writes what stands before a message's content.
func (f *Format) open(t *Text, m *message, c controls) {
	if c.start != none {
		t.control(c.start)
	}
	t.plain(m.role)
	if c.head != none {
		t.control(c.head)
	}
	t.plain(m.gap)
}

// close ends a message. What follows the end token waits in the next stretch, so that len(t.IDs) is the
// place just after the end token.
func (f *Format) close(t *Text, m *message, c controls) {
	if c.end != none {
		t.control(c.end)
	}
	t.plain(m.after)
}

// prompt writes the parts of a system prompt that are not empty.
func (t *Text) prompt(p *turnmill.SystemPrompt) {
	first := true
	for _, part := range p.Parts() {
		if part == "" {
			continue
		}
		if !first {
			t.plain(partSeparator)
		}
		first = false
		t.plain(part)
	}
}

// SystemDiffers tells whether the family's published template would not write this prompt as it stands.
func (f *Format) SystemDiffers(p *turnmill.SystemPrompt) bool {
	if !f.def.trims.system {
		return false
	}
	first, last := "", ""
	for _, part := range p.Parts() {
		if part != "" {
			if first == "" {
				first = part
			}
			last = part
		}
	}
	return padded(first, last)
}

// Differs tells whether the family's published template would not write this turn as it stands: Llama's and
// Gemma's trim contents, Qwen3's and R1's cut an answer at </think>, Qwen3's strips the line feeds before
// the last one.
func (f *Format) Differs(turn *turnmill.Turn, p Place) bool {
	trims := &f.def.trims
	if trims.upTo != "" && strings.Contains(turn.Observation, trims.upTo) ||
		trims.lastLines && p.Last && strings.HasPrefix(turn.Observation, "\n") {
		return true
	}
	if !trims.turns {
		return false
	}
	first, last := turn.Action, turn.Action
	if p.State != "" {
		first = stateHeader
		if last == "" {
			last = actionHeader
		}
	}
	return padded(first, last) || padded(turn.Observation, turn.Observation)
}

// padded tells whether a text that begins with first and ends with last has white space around it.
func padded(first, last string) bool {
	a, _ := utf8.DecodeRuneInString(first)
	b, _ := utf8.DecodeLastRuneInString(last)
	return space(a) || space(b) // of an empty text it is U+FFFD, which is none
}

// space is white space as Jinja's trim has it, which is Python's: Unicode's, and four separators.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
