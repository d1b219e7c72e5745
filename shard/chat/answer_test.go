package chat

import (
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
)

// Reasoning is trained with its tags, less what the generation prompt holds: nothing of Qwen3's, the opening
// tag of R1's, which is told by the tokenizer, and of a thinking model's.
func TestPitfall07Reasoning(t *testing.T) {
	v3 := vocabulary(newFormat(t, "deepseek").Control())
	r1 := append(vocabulary{"<think>", "</think>"}, v3...)
	const whole = len("<think>\nwhy\n</think>") + 1 // two line feeds are one token
	for _, c := range []struct {
		name, format string
		v            turnmill.Vocabulary
		o            Options
		want         int
	}{
		{"qwen3", "qwen3", toytoken.Tokenizer{}, Options{}, whole},
		{"a thinking model", "qwen3", toytoken.Tokenizer{}, Options{Thinking: true}, whole - len(thinkOpen)},
		{"V3", "deepseek", v3, Options{}, whole},
		{"R1", "deepseek", r1, Options{}, whole - len(thinkOpen)},
	} {
		f, err := New(c.format, c.v, c.o)
		if err != nil {
			t.Fatal(err)
		}
		text := NewText(toytoken.Tokenizer{})
		f.Answer(text, &turnmill.Turn{Action: "a", Observation: "b"}, Place{}, "why")
		if got := int(text.Reasoning.Len()); got != c.want || text.Reasoning.End != text.Observation.Start {
			t.Errorf("%s: %d tokens of reasoning, want %d; %+v", c.name, got, c.want, text)
		}
		plain, turn := NewText(toytoken.Tokenizer{}), NewText(toytoken.Tokenizer{})
		f.Answer(plain, &turnmill.Turn{Action: "a", Observation: "b"}, Place{}, "")
		f.Turn(turn, &turnmill.Turn{Action: "a", Observation: "b"}, Place{Last: true})
		if decode(plain.IDs) != decode(turn.IDs) || plain.Observation != turn.Observation || plain.Reasoning.Len() != 0 {
			t.Errorf("%s: an answer without reasoning is not a last turn", c.name)
		}
	}
}

// AnswerDiffers holds where the published template changes reasoning or answer.
func TestAnswerDiffers(t *testing.T) {
	for _, c := range []struct {
		format, reasoning, answer string
		want                      bool
	}{
		{"qwen3", "why", "that", false},
		{"qwen3", "\nwhy", "that", true},
		{"qwen3", "why\n", "that", true},
		{"qwen3", " why ", "that ", false},
		{"qwen3", "why", "\nthat", true},
		{"qwen3", "a</think>b", "that", true},
		{"qwen3", "why", "a</think>b", true},
		{"qwen3", "", "\nthat", true},
		{"chatml", "\nwhy\n", "\nthat", false},
		{"deepseek", "why", "that", false},
		{"llama3", "why", " that", false}, // what is trimmed begins with the tag
		{"llama3", "why", "that ", true},
		{"llama3", "why", "", true}, // and ends with its line feeds
		{"llama3", "", " that", true},
		{"gemma", "why", "that\n", true},
	} {
		if got := newFormat(t, c.format).AnswerDiffers(&turnmill.Turn{Action: "a", Observation: c.answer}, Place{}, c.reasoning); got != c.want {
			t.Errorf("%s, %q, %q: %v, want %v", c.format, c.reasoning, c.answer, got, c.want)
		}
	}
}
