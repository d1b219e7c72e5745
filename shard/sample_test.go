package shard

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
	"github.com/turnmill/turnmill/shard/chat"
)

func text(r turnmill.Row, s turnmill.Span) string { return decode(r.IDs[s.Start:s.End]) }

// A sample of each family, to be read: history has no reasoning, the answer has.
func TestSample(t *testing.T) {
	for format, want := range map[string]string{
		"chatml": "<|im_start|>system\nsys<|im_end|>\n<|im_start|>user\nact 0<|im_end|>\n<|im_start|>assistant\nobservation 0<|im_end|>\n" +
			"<|im_start|>user\nact 1<|im_end|>\n<|im_start|>assistant\n[<think>\nwhy\n</think>\n\n][that<|im_end|>]\n",
		"qwen3": "<|im_start|>system\nsys<|im_end|>\n<|im_start|>user\nact 0<|im_end|>\n<|im_start|>assistant\nobservation 0<|im_end|>\n" +
			"<|im_start|>user\nact 1<|im_end|>\n<|im_start|>assistant\n[<think>\nwhy\n</think>\n\n][that<|im_end|>]\n",
		"llama3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nsys<|eot_id|>" +
			"<|start_header_id|>user<|end_header_id|>\n\nact 0<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nobservation 0<|eot_id|>" +
			"<|start_header_id|>user<|end_header_id|>\n\nact 1<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n[<think>\nwhy\n</think>\n\n][that<|eot_id|>]",
		"deepseek": "<｜begin▁of▁sentence｜>sys<｜User｜>act 0<｜Assistant｜>observation 0<｜end▁of▁sentence｜>" +
			"<｜User｜>act 1<｜Assistant｜>[<think>\nwhy\n</think>\n\n][that<｜end▁of▁sentence｜>]",
		"gemma": "<bos><start_of_turn>user\nsys\n\nact 0<end_of_turn>\n<start_of_turn>model\nobservation 0<end_of_turn>\n" +
			"<start_of_turn>user\nact 1<end_of_turn>\n<start_of_turn>model\n[<think>\nwhy\n</think>\n\n][that<end_of_turn>]\n",
	} {
		t.Run(format, func(t *testing.T) {
			traj, _ := sample(4)
			var rows Rows
			res, err := newBuilder(t, format, Options{}).Sample(&Sample{Trajectory: traj, Target: 1, Reasoning: "why", Answer: "that"}, &rows)
			if err != nil || res.Reason != "" {
				t.Fatal(err, res.Reason)
			}
			r := rows.Rows[res.Row]
			got := decode(r.IDs[:res.Reasoning.Start]) + "[" + text(r, res.Reasoning) + "][" + text(r, res.Answer) + "]" + decode(r.IDs[res.Answer.End:])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			if got := text(r, res.Action); got != "act 1"+endTokens(format)[0] {
				t.Errorf("action %q", got)
			}
		})
	}
}

