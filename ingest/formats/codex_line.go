package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// take takes a line of a log. An error costs the line.
func (c *codex) take(v jsonscan.Value) error {
	if v.Kind() != jsonscan.Object {
		return wrongFormat(codexName, "a line is "+article(v.Kind())+", want an object")
	}
	kind, payload := v.Get("type"), v.Get("payload")
	name := kind.Str(&c.out.arena)
	switch msg := v.Get("msg"); {
	case kind.Kind() == jsonscan.String && payload.Kind() == jsonscan.Object:
		return c.rollout(name, payload, v.Get("timestamp"))
	case kind.Kind() == jsonscan.String && strings.Contains(name, "."):
		return c.stream(name, v)
	case kind.Kind() == jsonscan.String:
		return c.item(v, name)
	case msg.Get("type").Kind() == jsonscan.String:
		return c.event(msg)
	case v.Get("session").Kind() == jsonscan.Object && v.Get("items").Kind() == jsonscan.Array:
		return c.object(v)
	case v.Get("record_type").Kind() == jsonscan.String: // the harness's own state
	case v.Get("prompt").Kind() == jsonscan.String:
		c.add(codexEntry{kind: codexPerson, text: v.Get("prompt").Str(&c.out.arena)})
	case v.Get("id").Kind() == jsonscan.String && v.Get("timestamp").Kind() == jsonscan.String:
		c.session(v)
	case v.Get("workdir").Kind() == jsonscan.String && v.Get("model").Kind() == jsonscan.String:
		c.model(v)
	default:
		return wrongFormat(codexName, "a line that is no item and no event")
	}
	return nil
}

// object reads the oldest rollouts, which are one object.
func (c *codex) object(v jsonscan.Value) error {
	c.session(v.Get("session"))
	i := 0
	for m := range v.Get("items").Elems() {
		name := m.Get("type").Str(&c.out.arena)
		if name == "" && m.Get("role").Present() {
			name = "message"
		}
		if err := c.item(m, name); err != nil {
			c.out.lost(c.base+int64(m.Offset()), int64(len(m.Raw())), inside("items", i, err))
		}
		i++
	}
	return nil
}

// rollout takes a line with a payload.
func (c *codex) rollout(name string, payload, time jsonscan.Value) error {
	if name != "session_meta" && name != "turn_context" && c.repeats(payload, time) {
		return nil
	}
	switch name {
	case "session_meta":
		c.session(payload)
	case "turn_context":
		c.model(payload)
	case "response_item":
		return c.item(payload, payload.Get("type").Str(&c.out.arena))
	case "event_msg":
		return c.event(payload)
	case "compacted":
		c.compacted(payload)
	case "world_state", "inter_agent_communication":
	default:
		c.out.note(turnmill.NoteUnreadMessage)
	}
	return nil
}

// repeats tells whether a line has been read: a session that goes on in a copy of its log may hold its lines
// twice. An item that bears the API's own id is the same at any time.
func (c *codex) repeats(payload, time jsonscan.Value) bool {
	key := codexLine{payload: payload.RawStr()}
	if payload.Get("id").Kind() != jsonscan.String {
		if key.time = time.RawStr(); key.time == "" {
			return false
		}
	}
	if _, known := c.lines[key]; known {
		c.out.Copied++
		return true
	}
	c.lines[key] = struct{}{}
	return false
}

// session takes what a log says of its session. The first such line is the log's own; the lines of sessions
// that it was forked from come before anything that was said in them. Any other session begins a new run.
func (c *codex) session(v jsonscan.Value) {
	id := c.out.id(v.Get("id"))
	if id == "" {
		id = c.out.id(v.Get("thread_id"))
	}
	_, known := c.known[id]
	forked := c.out.id(v.Get("forked_from_id"))
	switch r := c.run(); {
	case r.id == "" && int(r.from) == len(c.entries):
	case id == "" || known:
		return
	case int(r.from) == len(c.entries):
		if r.forked == "" { // older forks do not name what they go on from
			r.forked = id
		}
		c.known[id] = struct{}{}
		return
	default:
		c.runs = append(c.runs, codexRun{from: int32(len(c.entries))})
		c.known = emptied(c.known)
	}
	r := c.run()
	r.id, r.forked = id, forked
	r.parent = c.out.id(v.Get("source").Get("subagent").Get("thread_spawn").Get("parent_thread_id"))
	r.version = v.Get("cli_version").Str(&c.out.arena)
	rules := v.Get("base_instructions")
	if rules.Kind() == jsonscan.Object {
		rules = rules.Get("text")
	}
	if rules.Kind() != jsonscan.String {
		rules = v.Get("instructions")
	}
	r.rules = rules.Str(&c.out.arena)
	if tools := v.Get("dynamic_tools"); tools.Kind() == jsonscan.Array && tools.Len() > 0 {
		r.tools = c.out.verbatim(tools)
	}
	for _, s := range [...]string{id, forked} {
		if s != "" {
			c.known[s] = struct{}{}
		}
	}
	c.begun = emptied(c.begun)
}

// model keeps the name of the model, of which a run may change.
func (c *codex) model(v jsonscan.Value) {
	if r := c.run(); r.model == "" {
		r.model = c.out.id(v.Get("model"))
	}
}

// compacted takes the place where a history was shortened. What replaces it repeats some of it.
func (c *codex) compacted(v jsonscan.Value) {
	c.out.Copied += int64(v.Get("replacement_history").Len())
	c.add(codexEntry{kind: codexHarness, text: v.Get("message").Str(&c.out.arena)})
}
