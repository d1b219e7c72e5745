package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"
)

// Clock tells the time and waits. pipelines gives the machine's; tests give one that jumps.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or until ctx is done, whose cause it then returns.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f once after d, in its own goroutine, unless stop comes first.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Secret is a key that no print, log or file shows, however deep it lies in what is printed. The zero value is none.
type Secret struct{ key *string } // a pointer, because fmt reads unexported fields without asking String

// NewSecret hides a key.
func NewSecret(key string) Secret {
	if key == "" {
		return Secret{}
	}
	return Secret{&key}
}

func (s Secret) value() string {
	if s.key == nil {
		return ""
	}
	return *s.key
}

const shownSecret = "[key]"

// String returns a placeholder, as all ways of printing do.
func (Secret) String() string { return shownSecret }

// GoString is String for %#v.
func (Secret) GoString() string { return shownSecret }

// MarshalText is String for JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(shownSecret), nil }

// LogValue is String for slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(shownSecret) }

// Options say how one endpoint is asked. Zero values take the defaults.
type Options struct {
	URL    string         // base address, as OPENAI_BASE_URL: "https://host/v1"; requests go to URL/chat/completions
	Key    Secret         // sent as bearer token; the zero value sends none
	Clock  Clock          // required
	Jitter func() float64 // required: from 0 up to 1, called by one goroutine at a time

	Concurrency int    // requests in flight at most; default 16
	TokenField  string // name of the token limit in requests; default max_tokens

	Timeout  time.Duration // of one attempt, from the first byte sent to the last received; default 10m
	Idle     time.Duration // between two reads of a body; default 1m
	Deadline time.Duration // of a request with all its attempts and waits, from the first attempt on; default 1h
	Grace    time.Duration // for answers in flight after cancellation; default 10s; negative none

	Retries     int           // after failures of the endpoint, 429 not counted; default 5; negative none
	BackoffMin  time.Duration // before the first retry, doubled for each further; default 1s
	BackoffMax  time.Duration // default 1m
	MaxResponse int64         // bytes of a body; default 64 MiB

	BreakAfter int           // failures in a row that open the circuit; default 10
	BreakFor   time.Duration // until the first probe, doubled after each that fails, up to 8 times; default 30s
	Probes     int           // failed probes after which the endpoint is down; default 5

	Budget Budget
	Prices Prices
}

// withDefaults returns the options as they are used.
func (o Options) withDefaults() Options {
	o.Concurrency = cmp.Or(o.Concurrency, 16)
	o.TokenField = cmp.Or(o.TokenField, "max_tokens")
	o.Timeout = cmp.Or(o.Timeout, 10*time.Minute)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.Deadline = cmp.Or(o.Deadline, time.Hour)
	o.Grace = max(cmp.Or(o.Grace, 10*time.Second), 0)
	o.Retries = max(cmp.Or(o.Retries, 5), 0)
	o.BackoffMin = cmp.Or(o.BackoffMin, time.Second)
	o.BackoffMax = cmp.Or(o.BackoffMax, time.Minute)
	o.MaxResponse = cmp.Or(o.MaxResponse, 64<<20)
	o.BreakAfter = cmp.Or(o.BreakAfter, 10)
	o.BreakFor = cmp.Or(o.BreakFor, 30*time.Second)
	o.Probes = cmp.Or(o.Probes, 5)
	return o
}

// Validate joins all that is wrong with the options. No message shows the key, nor an address that may hold one.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("endpoint: "+format, args...))
		}
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		bad(true, "the address is none of an HTTP server; try http://127.0.0.1:8000/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		bad(true, "the address of %s has a user, a query or a fragment; try it without, and give the key as key", u.Host)
	}
	for _, b := range []byte(o.Key.value()) {
		if b <= ' ' || b >= 0x7F {
			bad(true, "the key holds characters that no key has; copy it again")
			break
		}
	}
	bad(o.Clock == nil, "no clock")
	bad(o.Jitter == nil, "no source of jitter")
	bad(o.Concurrency < 1 || o.Concurrency > 10_000, "concurrency %d; try 1 to 10000", o.Concurrency)
	bad(o.TokenField != "max_tokens" && o.TokenField != "max_completion_tokens", "token field %q; try max_tokens or max_completion_tokens", o.TokenField)
	bad(min(o.Timeout, o.Idle, o.Deadline, o.BackoffMin, o.BreakFor) < 0, "a negative time")
	bad(o.BackoffMax < o.BackoffMin, "the longest back-off, %s, is below the first, %s", o.BackoffMax, o.BackoffMin)
	bad(o.MaxResponse < 1, "responses of %d bytes at most", o.MaxResponse)
	bad(o.BreakAfter < 1 || o.Probes < 1, "a circuit that opens after %d failures and gives up after %d probes", o.BreakAfter, o.Probes)
	return errors.Join(append(errs, o.Budget.validate(o.Prices))...)
}
