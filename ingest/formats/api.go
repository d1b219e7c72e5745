package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// apiShape says where a record of a model's API holds what. Lists are read in their order.
type apiShape struct {
	name   string
	lists  []string // of items: the request's, then the reply's
	system []string // instructions
	why    func(v jsonscan.Value) (string, int)
}

// api decodes requests and replies of a model's API. A record may be the list of items itself.
type api struct {
	talk
	shape *apiShape
}

func (a *api) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *api) record(v jsonscan.Value, out *Decoded) error {
	var r chatRecord
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object:
		r = readChatRecord(v, out)
	default:
		return wrongFormat(a.shape.name, "a record is "+article(v.Kind())+", want an object or a list of items")
	}
	if r.name == "" || r.name == chatName {
		r.name = a.shape.name
	}
	a.beginTalk(out.trajectory(r.name, out.id(r.id.v)), out)
	a.t.TaskID, a.t.Agent, a.t.Meta = out.id(r.task.v), out.id(r.agent.v), out.meta(r.meta)
	declared, err := a.declare("tools", r.tools)
	if err == nil {
		err = a.conversation(v)
	}
	if err != nil {
		return err
	}
	a.finish()
	a.t.Domain = domainOf(a.kinds, declared)
	if named := turnmill.Domain(r.domain.Str(&out.arena)); slices.Contains(turnmill.Domains(), named) {
		a.t.Domain = named
	}
	out.finish(a.t, a.opts)
	return nil
}

// conversation reads the instructions and the items of a record.
func (a *api) conversation(v jsonscan.Value) error {
	if v.Kind() == jsonscan.Array {
		return a.list("", v)
	}
	for _, name := range a.shape.system {
		if s := v.Get(name); s.Present() {
			if err := a.setting(s); err != nil {
				return under(name, err)
			}
		}
	}
	found := false
	for _, name := range a.shape.lists {
		if list := v.Get(name); list.Present() {
			found = true
			if err := a.list(name, list); err != nil {
				return err
			}
		}
	}
	if reply := v.Get("candidates").At(0).Get("content"); reply.Kind() == jsonscan.Object {
		if err := a.item(reply); err != nil {
			return under("candidates[0].content", err)
		}
	}
	if !found {
		why, _ := a.shape.why(v)
		return wrongFormat(a.shape.name, why)
	}
	return nil
}

func (a *api) list(name string, v jsonscan.Value) error {
	switch {
	case v.Kind() != jsonscan.Array && v.Kind() != jsonscan.String:
		return badField(name, "an array", v)
	case v.Kind() == jsonscan.Array && v.Len() == 0 && name != "output" && name != "completion":
		return reject(turnmill.ReasonEmptyMessages, "%s is empty", name)
	}
	return a.items(name, v)
}
