package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// mostHops bounds redirects.
const mostHops = 10

// metadata is what the hub says of a file in the headers of its answers. Large files are redirected to a
// storage, and what the hub said on the way there counts, not what the storage says.
type metadata struct {
	commit, etag string
	size         int64 // -1 when it is not said
}

// note takes what one answer says. own is an answer of the endpoint itself.
func (m *metadata) note(resp *http.Response, own bool) {
	commit := resp.Header.Get("X-Repo-Commit")
	if commit == "" || m.commit != "" && !own {
		return
	}
	m.commit = commit
	m.etag = cleanETag(cmp.Or(resp.Header.Get("X-Linked-Etag"), resp.Header.Get("ETag")))
	m.size = -1
	if n, err := strconv.ParseInt(resp.Header.Get("X-Linked-Size"), 10, 64); err == nil && n >= 0 {
		m.size = n
	}
}

// follow asks for the file and goes where redirects lead. The token goes along only as long as the way has not
// left the endpoint: its scheme, host and port.
func (f *fetcher) follow(ctx context.Context) (*http.Response, metadata, *Error) {
	said := metadata{size: -1}
	at, trusted := f.file, true
	for range mostHops {
		own := sameOrigin(at, f.endpoint)
		trusted = trusted && own
		resp, err := f.get(ctx, at, trusted)
		if err != nil {
			return nil, said, f.unreachable(at, err)
		}
		said.note(resp, own)
		if !isRedirect(resp.StatusCode) {
			return resp, said, nil
		}
		resp.Body.Close()
		next, err := target(resp)
		if err != nil {
			e := f.fails(BadSetting, fmt.Sprintf("%s redirects to a place that cannot be followed", at.Host), tryNetwork)
			e.err = err
			return nil, said, e
		}
		at = next
	}
	return nil, said, f.fails(BadSetting, fmt.Sprintf("%s redirects more than %d times", f.endpoint.Host, mostHops), tryNetwork)
}

func (f *fetcher) get(ctx context.Context, at *url.URL, trusted bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", cmp.Or(f.o.UserAgent, "turnmill"))
	req.Header.Set("Accept-Encoding", "identity") // sizes and checksums are those of the file
	if trusted && f.token != "" {
		req.Header.Set("Authorization", "Bearer "+f.token)
	}
	return f.client.Do(req)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target returns where a redirect leads: to http or https, and from https to https alone.
func target(resp *http.Response) (*url.URL, error) {
	next, err := resp.Location()
	if err != nil {
		return nil, withoutURL(err)
	}
	if next.Scheme != "https" && (next.Scheme != "http" || resp.Request.URL.Scheme != "http") {
		return nil, fmt.Errorf("from %s to %s", resp.Request.URL.Scheme, next.Scheme)
	}
	return next, nil
}

// withoutURL takes the address off an error: a storage's address is signed, which makes it a secret.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// sameOrigin compares scheme, host and port (RFC 6454).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
