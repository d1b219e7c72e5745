package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
)

// benchCase is one row of a test, with its prediction and the judge's last word, "" for none.
type benchCase struct{ task, id, prediction, judged string }

// writeBench writes the files of an evaluation and returns its options.
func writeBench(t testing.TB, dir string, cases []benchCase) EvalOptions {
	t.Helper()
	var rows, predictions, judgements strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&rows, `{"task":%q,"id":%q,"prompt":["look","act of %s"],"response":["**Environment Observation:**\nbefore","**Environment Observation:**\nreal of %s"],"current_prompt":"act","system_str":"You are a world.","turn_idx":2,"total_turns":3}`+"\n",
			c.task, c.id, c.id, c.id)
		if c.prediction != "" {
			fmt.Fprintf(&predictions, `{"id":%q,"turn_idx":2,"text":%q,"finish_reason":"stop"}`+"\n", c.id, c.prediction)
		}
		if c.judged != "" {
			fmt.Fprintf(&judgements, `{"id":%q,"turn_idx":2,"judge":%q,"finish_reason":"stop"}`+"\n", c.id, c.judged)
		}
	}
	d := DefaultOptions()
	o := EvalOptions{Attempts: 3, MaxRejectRate: 1, MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow}
	for name, text := range map[string]string{"rows": rows.String(), "predictions": predictions.String(), "judgements": judgements.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o.Rows, o.Predictions = []string{filepath.Join(dir, "rows.jsonl")}, []string{filepath.Join(dir, "predictions.jsonl")}
	if judgements.Len() > 0 {
		o.Judgements = []string{filepath.Join(dir, "judgements.jsonl")}
	}
	return o
}

// benchCases returns rows of the seven domains without judgements.
func benchCases(n int) (all []benchCase) {
	for i := range n {
		all = append(all, benchCase{"bench/" + string(turnmill.Domains()[i%7]), fmt.Sprint("r", i), fmt.Sprintf("<think>plan</think><predicted_observation>seen %d</predicted_observation>", i), ""})
	}
	return all
}

func askedEval(t testing.TB, o *oracle, dir string, n int) EvalOptions {
	opts := writeBench(t, dir, benchCases(n))
	opts.JudgeModel, opts.Output = "judge", filepath.Join(dir, "out")
	opts.Ask.JudgeURL, opts.Ask.MaxInFlight = o.URL+"/v1", 4
	opts.Ask.tune = func(e *endpoint.Options) {
		e.BackoffMin, e.BackoffMax, e.Grace = time.Millisecond, 5*time.Millisecond, -1
	}
	return opts
}

