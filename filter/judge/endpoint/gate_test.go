package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	busyFailure = &failure{reason: "http_429", remedy: limited, after: -1}
	sickFailure = &failure{reason: "http_500", remedy: retry, sick: true, after: -1}
)

func testGate(concurrency int) (*gate, *jumpClock) {
	clock := newClock()
	o := Options{Clock: clock, Jitter: func() float64 { return 1 }, Concurrency: concurrency, BreakAfter: 3, Probes: 2}.withDefaults()
	return newGate(&o), clock
}

// fill lets in all that may be in flight.
func fill(t *testing.T, g *gate) (all []pass) {
	t.Helper()
	for {
		p, wait, err := g.admit(time.Time{})
		if err != nil || wait > 0 {
			t.Fatal(wait, err)
		}
		if wait < 0 {
			return all
		}
		all = append(all, p)
	}
}

// TestGateLimit: nearly one more for each round of answers, half after a round with failures, however many.
func TestGateLimit(t *testing.T) {
	g, clock := testGate(10)
	var got []int
	for round := range 12 {
		all := fill(t, g)
		got = append(got, len(all))
		for i, p := range all {
			var f *failure
			if round == 7 && i > 2 || round == 10 {
				f = busyFailure
			}
			g.leave(p, f, Spent{})
		}
		clock.now = clock.now.Add(time.Minute) // past any cool-down
	}
	if want := "[4 4 5 6 7 8 9 10 5 5 6 3]"; fmt.Sprint(got) != want {
		t.Errorf("in flight %v, want %s", got, want)
	}
}

// TestGateCoolDown: it is shared, grows while nothing but 429 comes, and never passes BackoffMax.
func TestGateCoolDown(t *testing.T) {
	g, clock := testGate(4)
	var got []time.Duration
	for range 9 {
		all := fill(t, g)
		for _, p := range all {
			g.leave(p, busyFailure, Spent{})
		}
		_, wait, err := g.admit(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, wait/time.Second)
		if _, _, err := g.admit(clock.now.Add(wait - 1)); !errors.Is(err, errLate) {
			t.Errorf("a deadline before the end of the cool-down: %v", err)
		}
		clock.now = clock.now.Add(wait)
	}
	if want := "[1ns 2ns 4ns 8ns 16ns 32ns 1m0s 1m0s 1m0s]"; fmt.Sprint(got) != strings.ReplaceAll(want, "1m0s", "60ns") {
		t.Errorf("cool-downs in seconds %v", got)
	}
}

// TestGateCircuit: open after three failures, one probe at a time, down after two that fail.
func TestGateCircuit(t *testing.T) {
	g, clock := testGate(8)
	early := fill(t, g)
	for _, p := range early[:3] {
		g.leave(p, sickFailure, Spent{})
	}
	_, wait, err := g.admit(time.Time{})
	if err != nil || wait != 30*time.Second {
		t.Fatalf("open: wait %s, %v", wait, err)
	}
	g.leave(early[3], sickFailure, Spent{}) // sent before it opened: no probe
	for _, next := range []time.Duration{60 * time.Second, 0} {
		clock.now = clock.now.Add(wait)
		probe, now, err := g.admit(time.Time{})
		if err != nil || now != 0 || !probe.probe {
			t.Fatalf("probe %+v, wait %s, %v", probe, now, err)
		}
		if _, now, _ := g.admit(time.Time{}); now != -1 {
			t.Errorf("a second probe: %s", now)
		}
		g.leave(probe, sickFailure, Spent{})
		if _, wait, err = g.admit(time.Time{}); wait != next || errors.Is(err, errDown) != (next == 0) {
			t.Errorf("after the probe: wait %s, %v; want %s", wait, err, next)
		}
	}
	if _, err := g.enter(context.Background(), time.Time{}); !errors.Is(err, errDown) {
		t.Errorf("down: %v", err)
	}
}

// TestGateProbeStopped: a probe that was cut short says nothing, and another may go.
func TestGateProbeStopped(t *testing.T) {
	g, clock := testGate(8)
	for _, p := range fill(t, g)[:3] {
		g.leave(p, sickFailure, Spent{})
	}
	clock.now = clock.now.Add(time.Minute)
	p, _, _ := g.admit(time.Time{})
	g.leave(p, &failure{stopped: true}, Spent{})
	if p, wait, err := g.admit(time.Time{}); !p.probe || wait != 0 || err != nil {
		t.Errorf("%+v %s %v", p, wait, err)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", -1},
		{"7", "", 7 * time.Second},
		{" 7 ", "", 7 * time.Second},
		{"0.5", "", 500 * time.Millisecond},
		{"0", "", 0},
		{"-3", "", -1},
		{"NaN", "", -1},
		{"1e300", "", longestWait},
		{"soon", "", -1},
		{"Fri, 02 Jan 2026 03:04:15 GMT", "", 10 * time.Second},
		{"Fri, 02 Jan 2026 03:04:15 GMT", "Fri, 02 Jan 2026 03:04:12 GMT", 3 * time.Second},
		{"Fri, 02 Jan 2026 03:04:00 GMT", "", 0},
		{"Fri, 02 Jan 9999 03:04:00 GMT", "", longestWait},
	} {
		h := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("Retry-After %q, Date %q: %s, want %s", c.value, c.date, got, c.want)
		}
	}
}

