package formats

import (
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// responseItem reads an item of OpenAI's Responses API that is no message: reasoning, a call or a result. It
// tells whether it knows the item's type.
func (t *talk) responseItem(v, kind jsonscan.Value) (known bool, err error) {
	name, _ := kind.Plain()
	switch string(name) {
	case "reasoning":
		t.reasonPart(v, roleAgent)
	case "function_call":
		return true, t.partCall(v, "name", "call_id", "arguments")
	case "custom_tool_call":
		return true, t.partCall(v, "name", "call_id", "input")
	case "tool_call":
		return true, t.partCall(v, "name", "id", "arguments")
	case "mcp_call": // which holds its own result
		if err := t.partCall(v, "name", "id", "arguments"); err != nil {
			return true, err
		}
		if output := v.Get("output"); output.Present() {
			return true, t.partResult(roleTool, v.Get("id"), output)
		}
	case "local_shell_call", "shell_call", "computer_call", "apply_patch_call":
		t.called(call{name: string(name[:len(name)-len("_call")]), args: v.Get("action"), id: t.callID(v.Get("call_id")), answer: -1})
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call":
		return true, t.hosted(v, string(name))
	default:
		if !strings.HasSuffix(string(name), "_output") {
			return false, nil
		}
		return true, t.partResult(roleTool, v.Get("call_id"), v.Get("output"))
	}
	return true, nil
}

// hosted reads a call that the API's own tools answered; what they answered is there only if it was asked
// for.
func (t *talk) hosted(v jsonscan.Value, kind string) error {
	id := t.callID(v.Get("id"))
	for _, args := range [...]struct{ in, out string }{{"action", ""}, {"queries", "results"}, {"code", "outputs"}} {
		if in := v.Get(args.in); in.Present() {
			t.called(call{name: kind[:len(kind)-len("_call")], args: in, id: id, answer: -1})
			if out := v.Get(args.out); args.out != "" && out.Present() {
				return t.partResult(roleTool, v.Get("id"), out)
			}
			return nil
		}
	}
	t.called(call{name: kind[:len(kind)-len("_call")], id: id, answer: -1})
	return nil
}
