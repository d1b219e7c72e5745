package shard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
	"github.com/turnmill/turnmill/shard/chat"
)

func newBuilder(t testing.TB, format string, o Options) *Builder {
	t.Helper()
	f, err := chat.New(format, toytoken.Tokenizer{}, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(f, toytoken.Tokenizer{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = toytoken.Tokenizer{}.AppendText(b, id)
	}
	return string(b)
}

// trained returns the decoded runs of tokens that carry loss.
func trained(row turnmill.Row) []string {
	var runs []string
	var run []int32
	for i, l := range row.Labels {
		if l != turnmill.IgnoreIndex {
			run = append(run, row.IDs[i])
			continue
		}
		if run != nil {
			runs, run = append(runs, decode(run)), nil
		}
	}
	if run != nil {
		runs = append(runs, decode(run))
	}
	return runs
}

// sample is a trajectory of n turns "act i" and "observation i", all of them targets that are kept.
func sample(n int) (*turnmill.Trajectory, []Target) {
	t := &turnmill.Trajectory{ID: "t", System: turnmill.SystemPrompt{TaskDescription: "sys"}}
	targets := make([]Target, n)
	for i := range n {
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, HasAction: true, Action: fmt.Sprint("act ", i), Observation: fmt.Sprint("observation ", i)})
		targets[i].Kept = true
		targets[i].Keep = turnmill.Ratio{Num: 1, Den: 1}
	}
	return t, targets
}

func TestOneRow(t *testing.T) {
	traj, targets := sample(3)
	targets[1].Kept = false
	b := newBuilder(t, "chatml", Options{})
	var rows Rows
	res, err := b.Trajectory(traj, targets, nil, &rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.Rows) != 1 || res.Reason != "" {
		t.Fatalf("%d rows, reason %q", len(rows.Rows), res.Reason)
	}
	want := []string{"observation 0<|im_end|>", "observation 2<|im_end|>"}
	if diff := cmp.Diff(want, trained(rows.Rows[0])); diff != "" {
		t.Errorf("trained (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(decode(rows.Rows[0].IDs), "<|im_start|>system\nsys<|im_end|>\n<|im_start|>user\nact 0<|im_end|>") {
		t.Errorf("row is %q", decode(rows.Rows[0].IDs))
	}
	masked := turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonMasked}
	if r := res.Turns[1]; r.Verdict != masked || r.Trained != 0 || r.Loss != 14 || r.Observation != 13 || r.Row != 0 {
		t.Errorf("masked turn: %+v", r)
	}
}

func TestObjectives(t *testing.T) {
	for _, c := range []struct {
		objective Objective
		want      []string
	}{
		{WorldModel, []string{"observation 0<|im_end|>", "observation 1<|im_end|>"}},
		{Policy, []string{"act 0<|im_end|>", "act 1<|im_end|>"}},
		{Both, []string{"act 0<|im_end|>", "observation 0<|im_end|>", "act 1<|im_end|>", "observation 1<|im_end|>"}},
	} {
		traj, targets := sample(2)
		var rows Rows
		if _, err := newBuilder(t, "chatml", Options{Objective: c.objective}).Trajectory(traj, targets, nil, &rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, trained(rows.Rows[0])); diff != "" {
			t.Errorf("objective %d (-want +got):\n%s", c.objective, diff)
		}
	}
}

func TestStateModes(t *testing.T) {
	for _, c := range []struct {
		mode StateMode
		want []bool // is the state shown in turns 0, 1, 2
	}{
		{StateAlways, []bool{true, true, true}},
		{StateChanged, []bool{true, false, true}},
		{StateNever, []bool{false, false, false}},
	} {
		traj, targets := sample(3)
		traj.Turns[0].State = "start"
		traj.Turns[1].State = traj.Turns[0].Observation
		traj.Turns[2].State = "something else"
		var rows Rows
		if _, err := newBuilder(t, "chatml", Options{State: c.mode}).Trajectory(traj, targets, nil, &rows); err != nil {
			t.Fatal(err)
		}
		for i, tt := range rows.Rows[0].Turns {
			before := decode(rows.Rows[0].IDs[:tt.Action.Start])
			if got := strings.HasSuffix(before, "Action:\n"); got != c.want[i] {
				t.Errorf("mode %d, turn %d: state shown %v, want %v", c.mode, i, got, c.want[i])
			}
		}
	}
}

