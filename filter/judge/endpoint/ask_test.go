package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
)

// TestPitfall24Storm: 20 x 429, one 500, a hang, a half body, and what else servers do, then an answer.
func TestPitfall24Storm(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.Timeout, o.Idle = 50*time.Second, 20*time.Second
	c := client(t, o)
	storm := strings.Repeat("429,", 20)
	got, a := ask(t, c, newJournal(t), "a|"+storm+"500,hang,half", "b|"+storm+"close,wrong,html,said", "c|drip,silent", "d|429-after-7,429-date-7,503-after-3", "e|said429")
	for id, r := range got {
		if r.State != turnmill.ReplyComplete || r.Text != id || r.Reasoning != "because" || r.Model != "m-1" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	heard, _ := s.heard()
	if want := int64(24 + 25 + 3 + 4 + 2); len(got) != 5 || a.Sent != want || a.Retried != want-5 || a.Limited != 43 || heard != want {
		t.Errorf("%d replies, %d sent (server: %d), %d retried, %d limited; want 5, %d, %d, 43", len(got), a.Sent, heard, a.Retried, a.Limited, want, want-5)
	}
	if a.Usage.Prompt != 50 || a.Usage.Completion != 25 {
		t.Errorf("usage %+v", a.Usage)
	}
}

// TestEnds: how each fault ends that does not go away, and what the server hears of it.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		fault, want string
		sent        int64
		state       turnmill.ReplyState
	}{
		{"400", "http_400: the server says: c400: told 400 by Bearer [key]", 1, turnmill.ReplyFailed},
		{"401", "http_401: the server says: c401: told 401 by Bearer [key]", 1, turnmill.ReplyFailed},
		{"422", "http_422: the server says: c422: told 422 by Bearer [key]", 1, turnmill.ReplyFailed},
		{"408", "http_408: the server says: c408: told 408 by Bearer [key]", 3, turnmill.ReplyFailed},
		{"409", "http_409: the server says: c409: told 409 by Bearer [key]", 3, turnmill.ReplyFailed},
		{"500", "http_500: the server says: c500: told 500 by Bearer [key]", 3, turnmill.ReplyFailed},
		{"quota", "http_429: the server says: insufficient_quota: pay first", 1, turnmill.ReplyFailed},
		{"filter", "", 1, turnmill.ReplyRefused},
		{"half", "half_body: unexpected EOF", 3, turnmill.ReplyFailed},
		{"close", "connection: EOF", 3, turnmill.ReplyFailed},
		{"wrong", "wrong_body: ", 3, turnmill.ReplyFailed},
		{"html", "wrong_body: ", 3, turnmill.ReplyFailed},
		{"said", "wrong_body: the server says: 503: overloaded", 3, turnmill.ReplyFailed},
		{"huge", "too_large: the answer passes the limit of a response", 1, turnmill.ReplyFailed},
		{"bomb", "too_large: the answer passes the limit of a response", 1, turnmill.ReplyFailed},
		{"redirect", "redirect: status 307", 1, turnmill.ReplyFailed},
		{"hang", "timeout: no whole answer in time", 3, turnmill.ReplyTimeout},
		{"drip", "timeout: no whole answer in time", 3, turnmill.ReplyTimeout},
		{"silent", "timeout: the server fell silent within its answer", 3, turnmill.ReplyTimeout},
		{"cut", "", 1, turnmill.ReplyTruncated},
		{"429", "deadline: no answer within 1h0m0s; at last http_429: the server says: c429: told 429 by Bearer [key]", 0, turnmill.ReplyTimeout},
		{"429-after-9999", "deadline: no answer within 1h0m0s; at last http_429: the server says: c429: told 429 by Bearer [key]", 1, turnmill.ReplyTimeout},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			o := s.options()
			o.Retries = 2
			switch c.fault {
			case "hang", "drip":
				o.Timeout = 10 * time.Second
			case "silent":
				o.Idle = 10 * time.Second
			}
			j := newJournal(t)
			got, a := ask(t, client(t, o), j, "q|always,"+c.fault)
			if r := got["q"]; r.State != c.state || !strings.HasPrefix(r.Error, c.want) || r.ID != "q" {
				t.Errorf("reply %+v, want %s %q", r, c.state, c.want)
			}
			if heard, _ := s.heard(); c.sent > 0 && a.Sent != c.sent || heard != a.Sent {
				t.Errorf("%d sent, %d heard, want %d", a.Sent, heard, c.sent)
			}
			if c.want != "" && (len(a.Reasons) != 1 || a.Reasons[0] != Count{ReasonOf(c.want), 1}) {
				t.Errorf("reasons %v", a.Reasons)
			}
			if st := j.Stats(); st.Entries != 1 {
				t.Errorf("journal %+v, want one entry", st)
			}
		})
	}
}

