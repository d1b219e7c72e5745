package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const unifiedName = "turnmill"

func unifiedFormat() Format {
	return Format{
		Name:      unifiedName,
		Title:     "the unified form that turnmill ingest writes, trajectories and documents",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseUnified,
		New:       func(o Options) Decoder { return &unified{opts: o} },
		Doc: Doc{
			Fields: "id, domain, source, source_kind, task_id, agent, observed, system (task_description, action_space,\n" +
				"initial_state, demonstrations, simulation_instruction), turns (index, state, action, observation,\n" +
				"tool, dialogue, thought), meta. A document has kind \"document\" and text instead of system and turns.\n" +
				"Other members are passed over. Everything but turns may be missing.",
			Pairing: "A turn holds its action and its observation. Without an observation it is no turn; without an action\n" +
				"it is left to the turn filter; an empty action is a wait. A missing index is the turn's position; a\n" +
				"repeated one rejects the record.",
			State:    "state, as it stands",
			Domain:   "domain, any name; without one the trajectory is of domain unknown, a document of domain knowledge",
			ID:       "id, a string or a number in its own spelling",
			Stripped: "thought, unless it is to be kept",
			Sample: `{"id":"run-1","domain":"terminal","source":"example","system":{"task_description":"Name the files."},` +
				`"turns":[{"index":0,"action":"ls","observation":"a.txt\n","tool":"ls"}]}`,
		},
	}
}

func recogniseUnified(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"domain", "source", "system", "observed"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	if kind := v.Get("kind"); kind.Is("document") {
		if v.Get("text").Kind() != jsonscan.String {
			return "a document without text", marks + 1
		}
		return "", marks + 2
	}
	turns := v.Get("turns")
	if turns.Kind() != jsonscan.Array {
		return "neither turns nor kind \"document\"", marks
	}
	first := turns.At(0)
	if first.Kind() == jsonscan.Invalid {
		if marks == 0 {
			return "turns is empty and nothing else is known", 1
		}
		return "", marks + 1
	}
	if first.Kind() != jsonscan.Object {
		return "turns[0] is " + article(first.Kind()) + ", want an object", marks + 1
	}
	if !hasUnifiedTurn(first) {
		return "turns[0] has neither action nor observation", marks + 2
	}
	return "", marks + 3
}

// hasUnifiedTurn takes a turn by its texts, or, where the head ends inside its state, by index and state.
func hasUnifiedTurn(turn jsonscan.Value) bool {
	has := func(name string) bool { return turn.Get(name).Kind() == jsonscan.String }
	return has("action") || has("observation") || has("state") && turn.Get("index").Kind() == jsonscan.Number
}