func TestWindows(t *testing.T) {
	traj, targets := sample(5)
	// "<|im_start|>system\nsys<|im_end|>\n" is 13 tokens; a turn is 39: 1+5+5+2 and 1+10+13+2.
	for _, c := range []struct {
		name   string
		seqLen int
		long   int // this turn's observation is much longer; -1: none
		want   [][]int
		lost   map[int]turnmill.Reason
	}{
		{name: "all in one", seqLen: 1000, long: -1, want: [][]int{{0, 1, 2, 3, 4}}},
		{name: "exactly all", seqLen: 13 + 5*39, long: -1, want: [][]int{{0, 1, 2, 3, 4}}},
		{name: "one token short of all", seqLen: 13 + 5*39 - 1, long: -1, want: [][]int{{0, 1, 2, 3}, {4}}},
		{name: "two a window", seqLen: 13 + 2*39, long: -1, want: [][]int{{0, 1}, {2, 3}, {4}}},
		{name: "one a window", seqLen: 13 + 39, long: -1, want: [][]int{{0}, {1}, {2}, {3}, {4}}},
		{name: "a long turn ends the window", seqLen: 13 + 4*39, long: 2, want: [][]int{{0, 1}, {3, 4}}, lost: map[int]turnmill.Reason{2: turnmill.ReasonTurnTooLong}},
		{name: "nothing fits", seqLen: 13 + 38, long: -1, lost: map[int]turnmill.Reason{0: turnmill.ReasonTurnTooLong, 4: turnmill.ReasonTurnTooLong}},
		{name: "no room beside the system prompt", seqLen: 13, long: -1, lost: map[int]turnmill.Reason{0: turnmill.ReasonSystemTooLong, 4: turnmill.ReasonSystemTooLong}},
	} {
		t.Run(c.name, func(t *testing.T) {
			traj := &turnmill.Trajectory{System: traj.System, Turns: slices.Clone(traj.Turns)}
			if c.long >= 0 {
				traj.Turns[c.long].Observation = strings.Repeat("x", 200)
			}
			var rows Rows
			res, err := newBuilder(t, "chatml", Options{SeqLen: c.seqLen}).Trajectory(traj, targets, nil, &rows)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			for _, r := range rows.Rows {
				var turns []int
				for _, tt := range r.Turns {
					turns = append(turns, tt.Turn)
				}
				got = append(got, turns)
				if len(r.IDs) > c.seqLen {
					t.Errorf("a row of %d tokens, --seq-len %d", len(r.IDs), c.seqLen)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
			for i, reason := range c.lost {
				if v := res.Turns[i].Verdict; v.Status != turnmill.StatusDropped || v.Reason != reason {
					t.Errorf("turn %d: %+v, want dropped for %s", i, v, reason)
				}
			}
		})
	}
}

// The scaffold before the last observation of a row counts for the window's length.
func TestWindowsWithScaffold(t *testing.T) {
	traj, targets := sample(2)
	const scaffold = 17 // <think>, \n\n, </think>, \n\n in bytes, two merges
	for _, c := range []struct{ seqLen, rows int }{{13 + 2*39 + scaffold, 1}, {13 + 2*39 + scaffold - 1, 2}, {13 + 39 + scaffold, 2}, {13 + 39 + scaffold - 1, 0}} {
		var rows Rows
		res, err := newBuilder(t, "qwen3", Options{SeqLen: c.seqLen}).Trajectory(traj, targets, nil, &rows)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows.Rows) != c.rows {
			t.Errorf("--seq-len %d: %d rows, want %d", c.seqLen, len(rows.Rows), c.rows)
		}
		for _, r := range rows.Rows {
			last := r.Turns[len(r.Turns)-1]
			if before := decode(r.IDs[:last.Observation.Start]); !strings.HasSuffix(before, "assistant\n<think>\n\n</think>\n\n") {
				t.Errorf("--seq-len %d: the last observation stands after %q", c.seqLen, before)
			}
			if got := strings.Count(decode(r.IDs), "<think>"); got != 1 {
				t.Errorf("--seq-len %d: %d think blocks in a row, want 1", c.seqLen, got)
			}
		}
		if c.rows == 0 && res.Reason != turnmill.ReasonTurnTooLong {
			t.Errorf("reason %q", res.Reason)
		}
	}
}

func TestNothingToLearn(t *testing.T) {
	traj, targets := sample(2)
	targets[0].Kept, targets[1].Kept = false, false
	var rows Rows
	res, err := newBuilder(t, "chatml", Options{}).Trajectory(traj, targets, nil, &rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.Rows) != 0 || res.Reason != turnmill.ReasonNoLoss || res.Turns[0].Reason != turnmill.ReasonNoLoss || res.Turns[0].Row != -1 {
		t.Errorf("%d rows, %+v", len(rows.Rows), res)
	}
	if res.Turns[0].Loss != 14 {
		t.Errorf("loss tokens before the mask: %d, want 14", res.Turns[0].Loss)
	}
}

func TestWeights(t *testing.T) {
	traj, targets := sample(2)
	targets[0].Keep = turnmill.Ratio{Num: 1, Den: 10}
	var rows Rows
	if _, err := newBuilder(t, "chatml", Options{Weights: true}).Trajectory(traj, targets, nil, &rows); err != nil {
		t.Fatal(err)
	}
	r := rows.Rows[0]
	for i := range r.IDs {
		want := float32(0)
		for n, tt := range r.Turns {
			if int32(i) >= tt.Observation.Start && int32(i) < tt.Observation.End {
				want = []float32{0.1, 1}[n]
			}
		}
		if r.Weights[i] != want || (r.Labels[i] != turnmill.IgnoreIndex) != (want > 0) {
			t.Fatalf("token %d: weight %v, label %d, want weight %v", i, r.Weights[i], r.Labels[i], want)
		}
	}
}

// every other token of the span, counted from its first.
type everyOther struct{}

func (everyOther) DrawToken(_, token int, _ turnmill.Ratio) bool { return token%2 == 0 }

func TestTokenDraws(t *testing.T) {
	traj, targets := sample(1)
	var rows Rows
	res, err := newBuilder(t, "chatml", Options{}).Trajectory(traj, targets, everyOther{}, &rows)
	if err != nil {
		t.Fatal(err)
	}
	tt := rows.Rows[0].Turns[0]
	for i := tt.Observation.Start; i < tt.Observation.End; i++ {
		want := (i-tt.Observation.Start)%2 == 0
		if got := rows.Rows[0].Labels[i] != turnmill.IgnoreIndex; got != want {
			t.Errorf("token %d of the span carries loss: %v", i-tt.Observation.Start, got)
		}
	}
	if res.Turns[0].Trained != 7 {
		t.Errorf("%d tokens trained, want 7 of 14", res.Turns[0].Trained)
	}
}

func TestDocumentWindows(t *testing.T) {
	for _, c := range []struct {
		format, text string
		seqLen       int
		rows         []string
		loss         int32
		lost         int64
	}{
		{"chatml", "abcdefg", 100, []string{"abcdefg<|endoftext|>"}, 7, 0},
		{"chatml", "abcdefg", 4, []string{"abcd", "efg<|endoftext|>"}, 7, 1},
		{"chatml", "abcdefgh", 4, []string{"abcd", "efgh"}, 8, 2}, // the third window is the end token alone
		{"llama3", "abcdefg", 100, []string{"<|begin_of_text|>abcdefg<|end_of_text|>"}, 8, 0},
		{"llama3.1", "abcdefg", 5, []string{"<|begin_of_text|>abcd", "<|begin_of_text|>efg<|end_of_text|>"}, 8, 0},
		{"deepseek", "abc", 3, []string{"<｜begin▁of▁sentence｜>ab", "<｜begin▁of▁sentence｜>c<｜end▁of▁sentence｜>"}, 4, 0},
		{"gemma", "a", 2, []string{"<bos>a", "<bos><eos>"}, 2, 0},
	} {
		var rows Rows
		res, err := newBuilder(t, c.format, Options{SeqLen: c.seqLen, Weights: true}).Document(c.text, &rows)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		var sum, out int32
		for _, r := range rows.Rows {
			texts = append(texts, decode(r.IDs))
			if r.Labels[0] != turnmill.IgnoreIndex || !slices.Equal(r.Labels[1:], r.IDs[1:]) || slices.Contains(r.Weights[1:], 0) || r.Weights[0] != 0 {
				t.Errorf("labels %v, weights %v of %v: all but the first are trained", r.Labels, r.Weights, r.IDs)
			}
			want := turnmill.Span{End: int32(len(r.IDs))}
			if chat.Begins(c.format) {
				want.Start = 1
			}
			if tt := r.Turns[0]; tt.Observation != want || tt.Trained != int32(len(r.IDs))-1 {
				t.Errorf("%+v in a row of %d", tt, len(r.IDs))
			}
		}
		observed := int32(0)
		for _, r := range res.Turns {
			sum += r.Loss
			observed += r.Observation
			if r.Row >= 0 {
				out += r.Trained
			}
		}
		if diff := cmp.Diff(c.rows, texts); diff != "" || sum != c.loss || res.RowLoss != c.lost || int64(sum) != int64(out)+res.RowLoss || int(observed) != len(c.text) {
			t.Errorf("%s, %q at %d: rows %q, loss %d, trained %d, lost %d, %d of the text", c.format, c.text, c.seqLen, texts, sum, out, res.RowLoss, observed)
		}
	}
}

// sameInParts builds the rows of a trajectory again as those of a huge one are: a turn's tokens at a time, and
// each row taken away before the next.
func sameInParts(t *testing.T, rt *rapid.T, b *Builder, traj *turnmill.Trajectory, targets []Target, want *Result, rows *Rows) {
	whole := *want
	whole.Turns = slices.Clone(want.Turns)
	b.leanBytes = -1
	defer func() { b.leanBytes = leanBytes; want.Turns = whole.Turns }()
	var parts, some Rows
	var all []turnmill.Row
	parts.many = 1
	parts.Full = func() {
		parts.Take(&some)
		for _, r := range some.Rows {
			all = append(all, turnmill.Row{IDs: slices.Clone(r.IDs), Labels: slices.Clone(r.Labels), Turns: slices.Clone(r.Turns)})
		}
	}
	res, err := b.Trajectory(traj, targets, nil, &parts)
	if err != nil || len(parts.Rows) != 0 {
		rt.Fatalf("%d rows are left, %v", len(parts.Rows), err)
	}
	if diff := cmp.Diff(whole, res); diff != "" {
		rt.Fatalf("the result changes in parts:\n%s", diff)
	}
	if diff := cmp.Diff(rows.Rows, all); diff != "" {
		rt.Fatalf("the rows change in parts:\n%s", diff)
	}
}

// Each target is trained exactly once, whatever the windows, and nothing else is trained.
func TestEachTargetOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(rt, "turns")
		traj, targets := sample(n)
		for i := range n {
			traj.Turns[i].Observation = rapid.StringMatching(`\n{0,3}[a-c]{0,30}`).Draw(rt, "observation")
			traj.Turns[i].State = rapid.SampledFrom([]string{"", "state"}).Draw(rt, "state")
			targets[i].Kept = rapid.Bool().Draw(rt, "kept")
			targets[i].Verdict = rapid.SampledFrom([]turnmill.Verdict{
				{}, {}, {}, {Status: turnmill.StatusContext, Reason: turnmill.ReasonDialogue}, {Status: turnmill.StatusDropped, Reason: turnmill.ReasonNoAction},
			}).Draw(rt, "verdict")
		}
		o := Options{SeqLen: rapid.IntRange(2, 400).Draw(rt, "seqlen"), Objective: Objective(rapid.IntRange(0, 2).Draw(rt, "objective"))}
		format := rapid.SampledFrom(chat.Names()).Draw(rt, "format")
		traj.System.TaskDescription = rapid.StringMatching(`(\n?[a-c]{1,40}\n?)?`).Draw(rt, "prompt")
		var rows Rows
		b := newBuilder(t, format, o)
		res, err := b.Trajectory(traj, targets, nil, &rows)
		if err == nil {
			sameInParts(t, rt, b, traj, targets, &res, &rows)
		}
		if err != nil {
			rt.Fatal(err)
		}
		seen := make([]int, n)
		for ri, r := range rows.Rows {
			if len(r.IDs) > o.SeqLen {
				rt.Fatalf("row of %d tokens, limit %d", len(r.IDs), o.SeqLen)
			}
			count := 0
			for i, l := range r.Labels {
				if l != turnmill.IgnoreIndex {
					count++
					if l != r.IDs[i] || i == 0 {
						rt.Fatalf("label %d at %d, id %d", l, i, r.IDs[i])
					}
				}
			}
			if count == 0 {
				rt.Fatal("a row without a trained token")
			}
			for _, tt := range r.Turns {
				seen[tt.Turn]++
				tr := res.Turns[tt.Turn]
				if tr.Row != ri || tr.Action != tt.Action || tr.Response != tt.Observation {
					rt.Fatalf("turn %d says row %d, %v, %v; it stands in %d, %v, %v", tt.Turn, tr.Row, tr.Action, tr.Response, ri, tt.Action, tt.Observation)
				}
				want := int32(0)
				if targets[tt.Turn].Status == turnmill.StatusTarget && targets[tt.Turn].Kept {
					want = tr.Loss
				}
				if tt.Trained != want || tr.Trained != want {
					rt.Fatalf("turn %d: %d trained, want %d", tt.Turn, tt.Trained, want)
				}
				text := decode(r.IDs[tt.Observation.Start:tt.Observation.End])
				if !strings.HasSuffix(text, traj.Turns[tt.Turn].Observation+endTokens(format)[1]) {
					rt.Fatalf("turn %d: span holds %q", tt.Turn, text)
				}
				count -= int(tt.Trained)
			}
			if count != 0 {
				rt.Fatalf("%d trained tokens outside the turns' spans", count)
			}
			sameAlone(t, rt, format, o, traj, targets, r)
		}
		for i, k := range seen {
			if inRow := res.Turns[i].Row >= 0; k > 1 || inRow != (k == 1) || inRow == (res.Turns[i].Status == turnmill.StatusDropped) {
				rt.Fatalf("turn %d stands in %d rows: %+v", i, k, res.Turns[i])
			}
		}
	})
}