// Each part alone carries the loss that is asked for, and both together theirs; nothing else ever does.
func TestPitfall18LossOfASample(t *testing.T) {
	for loss, want := range map[string]string{"both": "<think>\nwhy\n</think>\n\nthat<|im_end|>", "reasoning": "<think>\nwhy\n</think>\n\n", "answer": "that<|im_end|>"} {
		part, ok := ParseAnswerLoss(loss)
		if !ok {
			t.Fatal(loss)
		}
		traj, _ := sample(2)
		traj.Turns[0].Observation = "<think>\nwhy\n</think>\n\nthat" // the same text, as context
		var rows Rows
		res, err := newBuilder(t, "qwen3", Options{}).Sample(&Sample{Trajectory: traj, Target: 1, Reasoning: "why", Answer: "that", Loss: part}, &rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(trained(rows.Rows[0]), "|"); got != want || int(res.Trained) != len(labelled(rows.Rows[0])) {
			t.Errorf("%s: trained %q, %d tokens", loss, got, res.Trained)
		}
	}
	if _, ok := ParseAnswerLoss("all"); ok {
		t.Error("all is no part")
	}
}

func labelled(r turnmill.Row) (at []int) {
	for i, l := range r.Labels {
		if l != turnmill.IgnoreIndex {
			at = append(at, i)
		}
	}
	return at
}

// Pitfall 7: what the generation prompt holds is context.
func TestPitfall07GenerationPromptIsContext(t *testing.T) {
	f, err := chat.New("qwen3", toytoken.Tokenizer{}, chat.Options{Thinking: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(f, toytoken.Tokenizer{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	traj, _ := sample(1)
	for reasoning, want := range map[string]string{"why": "why\n</think>\n\nthat<|im_end|>", "": "that<|im_end|>"} {
		var rows Rows
		if _, err := b.Sample(&Sample{Trajectory: traj, Reasoning: reasoning, Answer: "that"}, &rows); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(trained(rows.Rows[0]), "|"); got != want {
			t.Errorf("reasoning %q: trained %q, want %q", reasoning, got, want)
		}
	}
}

// Too long: system and target stay, whole oldest turns go, and what does not fit at all is named.
func TestSampleTooLong(t *testing.T) {
	traj, _ := sample(4)
	b := func(format string, n int) *Builder { return newBuilder(t, format, Options{SeqLen: n}) }
	for _, format := range chat.Names() {
		var rows Rows
		whole, err := b(format, 0).Sample(&Sample{Trajectory: traj, Target: 3, Reasoning: "why", Answer: "that"}, &rows)
		if err != nil || whole.Cut != 0 {
			t.Fatal(err, whole.Cut)
		}
		all := len(rows.Rows[0].IDs)
		var reasons []turnmill.Reason
		last := 0
		for n := all; n > 1; n-- {
			var rows Rows
			res, err := b(format, n).Sample(&Sample{Trajectory: traj, Target: 3, Reasoning: "why", Answer: "that"}, &rows)
			if err != nil {
				t.Fatal(err)
			}
			if res.Reason != "" {
				reasons = append(reasons, res.Reason)
				if len(rows.Rows) != 0 || len(rows.ids)+len(rows.labels)+len(rows.turns) != 0 || res.Row != -1 {
					t.Fatalf("%s, %d tokens: %s and a row", format, n, res.Reason)
				}
				continue
			}
			r := rows.Rows[0]
			if res.Cut < last || len(r.IDs) > n || len(r.Turns) != 4-res.Cut || strings.Count(decode(r.IDs), "sys") != 1+strings.Count(decode(r.IDs), "system") {
				t.Fatalf("%s, %d tokens: %d turns cut, %q", format, n, res.Cut, decode(r.IDs))
			}
			if text(r, res.Answer) != "that"+endTokens(format)[1] {
				t.Fatalf("%s, %d tokens: answer %q", format, n, text(r, res.Answer))
			}
			last = res.Cut
		}
		if last != 3 || !slices.Contains(reasons, turnmill.ReasonTurnTooLong) || reasons[len(reasons)-1] != turnmill.ReasonSystemTooLong {
			t.Errorf("%s: %d turns cut, then %v", format, last, slices.Compact(reasons))
		}
		var none Rows
		if res, err := b(format, all-1).Sample(&Sample{Trajectory: traj, Target: 3, Reasoning: "why", Answer: "that", Whole: true}, &none); err != nil || res.Reason != turnmill.ReasonTurnTooLong || len(none.Rows) != 0 {
			t.Errorf("%s, whole: %v, %s, %d rows", format, err, res.Reason, len(none.Rows))
		}
	}
}

// Loss on reasoning that is not there is no row; a target that is not there is an error.
func TestSampleWithNothingToLearn(t *testing.T) {
	traj, _ := sample(2)
	var rows Rows
	b := newBuilder(t, "chatml", Options{})
	if res, err := b.Sample(&Sample{Trajectory: traj, Answer: "x", Loss: LossReasoning}, &rows); err != nil || res.Reason != turnmill.ReasonNoLoss || len(rows.Rows) != 0 {
		t.Errorf("%v, %s", err, res.Reason)
	}
	for _, s := range []Sample{{Trajectory: traj, Target: 2}, {Trajectory: traj, Target: -1}, {Trajectory: traj, Verdicts: make([]turnmill.Verdict, 1)}} {
		if _, err := b.Sample(&s, &rows); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// A sample is the row that a trajectory of the same turns has, cut from the oldest on as little as need be,
// with the answer for the last observation and the reasoning before it. Its spans are their texts, loss lies
// on nothing else, and a cut row is that of the trajectory without the turns that went.
func TestSampleIsARowOfItsTurns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom(chat.Names()).Draw(rt, "format")
		words := rapid.StringMatching(`\n{0,3}([aé<]{1,5}\n{0,3}){0,3}`)
		n := rapid.IntRange(1, 5).Draw(rt, "turns")
		traj := &turnmill.Trajectory{System: turnmill.SystemPrompt{TaskDescription: words.Draw(rt, "system"), InitialState: words.Draw(rt, "initial")}}
		verdicts := make([]turnmill.Verdict, n)
		for i := range n {
			traj.Turns = append(traj.Turns, turnmill.Turn{Index: i, HasAction: true, State: words.Draw(rt, "state"), Action: words.Draw(rt, "action"), Observation: words.Draw(rt, "observation")})
			if rapid.IntRange(0, 4).Draw(rt, "dropped") == 0 {
				verdicts[i] = turnmill.Verdict{Status: turnmill.StatusDropped, Reason: turnmill.ReasonRetryCycle}
			}
		}
		s := &Sample{Trajectory: traj, Target: rapid.IntRange(0, n-1).Draw(rt, "target"), Verdicts: verdicts,
			Reasoning: words.Draw(rt, "reasoning"), Answer: words.Draw(rt, "answer"), Loss: AnswerLoss(rapid.IntRange(0, 2).Draw(rt, "loss"))}
		o := Options{SeqLen: rapid.IntRange(20, 400).Draw(rt, "seq-len"), State: StateMode(rapid.IntRange(0, 2).Draw(rt, "state mode"))}
		var rows Rows
		res, err := newBuilder(t, format, o).Sample(s, &rows)
		if err != nil {
			rt.Fatal(err)
		}
		kept := keptTurns(s)
		want := ""
		if res.Reason == "" {
			want = sampleText(t, format, o.State, s, kept[res.Cut:])
			sampleSpans(rt, format, s, rows.Rows[res.Row], &res, kept[res.Cut:])
			if got := decode(rows.Rows[0].IDs); got != want {
				rt.Fatalf("row %q, want %q", got, want)
			}
		}
		if res.Reason == "" && res.Cut > 0 {
			if longer := sampleTokens(t, format, o.State, s, kept[res.Cut-1:]); longer <= o.SeqLen {
				rt.Fatalf("%d turns cut, and %d tokens of %d would be one more", res.Cut, longer, o.SeqLen)
			}
		}
		if short := sampleTokens(t, format, o.State, s, kept[len(kept)-1:]); (res.Reason == turnmill.ReasonSystemTooLong || res.Reason == turnmill.ReasonTurnTooLong) != (short > o.SeqLen) {
			rt.Fatalf("%s: the target alone has %d tokens of %d", res.Reason, short, o.SeqLen)
		}
	})
}

// keptTurns are the turns of a sample that were not dropped, its target last.
func keptTurns(s *Sample) (kept []int) {
	for i := range s.Target {
		if s.Verdicts[i].Status != turnmill.StatusDropped {
			kept = append(kept, i)
		}
	}
	return append(kept, s.Target)
}

// rowOf is the row of a trajectory with these turns, whose last observation begins with the reasoning.
func rowOf(t testing.TB, format string, mode StateMode, s *Sample, turns []int) turnmill.Row {
	traj := &turnmill.Trajectory{System: s.Trajectory.System}
	for _, i := range turns {
		turn := s.Trajectory.Turns[i]
		if !mode.Shows(s.Trajectory, i) {
			turn.State = ""
		}
		traj.Turns = append(traj.Turns, turn)
	}
	last := &traj.Turns[len(traj.Turns)-1]
	last.Observation = s.Answer
	if s.Reasoning != "" {
		last.Observation = "<think>\n" + s.Reasoning + "\n</think>\n\n" + s.Answer
	}
	targets := make([]Target, len(turns))
	for i := range targets {
		targets[i].Kept = true
	}
	var rows Rows
	if _, err := newBuilder(t, format, Options{}).Trajectory(traj, targets, nil, &rows); err != nil {
		t.Fatal(err)
	}
	return rows.Rows[0]
}

func sampleText(t testing.TB, format string, mode StateMode, s *Sample, turns []int) string {
	text := decode(rowOf(t, format, mode, s, turns).IDs)
	if s.Reasoning != "" && format == "qwen3" { // the block of a row without reasoning
		at := strings.LastIndex(text, "<think>\n\n</think>\n\n<think>\n"+s.Reasoning)
		text = text[:at] + text[at+len("<think>\n\n</think>\n\n"):]
	}
	return text
}

func sampleTokens(t testing.TB, format string, mode StateMode, s *Sample, turns []int) int {
	var tokens turnmill.Tokens
	text, n := sampleText(t, format, mode, s, turns), 0
	for text != "" {
		at, control := len(text), ""
		for _, c := range toytoken.Control {
			if i := strings.Index(text, c); i >= 0 && i < at {
				at, control = i, c
			}
		}
		tokens.IDs = tokens.IDs[:0]
		if err := (toytoken.Tokenizer{}).Encode(&tokens, []byte(text[:at])); err != nil {
			t.Fatal(err)
		}
		n += len(tokens.IDs) + min(len(control), 1)
		text = text[at+len(control):]
	}
	return n
}

func sampleSpans(rt *rapid.T, format string, s *Sample, r turnmill.Row, res *SampleResult, turns []int) {
	want := map[string]string{"answer": s.Answer + endTokens(format)[1], "reasoning": ""}
	if s.Reasoning != "" {
		want["reasoning"] = "<think>\n" + s.Reasoning + "\n</think>\n\n"
	}
	got := map[string]string{"answer": text(r, res.Answer), "reasoning": text(r, res.Reasoning)}
	// Line feeds before a span may be in its first token.
	if strings.TrimLeft(want["reasoning"]+want["answer"], "\n") != strings.TrimLeft(got["reasoning"]+got["answer"], "\n") {
		rt.Fatalf("spans %q, want %q", got, want)
	}
	var loss []int
	for i := range r.IDs {
		in := func(s turnmill.Span) bool { return int32(i) >= s.Start && int32(i) < s.End }
		if s.Loss != LossAnswer && in(res.Reasoning) || s.Loss != LossReasoning && in(res.Answer) {
			loss = append(loss, i)
		}
	}
	if !slices.Equal(loss, labelled(r)) || int(res.Trained) != len(loss) || r.Labels[0] != turnmill.IgnoreIndex || res.Reasoning.End != res.Answer.Start {
		rt.Fatalf("loss on %v, want %v; %+v", labelled(r), loss, res)
	}
	for i, tt := range r.Turns {
		last := i == len(r.Turns)-1
		if tt.Turn != turns[i] || last && (tt.Observation != res.Answer || tt.Trained != res.Trained) || !last && tt.Trained != 0 || tt.EndTokens != 1 {
			rt.Fatalf("turn %d: %+v", i, tt)
		}
	}
}
