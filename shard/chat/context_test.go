package chat

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
)

// Context finds the prompt and the state again, in every format, in the first turn of a row and in later
// ones, with line feeds at every border.
func TestContextIsTheInverse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom(Names()).Draw(rt, "format")
		words := rapid.StringMatching(`\n{0,3}([a-c<|>]{1,4}\n{0,3}){0,3}`)
		prompt := turnmill.SystemPrompt{TaskDescription: words.Draw(rt, "task"), Demonstrations: words.Draw(rt, "demonstrations")}
		f := newFormat(t, format)
		text := NewText(toytoken.Tokenizer{})
		f.System(text, &prompt)
		from := 0
		for i := range 2 {
			turn := &turnmill.Turn{Action: words.Draw(rt, "action"), Observation: words.Draw(rt, "observation")}
			place := Place{State: words.Draw(rt, "state"), Last: i == 1}
			wantSystem := ""
			if i == 0 {
				place.First = &prompt
				wantSystem = systemText(&prompt)
			}
			f.Turn(text, turn, place)
			before := decode(text.IDs[from:text.Action.Start])
			system, state := f.Context(before)
			// Line feeds at the end may be part of a token of the action.
			if !same(system, wantSystem) || !same(state, place.State) {
				rt.Fatalf("%s, turn %d: Context(%q) = %q, %q, want %q, %q", format, i, before, system, state, wantSystem, place.State)
			}
			from = int(text.Observation.End)
		}
	})
}

func same(got, want string) bool {
	return got == want || strings.TrimRight(got, "\n") == strings.TrimRight(want, "\n")
}

func systemText(p *turnmill.SystemPrompt) string {
	var parts []string
	for _, part := range p.Parts() {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, partSeparator)
}
