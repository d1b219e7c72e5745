package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// talk reads conversations in the shapes of the model APIs, which traces mix freely. What it finds goes to
// acts in its order.
//
//	{role, content, tool_calls}                     OpenAI's chats; content may hold blocks of Anthropic's API
//	                                                (tool_use, tool_result) or of the AI SDK (tool-call)
//	{role, parts}                                   Gemini (functionCall) and OpenTelemetry (tool_call)
//	{type: function_call, function_call_output}     items of OpenAI's Responses API
//	{type: human, ai, tool}                         LangChain
//	{toolCallId, toolName, input}                   a call alone
//
// An item of no known shape is an error, which costs the record, but for formats that say otherwise.
type talk struct {
	acts
	diff   diff
	frozen bool // calls are written when they are read: the document that holds them is gone later
	got    bool // the message at hand holds something
	texts  []string
	tools  []string // declarations among the messages
}

// beginTalk starts a trajectory.
func (t *talk) beginTalk(run *turnmill.Trajectory, out *Decoded) {
	t.begin(run, out)
	t.diff.reset()
	t.tools = t.tools[:0]
}

// items reads a list of items, or one item.
func (t *talk) items(list string, v jsonscan.Value) error {
	if v.Kind() != jsonscan.Array {
		return t.item(v)
	}
	i := 0
	for m := range v.Elems() {
		if err := t.item(m); err != nil {
			return inside(list, i, err)
		}
		i++
	}
	return nil
}

// item reads a message, a call or a result.
func (t *talk) item(v jsonscan.Value) error {
	if v.Kind() == jsonscan.String { // an input that is one text is the user's
		t.user(words{text: v.Str(&t.out.arena)})
		return nil
	}
	if v.Kind() != jsonscan.Object {
		return badField("", "an object", v)
	}
	if who := anyRole(v); who != roleNone {
		return t.message(v, who)
	}
	if kind := v.Get("type"); kind.Kind() == jsonscan.String {
		known, err := t.responseItem(v, kind)
		if known || err != nil {
			return err
		}
	}
	if name := v.Get("toolName"); name.Kind() == jsonscan.String && v.Get("toolCallId").Present() {
		return t.partCall(v, "toolName", "toolCallId", "input")
	}
	return badField("type", "a type of the API's, or a role beside it", v.Get("type"))
}

// setting reads instructions: a text, a list of parts or a message of parts.
func (t *talk) setting(v jsonscan.Value) error {
	if parts := v.Get("parts"); parts.Kind() == jsonscan.Array {
		v = parts
	}
	t.texts, t.got = t.texts[:0], false
	var err error
	if v.Kind() != jsonscan.Array {
		_, err = t.part(v, roleSystem)
	}
	for p := range v.Elems() {
		if _, e := t.part(p, roleSystem); e != nil && err == nil {
			err = e
		}
	}
	t.flush(roleSystem, true)
	return err
}

// anyRole returns the role of a message, by whatever name its API knows it.
func anyRole(v jsonscan.Value) role {
	name := v.Get("role")
	if r := chatRole(name); r != roleNone {
		return r
	}
	if !name.Present() {
		name = v.Get("type")
		if name.Is("message") || name.Is("tool_call") || !v.Get("content").Present() && !v.Get("tool_calls").Present() {
			return roleNone
		}
		if r := chatRole(name); r == roleSystem || r == roleTool && v.Get("tool_call_id").Present() {
			return r
		}
	}
	switch {
	case name.Is("model"), name.Is("ai"), name.Is("AIMessageChunk"):
		return roleAgent
	case name.Is("human"):
		return roleUser
	}
	return roleNone
}

// message reads a message of who.
func (t *talk) message(v jsonscan.Value, who role) error {
	t.texts, t.got = t.texts[:0], false
	for _, name := range [...]string{"reasoning_content", "reasoning"} {
		if text := v.Get(name).Str(&t.out.arena); text != "" {
			t.reasoned(who, text)
		}
	}
	content, way := v.Get("content"), "content"
	if parts := v.Get("parts"); parts.Kind() == jsonscan.Array {
		content, way = parts, "parts"
	}
	mute := false
	switch content.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
	case jsonscan.String:
		t.texts = append(t.texts, content.Str(&t.out.arena))
	case jsonscan.Array:
		if who == roleTool && way == "content" {
			break // read as a result below
		}
		i := 0
		for p := range content.Elems() {
			other, err := t.part(p, who)
			if err != nil {
				return inside(way, i, err)
			}
			mute = mute || other
			i++
		}
	case jsonscan.Object:
		if who != roleTool {
			other, err := t.part(content, who)
			if err != nil {
				return under(way, err)
			}
			mute = other
		}
	default:
		return badField(way, "a text or a list of parts", content)
	}
	if who == roleTool && way == "content" {
		return t.toolMessage(v, content)
	}
	if who == roleAgent {
		if err := t.toolCalls(v); err != nil {
			return err
		}
	}
	t.flush(who, mute)
	if who == roleAgent && !t.got && !mute && !t.diff.on {
		t.out.note(turnmill.NoteEmptiedMessage)
	}
	return nil
}

// flush hands on the texts that were gathered: the agent's are acts, the others' are one text.
func (t *talk) flush(who role, mute bool) {
	defer func() { t.texts = t.texts[:0] }()
	if who == roleAgent {
		for _, text := range t.texts {
			t.agentText(text)
		}
		return
	}
	switch text := t.out.join(t.texts, "\n"); {
	case text == "" && (t.got || mute):
	case who == roleSystem:
		t.system(text)
	case who == roleUser:
		t.user(words{text: text})
	}
}

// toolCalls reads the calls beside a message's content.
func (t *talk) toolCalls(v jsonscan.Value) error {
	list := v.Get("tool_calls")
	if !declares(list) {
		list = v.Get("additional_kwargs").Get("tool_calls")
	}
	if list.Present() && list.Kind() != jsonscan.Array {
		return badField("tool_calls", "an array", list)
	}
	if len(t.texts) > 0 && list.Len() > 0 {
		t.flush(roleAgent, false)
	}
	i := 0
	for c := range list.Elems() {
		k, err := t.out.readCall(c)
		if err != nil {
			return inside("tool_calls", i, err)
		}
		if args := c.Get("args"); k.args.Kind() == jsonscan.Invalid && args.Present() { // LangChain's
			k.args = args
		}
		t.called(k)
		i++
	}
	if f := v.Get("function_call"); i == 0 && f.Kind() == jsonscan.Object {
		k, err := t.out.readCall(f)
		if err != nil {
			return under("function_call", err)
		}
		t.flush(roleAgent, false)
		t.called(k)
	}
	return nil
}

// toolMessage reads a result under the role tool, or the declaration of a tool that some tracers put there.
func (t *talk) toolMessage(v, content jsonscan.Value) error {
	if content.Get("type").Is("function") && content.Get("function").Present() {
		if raw := t.out.verbatim(content); t.diff.fresh('d', raw) {
			t.tools = append(t.tools, raw)
		}
		return nil
	}
	id := v.Get("tool_call_id")
	if !id.Present() {
		id = v.Get("toolCallId")
	}
	r, err := t.result(id, content)
	if err == nil {
		t.answered(r)
	}
	return err
}
