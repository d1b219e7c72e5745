package bpe

import (
	"fmt"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// familyNames names what Load reads, for messages.
const familyNames = "Qwen2 to Qwen3.5, Llama 3, DeepSeek V3, GPT-2, GPT-4, GPT-4o and gpt-oss"

// LoadError says why a tokenizer.json was refused.
type LoadError struct {
	Path  string // where in the JSON: "model.byte_fallback"; "" for the whole file
	Found string // what stands there, shortened
	Want  string // what this engine does, or what a sound file has
	// Unsupported tells a file of another kind, which another engine may read, from one that is broken.
	Unsupported bool
}

// Error names the place, what was found, what is expected, and what to try.
func (e *LoadError) Error() string {
	where := "tokenizer.json"
	if e.Path != "" {
		where += ": " + e.Path
	}
	if e.Unsupported {
		return fmt.Sprintf("%s is %s; engine bpe %s and never approximates; try the tokenizer.json of a model of the families %s",
			where, e.Found, e.Want, familyNames)
	}
	return fmt.Sprintf("%s: %s, but %s; try fetching the file again", where, e.Found, e.Want)
}

// unsupported reports a value that another family of tokenizers has.
func unsupported(path string, v jsonscan.Value, does string) error {
	return &LoadError{Path: path, Found: found(v), Want: does, Unsupported: true}
}

// broken reports a file that contradicts itself.
func broken(path, found, want string) error {
	return &LoadError{Path: path, Found: found, Want: want}
}

// found shows a JSON value in a message.
func found(v jsonscan.Value) string {
	switch v.Kind() {
	case jsonscan.Invalid:
		return "absent"
	case jsonscan.Object:
		if t := v.Get("type"); t.Kind() == jsonscan.String {
			return "an object of type " + found(t)
		}
		return fmt.Sprintf("an object of %d members", v.Len())
	case jsonscan.Array:
		return fmt.Sprintf("an array of %d elements", v.Len())
	}
	return shortened(string(v.Raw()))
}

// shortened cuts a text for a message.
func shortened(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