// TestNobodyThere: no server is a failure of the connection, and the address stands in it once.
func TestNobodyThere(t *testing.T) {
	s := newServer(t)
	s.Close()
	o := s.options()
	o.Retries = 1
	got, a := ask(t, client(t, o), newJournal(t), "q")
	if r := got["q"]; r.State != turnmill.ReplyFailed || !strings.HasPrefix(r.Error, "connection: dial tcp 127.0.0.1:") || !strings.HasSuffix(r.Error, "connection refused") || a.Sent != 2 {
		t.Errorf("%+v, %d sent", r, a.Sent)
	}
}

// TestRetryAfter: as told, in seconds and as a date by the server's own clock, and for all requests at once.
func TestRetryAfter(t *testing.T) {
	for fault, want := range map[string]time.Duration{"429-after-7": 7 * time.Second, "429-date-7": 7 * time.Second, "503-after-30": 30 * time.Second, "429-after-0": 0} {
		s := newServer(t)
		start := s.clock.Now()
		ask(t, client(t, s.options()), newJournal(t), "q|"+fault)
		if got := s.clock.Now().Sub(start); got < want || got > want+time.Second {
			t.Errorf("%s: waited %s, want %s; sleeps %v", fault, got, want, s.clock.slept)
		}
	}
}

// TestInFlight: never above the cap, by the server's own count, and grown to it by success alone.
func TestInFlight(t *testing.T) {
	s := newServer(t)
	s.delay = time.Millisecond
	o := s.options()
	o.Concurrency = 7
	var prompts []string
	for i := range 200 {
		prompts = append(prompts, fmt.Sprintf("q%d", i)+[]string{"", "", "", "|500", "|429"}[i%5])
	}
	got, a := ask(t, client(t, o), newJournal(t), prompts...)
	if len(got) != 200 || a.States[turnmill.ReplyComplete] != 200 {
		t.Errorf("%d replies, %v", len(got), a.States)
	}
	_, peak := s.heard()
	if peak > 7 || a.Peak > 7 || peak < 2 {
		t.Errorf("peak in flight %d by the server, %d by the client; at most 7", peak, a.Peak)
	}
	t.Logf("peak %d by the server, %d by the client, of 7", peak, a.Peak)
}

// TestSecretNowhere: a server that echoes the key gets it into no error, reply or journal.
func TestSecretNowhere(t *testing.T) {
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "j")
	got, _ := ask(t, client(t, s.options()), openJournal(t, path), "a|echo", "b|400", "c|always,500")
	held, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := s.options()
	c := client(t, o)
	js, err := json.Marshal(struct{ Key Secret }{o.Key})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("asking", "key", o.Key, "options", c.o.URL)
	for _, s := range []string{fmt.Sprintf("%v %+v", got, o), fmt.Sprintf("%#v", o.Key), fmt.Sprintf("%q %s %x", o.Key, o.Key, o.Key), string(held),
		fmt.Sprintf("%v", *c), fmt.Sprintf("%+v", *c), fmt.Sprintf("%#v", *c), string(js), logged.String()} {
		if strings.Contains(s, testKey[3:]) {
			t.Errorf("the key stands in %s", s)
		}
	}
	if got["a"].Text != "[key]" {
		t.Errorf("echo: %+v", got["a"])
	}
	o.URL = "http://user:" + testKey + "@host/v1"
	if err := o.Validate(); err == nil || strings.Contains(err.Error(), testKey) {
		t.Errorf("address with a key: %v", err)
	}
}

