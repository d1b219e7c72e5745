package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const otlpName = "otlp"

func otlpFormat() Format {
	return Format{
		Name:      otlpName,
		Title:     "OpenTelemetry spans in OTLP/JSON with the GenAI conventions; a file holds whole traces",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseOTLP,
		New:       func(o Options) Decoder { return &otlp{trace: trace{talk: talk{acts: acts{opts: o}}}} },
		Doc: Doc{
			Fields: "resourceSpans, scopeSpans, spans: traceId, spanId, parentSpanId, startTimeUnixNano, attributes, events.\n" +
				"A model's span has gen_ai.operation.name chat, generate_content or text_completion: its messages are\n" +
				"gen_ai.input.messages, gen_ai.output.messages and gen_ai.system_instructions, as attributes of the span\n" +
				"or of its event with the details; else input.value and output.value (OpenInference) or ai.prompt and\n" +
				"ai.response (AI SDK). A tool's span has execute_tool, gen_ai.tool.name, gen_ai.tool.call.id, .arguments\n" +
				"and .result. gen_ai.tool.definitions is the action space, gen_ai.agent.name, else the model, the agent;\n" +
				"service.name and gen_ai.conversation.id go to meta. Values may be JSON in a string or structured.",
			Pairing: "as in langfuse. The spans of a trace may stand anywhere in the file. A file without any span of a\n" +
				"model or a tool is rejected, and so is a trace whose spans hold no messages: instrumentations leave\n" +
				"them out unless they are asked to keep them.",
			State:    "none",
			Domain:   "as openai-chat, by the tools called and declared",
			ID:       "traceId; further conversations append #2, #3",
			Stripped: "as in langfuse",
			Sample: `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"demo"},"spans":[` +
				`{"traceId":"t1","spanId":"a","parentSpanId":"","name":"chat m","startTimeUnixNano":"1000","endTimeUnixNano":"1500","attributes":[` +
				`{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},` +
				`{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Weather?\"}]}]"}},` +
				`{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"weather\",\"arguments\":{}}]}]"}}]},` +
				`{"traceId":"t1","spanId":"b","parentSpanId":"a","name":"execute_tool weather","startTimeUnixNano":"2000","endTimeUnixNano":"2500","attributes":[` +
				`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"weather"}},` +
				`{"key":"gen_ai.tool.call.id","value":{"stringValue":"c1"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"sunny"}}]}]}]}]}`,
		},
	}
}

// recogniseOTLP takes a batch of spans, or a list that begins with one.
func recogniseOTLP(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	list := v.Get("resourceSpans")
	switch {
	case list.Kind() != jsonscan.Array:
		return "no resourceSpans", 0
	case list.At(0).Kind() != jsonscan.Invalid && list.At(0).Get("scopeSpans").Kind() == jsonscan.Invalid && list.At(0).Get("resource").Kind() == jsonscan.Invalid:
		return "resourceSpans[0] has neither a resource nor scopeSpans", 2
	}
	return "", 4
}
