package formats

import (
	"bytes"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// act makes room for an action: one that is answered is over, and so is one without an id.
func (a *adp) act(linked bool) {
	a.agent()
	if len(a.calls) > 0 && !(linked && a.calls[len(a.calls)-1].id != "") {
		a.end()
	}
	if len(a.calls) == 0 && len(a.says) == 0 {
		a.state, a.react = a.page, false
	}
}

// reasons takes the thoughts of an action.
func (a *adp) reasons(v jsonscan.Value) {
	a.think.add(v.Get("description").Str(&a.out.arena))
	a.think.add(v.Get("reasoning_content").Str(&a.out.arena))
}

func (a *adp) api(v jsonscan.Value) error {
	name := v.Get("function")
	if name.Kind() != jsonscan.String {
		return badField("function", "a string", name)
	}
	k := call{name: name.Str(&a.out.arena), args: v.Get("kwargs"), id: a.out.id(v.Get("tool_call_id")), answer: -1}
	a.act(k.id != "")
	a.reasons(v)
	if quoted(k.args) {
		k.text = a.out.unquoted(&k)
	}
	a.call(k)
	return nil
}

// code takes code as the action's text, as it stands.
func (a *adp) code(v jsonscan.Value) error {
	text := v.Get("content")
	if text.Kind() != jsonscan.String {
		return badField("content", "a string", text)
	}
	if err := a.language(v.Get("language")); err != nil {
		return err
	}
	k := call{text: text.Str(&a.out.arena), id: a.out.id(v.Get("tool_call_id")), answer: -1}
	a.act(k.id != "")
	a.reasons(v)
	if k.id != "" {
		a.ids = append(a.ids, k.id)
	}
	a.calls = append(a.calls, k) // no tool has been called: its name says nothing of the domain
	return nil
}

// message takes words of the agent. Those that come first of all are the user's goal under the wrong role.
func (a *adp) message(v jsonscan.Value, first bool) error {
	content := v.Get("content")
	if content.Present() && content.Kind() != jsonscan.String {
		return badField("content", "a string", content)
	}
	text := content.Str(&a.out.arena)
	if first {
		a.person(words{text: text})
		return nil
	}
	a.act(false)
	a.reasons(v)
	thinking := a.think.n
	text = a.out.withoutThinking(text, &a.think)
	if thought, action, ok := splitReAct(text); ok {
		a.think.add(thought)
		text, a.react = action, true
	}
	if !a.say(text) && a.think.n == thinking {
		a.out.note(turnmill.NoteEmptiedMessage)
	}
	return nil
}

// splitReAct splits "Thought: t\nAction: a", with line feeds after the marks or without.
func splitReAct(text string) (thought, action string, ok bool) {
	const first, second = "Thought:", "\nAction:"
	i := strings.LastIndex(text, second)
	if !strings.HasPrefix(text, first) || i < 0 {
		return "", "", false
	}
	return text[len(first):i], strings.Trim(text[i+len(second):], blanks), true
}

// text takes a text by its place: behind calls it answers them.
func (a *adp) text(v jsonscan.Value) error {
	content, source := v.Get("content"), v.Get("source")
	if content.Kind() != jsonscan.String {
		return badField("content", "a string", content)
	}
	if source.Is("agent") {
		return a.message(v, false)
	}
	text := content.Str(&a.out.arena)
	if a.started && converterWrote(text) {
		a.out.note(turnmill.NoteUnsolicited)
		return nil
	}
	if pageText(text) {
		a.page, a.seen = text, a.seen|screenWeb
	}
	r := result{id: a.out.id(v.Get("tool_call_id")), text: text}
	switch {
	case len(a.calls) > 0 && (len(a.results) == 0 || r.id != "" || source.Is("environment")):
		a.answer(r)
	case !a.started && (source.Is("environment") || v.Get("name").Is("system")):
		return a.setting(text)
	case a.talking() && strings.HasPrefix(text, newProblem):
		a.demonstrated()
		a.task = append(a.task, text)
	case len(a.says) > 0 && len(a.reply) == 0 && (a.react || source.Is("environment")):
		a.results = append(a.results, r)
	default:
		a.person(words{text: text})
	}
	return nil
}

// setting takes what the environment says before the first action: the tools, or a part of the task.
func (a *adp) setting(text string) error {
	tools, ok := unwrapTools(text)
	if !ok || a.t.System.ActionSpace != "" {
		a.instruct(text)
		return nil
	}
	a.t.System.ActionSpace = tools
	return nil
}

func (a *adp) web(v jsonscan.Value) error {
	a.seen |= screenWeb
	if v.Get("image_observation").Present() {
		a.out.note(turnmill.NoteNonTextPart)
	}
	a.shown(v, pageOf(v).Str(&a.out.arena))
	return nil
}

// shown takes a page or a screen: the answer to calls that have none, and what the next action sees.
func (a *adp) shown(v jsonscan.Value, text string) {
	if len(a.calls) > 0 {
		if id := a.out.id(v.Get("tool_call_id")); len(a.results) == 0 || id != "" {
			a.results = append(a.results, result{id: id, text: text, mute: text == ""})
		}
	} else if a.started {
		a.end()
	}
	a.page = text
}

// image takes a screen by its elements. One without elements is a mere image.
func (a *adp) image(v jsonscan.Value) error {
	list := v.Get("annotations")
	if list.Present() && list.Kind() != jsonscan.Array {
		return badField("annotations", "an array", list)
	}
	a.out.note(turnmill.NoteNonTextPart)
	b, i := a.out.arena.Open(), 0
	for e := range list.Elems() {
		if e.Kind() != jsonscan.Object {
			return inside("annotations", i, badField("", "an object", e))
		}
		if i++; i > 1 {
			b = append(b, '\n')
		}
		b = a.element(b, e)
	}
	a.shown(v, a.out.arena.Close(b))
	return nil
}

// element appends an element of a screen.
func (a *adp) element(b []byte, v jsonscan.Value) []byte {
	class, box := v.Get("element_type"), v.Get("bounding_box")
	if text, _ := class.Plain(); bytes.HasPrefix(text, []byte("android.")) {
		a.seen |= screenAndroid
	} else {
		a.seen |= screenOther
	}
	return a.out.appendElement(b, &element{class: class, text: v.Get("text"), size: true,
		corners: [4]jsonscan.Value{box.Get("x"), box.Get("y"), box.Get("width"), box.Get("height")}})
}