func mustEval(t *testing.T, o EvalOptions) *EvalSummary {
	t.Helper()
	s, err := Eval(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEvalAsks: a judge that refuses, breaks and slows down is asked until each row has an end; asked again it is not;
// stopped at any request it comes to the same bytes.
func TestEvalAsks(t *testing.T) {
	const rows = 150
	o := newOracle(t)
	opts := askedEval(t, o, t.TempDir(), rows)
	s := mustEval(t, opts)
	if s.Rows != rows || s.States[scored] < rows/2 || s.States["judge_failed"] == 0 || s.States["judge_failed"]+s.States["judge_unparsable"]+s.States[scored] != rows {
		t.Fatalf("states %v", s.States)
	}
	if len(s.Domains) != 7 || s.Domains[0].Rows != (rows+6)/7 || s.Domains[6].Domain != turnmill.DomainOS {
		t.Errorf("domains %+v", s.Domains)
	}
	if s.Answers.Attempts["unparsable"] == 0 || s.Answers.Usage.Prompt == 0 {
		t.Fatalf("no second attempt was needed: %+v", s.Answers)
	}
	posts := o.posts
	want := chosen(t, opts.Output)
	mustEval(t, opts)
	if o.posts != posts {
		t.Errorf("the second run sent %d requests", o.posts-posts)
	}
	same := func(what, root string) {
		t.Helper()
		got := chosen(t, root)
		for name, sum := range want {
			if got[name] != sum {
				t.Errorf("%s: %s differs", what, name)
			}
		}
	}
	same("again", opts.Output)

	stopped := askedEval(t, o, t.TempDir(), rows)
	runs := 0
	for ; ; runs++ {
		ctx, cancel := context.WithCancel(context.Background())
		o.mu.Lock()
		from := o.posts
		o.posted = func(n int) {
			if n >= from+25 {
				cancel()
			}
		}
		o.mu.Unlock()
		_, err := Eval(ctx, stopped)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || runs > rows {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(stopped.Output, evalSummary)); err == nil {
			t.Fatal("a stopped evaluation has a summary")
		}
	}
	if runs < 3 {
		t.Fatalf("stopped %d times: the test proves little", runs)
	}
	same("stopped", stopped.Output)
}

// TestEvalBudget: what the budget does not pay for is not judged, and is asked when there is more.
func TestEvalBudget(t *testing.T) {
	o := newOracle(t)
	opts := askedEval(t, o, t.TempDir(), 150)
	opts.Ask.Budget.Requests, opts.MaxRejectRate = 10, 0.5
	s, err := Eval(context.Background(), opts)
	var passed *ThresholdError
	if !errors.As(err, &passed) || !s.Stopped || s.States["not_judged"] < 140 || o.posts != 10 {
		t.Fatalf("%v, %d posts, %+v", err, o.posts, s)
	}
	opts.Ask.Budget.Requests, opts.MaxRejectRate = 0, 1
	if s = mustEval(t, opts); s.States["not_judged"] != 0 {
		t.Errorf("states %v", s.States)
	}
	failed := s.States["judge_failed"]
	posts := o.posts
	opts.Ask.Retry = true
	if s = mustEval(t, opts); o.posts == posts || s.States["judge_failed"] != failed {
		t.Errorf("%d of %d failed were asked again: %v", o.posts-posts, failed, s.States)
	}
}

// TestEvalDown: nobody at the address ends the run, and leaves no scores.
func TestEvalDown(t *testing.T) {
	opts := askedEval(t, newOracle(t), t.TempDir(), 3)
	opts.Ask.JudgeURL = "http://127.0.0.1:1/v1"
	tune := opts.Ask.tune
	opts.Ask.tune = func(e *endpoint.Options) {
		tune(e)
		e.BreakAfter, e.Probes, e.BreakFor = 1, 1, time.Millisecond
	}
	if _, err := Eval(context.Background(), opts); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Fatalf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(opts.Output, "*.*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestEvalShows: the judge sees the texts that the model saw, whole and in their order, the real observation and the
// prediction, and nothing else of either.
func TestEvalShows(t *testing.T) {
	opts := writeBench(t, t.TempDir(), []benchCase{{"bench/swe", "a", "<think>secret</think>no\n<predicted_observation>\nseen\n</predicted_observation> and more", "{}"}})
	opts.JudgeModel, opts.Output, opts.Ask.JudgeURL = "m", t.TempDir(), "http://127.0.0.1:1/v1"
	e, err := openEvaluation(context.Background(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	n := 0
	for r, err := range e.missing(context.Background(), 1) { // a file holds the first attempt
		if err != nil {
			t.Fatal(err)
		}
		n++
		user := r.Messages[1].Content
		key := user[strings.Index(user, "system ")+7 : strings.Index(user, ">>>")]
		var want strings.Builder
		for i, s := range [][2]string{{"message 1 of 4, system", "You are a world."}, {"message 2 of 4, user", "look"},
			{"message 3 of 4, assistant", "**Environment Observation:**\nbefore"}, {"message 4 of 4, user", "act of a"},
			{"real observation", "real of a"}, {"prediction", "seen"}} {
			if i > 0 {
				want.WriteByte('\n')
			}
			fmt.Fprintf(&want, "<<<%s %s>>>\n%s\n<<<end of %s %s>>>\n", s[0], key, s[1], s[0], key)
		}
		if user != want.String() {
			t.Errorf("the judge sees\n%s\nwant\n%s", user, want.String())
		}
		if r.ID != "a/2/scores/0" || r.Sample != 1 {
			t.Errorf("request %s, attempt %d", r.ID, r.Sample)
		}
	}
	if n != 1 {
		t.Errorf("%d requests", n)
	}
}

// answerOf writes a judge's answer with the dimensions whose score is above 0.
func answerOf(s judge.Scores) string {
	o := map[string]int{}
	for d, n := range s {
		if n > 0 {
			o[judge.Dimension(d).String()] = int(n)
		}
	}
	data, _ := json.Marshal(o)
	return string(data)
}

// TestPropertyEvalMissing: where a judgement loses a dimension its row has no score at all, so that the means are those
// of the other rows, and no floor rises. Under compat some mean rises: the test finds one.
func TestPropertyEvalMissing(t *testing.T) {
	number := func(n *json.Number) *big.Rat {
		if n == nil {
			return new(big.Rat)
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r
	}
	rises := 0
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(r, "rows")
		lost := rapid.IntRange(0, n-1).Draw(r, "row")
		var cases []benchCase
		for i := range n {
			var s judge.Scores
			for d := range s {
				s[d] = uint8(rapid.IntRange(1, 5).Draw(r, "score"))
			}
			domain := rapid.SampledFrom([]string{"web", "os", "mcp"}).Draw(r, "domain")
			cases = append(cases, benchCase{"bench/" + domain, fmt.Sprint(i), "p", answerOf(s)})
		}
		run := func(cases []benchCase, compat bool) *EvalSummary {
			dir, err := os.MkdirTemp("", "turnmill-eval-*")
			if err != nil {
				r.Fatal(err)
			}
			defer os.RemoveAll(dir)
			o := writeBench(t, dir, cases)
			o.Compat = compat
			s, err := Eval(context.Background(), o)
			if err != nil {
				r.Fatal(err)
			}
			return s
		}
		whole, compat := run(cases, false), run(cases, true)
		if *whole.OverSamples.Score != *compat.OverSamples.Score {
			r.Fatalf("whole answers give %s, under compat %s", *whole.OverSamples.Score, *compat.OverSamples.Score)
		}
		others := run(slices.Delete(slices.Clone(cases), lost, lost+1), false)
		dims := map[string]int{}
		json.Unmarshal([]byte(cases[lost].judged), &dims)
		delete(dims, judge.Dimension(rapid.IntRange(0, judge.NumDimensions-1).Draw(r, "dimension")).String())
		data, _ := json.Marshal(dims)
		cases[lost].judged = string(data)
		less := run(cases, false)
		for _, m := range []struct{ less, others, whole EvalMean }{
			{less.OverSamples, others.OverSamples, whole.OverSamples}, {less.OverDomains, others.OverDomains, whole.OverDomains}} {
			if number(m.less.Score).Cmp(number(m.others.Score)) != 0 {
				r.Fatalf("the mean is %s, without the row %s", *m.less.Score, *m.others.Score)
			}
			if number(m.less.Floor).Cmp(number(m.whole.Floor)) > 0 {
				r.Fatalf("the floor rises from %s to %s", *m.whole.Floor, *m.less.Floor)
			}
		}
		if number(run(cases, true).OverSamples.Floor).Cmp(number(whole.OverSamples.Floor)) > 0 {
			rises++
		}
	})
	if rises == 0 {
		t.Error("no mean rises under compat: the property is told by nothing")
	}
}
