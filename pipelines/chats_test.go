package pipelines

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/internal/toytoken"
	"github.com/turnmill/turnmill/shard/chat"
)

// everyFamily writes the demo tokenizer with the control tokens of every family added, and returns where.
// DeepSeek's role tokens are not special, as in its own file.
func everyFamily(t *testing.T) string {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal(demo.Tokenizer(), &file); err != nil {
		t.Fatal(err)
	}
	added := file["added_tokens"].([]any)
	known := map[string]bool{}
	next := 0
	for _, a := range added {
		token := a.(map[string]any)
		known[token["content"].(string)] = true
		next = max(next, int(token["id"].(float64))+1)
	}
	for _, token := range toytoken.Control {
		if !known[token] {
			added = append(added, map[string]any{"id": next, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
				"normalized": false, "special": token != "<｜User｜>" && token != "<｜Assistant｜>"})
			next++
		}
	}
	file["added_tokens"] = added
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "tokenizer.json")
	write(t, name, data)
	return name
}

// TestChatFormats: every format goes through the whole pipeline; check proves it, and runs it again.
func TestChatFormats(t *testing.T) {
	corpus, tokenizer := mixedCorpus(t), everyFamily(t)
	seen := map[string]string{}
	for _, name := range chat.Names() {
		for _, objective := range []string{"world-model", "policy"} {
			t.Run(name+", "+objective, func(t *testing.T) {
				o := options(t, corpus)
				o.Tokenizer, o.Chat, o.Objective, o.SeqLen, o.Workers = tokenizer, name, objective, 900, 2
				m := mustRun(t, o)
				mustCheck(t, o)
				total := m.Counts.Ledger.Total
				if total.Turns.Dropped["turn_too_long"] == 0 || m.Counts.Tokens.Rows < 2*total.Trajectories.Out {
					t.Errorf("--seq-len %d makes no windows: %d rows of %d trajectories", o.SeqLen, m.Counts.Tokens.Rows, total.Trajectories.Out)
				}
				if lost := total.LossTokens.Dropped["row_start"]; (lost == 0) != (name != "chatml" && name != "qwen3") {
					t.Errorf("%d loss tokens of documents are first in their row", lost)
				}
				rows := trainFiles(digest(t, o.Output))
				if other, again := seen[rows]; again {
					t.Errorf("the same rows as %s", other)
				}
				seen[rows] = name + ", " + objective
			})
		}
	}
}

// TestShowInEveryFormat: show finds prompt, state, action and observation of each turn in the tokens again.
func TestShowInEveryFormat(t *testing.T) {
	corpus, tokenizer := demoCorpus(t), everyFamily(t)
	_, records := unify(t, corpus)
	byID := map[string]*testRecord{}
	for i := range records {
		byID[records[i].ID] = &records[i]
	}
	for _, name := range chat.Names() {
		o := options(t, corpus)
		o.Tokenizer, o.Chat, o.SeqLen, o.Mask = tokenizer, name, 1200, "off"
		m := mustRun(t, o)
		windows := 0
		for row := range m.Counts.Tokens.Rows {
			s, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: row, Tokenizer: tokenizer})
			if err != nil {
				t.Fatal(err)
			}
			r := byID[s.ID]
			if r.Kind == "document" {
				continue
			}
			if got, want := s.System, systemText(r.System); !sameText(got, want) {
				t.Errorf("%s, row %d: system prompt %q, want %q", name, row, got, want)
			}
			for _, turn := range s.Turns {
				if turn.Span == nil {
					continue // in no row
				}
				windows++
				want := r.turn(int(turn.Turn))
				if !sameText(turn.State, want.State) || !sameText(turn.Action, *want.Action) || !sameText(turn.Observation, *want.Observation) {
					t.Errorf("%s, row %d, turn %d: %q, %q, %q, want %q, %q, %q", name, row, turn.Turn,
						turn.State, turn.Action, turn.Observation, want.State, *want.Action, *want.Observation)
				}
			}
		}
		if windows < 100 {
			t.Errorf("%s: %d turns shown", name, windows)
		}
	}
}

// turn is the turn with an index.
func (r *testRecord) turn(index int) *testTurn {
	for i := range r.Turns {
		if r.Turns[i].Index == index {
			return &r.Turns[i]
		}
	}
	return &testTurn{Action: new(string), Observation: new(string)}
}

// sameText compares texts but for line feeds at their ends, which may be in one token with a header's.
func sameText(a, b string) bool { return strings.Trim(a, "\n") == strings.Trim(b, "\n") }
