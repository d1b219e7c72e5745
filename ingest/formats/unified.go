package formats

import (
	"fmt"
	"math"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// unified decodes the unified form.
type unified struct {
	opts    Options
	indexes []int
}

func (u *unified) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, u.record)
}

// unifiedRecord holds a record's members, so that their order does not matter.
type unifiedRecord struct {
	id, kind, domain, source, sourceKind, taskID, agent, observed, system, turns, text, meta jsonscan.Value
}

func (u *unified) record(v jsonscan.Value, out *Decoded) error {
	if v.Kind() != jsonscan.Object {
		return wrongFormat(unifiedName, "a record is "+article(v.Kind())+", want an object")
	}
	var r unifiedRecord
	for k, m := range v.Members() {
		switch out.key(k) {
		case "id":
			r.id = m
		case "kind":
			r.kind = m
		case "domain":
			r.domain = m
		case "source":
			r.source = m
		case "source_kind":
			r.sourceKind = m
		case "task_id":
			r.taskID = m
		case "agent":
			r.agent = m
		case "observed":
			r.observed = m
		case "system":
			r.system = m
		case "turns":
			r.turns = m
		case "text":
			r.text = m
		case "meta":
			r.meta = m
		}
	}
	switch {
	case r.kind.Is("document"):
		return u.document(&r, out)
	case r.kind.Present() && !r.kind.Is("trajectory"):
		return reject(turnmill.ReasonBadField, `kind is neither "document" nor "trajectory"`)
	case r.turns.Kind() == jsonscan.Invalid:
		return wrongFormat(unifiedName, "neither turns nor kind \"document\", which a text of world knowledge needs")
	}
	return u.trajectory(&r, out)
}

// longestDomain is the longest name of a domain, in bytes.
const longestDomain = 64

// domain reads a domain's name. One that is no name, or that accounts give to something else, is as good as
// none.
func (f *fields) domain(v jsonscan.Value) turnmill.Domain {
	name := turnmill.Domain(f.text("domain", v))
	if len(name) > longestDomain || name == "input" || name == "unread" || name == "total" {
		return turnmill.DomainUnknown
	}
	return name
}

func (u *unified) document(r *unifiedRecord, out *Decoded) error {
	f := fields{out: out}
	d := turnmill.Document{
		ID:         f.id("id", r.id),
		Domain:     f.domain(r.domain),
		Source:     f.text("source", r.source),
		SourceKind: f.text("source_kind", r.sourceKind),
		Text:       f.text("text", r.text),
		Meta:       f.object("meta", r.meta),
	}
	if f.err != nil {
		return f.err
	}
	if u.opts.Domain != "" {
		d.Domain = u.opts.Domain
	} else if d.Domain == "" {
		d.Domain = turnmill.DomainKnowledge
	}
	out.Documents = append(out.Documents, d)
	return nil
}

func (u *unified) trajectory(r *unifiedRecord, out *Decoded) error {
	f := fields{out: out}
	t := out.trajectory(f.text("source", r.source), f.id("id", r.id))
	t.Domain = f.domain(r.domain)
	t.SourceKind = f.text("source_kind", r.sourceKind)
	t.TaskID = f.id("task_id", r.taskID)
	t.Agent = f.text("agent", r.agent)
	t.Meta = f.object("meta", r.meta)
	switch r.observed.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
	case jsonscan.True:
		t.Observed = turnmill.ObservedTrue
	case jsonscan.False:
		t.Observed = turnmill.ObservedFalse
	default:
		f.fail("observed", "a boolean", r.observed)
	}
	u.system(r.system, &t.System, &f)
	if r.turns.Kind() != jsonscan.Array {
		f.fail("turns", "an array", r.turns)
	}
	if f.err != nil {
		return f.err
	}
	if err := u.turns(r.turns, t, out); err != nil {
		return err
	}
	out.finish(t, u.opts)
	return nil
}