// TestBudget: nothing is sent once it is spent; what was not sent is not in the journal.
func TestBudget(t *testing.T) {
	price := func(s string) Price {
		p, err := ParsePrice(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name   string
		budget Budget
		sent   int64
		why    string
	}{
		{"requests", Budget{Requests: 5}, 5, "budget: 5 of 5 requests are spent"},
		{"tokens", Budget{Tokens: 50}, 4, "budget: 60 of 50 tokens are spent"},
		// 10 prompt tokens at 1 and 5 completion tokens at 4 a million: 30 millionths a request
		{"cost", Budget{Cost: 100_000_000}, 4, "budget: 0.00012 of 0.0001 are spent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			o := s.options()
			o.Concurrency = 1
			o.Budget, o.Prices = c.budget, Prices{Prompt: price("1"), Completion: price("4.00")}
			j := newJournal(t)
			got, a := ask(t, client(t, o), j, "a", "b", "c|500", "d", "e", "f", "g", "h")
			if c.name != "requests" {
				c.sent++ // the 500
			}
			if heard, _ := s.heard(); a.Sent != c.sent || heard != c.sent || len(got) != 8 {
				t.Errorf("%d sent, %d heard, %d replies; want %d, 8", a.Sent, heard, len(got), c.sent)
			}
			if r := got["h"]; r.State != turnmill.ReplyFailed || r.Error != c.why {
				t.Errorf("last reply %+v, want %q", r, c.why)
			}
			if n := j.Stats().Entries; n != a.States[turnmill.ReplyComplete] || a.Unsent != 8-n {
				t.Errorf("journal has %d of %d answers; %d unsent", n, a.States[turnmill.ReplyComplete], a.Unsent)
			}
			if c.name == "cost" && a.Cost.String() != "0.00012" {
				t.Errorf("cost %s", a.Cost)
			}
		})
	}
}

// TestBudgetResumed: what a journal holds counts, where the caller says so.
func TestBudgetResumed(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.Budget.Requests = 3
	j := newJournal(t)
	ask(t, client(t, o), j, "a", "b")
	c := client(t, o)
	c.Charge(j.Spent())
	_, a := ask(t, c, j, "a", "b", "c", "d")
	if a.FromJournal != 2 || a.Sent != 1 || a.Unsent != 1 {
		t.Errorf("account %+v", a)
	}
}

// TestEstimated: without a reported usage a budget of tokens still ends.
func TestEstimated(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.Concurrency, o.Budget.Tokens = 1, 1
	_, a := ask(t, client(t, o), newJournal(t), "a|nousage", "b|nousage")
	if a.Estimated != 1 || a.Sent != 1 || a.Usage.Prompt < 10 {
		t.Errorf("account %+v", a)
	}
}

// TestCircuit: it opens after failures in a row, and an endpoint that stays dead is given up; what was never answered
// is not in the journal.
func TestCircuit(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.BreakAfter, o.Probes, o.Retries, o.Concurrency = 3, 2, 50, 2
	j := newJournal(t)
	var prompts []string
	for i := range 100 {
		prompts = append(prompts, fmt.Sprintf("q%d|always,500", i))
	}
	got, a := ask(t, client(t, o), j, prompts...)
	if len(got) != 100 || a.Sent > 3+2+2 || a.Unsent < 90 {
		t.Errorf("%d replies, %d sent, %d unsent", len(got), a.Sent, a.Unsent)
	}
	if r := got["q99"]; r.State != turnmill.ReplyFailed || !strings.HasPrefix(r.Error, "endpoint_down: http_500: ") {
		t.Errorf("last %+v", r)
	}
	if n := j.Stats().Entries; n != 0 {
		t.Errorf("%d entries of requests that were not given up for their own sake", n)
	}
}

