package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const geminiName = "gemini"

var geminiShape = apiShape{name: geminiName, lists: []string{"contents"}, system: []string{"systemInstruction", "system_instruction"}, why: recogniseGemini}

func geminiFormat() Format {
	return Format{
		Name:      geminiName,
		Title:     "contents of Gemini's API: parts with functionCall and functionResponse",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values, frame.Whole},
		Recognise: recogniseGemini,
		New:       func(o Options) Decoder { return &api{talk: talk{acts: acts{opts: o}}, shape: &geminiShape} },
		Doc: Doc{
			Fields: "contents (or the record is the list itself): role (user, model, function), parts: text (with thought: a\n" +
				"thought), functionCall (name, args, id), functionResponse (name, response, id), executableCode and\n" +
				"codeExecutionResult; names with underscores too. candidates[0].content is the reply.\n" +
				"systemInstruction and what the user says first are the task; tools the action space. Beside them as in\n" +
				"openai-chat.",
			Pairing: "A content with calls and the responses that follow are one turn: by id, without ids by name, calls of\n" +
				"one name in their order. Code and its result are a turn in one content. Else as in openai-chat.",
			State:    "none",
			Domain:   "as in openai-chat",
			ID:       "as in openai-chat: id, else conversation_id, trajectory_id, session_id, uuid",
			Stripped: "parts with thought, texts beside calls, unless thoughts are to be kept; inline data and files",
			Sample: `{"id":"g1","systemInstruction":{"parts":[{"text":"You help."}]},"contents":[{"role":"user","parts":[{"text":"Which files are there?"}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"command":"ls"}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"a.txt"}}}]}],` +
				`"tools":[{"functionDeclarations":[{"name":"bash"}]}]}`,
		},
	}
}

func recogniseGemini(v jsonscan.Value) (why string, marks int) {
	list := v
	if v.Kind() == jsonscan.Object {
		list, marks = v.Get("contents"), 1
	}
	first := list.At(0)
	switch {
	case list.Kind() != jsonscan.Array:
		return "no contents", 0
	case first.Kind() == jsonscan.Invalid:
		return "contents is empty", marks
	case first.Get("parts").Kind() != jsonscan.Array:
		return "contents[0] has no parts", marks
	}
	for p := range first.Get("parts").Elems() {
		if p.Kind() != jsonscan.Object || p.Get("type").Present() {
			return "contents[0] has parts of another shape", marks
		}
	}
	return "", marks + 4
}