// endTokens are the tokens that end an action and an observation.
func endTokens(format string) [2]string {
	switch format {
	case "chatml", "qwen3":
		return [2]string{"<|im_end|>", "<|im_end|>"}
	case "deepseek":
		return [2]string{"<｜Assistant｜>", "<｜end▁of▁sentence｜>"}
	case "gemma":
		return [2]string{"<end_of_turn>", "<end_of_turn>"}
	}
	return [2]string{"<|eot_id|>", "<|eot_id|>"}
}

// sameAlone proves that a window is the row that its turns give as a trajectory of their own.
func sameAlone(t *testing.T, rt *rapid.T, format string, o Options, traj *turnmill.Trajectory, targets []Target, row turnmill.Row) {
	alone := &turnmill.Trajectory{System: traj.System}
	var its []Target
	for _, tt := range row.Turns {
		alone.Turns = append(alone.Turns, traj.Turns[tt.Turn])
		its = append(its, targets[tt.Turn])
	}
	var rows Rows
	o.SeqLen = 0
	if _, err := newBuilder(t, format, o).Trajectory(alone, its, nil, &rows); err != nil {
		rt.Fatal(err)
	}
	if len(rows.Rows) != 1 || !slices.Equal(rows.Rows[0].IDs, row.IDs) || !slices.Equal(rows.Rows[0].Labels, row.Labels) {
		rt.Fatalf("the window %q is not what its turns give alone", decode(row.IDs))
	}
}

// One row of S-1, S and S+1 tokens: the first two stay whole.
func TestReport53ExactLength(t *testing.T) {
	for n, rows := range map[int]int{-1: 2, 0: 1, 1: 1} {
		traj, targets := sample(2)
		var out Rows
		if _, err := newBuilder(t, "chatml", Options{SeqLen: 13 + 2*39 + n}).Trajectory(traj, targets, nil, &out); err != nil {
			t.Fatal(err)
		}
		if len(out.Rows) != rows {
			t.Errorf("a limit of %+d tokens beside the length: %d rows, want %d", n, len(out.Rows), rows)
		}
	}
}
