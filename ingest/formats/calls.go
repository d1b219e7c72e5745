package formats

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// call is one tool call of an agent's message.
type call struct {
	name   string
	args   jsonscan.Value // a string, an object or whatever stands there; Invalid when absent
	id     string
	text   string // its canonical text, where that was written when the call was read; args is Invalid then
	answer int    // index of its result; -1 when there is none
}

// result is one answer of a tool.
type result struct {
	id   string
	text string
	mute bool // holds no text at all: consumes its call, answers nothing
	used bool
}

// readCall reads a call in OpenAI's form {id, function: {name, arguments}}, in its form for custom tools,
// {id, custom: {name, input}}, or in the flat form {id, name, arguments}.
func (d *Decoded) readCall(v jsonscan.Value) (call, error) {
	if v.Kind() != jsonscan.Object {
		return call{}, badField("", "an object", v)
	}
	c := call{id: d.id(v.Get("id")), answer: -1}
	in, way, args := v, "name", "arguments"
	if f := v.Get("function"); f.Kind() == jsonscan.Object {
		in, way = f, "function.name"
	} else if f = v.Get("custom"); f.Kind() == jsonscan.Object {
		in, way, args = f, "custom.name", "input"
	}
	name := in.Get("name")
	if name.Present() && name.Kind() != jsonscan.String {
		return call{}, badField(way, "a string", name)
	}
	c.name, c.args = name.Str(&d.arena), in.Get(args)
	return c, nil
}

// appendCall appends the canonical text of a call: {"name":N,"arguments":A} without blanks of ours. A is
// the source's JSON: a string's content when that is JSON, blanks around it included, else the string
// itself, counted. Absent arguments are left out.
func (d *Decoded) appendCall(dst []byte, c *call) []byte {
	if c.text != "" {
		return append(dst, c.text...)
	}
	if c.args.Kind() == jsonscan.Invalid {
		return append(jsonscan.AppendQuoted(append(dst, `{"name":`...), c.name), '}')
	}
	dst = appendCallName(dst, c.name)
	if c.args.Kind() == jsonscan.String {
		dst = d.appendArguments(dst, c.args)
	} else {
		dst = d.appendVerbatim(dst, c.args)
	}
	return append(dst, '}')
}

// appendCallName appends the beginning of a call's text, up to its arguments.
func appendCallName(dst []byte, name string) []byte {
	return append(jsonscan.AppendQuoted(append(dst, `{"name":`...), name), `,"arguments":`...)
}

// otherMembers returns the canonical text of a call whose arguments are the members of v, save the one that
// names the call.
func (d *Decoded) otherMembers(name string, v jsonscan.Value, but string) string {
	b := append(appendCallName(d.arena.Open(), name), '{')
	n := 0
	for k, member := range v.Members() {
		if k.Is(but) {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = d.appendVerbatim(append(d.appendVerbatim(b, k), ':'), member)
	}
	return d.arena.Close(append(b, "}}"...))
}

func (d *Decoded) appendArguments(dst []byte, s jsonscan.Value) []byte {
	d.buffer = s.AppendString(d.buffer[:0])
	v, err := d.inner.Parse(d.buffer)
	if err != nil {
		d.note(turnmill.NoteBadArguments)
		return d.appendVerbatim(dst, s)
	}
	d.noteInner(d.inner.Repairs())
	from, to := v.Offset(), v.Offset()+len(v.Raw())
	dst = append(dst, d.buffer[:from]...)
	dst = d.appendVerbatim(dst, v)
	return append(dst, d.buffer[to:]...)
}

func (d *Decoded) appendVerbatim(dst []byte, v jsonscan.Value) []byte {
	dst, decoded := v.AppendVerbatim(dst)
	d.Notes[turnmill.NoteEscapeDecoded] += int64(decoded)
	return dst
}

// noteRepeats counts the ids that came before in the same trajectory. It sorts ids.
func (d *Decoded) noteRepeats(ids []string) {
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			d.note(turnmill.NoteRepeatedCallID)
		}
	}
}

// manyCalls is the number of calls in one message above which pairing by id goes through a map.
const manyCalls = 16

// pair gives each call its result: first by id, calls of one id in their order; then, in order, the results
// and calls that bear no id on one side or the other. What is left over stays unpaired.
func pair(calls []call, results []result) {
	find := scanIDs(calls)
	if len(calls) > manyCalls {
		find = chainIDs(calls)
	}
	for i := range results {
		if r := &results[i]; r.id != "" {
			if j := find(r.id); j >= 0 {
				calls[j].answer, r.used = i, true
			}
		}
	}
	any, bare := 0, 0 // the first calls that may be without an answer, and those without an id among them
	for i := range results {
		r, j := &results[i], &any
		if r.used {
			continue
		}
		if r.id != "" {
			j = &bare
		}
		for *j < len(calls) && (calls[*j].answer >= 0 || r.id != "" && calls[*j].id != "") {
			*j++
		}
		if *j < len(calls) {
			calls[*j].answer, r.used = i, true
		}
	}
}

// scanIDs returns a function that finds the first call of an id that has no answer, or -1.
func scanIDs(calls []call) func(id string) int {
	return func(id string) int {
		for j := range calls {
			if calls[j].answer < 0 && calls[j].id == id {
				return j
			}
		}
		return -1
	}
}

// chainIDs is scanIDs in linear time: calls of one id form a chain.
func chainIDs(calls []call) func(id string) int {
	heads := make(map[string]int, len(calls))
	next := make([]int, len(calls))
	for j := len(calls) - 1; j >= 0; j-- {
		next[j] = -1
		if h, ok := heads[calls[j].id]; ok {
			next[j] = h
		}
		heads[calls[j].id] = j
	}
	return func(id string) int {
		j, ok := heads[id]
		if !ok || j < 0 {
			return -1
		}
		heads[id] = next[j]
		return j
	}
}

// appendMembers appends an object of those members of v that have a value, in the order of names.
func (d *Decoded) appendMembers(b []byte, v jsonscan.Value, names ...string) []byte {
	b = append(b, '{')
	n := 0
	for _, name := range names {
		m := v.Get(name)
		if !m.Present() {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendQuoted(b, name), ':')
		b = d.appendCompact(b, m)
	}
	return append(b, '}')
}

// appendCompact is appendVerbatim without the blanks between tokens.
func (d *Decoded) appendCompact(b []byte, v jsonscan.Value) []byte {
	from := len(b)
	return withoutBlanks(d.appendVerbatim(b, v), from)
}
