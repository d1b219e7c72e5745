package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// What a server that keeps silent costs: each is the library's own timer, but for the last.
const (
	connectTime = 10 * time.Second
	headerTime  = 30 * time.Second
	stallTime   = 60 * time.Second // between two reads of the body
)

// fetched is what came from the hub: whole, and of the right checksum.
type fetched struct {
	data         []byte
	commit, etag string
}

// fetcher asks one hub for one file.
type fetcher struct {
	o        *Options
	ref      Ref
	cache    *cache
	endpoint *url.URL
	file     *url.URL
	token    string
	from     string // what the token was taken from
	client   *http.Client
}

func newFetcher(o *Options, ref Ref, c *cache) (*fetcher, error) {
	f := &fetcher{o: o, ref: ref, cache: c}
	var err error
	f.endpoint, err = url.Parse(o.Endpoint)
	if err != nil || f.endpoint.Scheme != "http" && f.endpoint.Scheme != "https" || f.endpoint.Host == "" || f.endpoint.RawQuery != "" || f.endpoint.Fragment != "" {
		return nil, f.fails(BadSetting, fmt.Sprintf("HF_ENDPOINT %q is no address of a hub", short(o.Endpoint)), "try "+DefaultEndpoint)
	}
	f.file = f.endpoint.JoinPath(ref.Repo, "resolve", url.PathEscape(ref.revision()), c.name)
	f.token, f.from = o.token()
	for _, b := range []byte(f.token) {
		if b <= ' ' || b >= 0x7F {
			return nil, f.fails(BadSetting, "the token of "+f.from+" holds characters that no token has", "copy it again")
		}
	}
	f.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout:   connectTime,
			ResponseHeaderTimeout: headerTime,
			ForceAttemptHTTP2:     true,
		},
	}
	return f, nil
}

// fails returns an error that no other try mends.
func (f *fetcher) fails(kind Kind, what, try string) *Error {
	return &Error{Kind: kind, Ref: f.ref, Cache: f.o.Cache, what: what, try: try}
}

// fetch tries until the file is here, another try is no use, or enough were made.
func (f *fetcher) fetch(ctx context.Context) (*fetched, error) {
	defer f.client.CloseIdleConnections()
	for try := 1; ; try++ {
		got, err := f.attempt(ctx)
		if err == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !err.retry || f.o.Sleep == nil {
			return nil, err
		}
		if try == attempts {
			err.what = fmt.Sprintf("after %d tries %s", try, err.what)
			return nil, err
		}
		wait := pause(try, err.wait)
		f.o.logger().Warn("fetching again", "repository", f.ref.String(), "wait_s", wait.Seconds(), "error", err.brief())
		if err := f.o.Sleep(ctx, wait); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, err
		}
	}
}

// attempt asks once.
func (f *fetcher) attempt(ctx context.Context) (*fetched, *Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, said, err := f.follow(ctx)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, f.status(resp)
	}
	if err := f.checkAnswer(resp, said); err != nil {
		return nil, err
	}
	if data := f.cache.blob(said.etag); data != nil {
		return &fetched{data, said.commit, said.etag}, nil
	}
	data, err := f.read(resp, said, cancel)
	if err != nil {
		return nil, err
	}
	if !matches(said.etag, f.cache.name, data) {
		return nil, f.fails(Damaged, fmt.Sprintf("%s sent bytes whose checksum is not the %s that they should have", resp.Request.URL.Host, said.etag), "try again, or another HF_ENDPOINT")
	}
	return &fetched{data, said.commit, said.etag}, nil
}

// checkAnswer refuses what no hub answers.
func (f *fetcher) checkAnswer(resp *http.Response, said metadata) *Error {
	const try = "check HF_ENDPOINT, and proxies on the way"
	host := resp.Request.URL.Host
	switch {
	case !commitHash.MatchString(said.commit) || !etagName.MatchString(said.etag):
		return f.fails(BadSetting, host+" answered without the commit and the ETag that a hub gives, so it is none", try)
	case commitHash.MatchString(f.ref.revision()) && said.commit != f.ref.revision():
		return f.fails(Damaged, host+" answered with the commit "+said.commit, try)
	case resp.Header.Get("Content-Encoding") != "" && resp.Header.Get("Content-Encoding") != "identity":
		return f.fails(BadSetting, fmt.Sprintf("%s answered in the encoding %q, which was not asked for", host, short(resp.Header.Get("Content-Encoding"))), try)
	}
	if size := max(said.size, resp.ContentLength); size > f.o.limit() {
		return f.tooLarge(size)
	}
	return nil
}

func (f *fetcher) tooLarge(size int64) *Error {
	return f.fails(Damaged, fmt.Sprintf("the file has %d bytes or more, and no more than %d are taken", size, f.o.limit()), "a "+f.cache.name+" is smaller; check the repository")
}

var errStalled = errors.New("no byte for a minute")

// read takes the body, which must have the stated size.
func (f *fetcher) read(resp *http.Response, said metadata, cancel context.CancelCauseFunc) ([]byte, *Error) {
	var data bytes.Buffer
	if size := max(said.size, resp.ContentLength); size > 0 {
		data.Grow(int(size) + bytes.MinRead)
	}
	body := &watched{body: resp.Body, after: f.o.After, stalled: func() { cancel(errStalled) }}
	_, err := data.ReadFrom(io.LimitReader(body, f.o.limit()+1))
	n := int64(data.Len())
	host := resp.Request.URL.Host
	switch {
	case err != nil:
		e := f.fails(Unreachable, fmt.Sprintf("the answer of %s ended after %d bytes", host, n), tryNetwork)
		if e.retry, e.err = true, err; context.Cause(resp.Request.Context()) == errStalled {
			e.err = errStalled
		}
		return nil, e
	case n > f.o.limit():
		return nil, f.tooLarge(n)
	case n < said.size: // a connection that was closed where the body's length was not stated
		e := f.fails(Unreachable, fmt.Sprintf("the answer of %s ended after %d of %d bytes", host, n, said.size), tryNetwork)
		e.retry = true
		return nil, e
	case said.size >= 0 && n > said.size:
		return nil, f.fails(Damaged, fmt.Sprintf("%s sent %d bytes where the hub has %d", host, n, said.size), "try again, or another HF_ENDPOINT")
	}
	return data.Bytes(), nil
}

// watched is a body that calls stalled when a read takes longer than stallTime.
type watched struct {
	body    io.Reader
	after   func(time.Duration, func()) func() bool
	stalled func()
}

func (w *watched) Read(p []byte) (int, error) {
	if w.after != nil {
		defer w.after(stallTime, w.stalled)()
	}
	return w.body.Read(p)
}
