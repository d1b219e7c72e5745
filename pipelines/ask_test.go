package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toyrollouts"
)

// chosen is digest without the journals, in which answers stand in the order in which they came.
func chosen(t testing.TB, root string) map[string]string {
	t.Helper()
	sums := digest(t, root)
	for name := range sums {
		if strings.HasPrefix(name, journalDir+"/") {
			delete(sums, name)
		}
	}
	return sums
}

// TestAsk: with nothing recorded, every question is asked and answered once; a second run asks nothing, and one with the
// same journals gives the same bytes. Check proves all of it.
func TestAsk(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 21)
	m := mustRun(t, o)
	q := m.Ledger.Total.Queries
	if q.In != 21 || q.Out == 0 || q.Rejected[turnmill.ReasonRolloutFailed]+q.Rejected[turnmill.ReasonJudgeFailed] == 0 {
		t.Fatalf("queries %+v: want 21, some selected and some that failed", q)
	}
	if got, want := server.answers(), journalled(t, o.Output); got != want {
		t.Errorf("%d answers, and the journals hold %d", got, want)
	}
	if server.peak > 8 {
		t.Errorf("%d requests in flight, want at most 4 of each endpoint", server.peak)
	}
	mustCheck(t, o)
	posts, want := server.posts, chosen(t, o.Output)
	mustRun(t, o)
	again := with(t, o, func(o *Options) { o.Workers = 7 })
	copyDir(t, filepath.Join(o.Output, journalDir), filepath.Join(again.Output, journalDir))
	mustRun(t, again)
	sameFiles(t, "from the journals", want, chosen(t, again.Output))
	if server.posts != posts {
		t.Errorf("%d requests more, want none", server.posts-posts)
	}
}

// TestAskInterrupted: after a break at any request, no more is asked again than was in flight, and the end is the same.
func TestAskInterrupted(t *testing.T) {
	server := newOracle(t)
	base := asking(t, server, 14)
	mustRun(t, base)
	want := chosen(t, base.Output)
	for _, after := range []int{1, 20, 60} {
		server := newOracle(t)
		o := with(t, base, func(o *Options) { o.Ask.RolloutURL, o.Ask.JudgeURL = server.URL+"/v1", server.URL+"/v1" })
		ctx, cancel := context.WithCancel(context.Background())
		server.posted = func(posts int) {
			if posts == after {
				cancel()
			}
		}
		if _, err := CPT(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d requests: %v", after, err)
		}
		cancel()
		mustRun(t, o)
		if twice := server.answers() - journalled(t, o.Output); twice < 0 || twice > 4 {
			t.Errorf("after %d requests: %d answers beyond those in the journals, want at most the 4 in flight", after, twice)
		}
		sameFiles(t, fmt.Sprintf("a break after %d requests", after), want, chosen(t, o.Output))
	}
}

// TestAskInterruptedLate: a run that was stopped among the last attempts at what cannot be read goes on with those attempts.
func TestAskInterruptedLate(t *testing.T) {
	server := newOracle(t)
	server.prose, server.healed = true, true
	o := asking(t, server, 7)
	o.Partitions, o.Ask.MaxInFlight = 1, 1
	mustRun(t, o)
	want, whole := chosen(t, o.Output), journalled(t, o.Output)
	if whole != 7*3*(1+o.SFT.Attempts) {
		t.Fatalf("%d answers, want 21 rollouts and %d attempts at the scores of each", whole, o.SFT.Attempts)
	}
	for attempt := range o.SFT.Attempts {
		after := 3*attempt + 1 // the three rollouts of a query are the same, and so are the questions about them
		server := newOracle(t)
		server.prose, server.healed = true, true
		o := with(t, o, func(o *Options) { o.Ask.RolloutURL, o.Ask.JudgeURL = server.URL+"/v1", server.URL+"/v1" })
		ctx, cancel := context.WithCancel(context.Background())
		server.posted = func(int) {
			server.mu.Lock()
			defer server.mu.Unlock()
			for body, n := range server.answered {
				if n == after && strings.Contains(body, `"model":"judge"`) {
					cancel()
				}
			}
		}
		if _, err := CPT(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled in attempt %d: %v", attempt, err)
		}
		cancel()
		mustRun(t, o)
		if got := journalled(t, o.Output); got != whole {
			t.Errorf("stopped in attempt %d: %d answers in all, want %d", attempt, got, whole)
		}
		sameFiles(t, fmt.Sprintf("a break in attempt %d", attempt), want, chosen(t, o.Output))
	}
}

// TestAskBudget: no more is sent than the budget allows, over several runs, and what was not asked says so.
func TestAskBudget(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 14)
	o.Ask.Budget.Requests = 15
	m := mustRun(t, o)
	if server.posts > 30 { // of two endpoints
		t.Errorf("%d requests, with a budget of 15 for each endpoint", server.posts)
	}
	if q := m.Ledger.Total.Queries; q.In != 14 || q.Rejected[turnmill.ReasonBudget] == 0 {
		t.Errorf("queries %+v: want 14, some of them not asked", q)
	}
	mustCheck(t, o)
	posts := server.posts
	o.Restart = true
	o.SFT.Threshold = "1"
	mustRun(t, o)                               // the journals stay, and count
	if more := server.posts - posts; more > 2 { // attempts that came to nothing stand in no journal
		t.Errorf("%d requests after the budget was spent", more)
	}
}

