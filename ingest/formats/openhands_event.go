package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// event plays an event. Observations are taken by their actions.
func (h *openHands) event(e jsonscan.Value) error {
	action, args := e.Get("action"), e.Get("args")
	if action.Kind() != jsonscan.String {
		return nil
	}
	agent := e.Get("source").Is("agent")
	f := fields{out: h.out}
	switch {
	case action.Is("change_agent_state"), action.Is("null"):
	case action.Is("system"):
		h.instruct(f.text("args.content", args.Get("content")))
		if f.err == nil {
			h.declared, f.err = h.declare("args.tools", args.Get("tools"))
		}
	case action.Is("recall"):
		h.recall(e)
	case action.Is("message"):
		text := f.text("args.content", args.Get("content"))
		if images := args.Get("image_urls"); images.Kind() == jsonscan.Array {
			h.out.Notes[turnmill.NoteNonTextPart] += int64(images.Len())
		}
		h.message(text, agent)
	case agent:
		return h.action(e, action, args)
	default: // a person at the same terminal
		h.out.note(turnmill.NoteUnsolicited)
	}
	return f.err
}

func (h *openHands) message(text string, agent bool) {
	if !agent {
		h.person(words{text: text})
		return
	}
	h.end()
	h.started, h.response = true, ""
	if !h.say(h.out.withoutThinking(text, &h.think)) && h.think.n == 0 {
		h.out.note(turnmill.NoteEmptiedMessage)
	}
}

// recall takes what the harness added to the prompt: knowledge of the repository and of tools.
func (h *openHands) recall(e jsonscan.Value) {
	answer, ok := h.take(h.out.id(e.Get("id")))
	if !ok {
		return
	}
	extras := answer.Get("extras")
	for _, name := range [...]string{"repo_instructions", "additional_agent_instructions"} {
		h.added(extras.Get(name))
	}
	for k := range extras.Get("microagent_knowledge").Elems() {
		h.added(k.Get("content"))
	}
}

func (h *openHands) added(text jsonscan.Value) {
	if s := text.Str(&h.out.arena); s != "" {
		h.instruct(s)
	}
}

// action takes a call and its answer. Calls of one response are one act.
func (h *openHands) action(e, action, args jsonscan.Value) error {
	f := fields{out: h.out}
	meta := e.Get("tool_call_metadata")
	reply := meta.Get("model_response")
	if id := h.out.id(reply.Get("id")); id == "" || id != h.response {
		h.end()
		h.response = id
	}
	h.started = true
	if h.t.Agent == "" {
		h.t.Agent = h.out.id(reply.Get("model"))
	}
	message := reply.Get("choices").At(0).Get("message")
	if len(h.calls) == 0 {
		h.think.add(message.Get("reasoning_content").Str(&h.out.arena))
	}
	if !action.Is("think") { // there the thought is the argument
		h.think.add(f.text("args.thought", args.Get("thought")))
	}
	k, err := h.toolCall(meta, message)
	if err != nil {
		return err
	}
	kinds := h.kinds
	if k.name == "" {
		k.name = action.Str(&h.out.arena)
		k.text = h.out.actionText(k.name, args, action.Is("think"))
		kinds |= actionKind(k.name)
	} else {
		kinds |= toolKind(k.name)
	}
	k.id = h.out.id(e.Get("id"))
	h.call(k)
	h.kinds = kinds
	if answer, ok := h.take(k.id); ok {
		r := result{id: k.id, text: f.text("content", answer.Get("content"))}
		r.mute = answer.Get("observation").Is("user_rejected")
		h.results = append(h.results, r)
		h.exitCode(answer)
	}
	return f.err
}

// toolCall finds the call that an event stands for among those of the response; its name is "" when there is
// none.
func (h *openHands) toolCall(meta, message jsonscan.Value) (call, error) {
	id := meta.Get("tool_call_id")
	for v := range message.Get("tool_calls").Elems() {
		if own := v.Get("id"); own.Kind() == id.Kind() && string(own.Raw()) == string(id.Raw()) {
			k, err := h.out.readCall(v)
			if err != nil {
				err = under("tool_call_metadata.model_response", err)
			}
			return k, err
		}
	}
	return call{answer: -1}, nil
}

// exitCode keeps the code of a run.
func (h *openHands) exitCode(answer jsonscan.Value) {
	if code := answer.Get("extras").Get("metadata").Get("exit_code"); isInteger(code.RawStr()) {
		h.codes = append(h.codes, code.RawStr())
	}
}

// actionKind classes an action by the harness's name for it.
func actionKind(name string) toolKinds {
	switch name {
	case "run", "run_ipython":
		return toolShell
	case "edit", "write":
		return toolEdit
	case "think", "finish", "reject", "delegate", "add_task", "modify_task":
		return toolAside
	}
	return toolOther
}

// actionText is the canonical text of an action that names no call: its name and those of its arguments
// that the model chose.
func (d *Decoded) actionText(name string, args jsonscan.Value, thinks bool) string {
	b := append(appendCallName(d.arena.Open(), name), '{')
	n := 0
	for k, v := range args.Members() {
		key := d.key(k)
		if !v.Present() || ownArgument(key) && !(thinks && key == "thought") {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = d.appendVerbatim(append(d.appendVerbatim(b, k), ':'), v)
	}
	return d.arena.Close(append(b, "}}"...))
}

// ownArgument tells the members beside an action's arguments that the harness writes.
func ownArgument(name string) bool {
	switch name {
	case "action", "thought", "keep_prompt", "is_confirmed", "confirmation_state", "action_risk", "security_risk",
		"blocking", "hidden", "kernel_init_code", "include_extra", "image_urls", "images_urls", "wait_for_response",
		"translated_ipython_code", "impl_source", "is_static", "id", "source", "timestamp", "message":
		return true
	}
	return false
}
