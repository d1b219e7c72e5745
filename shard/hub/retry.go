package hub

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

const (
	attempts    = 5               // requests in all
	firstPause  = 1 * time.Second // then two, four, eight
	longestWait = 5 * time.Minute // that a server may ask for: the hub's rates are for five minutes
)

// pause returns how long to wait after the try that failed: what the server asked for, or twice as long each
// time.
func pause(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longestWait)
	}
	return firstPause << (try - 1)
}

// again tells whether a status may be another one soon.
func again(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNotImplemented
}

// spent is the hub's word that a rate is used up, and for how many seconds.
var spent = regexp.MustCompile(`;\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,6})\b`)

// waitOf returns how long an answer asks to wait, or 0: RateLimit (draft-ietf-httpapi-ratelimit-headers) or
// Retry-After (RFC 9110, section 10.2.3), whose date is measured from the answer's own.
func waitOf(resp *http.Response) time.Duration {
	if m := spent.FindStringSubmatch(resp.Header.Get("RateLimit")); m != nil && resp.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(m[1])
		return time.Duration(seconds+1) * time.Second
	}
	asked := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(asked, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(asked)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

const tryNetwork = "check the network, HTTPS_PROXY and HF_ENDPOINT"

// unreachable is the error of a request that got no answer. Where the name or the certificate is wrong no other
// try is made.
func (f *fetcher) unreachable(at *url.URL, err error) *Error {
	e := f.fails(Unreachable, at.Host+" gives no answer", tryNetwork)
	e.err = withoutURL(err)
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	e.retry = !(errors.As(err, &name) && name.IsNotFound) && !errors.As(err, &certificate)
	return e
}
