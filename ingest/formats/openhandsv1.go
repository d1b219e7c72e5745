package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// ohEvents decodes conversations of OpenHands 1, the agent SDK: lists of events, one a line or in one
// array, or the history of an evaluation output. Events are read into steps, answers are given to their
// actions, and the steps are played:
//
//	SystemPromptEvent, MessageEvent                            the task, words
//	ActionEvent           id, tool_call_id, llm_response_id    actions of one response are one act
//	ObservationEvent      action_id, tool_call_id              the tool's answer
//	AgentErrorEvent       tool_call_id                         the harness's, where the tool has none
//	UserRejectObservation action_id, tool_call_id              a person's or a hook's: no answer
type ohEvents struct {
	acts
	partReader
	steps    []ohStep
	asked    []ohCall
	given    []ohAnswer
	byEvent  map[string]int32 // calls by the id of their event
	byID     map[string]queue // calls by tool_call_id, into links
	links    []int32          // a call, and the place of the next one of its id
	codes    []string         // exit codes of the runs that were answered
	response string           // of the model, which the act is made of; "" when unknown
	declared toolKinds
	id       string // of the conversation
	events   int    // recognised ones
	stated   bool   // its state was read
}

// ohStep is something said or done.
type ohStep struct {
	kind ohKind
	mute bool // images alone
	text string
	at   int32 // of a call
}

type ohKind uint8

const (
	ohRule ohKind = iota // the system prompt, what the agent's context adds
	ohUser
	ohSay
	ohThink // of the words or the call behind it
	ohCallStep
	ohEnd     // another response of the model begins
	ohHarness // words that answer nothing
)

// ohCall is a call, the response that it is of, and its answer.
type ohCall struct {
	call
	response string
	message  string // of a finish
	answer   int32  // in given; -1 for none
}

// ohAnswer is what answers a call.
type ohAnswer struct {
	result
	action string // the id of the action's event
	rank   uint8  // of several answers to one call the higher one counts, then the first
	code   string
	finish bool
}

const (
	ohRejected uint8 = iota
	ohError
	ohObserved
)

func (h *ohEvents) forget() {
	if cap(h.steps) > keepEntries {
		*h = ohEvents{acts: acts{opts: h.opts, paired: true}}
	}
	h.byEvent, h.byID = emptied(h.byEvent), emptied(h.byID)
	h.steps, h.asked, h.given, h.links, h.codes = h.steps[:0], h.asked[:0], h.given[:0], h.links[:0], h.codes[:0]
	h.response, h.declared, h.id, h.events, h.stated = "", 0, "", 0, false
	h.wholeFile.doc.NonFinite = true
}

// ohFile decodes files that are one conversation, and conversations in a file an event.
type ohFile struct{ ohEvents }

func (h *ohFile) Decode(raw []byte, out *Decoded) error {
	out.reset()
	h.forget()
	h.begin(out.trajectory(openHandsV1Name, ""), out)
	h.readFile(raw, out, h)
	return h.close(out)
}

// close makes the trajectory of what was read.
func (h *ohFile) close(out *Decoded) error {
	switch {
	case h.events == 0 && h.stated:
		out.reset()
		return reject(turnmill.ReasonMissingPart, "%s", openHandsLacks(ohPartState))
	case h.events == 0:
		return out.refuseWhole(openHandsV1Name, "no line of it is an event of a conversation")
	case h.events == 1 && len(out.Lost) == 0:
		out.reset()
		return reject(turnmill.ReasonMissingPart, "one event of a conversation, whose others lie in files of their own")
	}
	h.play()
	h.t.ID = h.id
	h.t.Meta = out.object(out.listed("exit_codes", h.codes))
	h.t.Domain = domainOf(h.kinds, h.declared)
	out.finish(h.t, h.opts)
	return nil
}

// value reads an event, or a list of them. Offsets in the document that holds v count from base.
func (h *ohFile) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array && v.Len() > 0 {
		for e := range v.Elems() {
			h.value(e, base)
		}
		return
	}
	if ohPartKind(v) == ohPartState {
		h.stated = true
		h.state(v)
		return
	}
	err := h.event(v)
	if v.Kind() != jsonscan.Object {
		err = wrongFormat(openHandsV1Name, "an event is "+article(v.Kind())+", want an object")
	}
	if err != nil {
		h.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

// ohOutput decodes evaluation outputs.
type ohOutput struct{ ohEvents }

func (h *ohOutput) Decode(raw []byte, out *Decoded) error { return out.decode(raw, h.record) }

func (h *ohOutput) record(v jsonscan.Value, out *Decoded) error {
	history := v.Get("history")
	switch {
	case history.Kind() == jsonscan.Invalid:
		why, _ := recogniseOpenHandsOutput(v)
		return wrongFormat(openHandsOutputName, why)
	case history.Kind() != jsonscan.Array:
		return badField("history", "an array", history)
	case history.Len() == 0:
		return reject(turnmill.ReasonEmptyMessages, "history is empty")
	}
	h.forget()
	h.begin(out.trajectory(openHandsOutputName, ""), out)
	i := 0
	for e := range history.Elems() {
		if err := h.event(e); err != nil {
			return inside("history", i, err)
		}
		i++
	}
	h.play()
	about := v.Get("metadata")
	for _, name := range [...]string{"llm", "llm_config"} {
		if model := out.id(about.Get(name).Get("model")); model != "" {
			h.t.Agent = model
		}
	}
	h.t.TaskID = out.id(v.Get("instance_id"))
	h.t.Meta = out.object(member{name: "error", text: v.Get("error").Str(&out.arena)}, out.listed("exit_codes", h.codes))
	h.t.Domain = domainOf(h.kinds, h.declared)
	if v.Get("test_result").Get("git_patch").Kind() != jsonscan.Invalid {
		h.t.Domain = turnmill.DomainSWE
	}
	out.finish(h.t, h.opts)
	return nil
}

// play makes the turns of the steps.
func (h *ohEvents) play() {
	h.match()
	for i := range h.steps {
		switch e := &h.steps[i]; e.kind {
		case ohRule:
			h.instruct(e.text)
		case ohUser:
			h.person(words{text: e.text, mute: e.mute})
		case ohThink:
			h.think.block(e.text)
		case ohSay:
			if !h.say(h.out.withoutThinking(e.text, &h.think)) && h.think.n == 0 {
				h.out.note(turnmill.NoteEmptiedMessage)
			}
		case ohCallStep:
			h.act(&h.asked[e.at])
		case ohEnd:
			h.end()
			h.started = true
		case ohHarness:
			h.out.note(turnmill.NoteUnsolicited)
		}
	}
	h.finish()
	h.t.Observed = turnmill.ObservedTrue
}

// act plays a call. A finish whose answer is its own message ran nothing.
func (h *ohEvents) act(k *ohCall) {
	if k.answer < 0 {
		h.call(k.call)
		return
	}
	a := &h.given[k.answer]
	if a.finish || k.message != "" && a.text == k.message && a.rank == ohObserved {
		h.out.note(turnmill.NoteSubmitEcho)
		return
	}
	h.answeredCall(k.call, a.result)
	if a.code != "" {
		h.codes = append(h.codes, a.code)
	}
}

// kindOf returns the kind of an event, without the module that some versions write before it.
func kindOf(v jsonscan.Value) string {
	name := v.Get("kind")
	if _, plain := name.Plain(); !plain {
		return ""
	}
	kind := name.RawStr()
	kind = kind[1 : len(kind)-1]
	return kind[strings.LastIndexByte(kind, '.')+1:]
}
