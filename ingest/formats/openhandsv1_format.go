package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const (
	openHandsV1Name     = "openhands-v1"
	openHandsOutputName = "openhands-v1-eval"
)

func openHandsV1Format() Format {
	return Format{
		Name:      openHandsV1Name,
		Title:     "conversations of OpenHands 1 (the agent SDK): events, one a line, in one list, or a file an event",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseOpenHandsFile,
		New:       func(o Options) Decoder { return &ohFile{ohEvents{acts: acts{opts: o, paired: true}}} },
		Join:      &Join{Part: openHandsPart, Lacks: openHandsLacks, Single: ohPartState, Begins: ohPartSystem, Whole: ohPartMore, Above: ohPartState},
		Doc: Doc{
			Fields: "Events have a kind. SystemPromptEvent (system_prompt, dynamic_context, tools), MessageEvent (source,\n" +
				"llm_message, extended_content), ActionEvent (id, tool_call, tool_name, tool_call_id, llm_response_id,\n" +
				"action, thought), ObservationEvent (observation, action_id, tool_call_id), AgentErrorEvent (error,\n" +
				"tool_call_id), UserRejectObservation. The system prompt, the user's first words and what the agent's\n" +
				"context adds to them are the task, tools the action space. A snapshot of the state gives id and model.\n" +
				"exit codes go to meta. Where a file is one event, the files of a folder are one conversation, with the state\n" +
				"(base_state.json, told by id and agent.llm) beside or one folder above; parent_id and action_id, where they\n" +
				"have 16 characters or more, join files across folders too. Such events go by timestamp, then id, but each\n" +
				"behind its parent_id; the number in a file's name says nothing.",
			Pairing: "An answer goes to the action whose event is its action_id, else to the first call of its tool_call_id\n" +
				"that has none. Actions of one llm_response_id are one turn. A call is tool_call as the model wrote it,\n" +
				"else action. Of several answers to one call the tool's counts, else the harness's error, the first of\n" +
				"each; the others are counted. A rejection by a person or a hook answers nothing. A finish that is\n" +
				"answered by its own message ran nothing. A user's message after an agent's is dialogue. A condensation\n" +
				"ends nothing. One event alone is a part of a conversation: rejected.",
			State:  "none",
			Domain: "by the tools, as in openai-chat",
			ID:     "the id in a snapshot of the state, else by content",
			Stripped: "reasoning_content, thinking_blocks, thought, unless thoughts are to be kept; images; events of the\n" +
				"harness",
			Sample: `[{"kind":"MessageEvent","id":"e0","timestamp":"2026-01-02T03:04:05","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Which files are there?"}]}},` +
				`{"kind":"ActionEvent","id":"e1","source":"agent","thought":[],"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\":\"ls\"}","origin":"completion"},"llm_response_id":"r1"},` +
				`{"kind":"ObservationEvent","id":"e2","source":"environment","tool_name":"terminal","tool_call_id":"c1","action_id":"e1","observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"a.txt"}],"exit_code":0}}]`,
		},
	}
}

func openHandsOutputFormat() Format {
	return Format{
		Name:      openHandsOutputName,
		Title:     "evaluation outputs of OpenHands 1: one record a task, whose history is a conversation",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseOpenHandsOutput,
		New:       func(o Options) Decoder { return &ohOutput{ohEvents{acts: acts{opts: o, paired: true}}} },
		Doc: Doc{
			Fields: "history, a list of events as in openhands-v1; instance_id is the task_id, metadata.llm.model the agent,\n" +
				"error goes to meta.",
			Pairing:  "as in openhands-v1",
			State:    "none",
			Domain:   "swe where a patch was evaluated; else by the tools, as in openai-chat",
			ID:       "none: a run goes by its content",
			Stripped: "as in openhands-v1; instruction, metrics, the patch",
			Sample: `{"instance_id":"a__b-1","metadata":{"llm":{"model":"m-1"}},"history":[` +
				`{"kind":"MessageEvent","id":"e0","timestamp":"2026-01-02T03:04:05","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Which files are there?"}]}},` +
				`{"kind":"ActionEvent","id":"e1","source":"agent","thought":[],"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\":\"ls\"}","origin":"completion"},"llm_response_id":"r1"},` +
				`{"kind":"ObservationEvent","id":"e2","source":"environment","tool_name":"terminal","tool_call_id":"c1","action_id":"e1","observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"a.txt"}],"exit_code":0}}]}`,
		},
	}
}

// recogniseOpenHandsFile takes an event, a list that begins with one, or a conversation's state.
func recogniseOpenHandsFile(v jsonscan.Value) (why string, marks int) {
	if isOpenHandsState(v) {
		return "", 4
	}
	return recogniseOpenHandsV1(v)
}

// recogniseOpenHandsV1 takes an event, or a list that begins with one.
func recogniseOpenHandsV1(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	if v.Kind() != jsonscan.Object || v.Get("kind").Kind() != jsonscan.String {
		return "no event with a kind", 0
	}
	switch kindOf(v) {
	case "SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation",
		"ConversationStateUpdateEvent", "Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent", "InterruptEvent",
		"TokenEvent", "LLMCompletionLogEvent", "ConversationErrorEvent", "HookExecutionEvent":
		if source := v.Get("source"); source.Present() && source.Kind() != jsonscan.String {
			return "source is " + article(source.Kind()) + ", want a string", 2
		}
		return "", 5
	}
	return "an event of no known kind", 1
}

func recogniseOpenHandsOutput(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	history := v.Get("history")
	if history.Kind() != jsonscan.Array {
		return "no list of events in history", 0
	}
	if why, marks := recogniseOpenHandsV1(history.At(0)); why != "" {
		return "history begins with " + why, marks
	}
	return "", 6
}
