package hub

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// status is the error of an answer that is not the file. The hub says in X-Error-Code what is missing; it
// answers 401 for repositories that do not exist too, unless a token tells who asks.
func (f *fetcher) status(resp *http.Response) *Error {
	host, page := resp.Request.URL.Host, f.page()
	answer := strconv.Itoa(resp.StatusCode)
	if said := resp.Header.Get("X-Error-Message"); said != "" {
		answer += ", " + strconv.Quote(short(said))
	}
	if again(resp.StatusCode) {
		e := f.fails(Unreachable, fmt.Sprintf("%s answers %s", host, answer), "try later, or another HF_ENDPOINT")
		if resp.StatusCode == http.StatusTooManyRequests && f.token == "" {
			e.try = "try later, or with HF_TOKEN, which allows more requests"
		}
		e.retry, e.wait = true, waitOf(resp)
		return e
	}
	if !sameOrigin(resp.Request.URL, f.endpoint) {
		return f.fails(Unreachable, fmt.Sprintf("%s, to which the hub redirects, answers %s", host, answer), tryNetwork)
	}
	switch code := resp.Header.Get("X-Error-Code"); {
	case code == "RevisionNotFound":
		return f.fails(NotFound, fmt.Sprintf("%s has no revision %s (%s)", page, f.ref.revision(), answer), "try a branch, tag or commit of it, as in "+f.ref.Repo+"@main")
	case code == "EntryNotFound":
		e := f.fails(NotFound, fmt.Sprintf("%s has no %s at %s (%s)", page, f.cache.name, f.ref.revision(), answer),
			"try the repository of its base model, or make the file in Python: AutoTokenizer.from_pretrained(NAME).save_pretrained(DIR), and name DIR")
		e.entry = true
		return e
	case code == "GatedRepo":
		return f.fails(Denied, fmt.Sprintf("%s is gated (%s)", page, answer), f.accept())
	case code == "RepoNotFound", resp.StatusCode == http.StatusNotFound:
		return f.fails(NotFound, fmt.Sprintf("%s is no repository, or a private one (%s)", page, answer), "check the spelling; "+f.access())
	case resp.StatusCode == http.StatusUnauthorized && f.token != "" && strings.HasPrefix(resp.Header.Get("X-Error-Message"), "Invalid credentials"):
		return f.fails(Denied, fmt.Sprintf("%s does not take the token of %s (%s)", host, f.from, answer), "make another on "+f.place("settings", "tokens")+"; public repositories need none")
	case resp.StatusCode == http.StatusUnauthorized:
		return f.fails(Denied, fmt.Sprintf("%s is no repository, or one that is private or gated (%s)", page, answer), "check the spelling; "+f.accept())
	case resp.StatusCode == http.StatusForbidden:
		return f.fails(Denied, fmt.Sprintf("%s refuses access to %s (%s)", host, f.ref.Repo, answer), f.accept())
	}
	return f.fails(BadSetting, fmt.Sprintf("%s answers %s", host, answer), "check HF_ENDPOINT")
}

// access says how to be let in.
func (f *fetcher) access() string {
	switch {
	case f.o.NoToken:
		return "no token was sent, because of HF_HUB_DISABLE_IMPLICIT_TOKEN"
	case f.token == "":
		return "for a private one set HF_TOKEN to a token with access, or log in with hf auth login"
	}
	return "for a private one the token of " + f.from + " needs access"
}

// accept says how to be let in where a licence may stand before it.
func (f *fetcher) accept() string {
	switch {
	case f.o.NoToken:
		return f.access()
	case f.token == "":
		return "accept its licence on that page, and set HF_TOKEN to a token of the same account"
	}
	return "accept its licence on that page with the account of the token of " + f.from + ", and let the token read gated repositories"
}

// page is where a person can look at the repository.
func (f *fetcher) page() string { return f.place(f.ref.Repo) }

func (f *fetcher) place(parts ...string) string { return f.endpoint.JoinPath(parts...).Redacted() }
