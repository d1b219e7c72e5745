package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const claudeCodeName = "claude-code"

func claudeCodeFormat() Format {
	return Format{
		Name:      claudeCodeName,
		Title:     "session logs of Claude Code: one event a line, a whole file is one session",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseClaudeCode,
		New:       func(o Options) Decoder { return &session{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "Events of type user and assistant: uuid, parentUuid, sessionId, isSidechain, agentId, isMeta, message (id,\n" +
				"model, content: a text, or a list of text, thinking, tool_use and tool_result). Other events only link\n" +
				"events to their parents. What the person says before the agent's first message is the task. The model\n" +
				"is the agent; version and agentId go to meta.",
			Pairing: "The lines of one message.id are one message: its calls and their results, by tool_use_id, are one turn.\n" +
				"tool_result.content is the observation, toolUseResult is passed over. A text that the person replies to\n" +
				"is a turn of dialogue. A call that the person refused is unanswered. What the harness wrote under the\n" +
				"user's role (isMeta, commands and their output, summaries of a compaction, interruptions) answers\n" +
				"nothing. Where a message has several children, the branch that the log ends with goes on; each other\n" +
				"branch, and each sidechain, is a trajectory of its own that holds only its own turns, their index\n" +
				"counted from the session's start. A compaction does not end a trajectory. Copied lines count once;\n" +
				"copies in other files are not known here. Lines that are cut or no events are rejected by themselves.",
			State: "none",
			Domain: "search where every tool called searches or opens pages, mcp where every one belongs to an MCP server,\n" +
				"unknown without a call, else swe: the harness always offers to edit files",
			ID: "sessionId of the last message of the main line; a sub-agent's file: sessionId/agentId. Further\n" +
				"trajectories of the file append #2, #3.",
			Stripped: "thinking blocks, <think> blocks, and texts beside calls, unless thoughts are to be kept; images",
			Sample: `[{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"message":{"role":"user","content":"Which files are there?"}},` +
				`{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","isSidechain":false,"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}},` +
				`{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s1","isSidechain":false,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}]`,
		},
	}
}

// recogniseClaudeCode takes an event, or a list that begins with one.
func recogniseClaudeCode(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	kind := v.Get("type")
	if v.Kind() != jsonscan.Object || kind.Kind() != jsonscan.String {
		return "no event with a type", 0
	}
	marks = 1
	for _, name := range [...]string{"uuid", "sessionId", "parentUuid", "leafUuid"} {
		if v.Get(name).Kind() == jsonscan.String {
			marks++
		}
	}
	switch message := v.Get("message"); {
	case kind.Is("summary") && v.Get("leafUuid").Present():
	case !v.Get("sessionId").Present():
		return "an event without a sessionId", marks
	case !kind.Is("user") && !kind.Is("assistant"):
	case !v.Get("uuid").Present():
		return "an event without a uuid", marks
	case message.Kind() != jsonscan.Object && message.Kind() != jsonscan.Invalid: // which the head's end may have cut
		return "message is " + article(message.Kind()) + ", want an object", marks
	}
	return "", marks + 2
}
