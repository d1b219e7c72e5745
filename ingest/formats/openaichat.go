package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// chat decodes OpenAI-like chats. It walks the messages once and holds what the agent did last (the act)
// until what answers it is complete:
//
//	system, user, ...      before the first message of the agent: the task
//	assistant, ...         the act: calls, or texts when there is no call
//	tool, function, ...    results of the calls    -> a turn
//	user, ...              the reply to the texts  -> a turn that is dialogue
//	assistant              ends the act before
type chat struct {
	opts    Options
	out     *Decoded
	t       *turnmill.Trajectory
	started bool     // a message of the agent or of a tool has been seen
	task    []string // texts before that
	says    []string // texts of the act
	reply   []string // what a user answered to them
	think   thoughts // of the act
	aside   thoughts // reasoning in messages of others
	calls   []call
	results []result
	ids     []string  // of all calls, to count those that repeat
	kinds   toolKinds // of all calls
}

func (c *chat) Decode(raw []byte, out *Decoded) error {
	v, err := out.parse(raw)
	if err == nil {
		err = c.record(v, out)
	}
	if err != nil {
		out.reset()
	}
	return err
}

// chatRecord holds the members of a record that is an object.
type chatRecord struct {
	messages, tools, domain, meta jsonscan.Value
	id, task, agent, source       ranked
}

// ranked keeps the value of the member that comes first in a list of names, whatever their order in the
// record: rank 0 is the best.
type ranked struct {
	v    jsonscan.Value
	rank int
}

func (r *ranked) offer(v jsonscan.Value, rank int) {
	usable := v.Kind() == jsonscan.Number || v.Kind() == jsonscan.String && len(v.Raw()) > 2
	if usable && (!r.v.Present() || rank <= r.rank) {
		r.v, r.rank = v, rank
	}
}

func (c *chat) record(v jsonscan.Value, out *Decoded) error {
	var r chatRecord
	switch v.Kind() {
	case jsonscan.Array:
		r.messages = v
	case jsonscan.Object:
		r = readChatRecord(v, out)
	default:
		return wrongFormat(chatName, "a record is "+article(v.Kind())+", want an object or an array of messages")
	}
	if r.messages.Kind() != jsonscan.Array {
		if r.messages.Kind() == jsonscan.Invalid {
			why, _ := recogniseChat(v)
			return wrongFormat(chatName, why)
		}
		return badField("messages", "an array", r.messages)
	}
	if r.messages.At(0).Kind() == jsonscan.Invalid {
		return reject(turnmill.ReasonEmptyMessages, "messages is empty")
	}
	c.begin(&r, out)
	declared, err := c.declare(r.tools)
	if err != nil {
		return err
	}
	i := 0 // of the message
	for m := range r.messages.Elems() {
		if err := c.message(m, i); err != nil {
			return err
		}
		i++
	}
	c.finish(&r, declared)
	return nil
}

func readChatRecord(v jsonscan.Value, out *Decoded) chatRecord {
	var r chatRecord
	var functions, available jsonscan.Value
	for k, m := range v.Members() {
		switch out.key(k) {
		case "messages":
			r.messages = m
		case "tools":
			r.tools = m
		case "functions":
			functions = m
		case "available_tools":
			available = m
		case "domain":
			r.domain = m
		case "metadata":
			r.meta = m
		case "id":
			r.id.offer(m, 0)
		case "conversation_id":
			r.id.offer(m, 1)
		case "trajectory_id":
			r.id.offer(m, 2)
		case "session_id":
			r.id.offer(m, 3)
		case "uuid":
			r.id.offer(m, 4)
		case "task_id":
			r.task.offer(m, 0)
		case "instance_id":
			r.task.offer(m, 1)
		case "agent":
			r.agent.offer(m, 0)
		case "model":
			r.agent.offer(m, 1)
		case "source":
			r.source.offer(m, 0)
		}
	}
	for _, other := range [...]jsonscan.Value{functions, available} {
		if !declares(r.tools) {
			r.tools = other
		}
	}
	return r
}

func (c *chat) begin(r *chatRecord, out *Decoded) {
	source := chatName
	if r.source.v.Kind() == jsonscan.String {
		source = r.source.v.Str(&out.arena)
	}
	c.out, c.t = out, out.trajectory(source, out.id(r.id.v))
	c.t.TaskID, c.t.Agent, c.t.Meta = out.id(r.task.v), out.id(r.agent.v), out.meta(r.meta)
	c.started, c.kinds = false, 0
	c.aside.reset()
	c.task, c.ids = c.task[:0], c.ids[:0]
	c.clear()
}

