package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// words is what the content of a chat message holds.
type words struct {
	text string
	mute bool // there are images, audio or files, and no text
}

// partKind tells the parts of a list of content apart.
type partKind uint8

const (
	partText partKind = iota
	partReasoning
	partOther  // images, audio, files
	partTyped  // {type, value}: typed content of LLaMA-Factory
	partBlock  // tool_use, tool_result: content blocks of Anthropic's API
	partBroken // neither a string nor an object, or a text that is none
)

// part returns a part's kind and its text, where it has one.
func part(p jsonscan.Value) (partKind, jsonscan.Value) {
	if p.Kind() == jsonscan.String {
		return partText, p
	}
	if p.Kind() != jsonscan.Object {
		return partBroken, p
	}
	kind, text := p.Get("type"), p.Get("text")
	switch {
	case kind.Is("tool_use"), kind.Is("tool_result"):
		return partBlock, p
	case kind.Present() && !text.Present() && p.Get("value").Present():
		return partTyped, p
	case kind.Is("thinking"):
		return partReasoning, p.Get("thinking")
	case kind.Is("redacted_thinking"):
		return partReasoning, jsonscan.Value{}
	case kind.Is("reasoning"):
		return partReasoning, text
	case kind.Is("refusal"):
		text = p.Get("refusal")
	case kind.Is("text"), kind.Is("input_text"), kind.Is("output_text"):
	case kind.Present() || !text.Present():
		return partOther, p
	}
	if text.Present() && text.Kind() != jsonscan.String {
		return partBroken, p
	}
	return partText, text
}

// alienPart says what parts of another format in a message's content are, or "".
func alienPart(content jsonscan.Value) string {
	for p := range content.Elems() {
		switch kind, _ := part(p); kind {
		case partTyped:
			return "content parts have type and value (LLaMA-Factory's typed content)"
		case partBlock:
			return "content parts are tool_use and tool_result blocks (Anthropic messages)"
		}
	}
	return ""
}

// content reads the content of a message: a string, null, or a list of parts, whose texts are joined by a
// line feed. Reasoning parts go to think. ok is false for any other kind, and for parts of no known shape.
func (d *Decoded) content(v jsonscan.Value, think *thoughts) (w words, ok bool) {
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return w, true
	case jsonscan.String:
		w.text = v.Str(&d.arena)
		return w, true
	case jsonscan.Array:
		return d.parts(v, think)
	}
	return w, false
}

func (d *Decoded) parts(list jsonscan.Value, think *thoughts) (w words, ok bool) {
	texts, others, reasoning := 0, 0, 0
	for p := range list.Elems() {
		switch kind, _ := part(p); kind {
		case partText:
			texts++
		case partReasoning:
			reasoning++
		case partOther:
			others++
		default:
			return w, false
		}
	}
	d.Notes[turnmill.NoteNonTextPart] += int64(others)
	w.mute = others > 0 && texts == 0
	if reasoning > 0 {
		for p := range list.Elems() {
			if kind, text := part(p); kind == partReasoning {
				think.add(text.Str(&d.arena))
			}
		}
	}
	b, n := d.arena.Open(), 0
	for p := range list.Elems() {
		kind, text := part(p)
		if kind != partText {
			continue
		}
		if texts == 1 {
			w.text = text.Str(&d.arena)
			return w, true
		}
		if n++; n > 1 {
			b = append(b, '\n')
		}
		b = text.AppendString(b)
	}
	w.text = d.arena.Close(b)
	return w, true
}
