package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const responsesName = "openai-responses"

var responsesShape = apiShape{name: responsesName, lists: []string{"input", "output"}, system: []string{"instructions"}, why: recogniseResponses}

func responsesFormat() Format {
	return Format{
		Name:      responsesName,
		Title:     "items of OpenAI's Responses API: input and output with function calls and their outputs",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseResponses,
		New:       func(o Options) Decoder { return &api{talk: talk{acts: acts{opts: o}}, shape: &responsesShape} },
		Doc: Doc{
			Fields: "input (a text or items) and output (items), or the record is the list of items itself. Items: messages\n" +
				"(role, content), function_call (call_id, name, arguments), function_call_output (call_id, output),\n" +
				"custom_tool_call, local_shell_call, computer_call, mcp_call and their outputs, reasoning. instructions\n" +
				"and what the user says first are the task; tools the action space. Beside them as in openai-chat.",
			Pairing: "Calls with nothing but reasoning between them are one turn with the outputs that follow, by call_id\n" +
				"and by order where ids repeat. A call that the API's own tools answered is a turn where its results\n" +
				"are in the item, else unanswered. Else as in openai-chat.",
			State:    "none",
			Domain:   "as in openai-chat",
			ID:       "as in openai-chat: id, else conversation_id, trajectory_id, session_id, uuid",
			Stripped: "reasoning items, texts beside calls, unless thoughts are to be kept; images and files",
			Sample: `{"id":"r1","instructions":"You help.","input":[{"role":"user","content":"Which files are there?"},` +
				`{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"},` +
				`{"type":"function_call_output","call_id":"c1","output":"a.txt"}],` +
				`"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a.txt"}]}],` +
				`"tools":[{"type":"function","name":"bash","parameters":{"type":"object"}}]}`,
		},
	}
}

func recogniseResponses(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		return responseItems(v)
	}
	input, output := v.Get("input"), v.Get("output")
	if v.Get("object").Is("response") {
		marks = 2
	}
	if input.Kind() != jsonscan.Array && output.Kind() != jsonscan.Array {
		return "neither input nor output is a list of items", marks
	}
	inside, inMarks := responseItems(input)
	outside, outMarks := responseItems(output)
	if inside == "" || outside == "" {
		return "", 5
	}
	return "no item of input or output has a type of the Responses API", max(inMarks, outMarks) + marks/2
}

// responseItems looks for an item that only this API has.
func responseItems(list jsonscan.Value) (why string, marks int) {
	for m := range list.Elems() {
		kind := m.Get("type")
		switch {
		case kind.Is("function_call") && m.Get("call_id").Present(), kind.Is("function_call_output"), kind.Is("custom_tool_call"),
			kind.Is("mcp_call"), kind.Is("local_shell_call"), kind.Is("web_search_call"), kind.Is("reasoning"):
			return "", 5
		case kind.Is("message") && m.Get("role").Present():
			return "", 5
		}
	}
	return "a list without items of the Responses API", 0
}