func (u *unified) system(v jsonscan.Value, p *turnmill.SystemPrompt, f *fields) {
	if v.Present() && v.Kind() != jsonscan.Object {
		f.fail("system", "an object", v)
	}
	for k, m := range v.Members() {
		switch f.out.key(k) {
		case "task_description":
			p.TaskDescription = f.text("system.task_description", m)
		case "action_space":
			p.ActionSpace = f.text("system.action_space", m)
		case "initial_state":
			p.InitialState = f.text("system.initial_state", m)
		case "demonstrations":
			p.Demonstrations = f.text("system.demonstrations", m)
		case "simulation_instruction":
			p.SimulationInstruction = f.text("system.simulation_instruction", m)
		}
	}
}

func (u *unified) turns(list jsonscan.Value, t *turnmill.Trajectory, out *Decoded) error {
	u.indexes = u.indexes[:0]
	position, ordered := 0, true
	for v := range list.Elems() {
		if v.Kind() != jsonscan.Object {
			return badField(fmt.Sprintf("turns[%d]", position), "an object", v)
		}
		turn, answered, err := u.turn(v, position, out)
		if err != nil {
			return inside("turns", position, err)
		}
		if n := len(u.indexes); n > 0 && turn.Index <= u.indexes[n-1] {
			ordered = false
		}
		u.indexes = append(u.indexes, turn.Index)
		if answered {
			t.Turns = append(t.Turns, turn)
		} else {
			out.note(turnmill.NoteUnansweredAction)
		}
		position++
	}
	if ordered {
		return nil
	}
	slices.Sort(u.indexes)
	for i := 1; i < len(u.indexes); i++ {
		if u.indexes[i] == u.indexes[i-1] {
			return reject(turnmill.ReasonRepeatedIndex, "two turns have index %d", u.indexes[i])
		}
	}
	return nil
}

func (u *unified) turn(v jsonscan.Value, position int, out *Decoded) (t turnmill.Turn, answered bool, err error) {
	f := fields{out: out}
	t.Index = position
	for k, m := range v.Members() {
		switch out.key(k) {
		case "index":
			t.Index = f.index("index", m, position)
		case "state":
			t.State = f.text("state", m)
		case "action":
			t.Action, t.HasAction = f.text("action", m), m.Present()
		case "observation":
			t.Observation, answered = f.text("observation", m), m.Present()
		case "tool":
			t.Tool = f.text("tool", m)
		case "dialogue":
			t.Dialogue = f.flag("dialogue", m)
		case "thought":
			if t.Thought = f.text("thought", m); !u.opts.KeepThought {
				t.Thought = ""
			}
		}
	}
	return t, answered, f.err
}

// fields reads optional members of one object and keeps the first error. Absent and null are zero.
type fields struct {
	out *Decoded
	err error
}

func (f *fields) fail(name, want string, v jsonscan.Value) {
	if f.err == nil {
		f.err = badField(name, want, v)
	}
}

func (f *fields) text(name string, v jsonscan.Value) string {
	if v.Present() && v.Kind() != jsonscan.String {
		f.fail(name, "a string", v)
	}
	return v.Str(&f.out.arena)
}

func (f *fields) id(name string, v jsonscan.Value) string {
	if v.Present() && v.Kind() != jsonscan.String && v.Kind() != jsonscan.Number {
		f.fail(name, "a string or a number", v)
	}
	return f.out.id(v)
}

func (f *fields) object(name string, v jsonscan.Value) string {
	if v.Present() && v.Kind() != jsonscan.Object {
		f.fail(name, "an object", v)
	}
	return f.out.meta(v)
}

func (f *fields) flag(name string, v jsonscan.Value) bool {
	if v.Present() && v.Kind() != jsonscan.True && v.Kind() != jsonscan.False {
		f.fail(name, "a boolean", v)
	}
	return v.Kind() == jsonscan.True
}

// index reads a place in the source. The turns table holds it in 32 bits.
func (f *fields) index(name string, v jsonscan.Value, missing int) int {
	if !v.Present() {
		return missing
	}
	n, ok := v.Int()
	if !ok || n < 0 || n > math.MaxInt32 {
		f.fail(name, "a whole number from 0 to 2147483647", v)
	}
	return int(n)
}
