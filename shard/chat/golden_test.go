package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
)

// conversation is an entry of testdata/conversations.json.
type conversation struct {
	System struct {
		TaskDescription string `json:"task_description"`
		ActionSpace     string `json:"action_space"`
		InitialState    string `json:"initial_state"`
	} `json:"system"`
	Turns []struct{ State, Action, Observation string } `json:"turns"`
}

// The texts in testdata are what the families' published templates write, each run by transformers:
// scripts/parity.py --golden.
func TestPublishedTemplates(t *testing.T) {
	var all map[string]conversation
	readJSON(t, "conversations.json", &all)
	if len(all) == 0 {
		t.Fatal("no conversations")
	}
	for _, format := range Names() {
		for name, c := range all {
			t.Run(format+"-"+name, func(t *testing.T) {
				want, err := os.ReadFile(filepath.Join("testdata", format+"-"+name+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				f := newFormat(t, format)
				if diff := cmp.Diff(string(want), c.render(t, f)); diff != "" {
					t.Errorf("text (-published +ours):\n%s", diff)
				}
			})
		}
	}
}

// render writes the conversation as a row of one window.
func (c *conversation) render(t *testing.T, f *Format) string {
	t.Helper()
	prompt := turnmill.SystemPrompt{TaskDescription: c.System.TaskDescription, ActionSpace: c.System.ActionSpace, InitialState: c.System.InitialState}
	text := NewText(toytoken.Tokenizer{})
	if f.SystemDiffers(&prompt) {
		t.Error("the prompt is one that the template trims")
	}
	f.System(text, &prompt)
	for i := range c.Turns {
		turn := &turnmill.Turn{Action: c.Turns[i].Action, Observation: c.Turns[i].Observation}
		place := Place{State: c.Turns[i].State, Last: i == len(c.Turns)-1}
		if i == 0 {
			place.First = &prompt
		}
		if f.Differs(turn, place) {
			t.Errorf("turn %d is one that the template trims or cuts", i)
		}
		f.Turn(text, turn, place)
	}
	if err := text.Err(); err != nil {
		t.Fatal(err)
	}
	return decode(text.IDs)
}

// Differs and SystemDiffers hold exactly where the published template changes a content: every conversation
// of small_conversations in scripts/parity.py, in its order.
func TestDiffersWherePublishedTemplatesDo(t *testing.T) {
	var changed map[string]string
	readJSON(t, "changed.json", &changed)
	var contents struct{ Texts, States []string }
	readJSON(t, "contents.json", &contents)
	for _, format := range Names() {
		f, want := newFormat(t, format), changed[format]
		at := 0
		for _, system := range contents.Texts {
			prompt := turnmill.SystemPrompt{TaskDescription: system}
			for _, state := range contents.States {
				for _, action := range contents.Texts {
					for _, observation := range contents.Texts {
						turn := &turnmill.Turn{Action: action, Observation: observation}
						for _, last := range []bool{true, false} {
							got := f.SystemDiffers(&prompt) || f.Differs(turn, Place{State: state, First: &prompt, Last: last})
							if at >= len(want) || got != (want[at] == '1') {
								t.Fatalf("%s, system %q, state %q, action %q, observation %q, last %v: differs %v", format, system, state, action, observation, last, got)
							}
							at++
						}
					}
				}
			}
		}
		if at != len(want) {
			t.Errorf("%s: %d conversations, want %d", format, at, len(want))
		}
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
