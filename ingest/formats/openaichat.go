package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// chat decodes OpenAI-like chats. It walks the messages once.
type chat struct {
	acts
	list string // the member that holds the messages, for errors
}

func newChat(o Options) Decoder { return &chat{acts: acts{opts: o}, list: "messages"} }

func (c *chat) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, c.record)
}

// chatRecord holds the members of a record that is an object.
type chatRecord struct {
	messages, tools, domain, meta jsonscan.Value
	id, task, agent, source       ranked
	name                          string // the format or the data set that the record comes from
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
	r := chatRecord{name: chatName}
	switch v.Kind() {
	case jsonscan.Array:
		r.messages = v
	case jsonscan.Object:
		r = readChatRecord(v, out)
	default:
		return wrongFormat(chatName, "a record is "+article(v.Kind())+", want an object or an array of messages")
	}
	if r.messages.Kind() == jsonscan.Invalid {
		why, _ := recogniseChat(v)
		return wrongFormat(chatName, why)
	}
	return c.read(&r, out)
}

// read makes a trajectory of a record.
func (c *chat) read(r *chatRecord, out *Decoded) error {
	declared, err := c.walk(r, out)
	if err != nil {
		return err
	}
	c.t.Domain = domainOf(c.kinds, declared)
	if named := turnmill.Domain(r.domain.Str(&out.arena)); slices.Contains(turnmill.Domains(), named) {
		c.t.Domain = named
	}
	out.finish(c.t, c.opts)
	return nil
}

// walk makes the turns of a record's messages. It returns what the declared tools are for.
func (c *chat) walk(r *chatRecord, out *Decoded) (toolKinds, error) {
	declared, err := c.open(r, out)
	if err != nil {
		return 0, err
	}
	i := 0 // of the message
	for m := range r.messages.Elems() {
		if err := c.message(m, i); err != nil {
			return 0, err
		}
		i++
	}
	c.finish()
	return declared, nil
}

// open starts the trajectory of a record that has messages.
func (c *chat) open(r *chatRecord, out *Decoded) (toolKinds, error) {
	if r.messages.Kind() != jsonscan.Array {
		return 0, badField(c.list, "an array", r.messages)
	}
	if r.messages.At(0).Kind() == jsonscan.Invalid {
		return 0, reject(turnmill.ReasonEmptyMessages, "%s is empty", c.list)
	}
	c.begin(out.trajectory(r.name, out.id(r.id.v)), out)
	c.t.TaskID, c.t.Agent, c.t.Meta = out.id(r.task.v), out.id(r.agent.v), out.meta(r.meta)
	return c.declare("tools", r.tools)
}

func readChatRecord(v jsonscan.Value, out *Decoded) chatRecord {
	r := chatRecord{name: chatName}
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
	if r.source.v.Kind() == jsonscan.String {
		r.name = r.source.v.Str(&out.arena)
	}
	return r
}