// TestCircuitCloses: after the probe's answer all goes on.
func TestCircuitCloses(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.BreakAfter, o.BreakFor, o.Concurrency = 3, time.Minute, 1
	start := s.clock.Now()
	got, a := ask(t, client(t, o), newJournal(t), "a|500,500,500", "b")
	if a.States[turnmill.ReplyComplete] != 2 || len(got) != 2 || a.Sent != 5 {
		t.Errorf("states %v", a.States)
	}
	if w := s.clock.Now().Sub(start); w < time.Minute {
		t.Errorf("the circuit was open for %s", w)
	}
}

// TestCancel: what is in flight when the run is stopped and comes in the grace time is journalled and given; the rest
// is interrupted, and nothing new is sent.
func TestCancel(t *testing.T) {
	s := newServer(t)
	s.delay = 30 * time.Millisecond
	o := s.options()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("stopped by a test")
	j, given := newJournal(t), 0
	endless := func(yield func(turnmill.Request, error) bool) {
		for i := 0; ; i++ {
			if !yield(request(fmt.Sprintf("q%d", i)), nil) {
				return
			}
		}
	}
	a, err := client(t, o).Ask(ctx, Job{Kind: "rollout", Journal: j}, endless, func(turnmill.Reply) error {
		if given++; given == 10 {
			cancel(stop)
		}
		return nil
	})
	checkAccount(t, a)
	heard, _ := s.heard()
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if n := j.Stats().Entries; n != int64(given) || n != heard || given < 10 || given > 10+4 {
		t.Errorf("%d given, %d in the journal, %d heard", given, n, heard)
	}
}

// TestCancelHang: an answer that does not come in the grace time is interrupted, not failed.
func TestCancelHang(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.Timeout, o.Grace = time.Hour, time.Second
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	j := newJournal(t)
	a, err := client(t, o).Ask(ctx, Job{Kind: "rollout", Journal: j}, asks("a|hang", "b|hang"), func(r turnmill.Reply) error {
		t.Errorf("given %+v", r)
		return nil
	})
	checkAccount(t, a)
	if !errors.Is(err, context.Canceled) || a.Interrupted != 2 || j.Stats().Entries != 0 {
		t.Errorf("%v, account %+v, journal %+v", err, a, j.Stats())
	}
}

// TestCallerErrors: an error of the sequence or of give ends the Ask and is its error.
func TestCallerErrors(t *testing.T) {
	s := newServer(t)
	bad := errors.New("bad")
	c, j := client(t, s.options()), newJournal(t)
	a, err := c.Ask(t.Context(), Job{Kind: "rollout", Journal: j}, asks("a", "b", "c"), func(turnmill.Reply) error { return bad })
	checkAccount(t, a)
	if !errors.Is(err, bad) {
		t.Errorf("give: %v", err)
	}
	a, err = c.Ask(t.Context(), Job{Kind: "rollout", Journal: j}, func(yield func(turnmill.Request, error) bool) {
		_ = yield(request("d"), nil) && yield(turnmill.Request{}, bad)
	}, func(turnmill.Reply) error { return nil })
	checkAccount(t, a)
	if !errors.Is(err, bad) || a.Requests != 1 {
		t.Errorf("sequence: %v, %+v", err, a)
	}
	r := request("x")
	r.Params.TopP = "all"
	_, err = c.Ask(t.Context(), Job{Kind: "rollout", Journal: j}, func(yield func(turnmill.Request, error) bool) { yield(r, nil) }, func(turnmill.Reply) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `top_p "all" is no number`) {
		t.Errorf("request: %v", err)
	}
}

// TestPanics: a panic of the caller's code leaves no worker behind.
func TestPanics(t *testing.T) {
	s := newServer(t)
	c, j := client(t, s.options()), newJournal(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = c.Ask(t.Context(), Job{Kind: "rollout", Journal: j}, asks("a", "b", "c"), func(turnmill.Reply) error { panic("give") })
	}()
	if _, a := ask(t, c, j, "a", "b", "c"); a.States[turnmill.ReplyComplete] != 3 {
		t.Errorf("afterwards %+v", a)
	}
}
