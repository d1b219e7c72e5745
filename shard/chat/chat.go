// Package chat writes a conversation in the form that one model family was trained on, as tokens and
// spans. A format is control tokens and the plain text between them:
//
//	chatml   <|im_start|>system\n{system}<|im_end|>\n                         no system message when empty
//	         <|im_start|>user\n{action}<|im_end|>\n
//	         <|im_start|>assistant\n{observation}<|im_end|>\n                 trained: observation, end token
//
//	qwen3    the same, and before the last observation of the row <think>\n\n</think>\n\n (never trained)
//
//	document {text}<|endoftext|>
//
// With a current state the user message is "Current state:\n{state}\n\nAction:\n{action}". Content stays
// verbatim: where the family's published template would trim or cut it, the text is kept and the row
// counted. Control tokens are looked up by name and never come out of content.
package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
)

// Format is one family's form. It is read-only and safe for concurrent use.
type Format struct {
	def              definition
	start, end, text int32 // control ids: message start, message end, end of text
	scaffold         int   // added tokens in the last-turn prefix, which are no content
}

// definition is the layout of a built-in, as data: its hash stands in the manifest.
type definition struct {
	name       string
	start, end string // control tokens around a message
	endOfText  string
	afterRole  string // between role name and content
	afterEnd   string // between a message's end token and the next message
	lastPrefix string // scaffold before the last observation of a row
	trims      bool   // the published template cuts assistant contents at </think>
}

func definitions() []definition {
	chatml := definition{name: "chatml", start: "<|im_start|>", end: "<|im_end|>", endOfText: "<|endoftext|>", afterRole: "\n", afterEnd: "\n"}
	qwen3 := chatml
	qwen3.name, qwen3.lastPrefix, qwen3.trims = "qwen3", "<think>\n\n</think>\n\n", true
	return []definition{chatml, qwen3}
}

// Names returns the built-in formats.
func Names() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.name)
	}
	return names
}

// Auto returns the plain format of the family whose control tokens v has. It goes by exact tokens and
// refuses what it does not know.
func Auto(v turnmill.Vocabulary) (string, error) {
	for _, d := range definitions() {
		if missing(d, v) == "" {
			return d.name, nil
		}
	}
	return "", fmt.Errorf("--chat auto: the tokenizer has none of the known families' control tokens; built in are %s; try --chat with one of them, or another tokenizer",
		strings.Join(Names(), ", "))
}

func missing(d definition, v turnmill.Vocabulary) string {
	for _, token := range []string{d.start, d.end, d.endOfText} {
		if _, ok := v.ID(token); !ok {
			return token
		}
	}
	return ""
}

// New returns the named format for a tokenizer, or an error when the tokenizer lacks one of its control
// tokens.
func New(name string, v turnmill.Vocabulary) (*Format, error) {
	for _, d := range definitions() {
		if d.name != name {
			continue
		}
		if token := missing(d, v); token != "" {
			return nil, fmt.Errorf("--chat %s: the tokenizer has no token %q; try --chat auto, or the tokenizer of that family", name, token)
		}
		f := &Format{def: d}
		f.start, _ = v.ID(d.start)
		f.end, _ = v.ID(d.end)
		f.text, _ = v.ID(d.endOfText)
		for _, token := range []string{"<think>", "</think>"} {
			if _, ok := v.ID(token); ok && strings.Contains(d.lastPrefix, token) {
				f.scaffold++
			}
		}
		return f, nil
	}
	return nil, fmt.Errorf("--chat %q: built in are %s; other chat templates are not supported", name, strings.Join(Names(), ", "))
}

// Name returns the format's name.
func (f *Format) Name() string { return f.def.name }

// SHA256 returns the hash of the format's layout in hexadecimal.
func (f *Format) SHA256() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v state=%q action=%q parts=%q", f.def, stateHeader, actionHeader, partSeparator))
	return hex.EncodeToString(sum[:])
}

// Control returns the texts that are control tokens in this format whatever flag the tokenizer gives them.
func (f *Format) Control() []string { return []string{f.def.start, f.def.end, f.def.endOfText} }

// LastDiffers tells whether a row's last turn is written unlike the others.
func (f *Format) LastDiffers() bool { return f.def.lastPrefix != "" }

const (
	stateHeader   = "Current state:\n"
	actionHeader  = "\n\nAction:\n"
	partSeparator = "\n\n"
)

// System writes the system message: the parts that are not empty, in schema order, joined by a blank
// line. Nothing is written when all are empty.
func (f *Format) System(t *Text, p *turnmill.SystemPrompt) {
	first := true
	for _, part := range p.Parts() {
		if part == "" {
			continue
		}
		if first {
			f.open(t, "system")
			first = false
		} else {
			t.plain(partSeparator)
		}
		t.plain(part)
	}
	if !first {
		f.close(t)
	}
	t.flush()
}

// Turn writes a turn as two messages and sets t.Action and t.Observation. state is "" where none is to be
// shown; last says that no turn follows in the row.
func (f *Format) Turn(t *Text, turn *turnmill.Turn, state string, last bool) {
	f.open(t, "user")
	if state != "" {
		t.plain(stateHeader)
		t.plain(state)
		t.plain(actionHeader)
	}
	t.border(&t.Action.Start)
	t.plain(turn.Action)
	f.close(t)
	t.Action.End = int32(len(t.IDs))
	f.open(t, "assistant")
	if last {
		t.plain(f.def.lastPrefix)
	}
	t.border(&t.Observation.Start)
	t.plain(turn.Observation)
	f.close(t)
	t.Observation.End = int32(len(t.IDs))
	t.flush()
	if last {
		t.Added -= f.scaffold
	}
}

// Document writes a text with its end token and sets t.Observation to all of it.
func (f *Format) Document(t *Text, text string) {
	t.border(&t.Observation.Start)
	t.plain(text)
	t.control(f.text)
	t.Observation.End = int32(len(t.IDs))
}

// Differs tells whether the family's published template would not write this turn as it stands: Qwen3's
// cuts an assistant's content at </think> and strips the line feeds before the last one.
func (f *Format) Differs(turn *turnmill.Turn, last bool) bool {
	if !f.def.trims {
		return false
	}
	return strings.Contains(turn.Observation, "</think>") || last && strings.HasPrefix(turn.Observation, "\n")
}

func (f *Format) open(t *Text, role string) {
	t.control(f.start)
	t.plain(role)
	t.plain(f.def.afterRole)
}

// close ends a message. What follows the end token waits in the next stretch, so that len(t.IDs) is the
// place just after the end token.
func (f *Format) close(t *Text) {
	t.control(f.end)
	t.plain(f.def.afterEnd)
}

// Context parts what stands before an action in a row, as text, into the system prompt, where the row
// begins with one, and the state that was shown. It is the inverse of System and Turn, for people to read:
// a prompt that holds these very headers may be parted in another place.
func (f *Format) Context(text string) (system, state string) {
	if rest, ok := strings.CutPrefix(text, f.def.start+"system"+f.def.afterRole); ok {
		if at := strings.LastIndex(rest, f.def.end+f.def.afterEnd+f.def.start+"user"+f.def.afterRole); at >= 0 {
			system, text = rest[:at], rest[at:]
		}
	}
	if _, rest, ok := strings.Cut(text, "user"+f.def.afterRole+stateHeader); ok {
		state = strings.TrimSuffix(rest, actionHeader)
	}
	return system, state
}
