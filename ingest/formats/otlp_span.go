package formats

import "github.com/turnmill/turnmill/internal/jsonscan"

// span reads a span.
func (o *otlp) span(v jsonscan.Value, service string) {
	arena := &o.out.arena
	o.read++
	id := v.Get("traceId").Str(arena)
	at, known := o.index[id]
	if !known {
		at = int32(len(o.traces))
		o.index[id] = at
		o.traces = append(o.traces, otlpTrace{id: id, service: service})
	}
	s := traceSpan{
		id: v.Get("spanId").Str(arena), parent: v.Get("parentSpanId").Str(arena), name: v.Get("name").Str(arena),
		start: o.out.id(v.Get("startTimeUnixNano")), end: o.out.id(v.Get("endTimeUnixNano")), of: at,
	}
	var f spanFields
	o.attributes(&s, &f, v.Get("attributes"))
	for e := range v.Get("events").Elems() {
		o.attributes(&s, &f, e.Get("attributes"))
	}
	f.settle(&s)
	if t := &o.traces[at]; t.conversation == "" {
		t.conversation = f.conversation
	}
	o.heard = o.heard || s.kind != spanOther
	o.all = append(o.all, s)
}

// spanFields holds what the conventions have names of their own for, best first.
type spanFields struct {
	in, out      [4]string
	model        [2]string
	calls        string // of the AI SDK's reply, which it keeps apart from the text
	conversation string
}

func first(texts []string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// settle decides between the names.
func (f *spanFields) settle(s *traceSpan) {
	s.in, s.out, s.model = first(f.in[:]), first(f.out[:]), first(f.model[:])
	if f.out[0] == "" && f.calls != "" {
		s.out = f.calls
	}
}

// attributes takes the attributes of a span, or of one of its events.
func (o *otlp) attributes(s *traceSpan, f *spanFields, list jsonscan.Value) {
	for a := range list.Elems() {
		key, _ := a.Get("key").Plain()
		v := a.Get("value")
		switch string(key) {
		case "gen_ai.operation.name", "openinference.span.kind", "ai.operationId":
			if kind := otelKind(o.any(v)); kind != spanOther {
				s.kind = kind
			}
		case "gen_ai.input.messages", "gen_ai.tool.call.arguments":
			f.in[0] = o.any(v)
		case "ai.prompt.messages", "ai.toolCall.args":
			f.in[1] = o.any(v)
		case "input.value":
			f.in[2] = o.any(v)
		case "gen_ai.output.messages", "gen_ai.tool.call.result":
			f.out[0] = o.any(v)
		case "ai.toolCall.result", "ai.response.text":
			f.out[1] = o.any(v)
		case "output.value":
			f.out[2] = o.any(v)
		case "ai.response.toolCalls":
			f.calls = o.any(v)
		case "gen_ai.system_instructions":
			s.system = o.any(v)
		case "gen_ai.tool.definitions", "ai.prompt.tools":
			s.tools = o.any(v)
		case "gen_ai.tool.name", "tool.name", "ai.toolCall.name":
			s.name = o.any(v)
		case "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id":
			s.callID = lastID(o.any(v))
		case "gen_ai.agent.name":
			s.agent = o.any(v)
		case "gen_ai.response.model":
			f.model[0] = o.any(v)
		case "gen_ai.request.model", "llm.model_name":
			f.model[1] = o.any(v)
		case "gen_ai.conversation.id":
			f.conversation = o.any(v)
		}
	}
}

// otelKind tells a span's kind by the name of its operation.
func otelKind(operation string) spanKind {
	switch operation {
	case "chat", "generate_content", "text_completion", "LLM", "ai.generateText.doGenerate", "ai.streamText.doStream",
		"ai.generateObject.doGenerate", "ai.streamObject.doStream":
		return spanModel
	case "execute_tool", "TOOL", "ai.toolCall":
		return spanTool
	}
	return spanOther
}
