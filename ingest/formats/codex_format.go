package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const codexName = "codex"

func codexFormat() Format {
	return Format{
		Name:      codexName,
		Title:     "session logs of Codex: rollouts, and what codex exec --json prints; a whole file is one session",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseCodex,
		New:       func(o Options) Decoder { return &codex{acts: acts{opts: o, paired: true}} },
		Doc: Doc{
			Fields: "Lines of session_meta, response_item, event_msg, turn_context and compacted, each with a payload; older\n" +
				"rollouts hold the items alone; a stream has thread.started and item.started, item.completed. Items:\n" +
				"message, function_call, custom_tool_call, local_shell_call, web_search_call and the outputs, reasoning.\n" +
				"The session's instructions, those of AGENTS.md and of the developer, and what the person says first are\n" +
				"the task; environment_context is the initial state; dynamic_tools the action space. The model is the\n" +
				"agent; cli_version, forked_from_id, a parent's id and exit codes that stand apart go to meta.",
			Pairing: "Calls and outputs by call_id, wherever they stand, calls of one id in their order; calls with no output\n" +
				"between them are one turn. Events repeat items and are not read twice: they fill in the words of a side\n" +
				"that has no item, calls where no item is a call, outputs that are missing. An output that is JSON of\n" +
				"output and metadata is its output; any other text stays. A text that the person replies to is a turn of\n" +
				"dialogue. What the harness wrote under the user's role answers nothing; what the person refused or\n" +
				"stopped is unanswered. A compaction ends nothing and repeats nothing. A forked session holds its\n" +
				"parent's lines and is one trajectory under its own id; a line that stands twice counts once; another\n" +
				"session in the same file is another trajectory. Lines that are cut are rejected by themselves.",
			State: "none",
			Domain: "search where every tool called searches or opens pages, mcp where every one belongs to an MCP server,\n" +
				"unknown without a call, else swe: the harness always offers to edit files",
			ID:       "the id of the first session_meta; thread_id of a stream",
			Stripped: "reasoning, texts beside calls, unless thoughts are to be kept; images; events that repeat items",
			Sample: `[{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"s1","cli_version":"0.50.0"}},` +
				`{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Which files are there?"}]}},` +
				`{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}},` +
				`{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"a.txt\n"}}]`,
		},
	}
}

// recogniseCodex takes a line, a list that begins with one, or an old session in one object.
func recogniseCodex(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	if v.Kind() != jsonscan.Object {
		return "no line of a session", 0
	}
	kind, payload := v.Get("type"), v.Get("payload")
	name, _ := kind.Plain()
	text := string(name)
	switch {
	case kind.Is("session_meta"), kind.Is("response_item"), kind.Is("event_msg"), kind.Is("turn_context"), kind.Is("compacted"):
		if payload.Kind() != jsonscan.Object && payload.Kind() != jsonscan.Invalid { // which the head's end may have cut
			return "payload is " + article(payload.Kind()) + ", want an object", 2
		}
		return "", 5
	case strings.HasPrefix(text, "thread.") && v.Get("thread_id").Present(),
		strings.HasPrefix(text, "item.") && v.Get("item").Kind() == jsonscan.Object:
		return "", 5
	case v.Get("session").Get("id").Present() && v.Get("items").Kind() == jsonscan.Array:
		return "", 5
	case v.Get("record_type").Is("state"):
		return "", 3
	case v.Get("msg").Get("type").Kind() == jsonscan.String && v.Get("id").Present():
		return "", 3
	case kind.Kind() == jsonscan.Invalid && v.Get("id").Kind() == jsonscan.String && v.Get("timestamp").Kind() == jsonscan.String &&
		v.Get("instructions").Kind() != jsonscan.Invalid:
		return "", 3
	case kind.Kind() != jsonscan.String:
		return "a line without a type", 0
	case v.Get("call_id").Present() && kind.Kind() == jsonscan.String: // a list of them is of the API
		return "items without a line of their session", 3
	}
	return "a line whose type is none of a rollout's", 1
}
