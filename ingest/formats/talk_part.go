package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// part reads a part of a message: texts are gathered, calls and results handed on. other tells that it holds
// an image or something else that is no text.
func (t *talk) part(p jsonscan.Value, who role) (other bool, err error) {
	if p.Kind() == jsonscan.String {
		t.texts = append(t.texts, p.Str(&t.out.arena))
		return false, nil
	}
	if p.Kind() != jsonscan.Object {
		return false, badField("", "an object", p)
	}
	kind := p.Get("type")
	if kind.Kind() != jsonscan.String {
		return t.geminiPart(p, who)
	}
	switch text, _ := kind.Plain(); string(text) {
	case "text", "input_text", "output_text", "refusal", "summary_text":
		return false, t.textPart(p)
	case "thinking", "redacted_thinking", "reasoning":
		t.reasonPart(p, who)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return false, t.partCall(p, "name", "id", "input")
	case "tool_call":
		return false, t.partCall(p, "name", "id", "arguments")
	case "tool-call":
		args := "input"
		if !p.Get(args).Present() {
			args = "args"
		}
		return false, t.partCall(p, "toolName", "toolCallId", args)
	case "tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result":
		return false, t.partResult(who, p.Get("tool_use_id"), p.Get("content"))
	case "tool_call_response":
		return false, t.telemetryResult(p, who)
	case "tool-result":
		value := p.Get("output")
		if !value.Present() {
			value = p.Get("result")
		}
		if inner := value.Get("value"); value.Get("type").Kind() == jsonscan.String && inner.Present() {
			value = inner
		}
		return false, t.partResult(who, p.Get("toolCallId"), value)
	default:
		if k, _ := part(p); k == partTyped {
			return false, reject(turnmill.ReasonBadMessage, "a part with type and value, as in typed content of LLaMA-Factory")
		}
		t.nonText(p)
		return true, nil
	}
	return false, nil
}

// textPart gathers a text, which OpenTelemetry calls content.
func (t *talk) textPart(p jsonscan.Value) error {
	for _, name := range [...]string{"text", "content", "refusal"} {
		v := p.Get(name)
		if v.Kind() == jsonscan.String {
			t.texts = append(t.texts, v.Str(&t.out.arena))
			return nil
		}
		if v.Present() {
			return badField(name, "a string", v)
		}
	}
	return nil
}

// reasonPart takes reasoning in any of its shapes. One that is hidden counts too.
func (t *talk) reasonPart(p jsonscan.Value, who role) {
	for _, name := range [...]string{"thinking", "text", "content", "summary"} {
		if v := p.Get(name); v.Kind() == jsonscan.String {
			t.reasoned(who, v.Str(&t.out.arena))
			return
		} else if v.Kind() == jsonscan.Array && v.Len() > 0 {
			for s := range v.Elems() {
				t.reasoned(who, s.Get("text").Str(&t.out.arena))
			}
			return
		}
	}
	t.reasoned(who, "")
}

// geminiPart reads a part of Gemini's API, whose kind is the member that it has.
func (t *talk) geminiPart(p jsonscan.Value, who role) (other bool, err error) {
	if text := p.Get("text"); text.Present() {
		switch {
		case text.Kind() != jsonscan.String:
			return false, badField("text", "a string", text)
		case p.Get("thought").Kind() == jsonscan.True:
			t.reasonPart(p, who)
		default:
			t.texts = append(t.texts, text.Str(&t.out.arena))
		}
		return false, nil
	}
	if f := eitherName(p, "functionCall", "function_call"); f.Present() {
		return false, under("functionCall", t.geminiCall(f))
	}
	if f := eitherName(p, "functionResponse", "function_response"); f.Present() {
		id := f.Get("id")
		if !id.Present() && !t.diff.on {
			id = f.Get("name")
		}
		return false, under("functionResponse", t.partResult(who, id, f.Get("response")))
	}
	if code := eitherName(p, "executableCode", "executable_code"); code.Present() {
		t.flush(who, false)
		t.called(call{name: "code_execution", args: code, answer: -1})
		return false, nil
	}
	if r := eitherName(p, "codeExecutionResult", "code_execution_result"); r.Present() {
		return false, under("codeExecutionResult", t.partResult(who, jsonscan.Value{}, r.Get("output")))
	}
	t.nonText(p)
	return true, nil
}

// eitherName returns the member that one of two spellings names.
func eitherName(v jsonscan.Value, a, b string) jsonscan.Value {
	if m := v.Get(a); m.Present() {
		return m
	}
	return v.Get(b)
}

// geminiCall reads a call of Gemini's API. Where it has no id its result bears its name alone.
func (t *talk) geminiCall(v jsonscan.Value) error {
	if v.Get("id").Present() || t.diff.on {
		return t.partCall(v, "name", "id", "args")
	}
	err := t.partCall(v, "name", "name", "args")
	if n := len(t.ids); err == nil && n > 0 {
		t.ids = t.ids[:n-1] // a name may well repeat
	}
	return err
}

// partCall reads a call whose name, id and arguments stand under these names.
func (t *talk) partCall(p jsonscan.Value, name, id, args string) error {
	n := p.Get(name)
	if p.Kind() != jsonscan.Object {
		return badField("", "an object", p)
	}
	if n.Kind() != jsonscan.String {
		return badField(name, "a string", n)
	}
	t.flush(roleAgent, false)
	t.called(call{name: n.Str(&t.out.arena), args: p.Get(args), id: t.callID(p.Get(id)), answer: -1})
	return nil
}

// callID returns an id, of a list of ids the last one: a run's comes before its call's.
func (t *talk) callID(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Array {
		v = v.At(v.Len() - 1)
	}
	return lastID(t.out.id(v))
}

// lastID returns the last id of a list that is written as text, and any other id as it is.
func lastID(id string) string {
	if !strings.HasPrefix(id, `["`) || !strings.HasSuffix(id, `"]`) {
		return id
	}
	return id[strings.LastIndexByte(id[:len(id)-2], '"')+1 : len(id)-2]
}

// partResult hands on a result that is a part of a message of who.
func (t *talk) partResult(who role, id, content jsonscan.Value) error {
	if who == roleAgent {
		t.flush(who, false)
	}
	r, err := t.result(id, content)
	if err == nil {
		t.answered(r)
	}
	return err
}

// telemetryResult reads OpenTelemetry's result: result, or response, which may hold such a result as JSON.
func (t *talk) telemetryResult(p jsonscan.Value, who role) error {
	value := p.Get("result")
	if !value.Present() {
		value = p.Get("response")
	}
	if inner := value.Get("result"); inner.Present() && value.Get("call_id").Present() {
		value = inner
	}
	id := p.Get("id")
	if text, plain := value.Plain(); value.Kind() == jsonscan.String && !plain && strings.Contains(string(text), `call_id`) {
		if v, err := t.out.parseInner(value.Str(&t.out.arena)); err == nil && v.Get("call_id").Present() && v.Get("result").Present() {
			r, err := t.result(id, v.Get("result"))
			if err == nil {
				r.id = t.callID(id)
				r.text = t.out.arena.Copy(r.text) // inner is read anew before it is used
				t.answered(r)
			}
			return err
		}
	}
	return t.partResult(who, id, value)
}
