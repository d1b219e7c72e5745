package completion

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Decode reads a body and returns its first choice; ID and Sample are the caller's to fill. The reply owns its
// memory. Repairs says what of the body had to be mended to be text.
func Decode(body []byte) (turnmill.Reply, jsonscan.Repairs, error) {
	doc := jsonscan.Doc{NonFinite: true, Depth: maxDepth} // Python's servers write NaN among log probabilities
	v, err := doc.Parse(body)
	if err != nil {
		return turnmill.Reply{}, doc.Repairs(), err
	}
	all, err := Read(v)
	if err != nil {
		return turnmill.Reply{}, doc.Repairs(), err
	}
	return all[0], doc.Repairs(), nil
}

// maxDepth bounds the nesting of a body. Endpoints nest five deep.
const maxDepth = 200

// Read returns the choices of a parsed body, at least one, in the order of their index; Sample is that index, and
// all have the usage of the whole body. The replies own their memory. An *Error is the server's own.
func Read(v jsonscan.Value) ([]turnmill.Reply, error) {
	choices := v.Get("choices")
	if choices.Kind() != jsonscan.Array || choices.Len() == 0 {
		return nil, notChoices(v)
	}
	model, usage := text(v.Get("model")), readUsage(v.Get("usage"))
	var all []turnmill.Reply
	for c := range choices.Elems() {
		if c.Kind() != jsonscan.Object {
			return nil, fmt.Errorf("no chat completion: choice %d is %s, not an object", len(all), c.Kind())
		}
		r := turnmill.Reply{Sample: len(all), Model: model, Usage: usage, Finish: text(c.Get("finish_reason"))}
		if i, ok := c.Get("index").Int(); ok && i >= 0 && i < 1<<20 {
			r.Sample = int(i)
		}
		if err := readMessage(&r, c); err != nil {
			return nil, fmt.Errorf("no chat completion: choice %d: %w", len(all), err)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b turnmill.Reply) int { return cmp.Compare(a.Sample, b.Sample) })
	return all, nil
}

// notChoices says what a body is that has no choices.
func notChoices(v jsonscan.Value) error {
	if e, ok := ReadError(v); ok {
		return e
	}
	if v.Kind() != jsonscan.Object {
		return fmt.Errorf("no chat completion: the body is %s, not an object", v.Kind())
	}
	return errors.New("no chat completion: the body has no choices")
}

// readMessage fills text, reasoning and state from a choice. Old endpoints put the text beside the choice's index.
func readMessage(r *turnmill.Reply, choice jsonscan.Value) error {
	m := choice.Get("message")
	var content message
	switch {
	case m.Kind() == jsonscan.Object:
		if err := content.read(m); err != nil {
			return err
		}
	case choice.Get("text").Kind() == jsonscan.String:
		content.text, content.present = text(choice.Get("text")), true
	default:
		return errors.New("it has no message")
	}
	var whole bool
	r.Text, r.Reasoning, whole = content.split()
	settle(r, &content, whole)
	return nil
}

// settle gives the reply its state, and the reason where there is no answer.
func settle(r *turnmill.Reply, m *message, whole bool) {
	state, known := Ended(r.Finish)
	r.State = state
	switch {
	case m.refusal != "" && state != turnmill.ReplyTruncated:
		r.State = turnmill.ReplyRefused
		if r.Text == "" {
			r.Text = m.refusal
		}
	case r.Finish == "":
		fail(r, "no finish_reason: whether the model ended its answer is not known")
	case !known:
		fail(r, fmt.Sprintf("finish_reason %q is none that is known", Bounded(r.Finish, 40)))
	case state == turnmill.ReplyFailed:
		fail(r, fmt.Sprintf("the endpoint gave up: finish_reason %q", r.Finish))
	case state != turnmill.ReplyComplete:
	case !whole:
		fail(r, "the think block has no end, so there is no answer")
	case !m.present:
		fail(r, "the message has no content")
	}
}

func fail(r *turnmill.Reply, why string) { r.State, r.Error = turnmill.ReplyFailed, why }

// Ended returns what a finish_reason says about the answer, and whether it is one of those that endpoints are
// known to send. An unknown one is no proof of an end.
func Ended(finish string) (turnmill.ReplyState, bool) {
	switch finish {
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence":
		return turnmill.ReplyComplete, true
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return turnmill.ReplyTruncated, true
	case "content_filter", "refusal", "safety":
		return turnmill.ReplyRefused, true
	case "tool_calls", "function_call", "error", "abort", "cancelled", "insufficient_system_resource":
		return turnmill.ReplyFailed, true
	default:
		return turnmill.ReplyFailed, false
	}
}

// readUsage reads counts of tokens; what is no whole number from 0 counts as not reported.
func readUsage(v jsonscan.Value) turnmill.Usage {
	reasoning := count(v.Get("completion_tokens_details").Get("reasoning_tokens"))
	if reasoning == 0 {
		reasoning = count(v.Get("reasoning_tokens"))
	}
	return turnmill.Usage{Prompt: count(v.Get("prompt_tokens")), Completion: count(v.Get("completion_tokens")), Reasoning: reasoning}
}

// maxCount is more tokens than any request has; larger counts are no counts, and sums of sound ones fit int64.
const maxCount = 1 << 40

func count(v jsonscan.Value) int64 {
	n, ok := v.Int()
	if !ok || n < 0 || n > maxCount {
		return 0
	}
	return n
}

// text returns a decoded string with memory of its own; other kinds give "".
func text(v jsonscan.Value) string { return string(v.AppendString(nil)) }

// Bounded cuts s after at most n bytes, at a character, and marks the cut. Line ends become blanks, so that the
// result fits on a line.
func Bounded(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
