package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const openHandsName = "openhands"

func openHandsFormat() Format {
	return Format{
		Name:      openHandsName,
		Title:     "OpenHands 0: lists of events, and evaluation outputs whose history is one",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseOpenHands,
		New:       func(o Options) Decoder { return &openHands{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "A list of events, or history with instance_id, metadata, error. An event has id, source and either action\n" +
				"and args, or observation, content, extras and cause. The system action holds the system prompt and the\n" +
				"tools; with the user's messages and what recall added before the first act it is the task. error goes to\n" +
				"meta, and so does extras.metadata.exit_code, one for each answer of a run, as exit_codes. The model is\n" +
				"the agent.",
			Pairing: "An observation answers the action whose id is its cause, wherever it stands. A call is the tool call in\n" +
				"tool_call_metadata.model_response, else action and args without the harness's own members. Actions of\n" +
				"one model response are one turn. A user's message after an agent's is dialogue. A finish has no\n" +
				"observation; it, an error without a cause, a second answer to one action, and answers to nobody are\n" +
				"counted and left out. A rejection by the person (user_rejected) answers nothing.",
			State:  "none",
			Domain: "swe where a patch was evaluated; else by the tools, as in openai-chat; run and run_ipython are a shell",
			ID:     "none: a run goes by its content. instance_id is the task_id.",
			Stripped: "args.thought, which repeats the response's text, and reasoning_content, unless thoughts are to be kept;\n" +
				"events of the harness (agent_state_changed, null, change_agent_state)",
			Sample: `{"instance_id":"a__b-1","metadata":{"llm_config":{"model":"m-1"}},"history":[` +
				`{"id":0,"source":"user","action":"message","args":{"content":"Which files are there?"}},` +
				`{"id":3,"source":"agent","action":"run","args":{"command":"ls","thought":"Look."}},` +
				`{"id":4,"source":"agent","cause":3,"observation":"run","content":"a.txt","extras":{"metadata":{"exit_code":0}}}]}`,
		},
	}
}

func recogniseOpenHands(v jsonscan.Value) (why string, marks int) {
	events, way := v, "the list"
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object:
		events, way = v.Get("history"), "history"
		for _, name := range [...]string{"instance_id", "test_result", "metadata", "metrics"} {
			if v.Get(name).Present() {
				marks++
			}
		}
		if events.Kind() != jsonscan.Array {
			return "no list of events in history", marks / 2
		}
	default:
		return "a record is " + article(v.Kind()) + ", want an object or an array of events", 0
	}
	first := events.At(0)
	source := first.Get("source")
	switch {
	case first.Kind() != jsonscan.Object:
		return way + " begins with no event", marks
	case first.Get("kind").Kind() == jsonscan.String:
		return way + " begins with an event of OpenHands 1", marks
	case first.Get("action").Kind() != jsonscan.String && first.Get("observation").Kind() != jsonscan.String:
		// The head may end inside the message, which comes before.
		if marks == 0 || first.Get("timestamp").Kind() != jsonscan.String {
			return way + " begins with neither an action nor an observation", marks
		}
	case first.Get("id").Kind() != jsonscan.Number:
		return "an event without an id", marks + 1
	}
	if !source.Is("user") && !source.Is("agent") && !source.Is("environment") {
		return "an event whose source is neither user, agent nor environment", marks + 1
	}
	return "", marks + 4
}
