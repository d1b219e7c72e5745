package formats

import (
	"cmp"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// otlp decodes files of OpenTelemetry spans. It gathers the spans of all traces, then plays one trace after
// another.
type otlp struct {
	trace
	wholeFile
	all    []traceSpan
	traces []otlpTrace
	index  map[string]int32 // of traces by their id
	read   int              // spans of any kind
	heard  bool             // a span of a model or a tool has been seen
}

// otlpTrace is what is known of a trace beside its spans.
type otlpTrace struct{ id, service, conversation string }

func (o *otlp) Decode(raw []byte, out *Decoded) error {
	out.reset()
	o.out, o.read, o.heard = out, 0, false
	o.clearTrace()
	o.index = emptied(o.index)
	o.all, o.traces, o.wholeFile.doc.NonFinite = o.all[:0], o.traces[:0], true
	o.readFile(raw, out, o)
	err := o.rejected()
	if err != nil {
		out.reset()
		return err
	}
	slices.SortStableFunc(o.all, func(a, b traceSpan) int { return cmp.Compare(a.of, b.of) })
	for from := 0; from < len(o.all); {
		to := from
		for to < len(o.all) && o.all[to].of == o.all[from].of {
			to++
		}
		o.playTrace(&o.traces[o.all[from].of], o.all[from:to])
		from = to
	}
	return nil
}

// rejected tells what is wrong with a file of which nothing comes.
func (o *otlp) rejected() error {
	switch {
	case o.read == 0 && len(o.traces) == 0:
		return o.out.refuseWhole(otlpName, "no span in it")
	case !o.heard:
		return reject(turnmill.ReasonNoRecords, "%d spans, none of them of a model or a tool", o.read)
	}
	return nil
}

func (o *otlp) playTrace(about *otlpTrace, spans []traceSpan) {
	o.parents = emptied(o.parents)
	o.spans = append(o.spans[:0], spans...)
	heard := false
	for i := range o.spans {
		heard = heard || o.spans[i].kind != spanOther
	}
	switch {
	case !heard:
		return // a request of something else, in a file that has traces of agents
	case o.blank():
		o.out.refuse(len(o.out.Trajectories), noContents())
		return
	}
	o.arrange()
	o.play(otlpName, about.id, o.out.object(member{name: "service.name", text: about.service},
		member{name: "gen_ai.conversation.id", text: about.conversation}))
}

// value takes a batch of spans, or a list of them.
func (o *otlp) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			o.value(e, base)
		}
		return
	}
	list := v.Get("resourceSpans")
	if list.Kind() != jsonscan.Array {
		o.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), wrongFormat(otlpName, "no resourceSpans"))
		return
	}
	for batch := range list.Elems() {
		o.batch(batch)
	}
}

func (o *otlp) batch(v jsonscan.Value) {
	service := o.attribute(v.Get("resource").Get("attributes"), "service.name")
	for scope := range v.Get("scopeSpans").Elems() {
		o.scope(scope, service)
	}
}

func (o *otlp) scope(v jsonscan.Value, service string) {
	for s := range v.Get("spans").Elems() {
		o.span(s, service)
	}
}

// attribute returns the text of one attribute.
func (o *otlp) attribute(list jsonscan.Value, key string) string {
	for a := range list.Elems() {
		if a.Get("key").Is(key) {
			return o.any(a.Get("value"))
		}
	}
	return ""
}

// any returns the text of an attribute's value: a string's own, the JSON of any other.
func (o *otlp) any(v jsonscan.Value) string {
	if s := v.Get("stringValue"); s.Kind() == jsonscan.String {
		return s.Str(&o.out.arena)
	}
	return o.out.arena.Close(o.appendAny(o.out.arena.Open(), v))
}

// appendAny appends the JSON that OTLP wraps in {stringValue}, {arrayValue}, {kvlistValue} and so on.
func (o *otlp) appendAny(b []byte, v jsonscan.Value) []byte {
	for k, m := range v.Members() {
		n := 0
		switch {
		case k.Is("arrayValue"):
			b = append(b, '[')
			for e := range m.Get("values").Elems() {
				if n++; n > 1 {
					b = append(b, ',')
				}
				b = o.appendAny(b, e)
			}
			return append(b, ']')
		case k.Is("kvlistValue"):
			b = append(b, '{')
			for e := range m.Get("values").Elems() {
				if n++; n > 1 {
					b = append(b, ',')
				}
				b = o.appendKey(b, e.Get("key"))
				b = o.appendAny(b, e.Get("value"))
			}
			return append(b, '}')
		case k.Is("intValue"): // a number, or one in a string
			if text, plain := m.Plain(); plain && len(text) > 0 {
				return append(b, text...)
			}
		}
		return appendCompact(b, m)
	}
	return append(b, "null"...)
}

func (o *otlp) appendKey(b []byte, key jsonscan.Value) []byte {
	if key.Kind() != jsonscan.String {
		return append(b, `"":`...)
	}
	return append(appendCompact(b, key), ':')
}