func TestMoney(t *testing.T) {
	for in, want := range map[string]string{"0": "0", "12.50": "12.5", "0.000000000001": "0.000000000001", "007": "7", "9223371": "9223371",
		"": "", ".5": "", "5.": "", "-1": "", "1e3": "", "1,5": "", "0.0000000000001": "", "9223373": "", "NaN": ""} {
		m, err := ParseMoney(in)
		if (err != nil) != (want == "") || err == nil && m.String() != want {
			t.Errorf("ParseMoney(%q) = %s, %v; want %q", in, m, err, want)
		}
	}
	if p, err := ParsePrice("0.60"); err != nil || p.of(1_000_000).String() != "0.6" || p.of(1).String() != "0.0000006" {
		t.Errorf("price %d, %v", p, err)
	}
	if _, err := ParsePrice("0.0000001"); err == nil {
		t.Error("a price of seven decimals is cut in silence")
	}
	if m := Price(1 << 62).of(1 << 62).plus(5); m != moneyLargest {
		t.Errorf("no saturation: %d", m)
	}
}

func TestValidate(t *testing.T) {
	good := func() Options {
		return Options{URL: "https://host/v1", Clock: newClock(), Jitter: func() float64 { return 0 }}
	}
	if err := good().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Options){
		"the address is none of an HTTP server":    func(o *Options) { o.URL = "host/v1" },
		"has a user, a query or a fragment":        func(o *Options) { o.URL = "https://host/v1?api-key=" + testKey },
		"the key holds characters that no key has": func(o *Options) { o.Key = NewSecret(testKey + "\n") },
		"no clock":                        func(o *Options) { o.Clock = nil },
		"no source of jitter":             func(o *Options) { o.Jitter = nil },
		"concurrency -1":                  func(o *Options) { o.Concurrency = -1 },
		`token field "limit"`:             func(o *Options) { o.TokenField = "limit" },
		"a negative time":                 func(o *Options) { o.Idle = -1 },
		"is below the first":              func(o *Options) { o.BackoffMin = time.Hour },
		"responses of -1 bytes":           func(o *Options) { o.MaxResponse = -1 },
		"gives up after -1 probes":        func(o *Options) { o.Probes = -1 },
		"a budget of cost without prices": func(o *Options) { o.Budget.Cost = 1 },
		"a negative budget or price":      func(o *Options) { o.Prices.Prompt = -1 },
	} {
		o := good()
		change(&o)
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := New(o); err == nil {
			t.Errorf("New takes what Validate refuses: %s", want)
		}
	}
}

// TestAnyFaults: whatever a server does, each request ends in one state, nothing is sent beyond the bounds, the journal
// holds what ended for the request's own sake, and a second run asks the rest alone.
func TestAnyFaults(t *testing.T) {
	faults := []string{"429", "429-after-3", "429-date-3", "500", "503-after-2", "400", "401", "408", "half", "close", "wrong", "html", "said", "huge", "redirect", "filter", "quota", "cut", "ok"}
	rapid.Check(t, func(r *rapid.T) {
		s := newServer(t)
		o := s.options()
		o.Concurrency = rapid.IntRange(1, 6).Draw(r, "concurrency")
		o.Retries = rapid.IntRange(0, 3).Draw(r, "retries") - 1
		o.BreakAfter, o.Probes = rapid.IntRange(1, 8).Draw(r, "break after"), rapid.IntRange(1, 3).Draw(r, "probes")
		o.Budget.Requests = rapid.SampledFrom([]int64{0, 0, 1, 7, 20}).Draw(r, "budget")
		var prompts []string
		for i := range rapid.IntRange(0, 12).Draw(r, "requests") {
			list := rapid.SliceOfN(rapid.SampledFrom(faults), 0, 4).Draw(r, "faults")
			prompts = append(prompts, fmt.Sprintf("q%d|%s", i, strings.Join(append(list, "ok"), ",")))
		}
		j := open(t, &memFile{})
		got, a := ask(t, client(t, o), j, prompts...)
		heard, peak := s.heard()
		if len(got) != len(prompts) || heard != a.Sent || peak > o.Concurrency || a.Peak > o.Concurrency || o.Budget.Requests > 0 && a.Sent > o.Budget.Requests {
			r.Fatalf("%d replies to %d, sent %d, heard %d, peak %d and %d of %d", len(got), len(prompts), a.Sent, heard, peak, a.Peak, o.Concurrency)
		}
		ours := 0
		for _, reply := range got {
			if why := ReasonOf(reply.Error); why == ReasonBudget || why == ReasonDown {
				ours++
			}
		}
		if st := j.Stats(); st.Entries != int64(len(prompts)-ours) {
			r.Fatalf("journal %+v; %d of %d ended for the run's sake", st, ours, len(prompts))
		}
		o.Budget, o.BreakAfter = Budget{}, 1000
		_, a = ask(t, client(t, o), j, prompts...)
		if a.FromJournal != int64(len(prompts)-ours) || a.Asked != int64(ours) || j.Stats().Entries != int64(len(prompts)) {
			r.Fatalf("second run %+v", a)
		}
	})
}
