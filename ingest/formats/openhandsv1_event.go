package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// event takes an event. An error costs the event in a file, the record in an output.
func (h *ohEvents) event(v jsonscan.Value) error {
	if v.Kind() != jsonscan.Object {
		return badField("", "an object", v)
	}
	kind := kindOf(v)
	if kind == "" {
		return wrongFormat(openHandsV1Name, "an event without a kind")
	}
	err := h.known(v, kind)
	if err == nil {
		h.events++
	}
	return err
}

func (h *ohEvents) known(v jsonscan.Value, kind string) error {
	switch kind {
	case "SystemPromptEvent":
		return h.system(v)
	case "MessageEvent":
		return h.message(v)
	case "ActionEvent":
		return h.action(v)
	case "ObservationEvent":
		return h.observation(v)
	case "AgentErrorEvent":
		h.answered(v, ohAnswer{rank: ohError, result: result{text: v.Get("error").Str(&h.out.arena), mute: v.Get("error").Kind() != jsonscan.String}})
	case "UserRejectObservation":
		h.answered(v, ohAnswer{rank: ohRejected, result: result{mute: true}})
	case "ConversationStateUpdateEvent":
		h.state(v.Get("value"))
	case "Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent", "InterruptEvent", "TokenEvent",
		"LLMCompletionLogEvent", "ConversationErrorEvent", "ConversationIterationLimitEvent", "HookExecutionEvent", "StreamingDeltaEvent":
		// of the harness
	default:
		h.out.note(turnmill.NoteUnreadMessage)
	}
	return nil
}

// state takes what a snapshot of the harness says of the conversation.
func (h *ohEvents) state(v jsonscan.Value) {
	if v.Kind() != jsonscan.Object {
		return
	}
	if h.id == "" {
		h.id = h.out.id(v.Get("id"))
	}
	if h.t.Agent == "" {
		h.t.Agent = h.out.id(v.Get("agent").Get("llm").Get("model"))
	}
}

// system takes the system prompt and the tools.
func (h *ohEvents) system(v jsonscan.Value) error {
	for _, name := range [...]string{"system_prompt", "dynamic_context"} {
		text := v.Get(name)
		if text.Kind() == jsonscan.Object {
			text = text.Get("text")
		}
		if s := text.Str(&h.out.arena); s != "" {
			h.add(ohStep{kind: ohRule, text: s})
		}
	}
	if h.t.System.ActionSpace != "" {
		return nil
	}
	declared, err := h.declare("tools", v.Get("tools"))
	h.declared |= declared
	return err
}

func (h *ohEvents) add(s ohStep) { h.steps = append(h.steps, s) }

// texts joins the texts of a content: a text, or a list of parts.
func (h *ohEvents) texts(name string, content jsonscan.Value) (words, error) {
	w, ok := h.out.content(content, &h.aside)
	if !ok {
		return w, badField(name, "a text or a list of parts", content)
	}
	return w, nil
}

// message takes words of the user or of the agent, and what the agent's context adds to them.
func (h *ohEvents) message(v jsonscan.Value) error {
	m := v.Get("llm_message")
	if m.Kind() != jsonscan.Object {
		return badField("llm_message", "an object", m)
	}
	w, err := h.texts("llm_message.content", m.Get("content"))
	if err != nil {
		return err
	}
	added, err := h.texts("extended_content", v.Get("extended_content"))
	if err != nil {
		return err
	}
	switch source := v.Get("source"); {
	case source.Is("agent"):
		h.add(ohStep{kind: ohEnd})
		h.reasoned(m)
		h.add(ohStep{kind: ohSay, text: w.text})
	case source.Is("user"):
		h.add(ohStep{kind: ohUser, text: w.text, mute: w.mute})
	default:
		h.add(ohStep{kind: ohHarness})
	}
	if added.text != "" {
		h.add(ohStep{kind: ohRule, text: added.text})
	}
	return nil
}

