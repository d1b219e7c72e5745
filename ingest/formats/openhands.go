package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// openHands decodes lists of events. It walks them twice: observations are filed under their cause, then
// the actions are played in their order and take what answers them.
type openHands struct {
	acts
	answers  []eventAnswer
	byCause  map[string]int // the first answer that is left for a cause
	response string         // of the model, which the act is made of; "" when unknown
	codes    []string       // exit codes of the runs that were answered
	declared toolKinds
}

// eventAnswer is an observation that has a cause.
type eventAnswer struct {
	v    jsonscan.Value
	next int // the next answer to the same cause, or -1
	used bool
}

func (h *openHands) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, h.record)
}

func (h *openHands) record(v jsonscan.Value, out *Decoded) error {
	events, list := v, "events"
	if v.Kind() != jsonscan.Array {
		events, list = v.Get("history"), "history"
	}
	switch {
	case events.Kind() == jsonscan.Invalid:
		why, _ := recogniseOpenHands(v)
		return wrongFormat(openHandsName, why)
	case events.Kind() != jsonscan.Array:
		return badField(list, "an array", events)
	case events.At(0).Kind() == jsonscan.Invalid:
		return reject(turnmill.ReasonEmptyMessages, "%s is empty", list)
	}
	h.begin(out.trajectory(openHandsName, ""), out)
	h.response, h.declared, h.codes = "", 0, h.codes[:0]
	h.t.Agent = out.id(v.Get("metadata").Get("llm_config").Get("model"))
	if err := h.file(list, events); err != nil {
		return err
	}
	i := 0
	for e := range events.Elems() {
		if err := h.event(e); err != nil {
			return inside(list, i, err)
		}
		i++
	}
	h.finish()
	h.orphans()
	h.t.TaskID = out.id(v.Get("instance_id"))
	h.t.Meta = out.object(
		member{name: "error", text: v.Get("error").Str(&out.arena)},
		out.listed("exit_codes", h.codes))
	h.t.Observed = turnmill.ObservedTrue
	h.t.Domain = domainOf(h.kinds, h.declared)
	if v.Get("test_result").Get("git_patch").Kind() != jsonscan.Invalid {
		h.t.Domain = turnmill.DomainSWE
	}
	out.finish(h.t, h.opts)
	return nil
}

// file keeps the observations by their cause.
func (h *openHands) file(list string, events jsonscan.Value) error {
	h.byCause = emptied(h.byCause)
	h.answers = h.answers[:0]
	i := 0
	for e := range events.Elems() {
		if e.Kind() != jsonscan.Object {
			return inside(list, i, badField("", "an object", e))
		}
		if what := e.Get("observation"); what.Kind() == jsonscan.String && !ofHarness(what) {
			h.answers = append(h.answers, eventAnswer{v: e, next: -1})
		}
		i++
	}
	for i, a := range slices.Backward(h.answers) {
		if cause := h.out.id(a.v.Get("cause")); cause != "" {
			if later, ok := h.byCause[cause]; ok {
				h.answers[i].next = later
			}
			h.byCause[cause] = i
		}
	}
	return nil
}

// orphans counts the observations that no action took.
func (h *openHands) orphans() {
	for i := range h.answers {
		if !h.answers[i].used {
			h.out.note(turnmill.NoteOrphanObservation)
		}
	}
}

// take returns the observation that answers an action.
func (h *openHands) take(id string) (e jsonscan.Value, ok bool) {
	i, ok := h.byCause[id]
	if !ok || i < 0 {
		return e, false
	}
	h.byCause[id] = h.answers[i].next
	h.answers[i].used = true
	return h.answers[i].v, true
}

// ofHarness tells observations that say something of the harness alone.
func ofHarness(observation jsonscan.Value) bool {
	return observation.Is("null") || observation.Is("agent_state_changed")
}
