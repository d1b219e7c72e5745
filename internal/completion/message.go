package completion

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// message is what a choice says, before the reasoning is told from the text.
type message struct {
	text      string
	present   bool   // there is content, though it may be empty
	reasoning string // from a field, or from parts of their own kind
	refusal   string
}

func (m *message) read(v jsonscan.Value) error {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if m.reasoning == "" {
			m.reasoning = text(v.Get(name))
		}
	}
	m.refusal = text(v.Get("refusal"))
	switch c := v.Get("content"); c.Kind() {
	case jsonscan.String:
		m.text, m.present = text(c), true
	case jsonscan.Invalid, jsonscan.Null:
	case jsonscan.Array:
		return m.parts(c)
	default:
		return fmt.Errorf("its content is %s, not text", c.Kind())
	}
	return nil
}

// parts joins content that comes in parts. A part of another kind than these has no text to lose.
func (m *message) parts(list jsonscan.Value) error {
	var said, thought strings.Builder
	for p := range list.Elems() {
		switch kind := text(p.Get("type")); kind {
		case "text", "output_text":
			said.WriteString(text(p.Get("text")))
			m.present = true
		case "thinking", "reasoning":
			thought.WriteString(thinking(p))
		case "refusal":
			m.refusal += text(p.Get("refusal"))
		default:
			return fmt.Errorf("its content has a part of type %q", Bounded(kind, 40))
		}
	}
	m.text = said.String()
	if m.reasoning == "" {
		m.reasoning = thought.String()
	}
	return nil
}

// thinking returns the text of a part of reasoning: a text, or a list of parts with texts.
func thinking(p jsonscan.Value) string {
	for _, name := range []string{"thinking", "reasoning", "text"} {
		switch v := p.Get(name); v.Kind() {
		case jsonscan.String:
			return text(v)
		case jsonscan.Array:
			var all strings.Builder
			for e := range v.Elems() {
				all.WriteString(text(e.Get("text")))
			}
			return all.String()
		}
	}
	return ""
}

// split tells text from reasoning.
func (m *message) split() (said, reasoning string, whole bool) {
	reasoning, said, whole = SplitField(m.text, m.reasoning)
	return said, reasoning, whole
}

// SplitField is Split of a text beside which a field holds the reasoning. Where it does, it outranks the text's own block:
// a block is taken off only where it says nothing else. Line feeds that stood around the reasoning belong to its markers.
func SplitField(text, field string) (reasoning, answer string, whole bool) {
	inner, rest, whole := Split(text)
	if field == "" {
		return inner, rest, whole
	}
	field = strings.Trim(field, "\n")
	if whole && (inner == "" || inner == field) {
		return field, strings.TrimLeft(rest, "\n"), true
	}
	return field, strings.TrimLeft(text, "\n"), true
}

const (
	openThink = "<think>"
	endThink  = "</think>"
)

// Split tells the reasoning that opens a text from the answer after it:
//
//	<think>why</think>what     why, what      blanks before the block allowed
//	why</think>what            why, what      an orphan end: the prompt held the start, all before is reasoning
//	<think>why                 why, nothing   no end: whole is false, there is no answer
//	what                       nothing, what  as it is
//	what <think>x</think> it   nothing, all   a pair within the text is text
//
// The first end counts. Line feeds at both ends of the reasoning and before the answer belong to the markers, as
// the chat templates write them; without a block the text stays as it is.
func Split(text string) (reasoning, answer string, whole bool) {
	lead := strings.TrimLeft(text, " \t\r\n")
	body, opened := strings.CutPrefix(lead, openThink)
	if !opened {
		body = text
	}
	inner, rest, ended := strings.Cut(body, endThink)
	switch {
	case !ended && opened:
		return strings.Trim(body, "\n"), "", false
	case !ended, !opened && strings.Contains(inner, openThink):
		return "", text, true
	}
	return strings.Trim(inner, "\n"), strings.TrimLeft(rest, "\n"), true
}