// TestAskBudgetOfJudges: a spent budget of judges says nothing of rollouts that no file holds: nobody would ask for them.
func TestAskBudgetOfJudges(t *testing.T) {
	o := asking(t, newOracle(t), 14)
	answers := filepath.Join(t.TempDir(), "rollouts.jsonl")
	if err := os.WriteFile(answers, []byte(recordedRollouts(7, nil)), 0o666); err != nil {
		t.Fatal(err)
	}
	o.SFT.Rollouts, o.SFT.RolloutModel, o.Ask.Budget.Requests = []string{answers}, "", 4
	m := mustRun(t, o)
	if q := m.Ledger.Total.Queries; q.Dropped[turnmill.ReasonIncompleteRollouts] != 7 || q.Rejected[turnmill.ReasonBudget] == 0 {
		t.Errorf("queries %+v: want the 7 without rollouts dropped, and some whose judges were not asked", q)
	}
	mustCheck(t, o)
}

// recordedRollouts returns three answers to every turn of so many trajectories; those that failed say so.
func recordedRollouts(trajectories int, failed func(sample int) bool) string {
	var text strings.Builder
	for i := range trajectories {
		d := turnmill.Domains()[i%len(turnmill.Domains())]
		for turn := range toyrollouts.Turns {
			for n := range 3 {
				if failed != nil && failed(n) {
					fmt.Fprintf(&text, "{\"query\":\"%s-%03d@%d\",\"rollout\":%d,\"error\":\"busy\"}\n", d, i, turn, n)
					continue
				}
				fmt.Fprintf(&text, "{\"query\":\"%s-%03d@%d\",\"rollout\":%d,\"text\":\"recorded %d\",\"finish_reason\":\"stop\"}\n", d, i, turn, n, n)
			}
		}
	}
	return text.String()
}

// TestAskWithRecorded: what files hold is not asked; a failure in a file is.
func TestAskWithRecorded(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 7)
	answers := filepath.Join(t.TempDir(), "rollouts.jsonl")
	if err := os.WriteFile(answers, []byte(recordedRollouts(7, func(n int) bool { return n == 2 })), 0o666); err != nil {
		t.Fatal(err)
	}
	o.SFT.Rollouts = []string{answers}
	m := mustRun(t, o)
	rollouts := 0
	for body := range server.tries {
		if strings.Contains(body, `"model":"roll"`) {
			rollouts++
		}
	}
	if rollouts != 7 {
		t.Errorf("%d rollouts were asked, want the 7 that had failed", rollouts)
	}
	if m.Ledger.Total.Queries.Out == 0 {
		t.Error("nothing came out")
	}
	if want := int64(7 * 3 * (toyrollouts.Turns - 1)); m.SFT.Unasked != want {
		t.Errorf("%d answers to what nobody asked, want %d", m.SFT.Unasked, want)
	}
	mustCheck(t, o)
}

// TestRetry: what failed is asked again, and nothing else; with the endpoint mended nothing is left that failed.
func TestRetry(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 28)
	m := mustRun(t, o)
	if m.Ledger.Total.Queries.AllRejected() == 0 {
		t.Fatal("nothing failed: the test would prove nothing")
	}
	var usage *UsageError
	if _, err := Retry(context.Background(), Options{Output: o.Output, Memory: o.Memory}); !errors.As(err, &usage) {
		t.Errorf("a retry without an address: %v, want a usage error", err)
	}
	mustCheck(t, o) // nothing is gone
	server.healed = true
	before := server.answers()
	r := Options{Output: o.Output, Ask: o.Ask, Memory: o.Memory, MaxRejectRate: 1, MaxDropRate: 1}
	again, err := Retry(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if q := again.Ledger.Total.Queries; q.In != 28 || q.AllRejected() != 0 || q.Out < m.Ledger.Total.Queries.Out {
		t.Errorf("queries after the retry: %+v", q)
	}
	if got, want := server.answers(), journalled(t, o.Output); got != want || got == before {
		t.Errorf("%d answers, %d before the retry, and the journals hold %d", got, before, want)
	}
	mustCheck(t, o)
	posts := server.posts
	if _, err := Retry(context.Background(), r); err != nil || server.posts != posts {
		t.Errorf("a retry of what has not failed: %v, %d requests", err, server.posts-posts)
	}
	recorded := toySFT(t)
	mustRun(t, recorded)
	if _, err := Retry(context.Background(), Options{Output: recorded.Output}); !errors.As(err, &usage) {
		t.Errorf("a retry of recorded answers: %v, want a usage error", err)
	}
}
