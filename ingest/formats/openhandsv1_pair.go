package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// register files a call under its event and under its id.
func (h *ohEvents) register(k ohCall, event string) {
	at := int32(len(h.asked))
	h.asked = append(h.asked, k)
	h.add(ohStep{kind: ohCallStep, at: at})
	if event != "" {
		h.byEvent[event] = at
	}
	i := int32(len(h.links))
	h.links = append(h.links, at, -1)
	if q, ok := h.byID[k.id]; ok {
		h.links[q.last+1] = i
		h.byID[k.id] = queue{q.first, i}
	} else {
		h.byID[k.id] = queue{i, i}
	}
}

// answered files an answer.
func (h *ohEvents) answered(v jsonscan.Value, a ohAnswer) {
	a.id, a.action = h.out.id(v.Get("tool_call_id")), h.out.id(v.Get("action_id"))
	h.given = append(h.given, a)
}

// match gives the answers to their calls. One call may have several: a tool's outranks an error of the
// harness, which outranks a rejection; the others are counted.
func (h *ohEvents) match() {
	for i := range h.given {
		a := &h.given[i]
		at := h.callOf(a)
		if at < 0 {
			h.out.note(turnmill.NoteOrphanObservation)
			continue
		}
		k := &h.asked[at]
		if k.answer >= 0 {
			h.out.note(turnmill.NoteRepeatedAnswer)
		}
		if k.answer < 0 || a.rank > h.given[k.answer].rank {
			k.answer = int32(i)
		}
		a.id = k.id
	}
}

// callOf finds the call of an answer: by its action's event, else the first call of its id that has none,
// else the last one of that id; -1 when there is no such call.
func (h *ohEvents) callOf(a *ohAnswer) int32 {
	if at, ok := h.byEvent[a.action]; ok && a.action != "" {
		return at
	}
	q, ok := h.byID[a.id]
	if !ok || a.id == "" {
		return -1
	}
	i := q.first
	for h.asked[h.links[i]].answer >= 0 && h.links[i+1] >= 0 {
		i = h.links[i+1]
	}
	h.byID[a.id] = queue{i, q.last} // those before it have their answers
	return h.links[i]
}
