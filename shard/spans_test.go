package shard

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/chat"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans []turnmill.Span // of "observation 0"
		kept  bool
		want  []string
		pairs []int32
	}{
		{"inside", []turnmill.Span{{Start: 2, End: 4}, {Start: 6, End: 7}}, false, []string{"se", "a"}, []int32{2, 4, 6, 7}},
		{"to the end, with its token", []turnmill.Span{{Start: 11, End: 13}}, false, []string{" 0<|im_end|>"}, []int32{11, 14}},
		{"nothing", []turnmill.Span{}, false, nil, []int32{}},
		{"nothing that the draw would need", []turnmill.Span{{Start: 2, End: 4}}, true, []string{"observation 0<|im_end|>"}, []int32{2, 4}},
		{"none to speak of", nil, false, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			traj, targets := sample(2)
			targets[0].Kept, targets[0].Spans = c.kept, c.spans
			var rows Rows
			res, err := newBuilder(t, "chatml", Options{}).Trajectory(traj, targets, nil, &rows)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(slices.Clone(c.want), "observation 1<|im_end|>"), trained(rows.Rows[0])); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			r := res.Turns[0]
			if diff := cmp.Diff(c.pairs, r.Spans); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
			if masked := r.Reason == turnmill.ReasonMasked; masked != (c.want == nil) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A row in which spans are all that is trained stays; one without is gone, and says nothing of spans.
func TestSpansKeepARow(t *testing.T) {
	for _, spans := range [][]turnmill.Span{{{Start: 0, End: 1}}, {}} {
		traj, targets := sample(1)
		targets[0].Kept, targets[0].Spans = false, spans
		var rows Rows
		res, err := newBuilder(t, "chatml", Options{}).Trajectory(traj, targets, nil, &rows)
		if err != nil {
			t.Fatal(err)
		}
		if r := res.Turns[0]; len(rows.Rows) != len(spans) || (r.Spans == nil) == (len(spans) > 0) || int(r.Trained) != len(spans) {
			t.Errorf("spans %v: %d rows, %+v", spans, len(rows.Rows), r)
		}
	}
}

// drawSpans draws spans of a text that rise and do not touch; nil now and then.
func drawSpans(rt *rapid.T, text string) []turnmill.Span {
	if rapid.IntRange(0, 3).Draw(rt, "no spans") == 0 {
		return nil
	}
	spans := []turnmill.Span{}
	for at := rapid.IntRange(0, 3).Draw(rt, "start"); at < len(text); {
		end := min(at+rapid.IntRange(1, 6).Draw(rt, "length"), len(text))
		spans = append(spans, turnmill.Span{Start: int32(at), End: int32(end)})
		at = end + rapid.IntRange(1, 6).Draw(rt, "between")
	}
	return spans
}

// A token carries loss when the draw keeps its turn or its last byte lies in a span, in windows of any length, in
// every format, whole or in parts.
func TestSpansInTokens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "turns")
		traj, targets := sample(n)
		for i := range n {
			traj.Turns[i].Observation = rapid.StringMatching(`\n{0,3}([a-cé]|\n){0,30}`).Draw(rt, "observation")
			targets[i].Kept = rapid.Bool().Draw(rt, "kept")
			targets[i].Spans = drawSpans(rt, traj.Turns[i].Observation)
			targets[i].Verdict = rapid.SampledFrom([]turnmill.Verdict{
				{}, {}, {}, {Status: turnmill.StatusContext, Reason: turnmill.ReasonDialogue}, {Status: turnmill.StatusDropped, Reason: turnmill.ReasonNoAction},
			}).Draw(rt, "verdict")
		}
		o := Options{SeqLen: rapid.IntRange(40, 400).Draw(rt, "seqlen"), Objective: rapid.SampledFrom([]Objective{WorldModel, Both}).Draw(rt, "objective")}
		var rows Rows
		b := newBuilder(t, rapid.SampledFrom(chat.Names()).Draw(rt, "format"), o)
		res, err := b.Trajectory(traj, targets, nil, &rows)
		if err != nil {
			rt.Fatal(err)
		}
		sameInParts(t, rt, b, traj, targets, &res, &rows)
		for _, row := range rows.Rows {
			for _, tt := range row.Turns {
				checkTurnSpans(rt, row, tt, &targets[tt.Turn], traj.Turns[tt.Turn].Observation, &res.Turns[tt.Turn], o.Objective == Both)
			}
		}
	})
}

func checkTurnSpans(rt *rapid.T, row turnmill.Row, tt turnmill.TurnTokens, target *Target, observation string, r *TurnResult, both bool) {
	is := target.Status == turnmill.StatusTarget
	if (r.Spans == nil) != (target.Spans == nil || !is) {
		rt.Fatalf("spans %v of %+v", r.Spans, target)
	}
	inPairs := func(i int32) bool {
		for k := 0; k < len(r.Spans); k += 2 {
			if i >= r.Spans[k] && i < r.Spans[k+1] {
				return true
			}
		}
		return false
	}
	trained := int32(0)
	left := len(observation)
	for i := tt.Observation.End - 1; i >= tt.Observation.Start; i-- {
		inside := func(at int) bool {
			return slices.ContainsFunc(target.Spans, func(s turnmill.Span) bool { return at >= int(s.Start) && at < int(s.End) })
		}
		fresh := inside(left - 1)
		if i < tt.Observation.End-1 {
			left -= len(decode(row.IDs[i : i+1]))
		}
		if target.Spans != nil && is && fresh != inPairs(i-tt.Observation.Start) {
			rt.Fatalf("token %d of %q: pairs %v, spans %v", i-tt.Observation.Start, observation, r.Spans, target.Spans)
		}
		want := is && (target.Kept || fresh)
		if got := row.Labels[i] != turnmill.IgnoreIndex; got != want {
			rt.Fatalf("token %d of %q, kept %v, spans %v: trained %v", i-tt.Observation.Start, observation, target.Kept, target.Spans, got)
		} else if got {
			trained++
		}
	}
	if both && is && target.Kept { // actions go by the draw
		trained += tt.Action.Len()
	}
	if trained != tt.Trained || trained != r.Trained {
		rt.Fatalf("%d trained, said %d, %d", trained, tt.Trained, r.Trained)
	}
}
