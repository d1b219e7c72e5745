package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const toolEvalName = "tooleval"

func toolEvalFormat() Format {
	return Format{
		Name:      toolEvalName,
		Title:     "answers of ToolBench's evaluation: refused, their observations are cut after 100 characters",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseToolEval,
		New:       func(Options) Decoder { return toolEval{} },
		Refuses:   true,
		Doc: Doc{
			Fields: "An object of answers by the query's id: {query, available_tools, answer {method, answer_details}}. Each\n" +
				"answer is rejected by itself, with the number of its tool messages and of those that are whole.",
			Pairing:  "none: a tool message prints name, arguments and response together, cut after 100 characters",
			State:    "none",
			Domain:   "none",
			ID:       "none",
			Stripped: "everything",
			Sample: `{"588":{"query":"Which seats are free?","available_tools":[],"answer":{"method":"demo_CoT","answer_details":[{"role":"system","message":"","next":[` +
				`{"role":"tool","message":"{'name': 'seats_for_demo', 'arguments': '{}', 'response': '{\"error\": \"\", \"resp","next":[]}]}]}}}`,
		},
	}
}

func recogniseToolEval(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, a := range v.Members() {
		for _, name := range [...]string{"query", "available_tools", "answer"} {
			if a.Get(name).Kind() != jsonscan.Invalid {
				marks++
			}
		}
		if details := a.Get("answer").Get("answer_details"); details.Kind() == jsonscan.Array || marks == 2 && !a.Get("answer").Present() {
			return "", marks + 1
		}
		break // the first answer tells
	}
	return "no answers by the id of a query", marks
}

// toolEval rejects answers of ToolBench's evaluation, one by one.
type toolEval struct{}

func (toolEval) Decode(raw []byte, out *Decoded) error {
	v, err := out.parse(raw)
	if err == nil && v.Kind() != jsonscan.Object {
		why, _ := recogniseToolEval(v)
		err = wrongFormat(toolEvalName, why)
	}
	if err == nil && v.Len() == 0 {
		err = reject(turnmill.ReasonEmptyMessages, "no answers")
	}
	if err != nil {
		out.reset()
		return err
	}
	for k, a := range v.Members() {
		tools, whole := toolMessages(a.Get("answer").Get("answer_details"), out)
		out.refuse(0, reject(turnmill.ReasonLossyExport,
			"answer %s: of %d tool messages %d are whole, the others are cut after 100 characters", k.RawStr(), tools, whole))
	}
	return nil
}

// toolMessages counts the tool messages of a chain and those that end as they began.
func toolMessages(details jsonscan.Value, out *Decoded) (tools, whole int) {
	for details.Kind() == jsonscan.Array {
		var next jsonscan.Value
		for step := range details.Elems() {
			if step.Get("role").Is("tool") {
				tools++
				if text := step.Get("message").Str(&out.arena); strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
					whole++
				}
			}
			if n := step.Get("next"); n.Kind() == jsonscan.Array && n.Len() > 0 {
				next = n
			}
		}
		details = next
	}
	return tools, whole
}
