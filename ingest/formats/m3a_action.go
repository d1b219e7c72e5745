package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// act takes what the agent did in a step. What stands before the last label is its reason; the action behind
// it is a JSON object, a call as Python writes it, or, when it is neither, words.
func (m *m3a) act(v jsonscan.Value) {
	m.agent()
	output := v.Get("action_output").Str(&m.out.arena)
	reason, action, ok := cutAction(output)
	if !ok {
		reason = output
	}
	if reason = strings.Trim(reason, blanks); reason == "" {
		reason = v.Get("action_reason").Str(&m.out.arena)
	}
	m.think.add(strings.TrimPrefix(strings.TrimPrefix(reason, "Reason:"), "Thought:"))
	switch action = strings.Trim(action, blanks); {
	case action != "":
		k, ok := m.out.jsonAction(action)
		if !ok {
			k, ok = m.out.pythonCall(action)
		}
		if !ok {
			k.text = action
		}
		k.answer = -1
		m.call(k)
	case m.think.n == 0:
		m.out.note(turnmill.NoteEmptiedMessage)
	}
}

// cutAction cuts a reply at its last label: one that begins a line, or any.
func cutAction(text string) (before, after string, ok bool) {
	for _, label := range [...]string{"\nAction:", "\nAction：", "Action:", "Action："} {
		if i := strings.LastIndex(text, label); i >= 0 {
			return text[:i], text[i+len(label):], true
		}
	}
	return text, "", false
}

// jsonAction reads {"action_type": "click", "index": 6}: the other members are the arguments. What follows
// the object is left out.
func (d *Decoded) jsonAction(text string) (call, bool) {
	if text[0] != '{' {
		return call{}, false
	}
	d.buffer = append(d.buffer[:0], text...)
	v, _, err := d.inner.ParsePrefix(d.buffer)
	kind := v.Get("action_type")
	if err != nil || kind.Kind() != jsonscan.String {
		return call{}, false
	}
	d.noteInner(d.inner.Repairs())
	name := d.arena.Copy(kind.Str(&d.arena))
	return call{name: name, text: d.otherMembers(name, v, "action_type")}, true
}

// pythonCall reads a call whose arguments are named literals, click(start_box='(500,528)'), and writes it as
// JSON.
func (d *Decoded) pythonCall(text string) (call, bool) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok || !identifier(name) {
		return call{}, false
	}
	d.buffer = append(appendCallName(d.buffer[:0], name), '{')
	for n := 0; ; n++ {
		if rest = strings.TrimLeft(rest, blanks); strings.HasPrefix(rest, ")") {
			break
		}
		if n > 0 {
			if rest, ok = strings.CutPrefix(rest, ","); !ok {
				return call{}, false
			}
			d.buffer = append(d.buffer, ',')
		}
		if rest, ok = d.pythonArgument(rest); !ok {
			return call{}, false
		}
	}
	if strings.Trim(rest[1:], blanks) != "" {
		return call{}, false
	}
	d.buffer = append(d.buffer, "}}"...)
	return call{name: name, text: d.arena.Close(append(d.arena.Open(), d.buffer...))}, true
}

// pythonArgument appends one argument to the buffer, as a member of an object.
func (d *Decoded) pythonArgument(text string) (rest string, ok bool) {
	key, rest, ok := strings.Cut(text, "=")
	if key = strings.Trim(key, blanks); !ok || !identifier(key) {
		return "", false
	}
	d.buffer = append(jsonscan.AppendQuoted(d.buffer, key), ':')
	rest = strings.TrimLeft(rest, blanks)
	if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		value, after, open := d.pythonString(rest)
		d.buffer = jsonscan.AppendQuoted(d.buffer, value)
		return after, !open
	}
	end := strings.IndexAny(rest, ",)"+blanks)
	if end <= 0 {
		return "", false
	}
	word := rest[:end]
	switch word {
	case "True":
		word = "true"
	case "False":
		word = "false"
	case "None":
		word = "null"
	default:
		if _, err := d.inner.Parse([]byte(word)); err != nil || word[0] == '"' {
			return "", false
		}
	}
	d.buffer = append(d.buffer, word...)
	return rest[end:], true
}

// identifier tells a name as programs have them.
func identifier(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
