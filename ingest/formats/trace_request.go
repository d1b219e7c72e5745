package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// declared keeps the first declaration of tools.
func (t *trace) declared(tools string) {
	if t.t.System.ActionSpace == "" && tools != "" && tools != "[]" && tools != "{}" {
		t.t.System.ActionSpace = tools
	}
}

// declaredIn keeps the tools that a request or reply declares.
func (t *trace) declaredIn(v jsonscan.Value) {
	if tools := v.Get("tools"); tools.Kind() == jsonscan.Array && tools.Len() > 0 {
		t.declared(t.out.verbatim(tools))
	}
}

// input takes a request in any of its shapes.
func (t *trace) input(v jsonscan.Value) {
	config := v.Get("config")
	t.declaredIn(v)
	t.declaredIn(config)
	for _, s := range [...]jsonscan.Value{v.Get("system"), v.Get("instructions"), v.Get("systemInstruction"), config.Get("system_instruction")} {
		if s.Present() {
			t.unread(t.setting(s))
		}
	}
	list := messageList(v)
	switch prompt := v.Get("prompt"); {
	case list.Present():
		v = list
	case prompt.Present():
		v = prompt
	case v.Kind() == jsonscan.Object && anyRole(v) == roleNone:
		return
	}
	t.each(v)
}

// instructions takes a list of parts that are the system's.
func (t *trace) instructions(text string) {
	if v, ok := t.parse(text); ok {
		t.unread(t.setting(v))
	}
}

// each takes the items of a list, or one. Those of no known shape are left out and counted.
func (t *trace) each(v jsonscan.Value) {
	if v.Kind() != jsonscan.Array {
		t.unread(t.item(v))
		return
	}
	for m := range v.Elems() {
		if m.Kind() == jsonscan.String && t.printed(m) {
			continue
		}
		t.unread(t.item(m))
	}
}

func (t *trace) unread(err error) {
	if err != nil {
		t.out.note(turnmill.NoteUnreadMessage)
	}
}

// output takes a reply in any of its shapes. JSON of no known shape is what the agent said.
func (t *trace) output(v jsonscan.Value, text string) {
	t.declaredIn(v)
	choice, content := v.Get("choices").At(0).Get("message"), v.Get("content")
	switch {
	case choice.Kind() == jsonscan.Object:
		v = choice
	case v.Get("output").Kind() == jsonscan.Array:
		if s := v.Get("instructions"); s.Kind() == jsonscan.String {
			t.lead(s.Str(&t.out.arena))
		}
		v = v.Get("output")
	case content.Kind() == jsonscan.Object && content.Get("parts").Present():
		v = content
	case messageList(v).Present() && anyRole(v) == roleNone:
		v = messageList(v)
	case v.Kind() == jsonscan.Array && knownItem(v.At(0)), knownItem(v):
	default:
		t.agentText(text)
		return
	}
	t.each(v)
}

// lead takes instructions that stand in a reply: they come before what the user asked.
func (t *trace) lead(text string) {
	switch {
	case t.diff.old('s', text) || text == "":
	case t.started:
		t.system(text)
	default:
		t.diff.fresh('s', text)
		t.task = slices.Insert(t.task, 0, text)
	}
}

// knownItem tells what talk.item reads.
func knownItem(v jsonscan.Value) bool {
	return anyRole(v) != roleNone || v.Get("toolName").Present() || v.Get("call_id").Present() || v.Get("type").Is("reasoning")
}
