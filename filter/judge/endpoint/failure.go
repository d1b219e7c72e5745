package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/completion"
)

// Reasons open Reply.Error, before ": " and the detail. They are stable.
const (
	ReasonBudget     = "budget"        // not sent: the budget is spent
	ReasonDown       = "endpoint_down" // not sent: the circuit is open and all probes failed
	ReasonMissing    = "missing"       // in no file of a batch
	ReasonConnection = "connection"    // no answer: refused, reset, no such host
	ReasonHalfBody   = "half_body"     // the connection ended within the body
	ReasonWrongBody  = "wrong_body"    // the body is no chat completion
	ReasonTooLarge   = "too_large"     // the body passes MaxResponse
	ReasonRedirect   = "redirect"      // the server points elsewhere; the key is not sent there
	ReasonTimeout    = "timeout"       // Timeout or Idle passed
	ReasonDeadline   = "deadline"      // Deadline passed, or waiting as asked would pass it
	ReasonNoAnswer   = "no_answer"     // a whole completion without an answer
	ReasonBatch      = "batch"         // a batch API's own: expired, cancelled
	ReasonStatus     = "http_"         // and the status, http_400
)

// ReasonOf returns the reason that opens an error of a reply.
func ReasonOf(replyError string) string {
	reason, _, _ := strings.Cut(replyError, ": ")
	return reason
}

// remedy is what to do about a failed attempt.
type remedy uint8

const (
	retry   remedy = iota // again after a back-off, while retries are left
	limited               // again after the cool-down of the endpoint; costs no retry
	final                 // another try is no use
)

// failure is why an attempt brought no answer.
type failure struct {
	reason, detail string
	remedy         remedy
	sick           bool // the endpoint's fault, or one that all requests share: counts for the circuit
	timeout        bool
	refused        bool          // by a content filter
	stopped        bool          // cut short by cancellation: says nothing
	after          time.Duration // as the server asked; negative: it did not
}

func (f *failure) error() string { return f.reason + ": " + f.detail }

// reply returns how a request ends that this failure was the last word for.
func (f *failure) reply() turnmill.Reply {
	switch {
	case f.refused:
		return turnmill.Reply{State: turnmill.ReplyRefused, Finish: "content_filter"}
	case f.timeout:
		return turnmill.Reply{State: turnmill.ReplyTimeout, Error: f.error()}
	default:
		return turnmill.Reply{State: turnmill.ReplyFailed, Error: f.error()}
	}
}

// causes of a cancelled attempt.
var (
	errTimeout = errors.New("no whole answer in time")
	errIdle    = errors.New("the server fell silent within its answer")
)

// broken says what an error of the transport means. ctx is the attempt's.
func broken(ctx context.Context, err error, reason string) *failure {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout), errors.Is(cause, errIdle):
		return &failure{reason: ReasonTimeout, detail: cause.Error(), sick: true, timeout: true, after: -1}
	case cause != nil:
		return &failure{stopped: true, after: -1}
	}
	return &failure{reason: reason, detail: completion.Bounded(plain(err), 200), sick: true, after: -1}
}

// plain returns an error of the transport without the address, which the user knows.
func plain(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}

// answered says what a status other than 200 means.
func answered(res *http.Response, body []byte, now time.Time) *failure {
	f := &failure{reason: ReasonStatus + strconv.Itoa(res.StatusCode), after: retryAfter(res.Header, now)}
	said := serverError(body)
	f.detail = said.Error()
	switch s := res.StatusCode; {
	case said.Refused():
		f.remedy, f.refused = final, true
	case s == http.StatusTooManyRequests && said.Code == "insufficient_quota": // waiting mends nothing
		f.remedy, f.sick = final, true
	case s == http.StatusTooManyRequests:
		f.remedy = limited
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s >= 500:
		f.remedy, f.sick = retry, true
	case s >= 300 && s < 400:
		f.reason, f.remedy, f.sick = ReasonRedirect, final, true
		f.detail = fmt.Sprintf("status %d; try the address that the server points to, if it is to be trusted with the key", s)
	case s == http.StatusUnauthorized, s == http.StatusPaymentRequired, s == http.StatusForbidden, s == http.StatusNotFound:
		f.remedy, f.sick = final, true
	default:
		f.remedy = final
	}
	return f
}

// serverError returns the server's message; without one the start of the body.
func serverError(body []byte) *completion.Error {
	var e *completion.Error
	if _, _, err := completion.Decode(body); errors.As(err, &e) {
		return e
	}
	return &completion.Error{Message: strconv.Quote(completion.Bounded(string(body[:min(len(body), 400)]), 120))}
}

// retryAfter reads Retry-After, seconds or a date, and returns -1 where there is none. A date is measured against the
// server's own clock where it tells it, so that ours may be wrong. RFC 9110, section 10.2.3.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 {
		return time.Duration(min(n, float64(longestWait/time.Second)) * float64(time.Second))
	}
	when, err := http.ParseTime(v)
	if err != nil {
		return -1
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(when.Sub(now), 0), longestWait)
}

// longestWait keeps sums of times small; every deadline ends before.
const longestWait = 365 * 24 * time.Hour
