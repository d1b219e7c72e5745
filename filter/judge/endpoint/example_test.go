package endpoint_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
)

// machineClock is the machine's clock, as pipelines gives it.
type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (machineClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Three samples of one query: asked in the first run, read back in the second.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":"<think>one file</think>a.txt"}}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`)
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		if err := run(server.URL+"/v1", filepath.Join(dir, "p00000.rollouts.jsonl")); err != nil {
			panic(err)
		}
	}
	// Output:
	// asked 3, from the journal 0, complete 3, cost 0.0000321
	// asked 0, from the journal 3, complete 3, cost 0
}

func run(url, path string) error {
	in, err := endpoint.ParsePrice("0.30")
	if err != nil {
		return err
	}
	out, err := endpoint.ParsePrice("2")
	if err != nil {
		return err
	}
	client, err := endpoint.New(endpoint.Options{URL: url, Clock: machineClock{}, Jitter: func() float64 { return 0.5 },
		Prices: endpoint.Prices{Prompt: in, Completion: out}})
	if err != nil {
		return err
	}
	defer client.Close()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	journal, err := endpoint.OpenJournal(file, "journal/"+filepath.Base(path))
	if err != nil {
		return err
	}
	account, err := client.Ask(context.Background(), endpoint.Job{Kind: "rollout", Journal: journal}, samples(3), func(r turnmill.Reply) error {
		return nil // r.ID and r.Sample say what is answered; r.State whether it is an answer
	})
	fmt.Printf("asked %d, from the journal %d, complete %d, cost %s\n", account.Asked, account.FromJournal, account.States[turnmill.ReplyComplete], account.Cost)
	return err
}

func samples(n int) iter.Seq2[turnmill.Request, error] {
	return func(yield func(turnmill.Request, error) bool) {
		for i := range n {
			seed := int64(i)
			r := turnmill.Request{ID: "run-7@3", Sample: i, Model: "m", Params: turnmill.Params{Temperature: "0.6", Seed: &seed},
				Messages: []turnmill.Message{{Role: "system", Content: "You are a terminal."}, {Role: "user", Content: "ls"}}}
			if !yield(r, nil) {
				return
			}
		}
	}
}
