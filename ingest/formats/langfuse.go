package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const langfuseName = "langfuse"

func langfuseFormat() Format {
	return Format{
		Name:      langfuseName,
		Title:     "traces exported from Langfuse, raw or merged: a trace and its observations",
		Layouts:   []frame.Layout{frame.Values, frame.Lines, frame.Array},
		Recognise: recogniseLangfuse,
		New:       func(o Options) Decoder { return &langfuse{trace{talk: talk{acts: acts{opts: o}}}} },
		Doc: Doc{
			Fields: "trace (id, name, sessionId) and observations: type (GENERATION, TOOL, SPAN), name, startTime,\n" +
				"parentObservationId, input, output, model, metadata.attributes (gen_ai.tool.call.id and the like).\n" +
				"input, output and metadata are JSON, or JSON in a string. Messages are read in the shapes of OpenAI,\n" +
				"Anthropic, Gemini, LangChain, the AI SDK, OpenTelemetry and Agno. Declared tools come from the\n" +
				"request, the reply or an attribute. The model is the agent; name and sessionId go to meta.",
			Pairing: "Observations go by startTime. Each request repeats the conversation: what is new in it counts once.\n" +
				"Requests that hold the first words of the user or a call of another are one conversation, and one\n" +
				"trajectory. A call's result is the one that a later request holds, by its id, else what the span of\n" +
				"its tool put out, by id, arguments or name. Spans of type TOOL that no generation called are a\n" +
				"trajectory of their own. Of a generation inside another the one with messages counts. Items of no\n" +
				"known shape are left out and counted. A trace whose inputs and outputs are all null is rejected.",
			State:    "none",
			Domain:   "as openai-chat, by the tools called and declared",
			ID:       "trace.id; further conversations append #2, #3",
			Stripped: "reasoning parts, <think> blocks, texts beside calls, unless thoughts are to be kept; usage and scores",
			Sample: `{"trace":{"id":"t1","name":"run"},"observations":[` +
				`{"id":"g1","type":"GENERATION","name":"chat","startTime":"2026-01-01T00:00:00.000Z","parentObservationId":null,"model":"m","input":[{"role":"user","content":"Weather?"}],` +
				`"output":{"role":"assistant","tool_calls":[{"id":"call_1","function":{"name":"weather","arguments":"{}"}}]}},` +
				`{"id":"s1","type":"TOOL","name":"weather","startTime":"2026-01-01T00:00:01.000Z","parentObservationId":"g1","input":{},"output":"sunny"}]}`,
		},
	}
}

func recogniseLangfuse(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	if v.Get("trace").Kind() == jsonscan.Object {
		marks++
	}
	list := observations(v)
	first := list.At(0)
	switch {
	case list.Kind() != jsonscan.Array:
		return "no observations", marks
	case first.Kind() == jsonscan.Invalid && marks == 0:
		return "observations without a trace", 1
	case first.Kind() != jsonscan.Invalid && !(first.Get("startTime").Present() && first.Get("type").Kind() == jsonscan.String):
		return "observations[0] has no type and startTime", marks + 1
	}
	return "", marks + 3
}

// observations returns the list of a trace's observations, which raw exports repeat inside the trace.
func observations(v jsonscan.Value) jsonscan.Value {
	if list := v.Get("observations"); list.Present() {
		return list
	}
	return v.Get("trace").Get("observations")
}

// langfuse decodes traces of Langfuse.
type langfuse struct{ trace }

func (l *langfuse) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, l.record)
}

func (l *langfuse) record(v jsonscan.Value, out *Decoded) error {
	list := observations(v)
	if v.Kind() != jsonscan.Object || list.Kind() == jsonscan.Invalid {
		why, _ := recogniseLangfuse(v)
		return wrongFormat(langfuseName, why)
	}
	if list.Kind() != jsonscan.Array {
		return badField("observations", "an array", list)
	}
	l.out = out
	l.clearTrace()
	i := 0
	for o := range list.Elems() {
		if o.Kind() != jsonscan.Object {
			return inside("observations", i, badField("", "an object", o))
		}
		l.observation(o)
		i++
	}
	if len(l.spans) > 0 && l.blank() {
		return noContents()
	}
	head := v.Get("trace")
	if !head.Present() {
		head = v // as the API returns a trace
	}
	l.arrange()
	meta := out.object(member{name: "name", text: head.Get("name").Str(&out.arena)},
		member{name: "sessionId", text: head.Get("sessionId").Str(&out.arena)})
	l.play(langfuseName, out.id(head.Get("id")), meta)
	return nil
}

// observation reads a span.
func (l *langfuse) observation(o jsonscan.Value) {
	arena := &l.out.arena
	s := traceSpan{
		id: o.Get("id").Str(arena), parent: o.Get("parentObservationId").Str(arena), name: o.Get("name").Str(arena),
		start: o.Get("startTime").Str(arena), end: o.Get("endTime").Str(arena), model: o.Get("model").Str(arena),
		in: l.jsonText(o.Get("input")), out: l.jsonText(o.Get("output")),
	}
	switch kind := o.Get("type"); {
	case kind.Is("GENERATION"):
		s.kind = spanModel
		if tools := o.Get("toolDefinitions"); declares(tools) {
			s.tools = l.jsonText(tools)
		}
	case kind.Is("TOOL"):
		s.kind = spanTool
	case kind.Is("SPAN"):
		s.kind, s.maybe = spanTool, true
	}
	meta := o.Get("metadata")
	if text := meta.Str(arena); text != "" {
		meta, _ = l.parse(text)
	}
	l.attributes(&s, meta.Get("attributes"))
	l.spans = append(l.spans, s)
}

// attributes takes what OpenTelemetry's instrumentations say of a span.
func (l *langfuse) attributes(s *traceSpan, list jsonscan.Value) {
	for k, m := range list.Members() {
		switch l.out.key(k) {
		case "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id":
			s.callID = l.callID(m)
		case "gen_ai.tool.name", "tool.name", "ai.toolCall.name":
			if s.kind == spanTool {
				s.name, s.maybe = l.jsonText(m), false
			}
		case "gen_ai.tool.definitions", "ai.prompt.tools":
			s.tools = l.jsonText(m)
		}
	}
}

// jsonText returns a string's text, the JSON of any other value, and nothing for null.
func (t *trace) jsonText(v jsonscan.Value) string {
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return ""
	case jsonscan.String:
		return v.Str(&t.out.arena)
	}
	return t.out.verbatim(v)
}