// reasoned adds the reasoning that stands beside words or a call, from the first place that has some: the others
// repeat it.
func (h *ohEvents) reasoned(v jsonscan.Value) {
	if h.thought(v.Get("reasoning_content")) {
		return
	}
	found := false
	for b := range v.Get("thinking_blocks").Elems() {
		found = h.thought(b.Get("thinking")) || found
	}
	item := v.Get("responses_reasoning_item")
	for _, name := range [...]string{"summary", "content"} {
		if found {
			return
		}
		for p := range item.Get(name).Elems() {
			found = h.thought(p) || found
		}
	}
}

// thought adds a text of reasoning; it tells whether there was one.
func (h *ohEvents) thought(v jsonscan.Value) bool {
	text := v.Str(&h.out.arena)
	if strings.Trim(text, blanks) == "" {
		return false
	}
	h.add(ohStep{kind: ohThink, text: text})
	return true
}

// action takes a call.
func (h *ohEvents) action(v jsonscan.Value) error {
	own := v.Get("tool_call")
	k := ohCall{call: call{answer: -1}, response: h.out.id(v.Get("llm_response_id")), answer: -1}
	if own.Kind() == jsonscan.Object {
		var err error
		if k.call, err = h.out.readCall(own); err != nil {
			return under("tool_call", err)
		}
	}
	if k.name == "" {
		k.name = v.Get("tool_name").Str(&h.out.arena)
	}
	if k.name == "" {
		return badField("tool_name", "a string", v.Get("tool_name"))
	}
	if own.Kind() == jsonscan.Object {
		k.text = h.out.arena.Close(h.out.appendCall(h.out.arena.Open(), &k.call))
	} else {
		k.text = h.out.otherMembers(k.name, v.Get("action"), "kind")
	}
	k.args = jsonscan.Value{}
	if id := h.out.id(v.Get("tool_call_id")); id != "" {
		k.id = id
	}
	if message := v.Get("action").Get("message"); k.name == "finish" {
		k.message = message.Str(&h.out.arena)
	}
	thought, err := h.texts("thought", v.Get("thought"))
	if err != nil {
		return err
	}
	if k.response == "" || k.response != h.response {
		h.add(ohStep{kind: ohEnd})
		h.response = k.response
	}
	h.reasoned(v)
	if thought.text != "" {
		h.add(ohStep{kind: ohThink, text: thought.text})
	}
	h.register(k, h.out.id(v.Get("id")))
	return nil
}

// observation takes a tool's answer.
func (h *ohEvents) observation(v jsonscan.Value) error {
	o := v.Get("observation")
	if o.Kind() != jsonscan.Object {
		return badField("observation", "an object", o)
	}
	a := ohAnswer{rank: ohObserved, finish: kindOf(o) == "FinishObservation"}
	var err error
	if a.text, a.mute, err = h.observed(o); err != nil {
		return err
	}
	added, err := h.texts("extended_content", v.Get("extended_content"))
	if err != nil {
		return err
	}
	for _, code := range [...]jsonscan.Value{o.Get("exit_code"), o.Get("metadata").Get("exit_code")} {
		if a.code == "" && isInteger(code.RawStr()) {
			a.code = code.RawStr()
		}
	}
	h.answered(v, a)
	if added.text != "" {
		h.add(ohStep{kind: ohRule, text: added.text})
	}
	return nil
}

// observed is the text of an observation: its content, which older versions called output; where that is
// empty, what they wrote as error.
func (h *ohEvents) observed(o jsonscan.Value) (text string, mute bool, err error) {
	for _, name := range [...]string{"content", "output", "message"} {
		m := o.Get(name)
		if m.Kind() != jsonscan.String && m.Kind() != jsonscan.Array {
			continue
		}
		w, err := h.texts(name, m)
		if failed := o.Get("error"); w.text == "" && failed.Kind() == jsonscan.String {
			w = words{text: failed.Str(&h.out.arena)}
		}
		return w.text, w.mute, under("observation", err)
	}
	if failed := o.Get("error"); failed.Kind() == jsonscan.String {
		return failed.Str(&h.out.arena), false, nil
	}
	return h.out.arena.Close(appendCompact(h.out.arena.Open(), o)), false, nil
}
