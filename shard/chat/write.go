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
	Spans []turnmill.Span        // stretches of the observation, in bytes: they rise and do not touch
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

// Turn writes a turn as two messages and sets t.Action, t.Observation, t.Spans and t.Prompt. A span that reaches the
// observation's end takes the end token with it: that nothing follows is what is new there.
func (f *Format) Turn(t *Text, turn *turnmill.Turn, p Place) {
	f.ask(t, turn, p)
	if p.Last {
		t.plain(f.def.lastPrefix)
	}
	t.border(&t.Observation.Start)
	f.answer(t, turn, p.Spans)
	t.Reasoning = turnmill.Span{Start: t.Observation.Start, End: t.Observation.Start}
	if p.Last {
		t.Added -= f.lastScaffold
	}
}

// Answer writes a row's last turn with the reasoning that led to its observation, and sets t.Reasoning too:
//
//	<|im_start|>assistant⏎ <think>⏎ {reasoning} ⏎</think>⏎⏎ {observation} <|im_end|>
//	                       ^---------- Reasoning ----------^--- Observation --------^
//
// The opening tag is left out of it where the generation prompt holds it. Without reasoning, Answer is Turn.
func (f *Format) Answer(t *Text, turn *turnmill.Turn, p Place, reasoning string) {
	p.Last = true
	if reasoning == "" {
		f.Turn(t, turn, p)
		return
	}
	f.ask(t, turn, p)
	if f.def.thinkAsked {
		t.plain(thinkOpen)
		t.border(&t.Reasoning.Start)
	} else {
		t.border(&t.Reasoning.Start)
		t.plain(thinkOpen)
	}
	t.plain(reasoning)
	t.plain(thinkClose)
	t.border(&t.Observation.Start)
	f.answer(t, turn, p.Spans)
	t.Reasoning.End = t.Observation.Start
	t.Added -= f.thinkScaffold
}

// ask writes a turn's user message, and opens the assistant's.
func (f *Format) ask(t *Text, turn *turnmill.Turn, p Place) {
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
}

// answer writes the observation, with the spans that it has, and closes the assistant's message.
func (f *Format) answer(t *Text, turn *turnmill.Turn, spans []turnmill.Span) {
	t.within(spans)
	t.plain(turn.Observation)
	f.close(t, &f.def.assistant, f.assistant)
	t.Observation.End = int32(len(t.IDs))
	if n := len(spans); n > 0 && len(t.Spans) > 0 && int(spans[n-1].End) == len(turn.Observation) {
		t.Spans[len(t.Spans)-1].End = t.Observation.End
	}
	t.flush()
	t.Added -= f.scaffold
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

// AnswerDiffers is Differs for what Answer writes. Qwen3's template strips the line feeds around reasoning
// too. R1's takes no reasoning back: there the row is the generation prompt and what follows it.
func (f *Format) AnswerDiffers(turn *turnmill.Turn, p Place, reasoning string) bool {
	p.Last = true
	if reasoning == "" {
		return f.Differs(turn, p)
	}
	if f.def.trims.upTo != "" && strings.Contains(reasoning, f.def.trims.upTo) ||
		f.def.trims.lastLines && (strings.HasPrefix(reasoning, "\n") || strings.HasSuffix(reasoning, "\n")) {
		return true
	}
	if !f.def.trims.turns {
		return f.Differs(turn, p)
	}
	whole := *turn
	if whole.Observation = thinkTag + turn.Observation; turn.Observation == "" {
		whole.Observation = thinkClose
	}
	return f.Differs(&whole, p)
}

// padded tells whether a text that begins with first and ends with last has white space around it.
func padded(first, last string) bool {
	a, _ := utf8.DecodeRuneInString(first)
	b, _ := utf8.DecodeLastRuneInString(last)
	return space(a) || space(b) // of an empty text it is U+FFFD, which is none
}

// space is white space as Jinja's trim has it, which is Python's: Unicode's, and four separators.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
