package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// event takes an event of a rollout, or of what older versions of codex exec --json print. Most repeat items.
func (c *codex) event(v jsonscan.Value) error {
	kind := v.Get("type").Str(&c.out.arena)
	switch kind {
	case "user_message":
		c.told(codexPerson, v.Get("message"))
	case "agent_message":
		c.told(codexSay, v.Get("message"))
	case "agent_reasoning", "agent_reasoning_raw_content":
		c.told(codexThink, v.Get("text"))
	case "exec_command_begin", "exec_command_end":
		c.command(v, kind == "exec_command_end")
	case "patch_apply_begin", "patch_apply_end":
		c.patch(v, kind == "patch_apply_end")
	case "mcp_tool_call_begin", "mcp_tool_call_end":
		in := v.Get("invocation")
		c.starts("", c.mcpCall(in, v.Get("call_id")))
		if result := v.Get("result"); kind == "mcp_tool_call_end" {
			if ok := result.Get("Ok"); ok.Present() {
				result = ok
			}
			c.mcpResult(v.Get("call_id"), result, result.Get("Err"), true)
		}
	case "web_search_end":
		c.starts("", call{name: "web_search", args: v.Get("query"), id: c.out.id(v.Get("call_id"))})
	}
	return nil
}

// told adds words that an event holds.
func (c *codex) told(kind codexKind, text jsonscan.Value) {
	if text.Kind() == jsonscan.String {
		c.add(codexEntry{kind: kind, mirror: true, text: text.Str(&c.out.arena)})
	}
}

// starts adds a call of an event unless an event before has said that it began.
func (c *codex) starts(stream string, k call) {
	if _, begun := c.begun[k.id]; begun && k.id != "" {
		return
	}
	c.begun[k.id] = 0
	c.ask(k, stream == "")
}

// command takes a command that began or ended.
func (c *codex) command(v jsonscan.Value, ended bool) {
	id := c.out.id(v.Get("call_id"))
	c.starts("", call{name: "shell", text: c.shellText(v.Get("command")), id: id})
	if !ended {
		return
	}
	a := codexAnswer{result: result{id: id, mute: v.Get("status").Is("declined")}}
	for _, name := range [...]string{"aggregated_output", "formatted_output"} {
		if a.text == "" {
			a.text = v.Get(name).Str(&c.out.arena)
		}
	}
	if a.text == "" {
		a.text = c.outputs(v)
	}
	c.exit(&a, v)
	c.give(a, true)
}

// outputs joins what a command wrote to both of its outputs.
func (c *codex) outputs(v jsonscan.Value) string {
	b := v.Get("stdout").AppendString(c.out.arena.Open())
	return c.out.arena.Close(v.Get("stderr").AppendString(b))
}

func (c *codex) exit(a *codexAnswer, v jsonscan.Value) {
	if code := v.Get("exit_code").RawStr(); isInteger(code) {
		a.code = code
	}
}

// shellText is the text of a command's call; how it was called is not known.
func (c *codex) shellText(command jsonscan.Value) string {
	b := append(c.out.arena.Open(), `{"name":"shell"`...)
	if command.Present() {
		b = append(c.out.appendVerbatim(append(b, `,"arguments":{"command":`...), command), '}')
	}
	return c.out.arena.Close(append(b, '}'))
}

func (c *codex) patch(v jsonscan.Value, ended bool) {
	id := c.out.id(v.Get("call_id"))
	c.starts("", call{name: "apply_patch", args: v.Get("changes"), id: id})
	if ended {
		c.give(codexAnswer{result: result{id: id, text: c.outputs(v)}}, true)
	}
}

// mcpCall reads a call of a server's tool, under the name by which the model calls it.
func (c *codex) mcpCall(v, id jsonscan.Value) call {
	b := append(c.out.arena.Open(), "mcp__"...)
	b = append(v.Get("server").AppendString(b), "__"...)
	return call{name: c.out.arena.Close(v.Get("tool").AppendString(b)), args: v.Get("arguments"), id: c.out.id(id)}
}

// mcpResult adds the result of such a call: its parts, or the server's error.
func (c *codex) mcpResult(id, result, failed jsonscan.Value, mirror bool) {
	a := codexAnswer{}
	a.id = c.out.id(id)
	switch content := result.Get("content"); {
	case failed.Kind() == jsonscan.String:
		a.text = failed.Str(&c.out.arena)
	case failed.Get("message").Kind() == jsonscan.String:
		a.text = failed.Get("message").Str(&c.out.arena)
	case messageParts(content):
		w, _ := c.out.content(content, &c.aside)
		a.text, a.mute = w.text, w.mute
	case content.Len() > 0:
		a.text = c.out.arena.Close(appendCompact(c.out.arena.Open(), content))
	case !result.Present():
		a.mute = true
	}
	c.give(a, mirror)
}

// stream takes an event of codex exec --json.
func (c *codex) stream(name string, v jsonscan.Value) error {
	item := v.Get("item")
	switch {
	case name == "thread.started":
		c.session(v)
		c.begun = emptied(c.begun) // a thread that goes on counts its items from the start
	case strings.HasPrefix(name, "item.") && item.Kind() == jsonscan.Object:
		kind := item.Get("type")
		if kind.Kind() != jsonscan.String {
			kind = item.Get("item_type")
		}
		return c.streamed(item, kind.Str(&c.out.arena), name == "item.completed")
	case strings.HasPrefix(name, "turn."):
		c.add(codexEntry{kind: codexPause})
	default:
		return wrongFormat(codexName, "an event that is neither of a thread, a turn nor an item")
	}
	return nil
}

// streamed takes an item of a stream, which is printed when it begins, changes and ends.
func (c *codex) streamed(v jsonscan.Value, kind string, ended bool) error {
	id := c.out.id(v.Get("id"))
	switch kind {
	case "agent_message", "assistant_message", "reasoning":
		entry := codexEntry{kind: codexSay, text: v.Get("text").Str(&c.out.arena)}
		if kind == "reasoning" {
			entry.kind = codexThink
		}
		if ended {
			c.add(entry)
		}
	case "command_execution":
		c.starts(kind, call{name: "shell", text: c.shellText(v.Get("command")), id: id})
		if ended {
			a := codexAnswer{result: result{id: id, text: v.Get("aggregated_output").Str(&c.out.arena)}}
			a.mute = v.Get("status").Is("declined") || v.Get("aggregated_output").Kind() != jsonscan.String
			c.exit(&a, v)
			c.give(a, false)
		}
	case "mcp_tool_call":
		c.starts(kind, c.mcpCall(v, v.Get("id")))
		if ended {
			c.mcpResult(v.Get("id"), v.Get("result"), v.Get("error"), false)
		}
	case "file_change": // what the tool said is not there
		c.starts(kind, call{name: "apply_patch", args: v.Get("changes"), id: id})
	case "web_search":
		c.starts(kind, call{name: "web_search", args: v.Get("query"), id: id})
	case "todo_list":
		c.starts(kind, call{name: "update_plan", args: v.Get("items"), id: id})
	case "error":
	default:
		c.out.note(turnmill.NoteUnreadMessage)
	}
	return nil
}
