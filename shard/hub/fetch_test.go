package hub

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// inTurn answers each request with the next handler, the last one for ever.
func inTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(n.Add(1)), len(answers))-1](w, r)
	}
}

func answer(status int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestFetchAgain: what may pass is tried again, after the time that the server asks for.
func TestFetchAgain(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		first  []http.HandlerFunc
		pauses []time.Duration
	}{
		"cut body":       {[]http.HandlerFunc{cut}, []time.Duration{s}},
		"cut bodies":     {[]http.HandlerFunc{cut, hangUp, cut, hangUp}, []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		"too busy":       {[]http.HandlerFunc{answer(503), answer(502), answer(500), answer(504)}, []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		"too slow":       {[]http.HandlerFunc{answer(408)}, []time.Duration{s}},
		"seconds":        {[]http.HandlerFunc{answer(429, "Retry-After", "17"), answer(503)}, []time.Duration{17 * s, 2 * s}},
		"a date":         {[]http.HandlerFunc{answer(503, "Date", "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After", "Wed, 21 Oct 2015 07:28:42 GMT")}, []time.Duration{42 * s}},
		"a date gone by": {[]http.HandlerFunc{answer(503, "Date", "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After", "Wed, 21 Oct 2015 07:27:42 GMT")}, []time.Duration{s}},
		"a rate":         {[]http.HandlerFunc{answer(429, "RateLimit", `"resolvers";r=0;t=55`, "Retry-After", "1")}, []time.Duration{56 * s}},
		"a rate left":    {[]http.HandlerFunc{answer(429, "RateLimit", `"api";r=12;t=55`)}, []time.Duration{s}},
		"a day":          {[]http.HandlerFunc{answer(429, "Retry-After", "86400")}, []time.Duration{300 * s}},
		"nonsense":       {[]http.HandlerFunc{answer(429, "Retry-After", "-5"), answer(429, "Retry-After", "soon")}, []time.Duration{s, 2 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, inTurn(append(c.first, small)...))
			o, slept, logged := setup(t, server.URL)
			mustGet(t, o, "acme/tiny")
			if !slices.Equal(slept.pauses, c.pauses) {
				t.Errorf("pauses %v, want %v", slept.pauses, c.pauses)
			}
			if n := strings.Count(logged.String(), "fetching again"); n != len(c.pauses) {
				t.Errorf("%d pauses in the log, want %d:\n%s", n, len(c.pauses), logged)
			}
			if got := tree(t, o.Cache); len(got) != 3 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestFetchGivesUp: after five tries, and after one where nothing can wait; the cache stays empty.
func TestFetchGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"cut for ever":     {cut, "ended after 1000 bytes: unexpected EOF"},
		"no answer":        {hangUp, "gives no answer: EOF"},
		"too busy":         {answer(503), "answers 503"},
		"too many":         {answer(429), "answers 429"},
		"short, unlinked":  {shortened, "ended after 2000 of 5040 bytes"},
		"short, connected": {wrong(sha256Of(content), "6000", content), "ended after 5040 of 6000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answer)
			o, slept, _ := setup(t, s.URL)
			mustFail(t, o, "acme/tiny", Unreachable, "after 5 tries", c.says)
			if n := len(s.requests()); n != 5 || len(slept.pauses) != 4 {
				t.Errorf("%d requests, pauses %v", n, slept.pauses)
			}
			o.Sleep = nil
			mustFail(t, o, "acme/tiny", Unreachable, c.says)
			if n := len(s.requests()); n != 6 {
				t.Errorf("%d requests more without Sleep, want 1", n-5)
			}
			if got := tree(t, o.Cache); len(got) != 0 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestUnreachable: a host that no one knows, and one that is not who it says, are not asked again; the address
// of a storage, which is signed, is not shown.
func TestUnreachable(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "hub.example", Path: "/x", RawQuery: "signature=private"}
	f := &fetcher{o: &Options{Cache: "/cache"}}
	for _, c := range []struct {
		cause error
		retry bool
	}{
		{&net.DNSError{Err: "no such host", Name: at.Host, IsNotFound: true}, false},
		{&net.DNSError{Err: "server misbehaving", Name: at.Host, IsTemporary: true}, true},
		{&tls.CertificateVerificationError{Err: errors.New("expired")}, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		{io.EOF, true},
	} {
		e := f.unreachable(at, &url.Error{Op: "Get", URL: at.String(), Err: c.cause})
		if e.retry != c.retry || e.Kind != Unreachable || !errors.Is(e, c.cause) {
			t.Errorf("%v: %+v, want another try: %v", c.cause, e, c.retry)
		}
		if says := e.Error(); !strings.Contains(says, "hub.example gives no answer: "+c.cause.Error()) || strings.Contains(says, "private") {
			t.Errorf("error %q", says)
		}
	}
}

// shortened closes a body of no stated length early.
func shortened(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("X-Linked-Etag", `"`+sha256Of(content)+`"`)
	w.Header().Set("X-Linked-Size", "5040")
	w.Header().Set("Connection", "close")
	w.Header().Set("Transfer-Encoding", "identity")
	w.Write(content[:2000])
}

// wrong answers with an ETag and a linked size of its own.
func wrong(etag, size string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("ETag", `"`+etag+`"`)
		if size != "" {
			w.Header().Set("X-Linked-Size", size)
		}
		w.Write(body)
	}
}

// TestFetchDamaged: what is not what the hub has is refused, and nothing of it stays.
func TestFetchDamaged(t *testing.T) {
	changed := append([]byte("["), content[1:]...)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		limit  int64
		kind   Kind
		says   string
	}{
		"SHA-1":            {wrong(gitSum(content), "", changed), 0, Damaged, "checksum is not the " + gitSum(content)},
		"SHA-256":          {wrong(sha256Of(content), "", changed), 0, Damaged, "checksum is not the " + sha256Of(content)},
		"longer":           {wrong(sha256Of(content[:99]), "99", content), 0, Damaged, "sent 5040 bytes where the hub has 99"},
		"too large":        {wrong(gitSum(content), "", content), 5039, Damaged, "5040 bytes or more, and no more than 5039"},
		"said too large":   {wrong(gitSum(content), "268435457", content), 0, Damaged, "268435457 bytes or more, and no more than 268435456"},
		"endless":          {endless, 100_000, Damaged, "100001 bytes or more"},
		"no hub":           {answer(200), 0, BadSetting, "so it is none"},
		"commit is a path": {answer(200, "X-Repo-Commit", "../../../x", "ETag", "x"), 0, BadSetting, "so it is none"},
		"ETag is a path":   {answer(200, "X-Repo-Commit", commit, "ETag", `"../x"`), 0, BadSetting, "so it is none"},
		"ETag is hidden":   {answer(200, "X-Repo-Commit", commit, "ETag", `".x"`), 0, BadSetting, "so it is none"},
		"no ETag":          {answer(200, "X-Repo-Commit", commit), 0, BadSetting, "so it is none"},
		"compressed":       {answer(200, "X-Repo-Commit", commit, "ETag", `"x"`, "Content-Encoding", "gzip"), 0, BadSetting, `the encoding "gzip"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answer)
			o, _, _ := setup(t, s.URL)
			o.Limit = c.limit
			mustFail(t, o, "acme/tiny", c.kind, c.says)
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			if got := tree(t, o.Cache); len(got) != 0 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestFetchETags: what a mirror may send beside git's SHA-1 and SHA-256.
func TestFetchETags(t *testing.T) {
	plain := sha1.Sum(content)
	for name, etag := range map[string]string{
		"plain SHA-1": hex.EncodeToString(plain[:]), "weak": `W/"x-1"`, "a number": "5f-1.2_3",
	} {
		t.Run(name, func(t *testing.T) {
			o, _, _ := setup(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Repo-Commit", commit)
				w.Header().Set("ETag", etag)
				w.Write(content)
			}).URL)
			mustGet(t, o, "acme/tiny")
			o.Offline = true
			mustGet(t, o, "acme/tiny")
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("ETag", `"x"`)
	for r.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 1000)); err != nil {
			return
		}
	}
}

// half sends a part of the body and then nothing.
func half(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("ETag", `"`+gitSum(content)+`"`)
	w.Header().Set("Content-Length", "5040")
	w.Write(content[:1000])
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// TestFetchCancelled: the cause of the end comes back, whatever was going on.
func TestFetchCancelled(t *testing.T) {
	why := errors.New("enough")
	for _, name := range []string{"before", "waiting", "reading", "sleeping"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch name {
				case "waiting":
					cancel(why)
					<-r.Context().Done()
				case "reading":
					time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
					half(w, r)
				case "sleeping":
					w.WriteHeader(503)
				}
			})
			o, _, _ := setup(t, s.URL)
			o.Sleep = func(ctx context.Context, d time.Duration) error {
				cancel(why)
				return ctx.Err()
			}
			if name == "before" {
				cancel(why)
			}
			if f, err := Get(ctx, o, Ref{Repo: "acme/tiny"}); err != why {
				t.Errorf("%v, error %v, want the cause", f, err)
			}
			if got := tree(t, o.Cache); len(got) != 0 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestFetchStalled: a server that keeps silent in the middle of a body is left, and asked again.
func TestFetchStalled(t *testing.T) {
	s := serve(t, inTurn(half, small))
	o, slept, logged := setup(t, s.URL)
	var reads, stopped atomic.Int64
	o.After = func(d time.Duration, f func()) func() bool {
		if d != stallTime {
			t.Errorf("a limit of %v", d)
		}
		reads.Add(1)
		timer := time.AfterFunc(time.Hour, f)
		if len(s.requests()) == 1 {
			timer.Reset(20 * time.Millisecond)
		}
		return func() bool { stopped.Add(1); return timer.Stop() }
	}
	done := make(chan struct{})
	watchdog := time.AfterFunc(20*time.Second, func() { s.CloseClientConnections(); close(done) })
	mustGet(t, o, "acme/tiny")
	if !watchdog.Stop() {
		<-done
		t.Fatal("the server was not left")
	}
	if len(slept.pauses) != 1 || !strings.Contains(logged.String(), "no byte for a minute") {
		t.Errorf("pauses %v, log %s", slept.pauses, logged)
	}
	if reads.Load() != stopped.Load() {
		t.Errorf("%d limits set, %d lifted", reads.Load(), stopped.Load())
	}
}
