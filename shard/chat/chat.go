// Package chat writes a conversation in the form that one model family was trained on, as tokens and
// spans. A format is control tokens and the plain text between them (⏎ is a line feed):
//
//	chatml    <|im_start|>system⏎{system}<|im_end|>⏎                 no system message when empty
//	          <|im_start|>user⏎{action}<|im_end|>⏎
//	          <|im_start|>assistant⏎{observation}<|im_end|>⏎         trained: observation, end token
//	qwen3     the same, and before the last observation of the row <think>⏎⏎</think>⏎⏎ (never trained)
//
//	llama3    <|begin_of_text|>, then messages, without a line feed after the end token
//	          <|start_header_id|>{role}<|end_header_id|>⏎⏎{content}<|eot_id|>
//	llama3.1  the same; the system message stands there even when empty, and begins with
//	          Cutting Knowledge Date: December 2023⏎Today Date: {date}⏎⏎
//
//	deepseek  <｜begin▁of▁sentence｜>{system}                         V3 and R1; V3.1 and later put
//	          <｜User｜>{action}<｜Assistant｜>                        </think> after <｜Assistant｜>
//	          {observation}<｜end▁of▁sentence｜>
//
//	gemma     <bos><start_of_turn>user⏎{system}⏎⏎{action}<end_of_turn>⏎   1 to 3, not 4; the system prompt
//	          <start_of_turn>model⏎{observation}<end_of_turn>⏎            is in a row's first user message
//
//	reasoning before the answer of a sample: <think>⏎{reasoning}⏎</think>⏎⏎{answer}, in every family
//
//	document  [begin of text] {text} <|endoftext|>, <|end_of_text|>, <｜end▁of▁sentence｜> or <eos>
//
// With a current state the user message is "Current state:⏎{state}⏎⏎Action:⏎{action}". Content stays
// verbatim: where the family's published template would trim or cut it, the text is kept and the row
// counted. Control tokens are looked up by name and never come out of content.
//
// Reasoning stands before the answer that a row ends with and nowhere else, as published templates strip it
// from what came before. It is trained with its tags, less what the generation prompt of the family already
// holds: <think>⏎ in R1's, nothing in Qwen3's, which the model has to open by itself. Options.Thinking says
// that the prompt opens it: Qwen3-Thinking's and Qwen3.5's do. Where a tokenizer has no such tags as tokens
// (Qwen2.5, Llama, Gemma, V3), no template writes reasoning, and the same text is plain text.
//
// The token that ends a message belongs to its span: it is what a model has to say to stop. DeepSeek's user
// message has none of its own, and ends where <｜Assistant｜> begins.
package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// DefaultDate is the date that Llama-3.1's published template falls back on.
const DefaultDate = "26 Jul 2024"

// Options are the settings of a format.
type Options struct {
	Date     string // of a dated format, as the template writes it; "" means DefaultDate
	Thinking bool   // the model's generation prompt ends with "<think>\n", whatever the family's does
}

// Format is one family's form. It is read-only and safe for concurrent use.
type Format struct {
	def                     definition
	begin, endOfText        int32 // control ids; none where there is no such token
	system, user, assistant controls
	scaffold, lastScaffold  int // added tokens in what every turn, and a row's last, adds to its contents
	thinkScaffold           int // added tokens around reasoning
}

// controls are the ids of a message's control tokens.
type controls struct{ start, head, end int32 }

// none stands for a control token that the family does not have.
const none int32 = -1

// Names returns the built-in formats.
func Names() []string {
	var names []string
	for _, d := range definitions(DefaultDate) {
		names = append(names, d.name)
	}
	return names
}

// Known returns an error that lists the built-in formats unless name is one.
func Known(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("--chat %q: built in are %s; other chat templates are not supported", name, strings.Join(Names(), ", "))
}

// Begins tells whether a row, and so each window of a document, begins with a token of its own in the named
// format.
func Begins(name string) bool {
	return slices.ContainsFunc(definitions(DefaultDate), func(d definition) bool { return d.name == name && d.begin != "" })
}

// OneEnd tells whether the messages of a turn end with the same token in the named format.
func OneEnd(name string) bool {
	return slices.ContainsFunc(definitions(DefaultDate), func(d definition) bool { return d.name == name && d.user.end == d.assistant.end })
}

// Auto returns the plain format of the family whose control tokens v has. It goes by exact tokens and
// refuses what it does not know.
func Auto(v turnmill.Vocabulary) (string, error) {
	for _, d := range definitions(DefaultDate) {
		if missing(&d, v) == "" {
			return d.name, nil
		}
	}
	return "", fmt.Errorf("--chat auto: the tokenizer has none of the known families' control tokens; built in are %s; try --chat with one of them, or another tokenizer",
		strings.Join(Names(), ", "))
}

func missing(d *definition, v turnmill.Vocabulary) string {
	for _, token := range d.controls() {
		if _, ok := v.ID(token); !ok {
			return token
		}
	}
	return ""
}

// New returns the named format for a tokenizer, or an error when the tokenizer lacks one of its control
// tokens.
func New(name string, v turnmill.Vocabulary, o Options) (*Format, error) {
	if err := Known(name); err != nil {
		return nil, err
	}
	if o.Date == "" {
		o.Date = DefaultDate
	}
	all := definitions(o.Date)
	d := all[slices.IndexFunc(all, func(d definition) bool { return d.name == name })]
	if token := missing(&d, v); token != "" {
		return nil, fmt.Errorf("--chat %s: the tokenizer has no token %q; try --chat auto, or the tokenizer of that family", name, token)
	}
	id := func(token string) int32 {
		if id, ok := v.ID(token); ok {
			return id
		}
		return none
	}
	if d.trims.ifToken && id(d.trims.upTo) == none {
		d.trims.upTo = ""
	}
	d.thinkAsked = d.thinkAsked && id(thinkTag) != none || o.Thinking
	of := func(m *message) controls { return controls{start: id(m.start), head: id(m.head), end: id(m.end)} }
	return &Format{
		def: d, begin: id(d.begin), endOfText: id(d.endOfText),
		system: of(&d.system), user: of(&d.user), assistant: of(&d.assistant),
		scaffold:     added(v, d.user.gap, d.user.after, d.assistant.gap, d.assistant.after),
		lastScaffold: added(v, d.lastPrefix), thinkScaffold: addedAround(v),
	}, nil
}

// added counts the tokens in scaffold texts that a tokenizer of the family may hold as added ones: Qwen3's
// think tags, Gemma's line feed.
func added(v turnmill.Vocabulary, texts ...string) int {
	n := 0
	for _, token := range []string{"<think>", "</think>", "\n"} {
		if _, ok := v.ID(token); ok {
			n += strings.Count(strings.Join(texts, ""), token)
		}
	}
	return n
}

// addedAround counts the tokens around reasoning that a tokenizer may hold as added ones.
func addedAround(v turnmill.Vocabulary) int {
	n := 0
	for _, token := range []string{thinkTag, "\n", "\n", "</think>", "\n\n"} {
		if _, ok := v.ID(token); ok {
			n++
		}
	}
	return n
}

// Name returns the format's name.
func (f *Format) Name() string { return f.def.name }

// SHA256 returns the hash of the format's layout, its date included, in hexadecimal.
func (f *Format) SHA256() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v state=%q action=%q parts=%q think=%q", f.def, stateHeader, actionHeader, partSeparator, thinkOpen+thinkClose))
	return hex.EncodeToString(sum[:])
}

// Control returns the texts that are control tokens in this format whatever flag the tokenizer gives them.
func (f *Format) Control() []string { return f.def.controls() }
