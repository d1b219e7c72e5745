package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// inspect decodes logs of Inspect: a log is one object whose samples are trajectories, one for each sample
// and epoch; a sample may also be a record by itself. A long text of a sample may stand in its attachments,
// with a reference in its place.
type inspect struct {
	acts
	attachments map[string]jsonscan.Value // of the sample at hand, by their hash
	pieces      []string
}

func (p *inspect) Decode(raw []byte, out *Decoded) error { return out.decode(raw, p.record) }

func (p *inspect) record(v jsonscan.Value, out *Decoded) error {
	why, _ := recogniseInspect(v)
	samples := v.Get("samples")
	switch {
	case why != "":
		return wrongFormat(inspectName, why)
	case v.Get("eval").Kind() != jsonscan.Object: // a sample
		p.out = out
		return p.sample(v, jsonscan.Value{})
	case samples.Present() && samples.Kind() != jsonscan.Array:
		return badField("samples", "an array", samples)
	case samples.Len() == 0:
		return reject(turnmill.ReasonNoRecords, "the log holds no sample")
	}
	p.out = out
	i := 0
	for s := range samples.Elems() {
		n := len(out.Trajectories)
		if err := p.sample(s, v.Get("eval")); err != nil {
			out.refuse(n, inside("samples", i, err))
		}
		i++
	}
	return nil
}

// sample makes a trajectory of a sample. eval says of which run it is; Invalid when that is not known.
func (p *inspect) sample(v, eval jsonscan.Value) error {
	messages := v.Get("messages")
	switch {
	case v.Kind() != jsonscan.Object:
		return badField("", "an object", v)
	case messages.Present() && messages.Kind() != jsonscan.Array:
		return badField("messages", "an array", messages)
	case messages.Len() == 0:
		return reject(turnmill.ReasonEmptyMessages, "messages is empty")
	}
	p.attach(v.Get("attachments"))
	p.begin(p.out.trajectory(inspectName, ""), p.out)
	declared := p.tools(v.Get("events"))
	i := 0
	for m := range messages.Elems() {
		if err := p.message(m, i); err != nil {
			return err
		}
		i++
	}
	p.finish()
	p.about(v, eval)
	p.t.Observed = turnmill.ObservedTrue
	p.t.Domain = domainOf(p.kinds, declared)
	p.out.finish(p.t, p.opts)
	return nil
}

// about fills in what is known of a sample beside its turns.
func (p *inspect) about(v, eval jsonscan.Value) {
	out, t := p.out, p.t
	run, id, epoch := out.id(eval.Get("run_id")), out.id(v.Get("id")), v.Get("epoch")
	if t.ID = out.id(v.Get("uuid")); t.ID == "" && run != "" {
		b := append(append(out.arena.Open(), run...), '/')
		b = append(append(append(b, id...), '/'), epoch.RawStr()...)
		t.ID = out.arena.Close(b)
	}
	t.TaskID = id
	if t.Agent = out.id(eval.Get("model")); t.Agent == "" {
		t.Agent = out.id(v.Get("output").Get("model"))
	}
	t.Meta = out.object(
		member{name: "task", text: out.id(eval.Get("task"))},
		number("epoch", epoch),
		member{name: "limit", text: v.Get("limit").Get("type").Str(&out.arena)},
		member{name: "error", text: p.text(v.Get("error").Get("message"))})
}

// attach files the attachments of a sample.
func (p *inspect) attach(list jsonscan.Value) {
	p.attachments = emptied(p.attachments)
	for k, v := range list.Members() {
		p.attachments[p.out.key(k)] = v
	}
}

// attachment returns the attachment that a text refers to.
func (p *inspect) attachment(text string) (jsonscan.Value, bool) {
	hash, ok := strings.CutPrefix(text, "attachment://")
	if !ok {
		hash, ok = strings.CutPrefix(text, "tc://")
	}
	if !ok {
		return jsonscan.Value{}, false
	}
	v, ok := p.attachments[hash]
	return v, ok && v.Kind() == jsonscan.String
}

// text returns a text, or the attachment in its place.
func (p *inspect) text(v jsonscan.Value) string {
	s := v.Str(&p.out.arena)
	if a, ok := p.attachment(s); ok {
		return a.Str(&p.out.arena)
	}
	return s
}

// json returns a value's JSON with each attachment in its place.
func (p *inspect) json(v jsonscan.Value) string {
	raw := p.out.verbatim(v)
	const mark = `"attachment://`
	if !strings.Contains(raw, mark) {
		return raw
	}
	b := p.out.arena.Open()
	for {
		i := strings.Index(raw, mark)
		if i < 0 {
			break
		}
		end := i + 1 + strings.IndexByte(raw[i+1:], '"')
		b = append(b, raw[:i]...)
		if a, ok := p.attachment(raw[i+1 : end]); ok {
			b, _ = a.AppendVerbatim(b)
		} else {
			b = append(b, raw[i:end+1]...)
		}
		raw = raw[end+1:]
	}
	return p.out.arena.Close(append(b, raw...))
}

// tools keeps the tools of the first request to the model that has some, and returns what they are for.
func (p *inspect) tools(events jsonscan.Value) toolKinds {
	for e := range events.Elems() {
		if list := e.Get("tools"); e.Get("event").Is("model") && list.Kind() == jsonscan.Array && list.Len() > 0 {
			p.t.System.ActionSpace = p.json(list)
			return p.out.declaredKinds(list)
		}
	}
	return 0
}
