package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// item takes an item of the Responses API.
func (c *codex) item(v jsonscan.Value, kind string) error {
	switch kind {
	case "message":
		return c.message(v)
	case "reasoning":
		c.reasoning(v)
	case "function_call", "tool_search_call", "tool_call":
		return c.function(v, kind, "arguments")
	case "custom_tool_call":
		return c.function(v, kind, "input")
	case "local_shell_call", "shell_call", "computer_call", "apply_patch_call":
		id := v.Get("call_id")
		if !id.Present() {
			id = v.Get("id")
		}
		c.ask(call{name: kind[:len(kind)-len("_call")], args: v.Get("action"), id: c.out.id(id)}, false)
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call":
		c.ask(call{name: kind[:len(kind)-len("_call")], args: v.Get("action"), id: c.out.id(v.Get("id"))}, false)
	case "agent_message": // of another agent
		c.add(codexEntry{kind: codexHarness})
	case "ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger", "additional_tools", "other":
	default:
		if strings.HasSuffix(kind, "_output") {
			return c.output(v)
		}
		c.out.note(turnmill.NoteUnreadMessage)
	}
	return nil
}

// function takes a call. Tools of a server are called by the server's name and their own.
func (c *codex) function(v jsonscan.Value, kind, args string) error {
	name := v.Get("name")
	k := call{id: c.out.id(v.Get("call_id")), args: v.Get(args)}
	switch space := v.Get("namespace"); {
	case name.Kind() == jsonscan.String && space.Kind() == jsonscan.String:
		b := space.AppendString(c.out.arena.Open())
		k.name = c.out.arena.Close(name.AppendString(b))
	case name.Kind() == jsonscan.String:
		k.name = name.Str(&c.out.arena)
	case kind == "tool_search_call":
		k.name = "tool_search"
	default:
		return badField("name", "a string", name)
	}
	c.ask(k, false)
	return nil
}

// message takes a message. Under the user's role stand the person's words and the harness's, which may share
// a message.
func (c *codex) message(v jsonscan.Value) error {
	role, content := v.Get("role"), v.Get("content")
	who := chatRole(role)
	if who == roleNone || who == roleTool {
		return reject(turnmill.ReasonBadMessage, "a message whose role is none of system, developer, user and assistant")
	}
	c.pieces = c.pieces[:0]
	others := 0
	if content.Kind() == jsonscan.String {
		c.pieces = append(c.pieces, content.Str(&c.out.arena))
	} else if content.Present() && content.Kind() != jsonscan.Array {
		return badField("content", "a text or a list of parts", content)
	}
	for p := range content.Elems() {
		switch kind, text := part(p); kind {
		case partText:
			c.pieces = append(c.pieces, text.Str(&c.out.arena))
		case partOther:
			others++
		default:
			return reject(turnmill.ReasonBadMessage, "content holds a part of no known shape")
		}
	}
	c.out.Notes[turnmill.NoteNonTextPart] += int64(others)
	if len(c.pieces) == 0 && others == 0 {
		c.out.note(turnmill.NoteEmptiedMessage)
	}
	switch who {
	case roleUser:
		c.heard()
	case roleAgent:
		for _, text := range c.pieces {
			c.add(codexEntry{kind: codexSay, text: text})
		}
	default:
		c.add(codexEntry{kind: codexRule, text: c.out.join(c.pieces, "\n")})
	}
	return nil
}

// heard adds the pieces of a message under the user's role: each piece of the harness by itself, the
// person's together.
func (c *codex) heard() {
	words := c.pieces[:0]
	for _, text := range c.pieces {
		if kind := codexWords(text); kind == codexPerson {
			words = append(words, text)
		} else {
			c.add(codexEntry{kind: kind, text: text})
		}
	}
	if len(words) > 0 {
		c.add(codexEntry{kind: codexPerson, text: c.out.join(words, "\n")})
	}
}

// codexWords tells whose words a text under the user's role is.
func codexWords(text string) codexKind {
	text = strings.TrimLeft(text, blanks)
	switch {
	case strings.HasPrefix(text, "<environment_context>"):
		return codexPlace
	case strings.HasPrefix(text, "# AGENTS.md instructions"), strings.HasPrefix(text, "<user_instructions>"), strings.HasPrefix(text, "<INSTRUCTIONS>"):
		return codexRule
	}
	for _, mark := range [...]string{"<turn_aborted>", "<user_shell_command>", "<subagent_notification>", "<skill>", "<user_action>",
		"<permissions instructions>", "<collaboration_mode>", "<model_switch>", "<goal_context>", "<apps_instructions>",
		"<skills_instructions>", "<plugins_instructions>", "<recommended_plugins>", "<realtime_conversation>", "<hook_prompt"} {
		if strings.HasPrefix(text, mark) {
			return codexHarness
		}
	}
	return codexPerson
}

// reasoning takes what there is of a reasoning item. One that is encrypted counts too.
func (c *codex) reasoning(v jsonscan.Value) {
	found := false
	for _, name := range [...]string{"content", "summary"} {
		for p := range v.Get(name).Elems() {
			if text := p.Get("text").Str(&c.out.arena); text != "" && !found {
				c.add(codexEntry{kind: codexThink, text: text})
			}
		}
		found = found || v.Get(name).Len() > 0
	}
	if !found {
		c.add(codexEntry{kind: codexThink})
	}
}

// output takes the result of a call.
func (c *codex) output(v jsonscan.Value) error {
	a := codexAnswer{result: result{id: c.out.id(v.Get("call_id"))}}
	output := v.Get("output")
	if !output.Present() && v.Get("tools").Present() {
		output = v.Get("tools")
	}
	if inner := output.Get("content"); inner.Kind() == jsonscan.String { // an older form of failures
		output = inner
	}
	switch {
	case output.Kind() == jsonscan.String:
		a.text, a.code = c.unpack(output)
		a.mute = codexRefused(a.text)
	case messageParts(output):
		w, ok := c.out.content(output, &c.aside)
		if !ok {
			return badField("output", "a text or a list of parts", output)
		}
		a.text, a.mute = w.text, w.mute
	case output.Present():
		a.text = c.out.arena.Close(appendCompact(c.out.arena.Open(), output))
	}
	c.give(a, false)
	return nil
}

// unpack returns the text of a result and the exit code of its command, which older versions put together
// into {"output":TEXT,"metadata":{"exit_code":N}} as JSON text. Any other text stays as it is.
func (c *codex) unpack(output jsonscan.Value) (text, code string) {
	text = output.Str(&c.out.arena)
	if !strings.HasPrefix(text, `{"output":"`) {
		return text, ""
	}
	v, err := c.out.parseInner(text)
	inner, exit := v.Get("output"), v.Get("metadata").Get("exit_code")
	if err != nil || v.Len() != 2 || inner.Kind() != jsonscan.String || exit.Kind() != jsonscan.Number {
		return text, ""
	}
	c.out.noteInner(c.out.inner.Repairs())
	text = c.out.arena.Close(inner.AppendString(c.out.arena.Open())) // inner is read anew before it is used
	return text, c.out.arena.Copy(exit.RawStr())
}

// codexRefused tells the results that stand for a person who said no, or stopped the run: no tool answered.
func codexRefused(text string) bool {
	return text == "aborted" || strings.HasPrefix(text, "aborted by user") || text == "exec command rejected by user" || text == "patch rejected by user"
}
