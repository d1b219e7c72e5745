package shard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
	"github.com/turnmill/turnmill/shard/chat"
)

// counting counts the bytes that are encoded.
type counting struct {
	toytoken.Tokenizer
	bytes *int
}

func (c counting) Encode(dst *turnmill.Tokens, text []byte) error {
	*c.bytes += len(text)
	return c.Tokenizer.Encode(dst, text)
}

// A trajectory that fits one window is encoded once, whatever form its ends have.
func TestNothingIsEncodedTwiceInOneWindow(t *testing.T) {
	for _, format := range chat.Names() {
		for n := 1; n < 4; n++ {
			encoded := 0
			f, err := chat.New(format, toytoken.Tokenizer{}, chat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewBuilder(f, counting{bytes: &encoded}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			traj, targets := sample(n)
			var rows Rows
			if _, err := b.Trajectory(traj, targets, nil, &rows); err != nil {
				t.Fatal(err)
			}
			plain := 0
			for _, id := range rows.Rows[0].IDs {
				if id < 300 {
					plain += len(toytoken.Tokenizer{}.AppendText(nil, id))
				}
			}
			if encoded != plain {
				t.Errorf("%s, %d turns: %d bytes encoded for a row of %d", format, n, encoded, plain)
			}
		}
	}
}

// Gemma's prompt stands in the first turn of each window and counts for its length.
func TestWindowsWithThePromptInTheFirstTurn(t *testing.T) {
	traj, targets := sample(5)
	// <bos> is 1 token; "<start_of_turn>user\nact 0<end_of_turn>\n" 13 and
	// "<start_of_turn>model\nobservation 0<end_of_turn>\n" 22; "sys" and "\n\n" 4 more in a first turn.
	const begin, turn, prompt = 1, 35, 4
	for _, c := range []struct {
		name   string
		seqLen int
		want   []string
		reason turnmill.Reason // of turn 0
	}{
		{"exactly all", begin + prompt + 5*turn, []string{"01234"}, ""},
		{"one token short of all", begin + prompt + 5*turn - 1, []string{"0123", "4"}, ""},
		{"two a window", begin + prompt + 2*turn, []string{"01", "23", "4"}, ""},
		{"one a window", begin + prompt + turn, []string{"0", "1", "2", "3", "4"}, ""},
		{"nothing fits beside the prompt", begin + prompt + turn - 1, nil, turnmill.ReasonTurnTooLong},
		{"the prompt leaves one token", begin + len("u"+"user\n"+"sys") + 1, nil, turnmill.ReasonTurnTooLong},
		{"the prompt alone fills the row", begin + len("u"+"user\n"+"sys"), nil, turnmill.ReasonSystemTooLong},
		{"no room for the first token", 2, nil, turnmill.ReasonSystemTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rows Rows
			res, err := newBuilder(t, "gemma", Options{SeqLen: c.seqLen}).Trajectory(traj, targets, nil, &rows)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows.Rows {
				turns := ""
				for _, tt := range r.Turns {
					turns += fmt.Sprint(tt.Turn)
				}
				got = append(got, turns)
				text := decode(r.IDs)
				if len(r.IDs) > c.seqLen || !strings.HasPrefix(text, "<bos><start_of_turn>user\nsys\n\nact "+turns[:1]) || strings.Count(text, "sys") != 1 {
					t.Errorf("a row of %d tokens: %q", len(r.IDs), text)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
			if res.Turns[0].Reason != c.reason || c.want == nil && res.Reason != c.reason {
				t.Errorf("turn 0: %s, trajectory: %s, want %s", res.Turns[0].Reason, res.Reason, c.reason)
			}
			if c.reason == turnmill.ReasonSystemTooLong && res.Turns[0].Loss != 0 {
				t.Errorf("%d loss tokens of a turn that has no place", res.Turns[0].Loss)
			}
		})
	}
}

// A long turn costs itself: the next one begins a window, and so has the prompt.
func TestAWindowBeginsAfterALongTurn(t *testing.T) {
	traj, targets := sample(4)
	traj.Turns[1].Observation = strings.Repeat("x", 300)
	for _, format := range chat.Names() {
		var rows Rows
		res, err := newBuilder(t, format, Options{SeqLen: 230}).Trajectory(traj, targets, nil, &rows)
		if err != nil {
			t.Fatal(err)
		}
		if res.Turns[1].Reason != turnmill.ReasonTurnTooLong {
			t.Errorf("%s: %+v", format, res.Turns[1])
		}
		for _, r := range rows.Rows {
			if got := strings.Count(decode(r.IDs), "sys"); got != 1+strings.Count(decode(r.IDs), "system") {
				t.Errorf("%s: %q does not hold the prompt once", format, decode(r.IDs))
			}
		}
		if len(rows.Rows) < 2 || rows.Rows[1].Turns[0].Turn != 2 {
			t.Errorf("%s: %d rows", format, len(rows.Rows))
		}
	}
}

// Rows that the published template would trim or cut count, each once; documents have no template.
func TestTemplateDiffersCountsRows(t *testing.T) {
	for _, c := range []struct {
		name, format string
		change       func(*turnmill.Trajectory)
		seqLen       int
		want         int64
	}{
		{"as published", "llama3", func(*turnmill.Trajectory) {}, 0, 0},
		{"two turns of one row", "llama3", func(t *turnmill.Trajectory) { t.Turns[0].Action, t.Turns[1].Observation = " a", "b " }, 0, 1},
		{"the prompt, in both rows", "llama3.1", func(t *turnmill.Trajectory) { t.System.TaskDescription = "sys\n" }, 150, 2},
		{"one of two rows", "gemma", func(t *turnmill.Trajectory) { t.Turns[0].Observation = "b\n" }, 50, 1},
		{"a prompt that is not trimmed", "gemma", func(t *turnmill.Trajectory) { t.System.TaskDescription = " sys\n" }, 0, 0},
		{"nothing is trimmed", "deepseek", func(t *turnmill.Trajectory) { t.Turns[0].Observation = "\nb</think>c\n" }, 0, 0},
		{"the last one's line feeds", "qwen3", func(t *turnmill.Trajectory) { t.Turns[1].Observation = "\nb" }, 0, 1},
		{"not the last one's", "qwen3", func(t *turnmill.Trajectory) { t.Turns[0].Observation = "\nb" }, 0, 0},
	} {
		t.Run(c.format+", "+c.name, func(t *testing.T) {
			traj, targets := sample(2)
			c.change(traj)
			var rows Rows
			res, err := newBuilder(t, c.format, Options{SeqLen: c.seqLen}).Trajectory(traj, targets, nil, &rows)
			if err != nil {
				t.Fatal(err)
			}
			if want := 1 + min(c.seqLen, 1); len(rows.Rows) != want {
				t.Errorf("%d rows, want %d", len(rows.Rows), want)
			}
			if got := res.Notes[turnmill.NoteTemplateDiffer]; got != c.want {
				t.Errorf("%d rows counted, want %d", got, c.want)
			}
		})
	}
}

// What ends an action is trained with it, also where it begins the answer.
func TestPolicyTrainsTheEndOfAnAction(t *testing.T) {
	for _, format := range chat.Names() {
		traj, targets := sample(2)
		var rows Rows
		if _, err := newBuilder(t, format, Options{Objective: Policy}).Trajectory(traj, targets, nil, &rows); err != nil {
			t.Fatal(err)
		}
		end := endTokens(format)[0]
		if diff := cmp.Diff([]string{"act 0" + end, "act 1" + end}, trained(rows.Rows[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// The first token of a row is control, and never trained.
func TestFirstToken(t *testing.T) {
	begins := map[string]string{"chatml": "<|im_start|>", "qwen3": "<|im_start|>", "llama3": "<|begin_of_text|>",
		"llama3.1": "<|begin_of_text|>", "deepseek": "<｜begin▁of▁sentence｜>", "gemma": "<bos>"}
	for _, format := range chat.Names() {
		for _, prompt := range []string{"", "sys"} {
			traj, targets := sample(3)
			traj.System.TaskDescription = prompt
			var rows Rows
			if _, err := newBuilder(t, format, Options{SeqLen: 150, Objective: Both}).Trajectory(traj, targets, nil, &rows); err != nil {
				t.Fatal(err)
			}
			if len(rows.Rows) == 0 {
				t.Errorf("%s: no rows", format)
			}
			for _, r := range rows.Rows {
				if got := decode(r.IDs[:1]); got != begins[format] || r.Labels[0] != turnmill.IgnoreIndex {
					t.Errorf("%s: a row begins with %q, label %d", format, got, r.Labels[0])
				}
				for _, begin := range []string{"<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<bos>"} {
					if strings.Contains(decode(r.IDs[1:]), begin) {
						t.Errorf("%s: %s stands inside a row", format, begin)
					}
				}
			}
		}
	}
}

// What is written again for a window is given back after it: memory does not grow with the windows.
func TestPiecesWrittenAgainAreGivenBack(t *testing.T) {
	for _, format := range chat.Names() {
		traj, targets := sample(40)
		var lengths []int
		for _, seqLen := range []int{0, 150, 60} {
			b := newBuilder(t, format, Options{SeqLen: seqLen})
			var rows Rows
			if _, err := b.Trajectory(traj, targets, nil, &rows); err != nil {
				t.Fatal(err)
			}
			if seqLen == 150 && len(rows.Rows) < 5 {
				t.Errorf("%s: %d windows", format, len(rows.Rows))
			}
			lengths = append(lengths, len(b.text.IDs))
		}
		if lengths[1] != lengths[0] || lengths[2] > lengths[0] {
			t.Errorf("%s: %d tokens are held for one window, %d for windows of 150, %d for windows of 60", format, lengths[0], lengths[1], lengths[2])
		}
	}
}
