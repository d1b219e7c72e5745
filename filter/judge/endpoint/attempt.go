package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/completion"
)

const connectTime = 10 * time.Second

// newHTTP returns the client of one endpoint. It follows no redirect: the key is for this server.
func newHTTP(concurrency int) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: concurrency,
			IdleConnTimeout:     time.Minute,
			ForceAttemptHTTP2:   true,
		},
	}
}

// attempt sends a request once. Within limit there is a reply or a failure; mended counts what of the reply was no
// text. Nothing that it returns holds the key.
func (c *Client) attempt(ctx context.Context, request []byte, limit time.Duration) (reply turnmill.Reply, mended int, f *failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.o.Clock.AfterFunc(limit, func() { cancel(errTimeout) })()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(request))
	if err != nil {
		return reply, 0, &failure{reason: ReasonConnection, detail: c.scrub(plain(err)), remedy: final, sick: true, after: -1}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key := c.o.Key.value(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply, 0, c.scrubbed(broken(ctx, err, ReasonConnection))
	}
	defer res.Body.Close()
	body, f := c.readBody(ctx, res.Body, cancel)
	if f != nil && (res.StatusCode == http.StatusOK || f.stopped || f.timeout) {
		return reply, 0, c.scrubbed(f)
	}
	body = c.scrubBytes(body)
	if res.StatusCode != http.StatusOK {
		return reply, 0, c.scrubbed(answered(res, body, c.o.Clock.Now()))
	}
	return c.decode(body)
}

// decode reads a whole body of status 200.
func (c *Client) decode(body []byte) (turnmill.Reply, int, *failure) {
	reply, repairs, err := completion.Decode(body)
	if err != nil {
		f := &failure{reason: ReasonWrongBody, detail: completion.Bounded(err.Error(), 400), sick: true, after: -1}
		var said *completion.Error
		if errors.As(err, &said) {
			f.refused = said.Refused()
		}
		switch {
		case f.refused:
			f.remedy, f.sick = final, false
		case said != nil && said.Code == "429": // as some proxies pass it on
			f.remedy, f.sick = limited, false
		}
		return turnmill.Reply{}, 0, c.scrubbed(f)
	}
	if reply.State == turnmill.ReplyFailed {
		reply.Error = ReasonNoAnswer + ": " + reply.Error
	}
	for _, s := range []*string{&reply.Text, &reply.Reasoning, &reply.Error, &reply.Model, &reply.Finish} {
		*s = c.scrub(*s)
	}
	return reply, repairs.BadUTF8 + repairs.LoneSurrogate, nil
}

// readBody reads a body to its end. Each read that brings something sets the clock of silence back.
func (c *Client) readBody(ctx context.Context, r io.Reader, cancel context.CancelCauseFunc) ([]byte, *failure) {
	var body bytes.Buffer
	chunk := make([]byte, 32<<10)
	for {
		stop := c.o.Clock.AfterFunc(c.o.Idle, func() { cancel(errIdle) })
		n, err := r.Read(chunk)
		stop()
		body.Write(chunk[:n])
		switch {
		case int64(body.Len()) > c.o.MaxResponse:
			return nil, &failure{reason: ReasonTooLarge, detail: "the answer passes the limit of a response", remedy: final, after: -1}
		case errors.Is(err, io.EOF):
			return body.Bytes(), nil
		case err != nil:
			return body.Bytes(), broken(ctx, err, ReasonHalfBody)
		}
	}
}

// shortestScrubbed is the length from which a key is told from text by chance.
const shortestScrubbed = 6

// scrub takes the key out of what a server echoes.
func (c *Client) scrub(s string) string {
	if key := c.o.Key.value(); len(key) >= shortestScrubbed {
		return strings.ReplaceAll(s, key, shownSecret)
	}
	return s
}

func (c *Client) scrubBytes(b []byte) []byte {
	if key := []byte(c.o.Key.value()); len(key) >= shortestScrubbed && bytes.Contains(b, key) {
		return bytes.ReplaceAll(b, key, []byte(shownSecret))
	}
	return b
}

func (c *Client) scrubbed(f *failure) *failure {
	f.detail = c.scrub(f.detail)
	return f
}

// join returns the address that requests go to.
func join(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	return u.JoinPath("chat", "completions").String(), nil
}
