package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// message takes messages[i] of a sample.
func (p *inspect) message(m jsonscan.Value, i int) error {
	who := chatRole(m.Get("role"))
	if m.Kind() != jsonscan.Object || who == roleNone {
		return reject(turnmill.ReasonBadMessage, "messages[%d]: its role is none of a chat (system, user, assistant, tool)", i)
	}
	think := &p.aside
	if who == roleAgent {
		p.agent()
		think = &p.think
	}
	before, calls := think.n, len(p.calls)
	w, err := p.content(m.Get("content"), who, think)
	if err != nil {
		return inside("messages", i, err)
	}
	if who == roleAgent && len(p.results) > 0 {
		p.end() // of calls that the provider ran, which the rest of the message follows
	}
	switch who {
	case roleSystem:
		p.instruct(w.text)
	case roleUser:
		p.person(w)
	case roleTool:
		p.result(m, w)
	case roleAgent:
		if err := p.toolCalls(m.Get("tool_calls")); err != nil {
			return inside("messages", i, err)
		}
		if !p.say(p.out.withoutThinking(w.text, think)) && len(p.calls) == calls && think.n == before && !w.mute {
			p.out.note(turnmill.NoteEmptiedMessage)
		}
	}
	return nil
}

// content reads the content of a message: a text, or a list of parts.
func (p *inspect) content(v jsonscan.Value, who role, think *thoughts) (w words, err error) {
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return w, nil
	case jsonscan.String:
		return words{text: p.text(v)}, nil
	case jsonscan.Array:
	default:
		return w, badField("content", "a text or a list of parts", v)
	}
	p.pieces = p.pieces[:0]
	others := 0
	for c := range v.Elems() {
		switch kind := c.Get("type"); {
		case kind.Is("text"):
			p.pieces = append(p.pieces, p.text(c.Get("text")))
		case kind.Is("reasoning"):
			p.reasoned(c, think)
		case kind.Is("tool_use") && who == roleAgent:
			p.serverCall(c)
		case kind.Kind() == jsonscan.String:
			others++
		default:
			return w, badField("content", "a list of parts with a type", c)
		}
	}
	p.out.Notes[turnmill.NoteNonTextPart] += int64(others)
	return words{text: p.out.join(p.pieces, "\n"), mute: others > 0 && len(p.pieces) == 0}, nil
}

// reasoned takes a part of reasoning; of one that is encrypted there may be a summary.
func (p *inspect) reasoned(c jsonscan.Value, think *thoughts) {
	text := p.text(c.Get("reasoning"))
	if c.Get("redacted").Kind() == jsonscan.True {
		text = p.text(c.Get("summary"))
	}
	think.block(text)
}

// serverCall takes a call that the model's provider ran, and its result.
func (p *inspect) serverCall(c jsonscan.Value) {
	k := call{name: c.Get("name").Str(&p.out.arena), args: c.Get("arguments"), id: p.out.id(c.Get("id")), answer: -1}
	if a, ok := p.attachment(k.args.Str(&p.out.arena)); ok {
		k.args = a
	}
	k.text = p.callText(k.name, k.args)
	p.call(k)
	r := result{id: k.id}
	failed, value := c.Get("error"), c.Get("result")
	switch {
	case failed.Kind() == jsonscan.String && len(failed.Raw()) > 2:
		r.text = p.text(failed)
	case value.Kind() == jsonscan.String:
		r.text = p.text(value)
	case value.Present():
		r.text = p.out.arena.Close(appendCompact(p.out.arena.Open(), value))
	default:
		r.mute = true
	}
	p.answer(r)
}

// toolCalls takes the calls of a message: {id, function, arguments}.
func (p *inspect) toolCalls(list jsonscan.Value) error {
	if list.Present() && list.Kind() != jsonscan.Array {
		return badField("tool_calls", "an array", list)
	}
	i := 0
	for c := range list.Elems() {
		name := c.Get("function")
		if name.Kind() != jsonscan.String {
			return inside("tool_calls", i, badField("function", "a string", name))
		}
		k := call{name: name.Str(&p.out.arena), args: c.Get("arguments"), id: p.out.id(c.Get("id")), answer: -1}
		k.text = p.callText(k.name, k.args)
		p.call(k)
		i++
	}
	return nil
}

// callText writes a call whose arguments refer to attachments; "" for any other.
func (p *inspect) callText(name string, args jsonscan.Value) string {
	if args.Kind() != jsonscan.Object && args.Kind() != jsonscan.Array {
		return ""
	}
	whole := p.json(args)
	if whole == args.RawStr() {
		return ""
	}
	b := append(appendCallName(p.out.arena.Open(), name), whole...)
	return p.out.arena.Close(append(b, '}'))
}

// result takes a tool's message. What went wrong is told in error, in the tool's own words. A call that was
// not approved did not run. A submission that is answered by itself ran nothing.
func (p *inspect) result(m jsonscan.Value, w words) {
	r := result{id: p.out.id(m.Get("tool_call_id")), text: w.text, mute: w.mute}
	if failed := m.Get("error"); failed.Kind() == jsonscan.Object {
		if text := p.text(failed.Get("message")); text != "" {
			r.text, r.mute = text, false
		}
		r.mute = r.mute || failed.Get("type").Is("approval")
	}
	if m.Get("function").Is("submit") && p.echoes(&r) {
		p.out.note(turnmill.NoteSubmitEcho)
		return
	}
	p.answer(r)
}

// echoes tells whether a result is what was submitted, and takes the call out of the act.
func (p *inspect) echoes(r *result) bool {
	for i := range p.calls {
		k := &p.calls[i]
		if k.id != r.id || k.name != "submit" || k.args.Len() != 1 {
			continue
		}
		for _, v := range k.args.Members() {
			if v.Kind() == jsonscan.String && p.text(v) == r.text {
				p.calls = append(p.calls[:i], p.calls[i+1:]...)
				return true
			}
		}
	}
	return false
}
