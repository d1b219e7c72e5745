package formats

import (
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// printed takes a message that Agno printed as Python does, and tells whether v is one:
//
//	role='tool' content='[\n  1\n]' name=None tool_call_id='call_1' tool_calls=None ...
func (t *trace) printed(v jsonscan.Value) bool {
	text := v.Str(&t.out.arena)
	role, rest, ok := t.printedMember(text, "role=")
	if !ok {
		return false
	}
	content, rest, ok := t.printedMember(rest, " content=")
	if !ok {
		return false
	}
	switch role {
	case "system", "developer":
		t.system(content)
	case "user":
		t.user(words{text: content})
	case "assistant":
		t.agentText(content)
	case "tool":
		id := ""
		if i := strings.Index(rest, " tool_call_id="); i >= 0 {
			id, _, _ = t.printedMember(rest[i:], " tool_call_id=")
		}
		t.answered(result{id: id, text: content})
	default:
		return false
	}
	return true
}

// printedMember reads a string, or None, that stands behind name at the start of text.
func (t *trace) printedMember(text, name string) (value, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, name)
	if !ok {
		return "", "", false
	}
	if after, none := strings.CutPrefix(rest, "None"); none {
		return "", after, true
	}
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", "", false
	}
	value, rest, cut := t.out.pythonString(rest)
	if cut {
		return "", "", false
	}
	return value, rest, true
}