// clear forgets the act.
func (c *chat) clear() {
	c.says, c.reply, c.calls, c.results = c.says[:0], c.reply[:0], c.calls[:0], c.results[:0]
	c.think.reset()
}

func (c *chat) finish(r *chatRecord, declared toolKinds) {
	c.turn()
	c.t.System.TaskDescription = c.out.join(c.task, "\n\n")
	c.out.noteRepeats(c.ids)
	c.t.Domain = domainOf(c.kinds, declared)
	if named := turnmill.Domain(r.domain.Str(&c.out.arena)); slices.Contains(turnmill.Domains(), named) {
		c.t.Domain = named
	}
	c.out.Notes[turnmill.NoteThoughtStripped] += int64(c.aside.n)
	c.out.finish(c.t, c.opts)
}

// turn ends the act: it becomes a turn when something answered it.
func (c *chat) turn() {
	switch {
	case len(c.calls) > 0:
		c.callTurn()
	case len(c.reply) > 0:
		c.add(turnmill.Turn{
			Action:      c.out.join(c.says, "\n"),
			Observation: c.out.join(c.reply, "\n"),
			Dialogue:    true,
		})
	default:
		c.out.Notes[turnmill.NoteUnansweredAction] += int64(len(c.says))
	}
	if !c.opts.KeepThought {
		c.out.Notes[turnmill.NoteThoughtStripped] += int64(c.think.n)
	}
	c.clear()
}

func (c *chat) add(t turnmill.Turn) {
	t.Index, t.HasAction = len(c.t.Turns), true
	if c.opts.KeepThought {
		t.Thought = c.out.join(c.think.texts, "\n")
	}
	c.t.Turns = append(c.t.Turns, t)
}

func (c *chat) callTurn() {
	for _, s := range c.says {
		c.think.add(s) // beside a call a text is no action
	}
	pair(c.calls, c.results)
	for i := range c.results {
		if !c.results[i].used {
			c.out.note(turnmill.NoteOrphanObservation)
		}
	}
	answered := c.calls[:0]
	for _, k := range c.calls {
		if k.answer >= 0 && !c.results[k.answer].mute {
			answered = append(answered, k)
		} else {
			c.out.note(turnmill.NoteUnansweredAction)
		}
	}
	if len(answered) > 0 {
		c.add(c.callTexts(answered))
	}
}

// callTexts joins calls, names and results, each in the order of the calls.
func (c *chat) callTexts(calls []call) turnmill.Turn {
	t := turnmill.Turn{Tool: calls[0].name, Observation: c.results[calls[0].answer].text}
	arena := &c.out.arena
	b := arena.Open()
	for i := range calls {
		if i > 0 {
			b = append(b, '\n')
		}
		b = c.out.appendCall(b, &calls[i])
	}
	t.Action = arena.Close(b)
	if len(calls) == 1 {
		return t
	}
	b = append(arena.Open(), t.Tool...)
	for i := range calls[1:] {
		b = append(append(b, ','), calls[i+1].name...)
	}
	t.Tool = arena.Close(b)
	b = append(arena.Open(), t.Observation...)
	for i := range calls[1:] {
		b = append(append(b, '\n'), c.results[calls[i+1].answer].text...)
	}
	t.Observation = arena.Close(b)
	return t
}

// declares tells whether a member holds tools: a list, an object or a string with one of them.
func declares(v jsonscan.Value) bool {
	if text, ok := v.Plain(); ok {
		return string(text) != "" && string(text) != "[]" && string(text) != "{}" && string(text) != "null"
	}
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return false
	case jsonscan.Array, jsonscan.Object:
		return v.Len() > 0
	}
	return true
}

// declare keeps the declared tools as they stand and returns what they are for.
func (c *chat) declare(v jsonscan.Value) (toolKinds, error) {
	if !declares(v) {
		return 0, nil
	}
	switch v.Kind() {
	case jsonscan.Array, jsonscan.Object:
		c.t.System.ActionSpace = c.out.verbatim(v)
		return c.out.declaredKinds(v), nil
	case jsonscan.String:
		c.t.System.ActionSpace = v.Str(&c.out.arena)
		list, err := c.out.parseInner(c.t.System.ActionSpace)
		if err != nil {
			return 0, nil // prose about the tools: kept, and nothing more is known
		}
		return c.out.declaredKinds(list), nil
	}
	return 0, badField("tools", "an array", v)
}
