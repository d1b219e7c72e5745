package chat

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
)

// withAdded is the toy tokenizer in which some texts are added tokens that are not special.
type withAdded struct {
	toytoken.Tokenizer
	added []string
}

func (w withAdded) ID(token string) (int32, bool) {
	for i, a := range w.added {
		if a == token {
			return 1000 + int32(i), true
		}
	}
	return w.Tokenizer.ID(token)
}

// Encode counts as an engine does and leaves the ids as they are.
func (w withAdded) Encode(dst *turnmill.Tokens, text []byte) error {
	for _, a := range w.added {
		dst.Added += strings.Count(string(text), a)
	}
	return w.Tokenizer.Encode(dst, text)
}

// Added tokens of the scaffold are none of the content: Qwen3's think tags, Gemma's line feeds.
func TestAddedTokensOfTheScaffoldDoNotCount(t *testing.T) {
	for _, c := range []struct {
		format string
		added  []string
		place  Place
		want   int
	}{
		{"qwen3", []string{"<think>", "</think>"}, Place{}, 3},
		{"qwen3", []string{"<think>", "</think>"}, Place{Last: true}, 3},
		{"chatml", []string{"<think>", "</think>"}, Place{Last: true}, 3},
		{"gemma", []string{"\n"}, Place{Last: true}, 1},
		{"llama3", nil, Place{Last: true}, 0},
	} {
		w := withAdded{added: c.added}
		f, err := New(c.format, w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := NewText(w)
		f.Turn(text, &turnmill.Turn{Action: "say <think>", Observation: "<think>\n</think>"}, c.place)
		if text.Added != c.want {
			t.Errorf("%s, %+v: %d added tokens in the contents, want %d", c.format, c.place, text.Added, c.want)
		}
	}
}

// The prompt's place inside a first turn is where its text ends, in tokens.
func TestPromptInsideATurn(t *testing.T) {
	prompt := turnmill.SystemPrompt{TaskDescription: "abc"}
	for _, c := range []struct {
		format string
		first  *turnmill.SystemPrompt
		want   int32
	}{
		{"gemma", &prompt, int32(len("u" + "user\n" + "abc"))}, // <start_of_turn> is one token
		{"gemma", nil, 0},
		{"chatml", &prompt, 0},
	} {
		text := NewText(toytoken.Tokenizer{})
		f := newFormat(t, c.format)
		f.System(text, &prompt)
		start := int32(len(text.IDs))
		f.Turn(text, &turnmill.Turn{Action: "a", Observation: "b"}, Place{First: c.first})
		if got := text.Prompt - start; got != c.want {
			t.Errorf("%s: the prompt ends %d tokens into the turn, want %d", c.format, got, c.want)
		}
	}
}

// FuzzTurn renders any texts in every format: the decoded spans are the contents and their end tokens, and
// no content becomes control.
func FuzzTurn(f *testing.F) {
	f.Add("ls", "a b", "", "prompt")
	f.Add("\n\n", "\n<|im_end|>\n", "state\n", "\n\n")
	f.Add("</think>", "<｜Assistant｜><|eot_id|>é\n\n\n", "<end_of_turn>", "<bos>")
	ends := map[string][2]string{
		"chatml": {"<|im_end|>", "<|im_end|>"}, "qwen3": {"<|im_end|>", "<|im_end|>"},
		"llama3": {"<|eot_id|>", "<|eot_id|>"}, "llama3.1": {"<|eot_id|>", "<|eot_id|>"},
		"deepseek": {"<｜Assistant｜>", "<｜end▁of▁sentence｜>"},
		"gemma":    {"<end_of_turn>", "<end_of_turn>"},
	}
	f.Fuzz(func(t *testing.T, action, observation, state, task string) {
		turn := &turnmill.Turn{Action: action, Observation: observation}
		place := Place{State: state, First: &turnmill.SystemPrompt{TaskDescription: task}, Last: true}
		for _, name := range Names() {
			text, plain := NewText(toytoken.Tokenizer{}), NewText(toytoken.Tokenizer{})
			newFormat(t, name).Turn(text, turn, place)
			newFormat(t, name).Turn(plain, &turnmill.Turn{}, Place{Last: true})
			for i, c := range [...]struct {
				span    turnmill.Span
				content string
			}{{text.Action, action}, {text.Observation, observation}} {
				got := decode(text.IDs[c.span.Start:c.span.End])
				// A token across the start belongs to the span: line feeds of the header.
				rest, ok := strings.CutSuffix(got, c.content+ends[name][i])
				if !ok || strings.Trim(rest, "\n") != "" || len(rest) > 2 {
					t.Errorf("%s: the span holds %q, want %q and %s", name, got, c.content, ends[name][i])
				}
			}
			if controlIDs(text.IDs) != controlIDs(plain.IDs) {
				t.Errorf("%s: %d control ids, an empty turn has %d", name, controlIDs(text.IDs), controlIDs(plain.IDs))
			}
		}
	})
}

func controlIDs(ids []int32) int {
	n := 0
	for _, id := range ids {
		if id >= 300 {
			n++
		}
	}
	return n
}
