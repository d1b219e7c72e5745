package formats

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// benchTexts draws texts that could be taken for a row's own marks.
func benchTexts() *rapid.Generator[string] {
	marks := rapid.SampledFrom([]string{"### Turn 2", "**Action:**", "**Current State:**", "**Task Instruction:**", "**Environment Observation:**",
		"```", "```json", "````", "`````x", "\n", "\n\n", " ", `{"name":"f","arguments":{"a": 1.0}}`, "[]", `{"a":`, "$ ls", "x"})
	own := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(marks, 0, 5).Draw(t, "parts"), rapid.SampledFrom([]string{"", "\n"}).Draw(t, "sep"))
	})
	return rapid.OneOf(own, texts())
}

// TestWorldBenchReadsWhatWasWritten: the rows of a trajectory give back its turns, the last row all of them.
func TestWorldBenchReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := trajectories().Draw(t, "trajectory")
		text := benchTexts()
		for i := range run.Turns {
			turn := &run.Turns[i]
			turn.State, turn.Observation = text.Draw(t, "state"), text.Draw(t, "observation")
			if turn.HasAction {
				turn.Action = text.Draw(t, "action")
			}
		}
		for target := range run.Turns {
			line := AppendWorldBench(nil, run, target)
			checkBenchKeys(t, line)
			var out Decoded
			if err := (&worldBench{}).Decode(line, &out); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			got := out.Trajectories[0].Turns
			diff := cmp.Diff(run.Turns[:target+1], got, cmpopts.IgnoreFields(turnmill.Turn{}, "Tool", "Dialogue", "Thought"))
			if diff != "" {
				t.Fatalf("target %d (-want +got)\n%s\n%s", target, diff, line)
			}
			if system := out.Trajectories[0].System.TaskDescription; system != systemText(&run.System) {
				t.Fatalf("system %q, want %q", system, systemText(&run.System))
			}
		}
	})
}

// checkBenchKeys holds a row to what the released evaluator reads.
func checkBenchKeys(t *rapid.T, line []byte) {
	var row struct {
		Task, CurrentPrompt, SystemStr string
		Prompt, Response               []string
		TurnIdx, TotalTurns            int
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		t.Fatal(err)
	}
	var names []string
	for k := range keys {
		names = append(names, k)
	}
	slices.Sort(names)
	if want := []string{"current_prompt", "id", "prompt", "response", "system_str", "task", "total_turns", "turn_idx"}; !slices.Equal(names, want) {
		t.Fatalf("keys %v, want %v", names, want)
	}
	for k, to := range map[string]any{"task": &row.Task, "current_prompt": &row.CurrentPrompt, "system_str": &row.SystemStr, "prompt": &row.Prompt,
		"response": &row.Response, "turn_idx": &row.TurnIdx, "total_turns": &row.TotalTurns} {
		if err := json.Unmarshal(keys[k], to); err != nil {
			t.Fatalf("%s: %v", k, err)
		}
	}
	if n := row.TurnIdx; n < 1 || n > row.TotalTurns || len(row.Prompt) != n || len(row.Response) != n || row.CurrentPrompt != row.Prompt[n-1] {
		t.Fatalf("turn %d of %d, %d prompts, %d responses", n, row.TotalTurns, len(row.Prompt), len(row.Response))
	}
	for _, r := range row.Response {
		if !strings.HasPrefix(r, "**Environment Observation:**\n") {
			t.Fatalf("response %q", r)
		}
	}
}
