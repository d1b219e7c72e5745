package endpoint

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/turnmill/turnmill"
)

// wallClock is the machine's clock.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (wallClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// TestRealServer asks a server that is not ours, which `make server` starts: every request ends in one state, a run that
// is stopped and resumed repeats at most what was in flight, and a third run asks nothing.
func TestRealServer(t *testing.T) {
	url, model := os.Getenv("TURNMILL_SERVER_URL"), os.Getenv("TURNMILL_SERVER_MODEL")
	if url == "" {
		t.Skip("TURNMILL_SERVER_URL is not set: `make server` starts a server for this test")
	}
	const queries, samples, most = 16, 3, 4
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	run := func(stopAfter int) (map[string]turnmill.Reply, Account) {
		c := client(t, Options{URL: url, Clock: wallClock{}, Jitter: func() float64 { return 0.5 }, Concurrency: most, Timeout: 2 * time.Minute, Grace: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := map[string]turnmill.Reply{}
		start := time.Now()
		a, err := c.Ask(ctx, Job{Kind: "rollout", Journal: openJournal(t, path)}, realRequests(model, queries, samples), func(r turnmill.Reply) error {
			got[fmt.Sprintf("%s#%d", r.ID, r.Sample)] = r
			if len(got) == stopAfter {
				cancel()
			}
			return nil
		})
		if (err != nil) != (stopAfter > 0) {
			t.Fatal(err)
		}
		checkAccount(t, a)
		t.Logf("%d requests: %d from the journal, %d sent, %d retried, states %v, peak %d, %+v, %.1f s", a.Requests, a.FromJournal, a.Sent, a.Retried, a.States, a.Peak, a.Usage, time.Since(start).Seconds())
		return got, a
	}
	_, stopped := run(10)
	got, a := run(0)
	if len(got) != queries*samples || a.Peak > most || stopped.Sent+a.Sent > queries*samples+most || a.FromJournal != stopped.Asked {
		t.Errorf("%d replies; %d and %d sent, peak %d", len(got), stopped.Sent, a.Sent, a.Peak)
	}
	for id, r := range got {
		if r.State != turnmill.ReplyComplete && r.State != turnmill.ReplyTruncated || r.Usage.Completion == 0 || r.Usage.Prompt == 0 || r.Finish == "" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	again, a := run(0)
	if diff := cmp.Diff(got, again); diff != "" || a.Sent != 0 {
		t.Errorf("the last run sent %d, and differs (-before +after):\n%s", a.Sent, diff)
	}
}

// TestRealServerRefuses: what a server says about an address that it does not know stands in the reply.
func TestRealServerRefuses(t *testing.T) {
	url := os.Getenv("TURNMILL_SERVER_URL")
	if url == "" {
		t.Skip("TURNMILL_SERVER_URL is not set: `make server` starts a server for this test")
	}
	r := turnmill.Request{ID: "q", Model: os.Getenv("TURNMILL_SERVER_MODEL"), Messages: []turnmill.Message{{Role: "user", Content: "ls"}}}
	c := client(t, Options{URL: url + "/nowhere", Clock: wallClock{}, Jitter: func() float64 { return 0 }})
	a, err := c.Ask(t.Context(), Job{Kind: "rollout", Journal: newJournal(t)}, func(yield func(turnmill.Request, error) bool) { yield(r, nil) }, func(r turnmill.Reply) error {
		t.Logf("%s: %s", r.State, r.Error)
		if r.State != turnmill.ReplyFailed || r.Error != "http_404: the server says: Not Found" {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, a)
}

func realRequests(model string, queries, samples int) iter.Seq2[turnmill.Request, error] {
	return func(yield func(turnmill.Request, error) bool) {
		for i := range queries {
			for s := range samples {
				seed := int64(s)
				r := turnmill.Request{ID: fmt.Sprintf("t%d@1", i), Sample: s, Model: model,
					Messages: []turnmill.Message{{Role: "system", Content: "You are a terminal."}, {Role: "user", Content: fmt.Sprintf("cat file%d", i)}},
					Params:   turnmill.Params{Temperature: "0.6", TopP: "0.95", MaxTokens: 12, Seed: &seed}}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}
