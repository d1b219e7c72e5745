package filter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnmill/turnmill/internal/volatile"
)

// Patterns are the texts by which captcha, http-error and retry-cycle know what they refuse. They are data:
// a file can replace them, and their hash stands in the manifest.
type Patterns struct {
	Captcha   []Pattern `json:"captcha" yaml:"captcha"`
	HTTPError []Pattern `json:"http_error" yaml:"http_error"`
	Refused   []string  `json:"refused" yaml:"refused"` // observations with which a harness refuses an action
}

// Pattern is met by a page that has everything it names. A text is compared as a whole, without regard to
// case, to the kind of apostrophe and to runs of blanks; * stands for any characters.
type Pattern struct {
	Title string `json:"title,omitempty" yaml:"title,omitempty"` // of the page; its first line where it has none
	Text  string `json:"text,omitempty" yaml:"text,omitempty"`   // of one element, or a line
	URL   string `json:"url,omitempty" yaml:"url,omitempty"`     // of the page
	Blank bool   `json:"blank,omitempty" yaml:"blank,omitempty"` // a root without a name and without anything below it
	Lines int    `json:"lines,omitempty" yaml:"lines,omitempty"` // the page has at most so many; 0: mostLines, or fewLines with text
}

// A page that says of itself what it is may be this long, and one of which a part says so this; an article
// about such pages is longer. A line counts lineBytes, so that a page on one line has a limit too.
const (
	mostLines = 80
	fewLines  = 30
	boxLines  = 12 // above it, a box to tick is one of a form
	lineBytes = 256
)

// limitLines is the most that a pattern may ask for: a record has no more.
const limitLines = 1 << 30

// refusedBytes is more than any message has with which a harness refuses an action.
const refusedBytes = 4 << 10

// Builtin returns the patterns that turnmill brings, a new copy each time.
func Builtin() *Patterns {
	p := &Patterns{Refused: []string{
		"the previous prediction you issued was*however, the format was incorrect*", // WebArena
		`attempt to perfom "*" on element "*" but no matching element found*`,
		"can not parse the output to a valid action*", // AndroidWorld
		"previous response had parsing errors:*",      // Terminus
		"your output was not formatted correctly*",    // SWE-agent
		"your output could not be parsed*",
		"your last output did not use any tool calls*",
		"please always provide exactly one action*", // mini-swe-agent
		"error input. your input must contain*",     // ETO
		"could not parse llm output*",               // LangChain
		"invalid format: missing 'action*",
		"invalid or incomplete response",
		"failed to parse tool call arguments*",  // OpenHands
		"invalid action. valid actions are *",   // Reflexion
		"<tool_use_error>inputvalidationerror*", // Claude Code
		"<tool_use_error>error: no such tool available*",
	}}
	for _, t := range [...]string{
		"just a moment...", "attention required! | cloudflare", "robot check", "robot or human?", "are you a robot?", "are you human?",
		"human verification", "verify you are human", "verifying you are human*", "security verification",
		"captcha challenge", "ddos-guard", "pardon our interruption*", "please verify you are a human",
	} {
		p.Captcha = append(p.Captcha, Pattern{Title: t})
	}
	for _, t := range [...]string{
		"verify you are human by completing the action below*", "verifying you are human. this may take a few seconds*",
		"please verify you are a human*", "please verify that you are not a robot*", "checking your browser before accessing*",
		"checking if the site connection is secure*", "our systems have detected unusual traffic from your computer network*",
		"press & hold to confirm you are a human*", "enter the characters you see below", "type the characters you see in this image*",
		"widget containing a cloudflare security challenge", "complete the security check to access*",
		"why do i have to complete a captcha?", "please complete the captcha*", "please solve the captcha*",
	} {
		p.Captcha = append(p.Captcha, Pattern{Text: t})
	}
	for _, box := range [...]string{"verify you are human", "i'm not a robot", "i am human"} {
		p.Captcha = append(p.Captcha, Pattern{Text: box, Lines: boxLines})
	}
	p.Captcha = append(p.Captcha, Pattern{URL: "*://www.google.com/sorry/*"}, Pattern{URL: "*/cdn-cgi/challenge-platform/*"})

	p.HTTPError = []Pattern{{Blank: true}, {URL: "about:blank#blocked"}, {URL: "chrome-error://*"}, {URL: "about:neterror*"}}
	for _, status := range [...]string{
		"400 bad request", "401 unauthorized", "401 authorization required", "403 forbidden", "404 not found", "405 not allowed",
		"405 method not allowed", "408 request timeout", "408 request time-out", "410 gone", "413 request entity too large",
		"429 too many requests", "500 internal server error", "501 not implemented", "502 bad gateway", "502 proxy error",
		"503 service unavailable", "503 service temporarily unavailable", "504 gateway timeout", "504 gateway time-out",
	} {
		code, words, _ := strings.Cut(status, " ")
		p.HTTPError = append(p.HTTPError, Pattern{Title: status}, Pattern{Title: "error " + status}, Pattern{Title: "http error " + status},
			Pattern{Title: code + " - " + words}, Pattern{Title: code + ": " + words}, Pattern{Title: "http status " + code + " – " + words})
	}
	for _, t := range [...]string{
		"error 404 (not found)!!1", "404 page not found", "404 - file or directory not found.", "page not found", "page not found (404)", "server error (500)",
		"access denied", "access to this page has been denied", "forbidden", "bad gateway", "service unavailable", "internal server error",
		"problem loading page", "server not found", "webpage not available", "this site can't be reached", "this page isn't working",
		"* | 502: bad gateway", "* | 504: gateway time-out", "* | 520: *", "* | 521: *", "* | 522: *", "* | 523: *", "* | 524: *", "* | 525: *", "* | 526: *", "your connection is not private", "privacy error",
	} {
		p.HTTPError = append(p.HTTPError, Pattern{Title: t})
	}
	for _, t := range [...]string{
		"this site can't be reached", "this page isn't working", "webpage not available", "hmm. we're having trouble finding that site.",
		"err_name_not_resolved", "err_connection_*", "err_internet_disconnected", "err_address_*", "err_timed_out", "err_empty_response",
		"err_too_many_redirects", "err_ssl_*", "err_cert_*", "err_http2_protocol_error", "err_network_changed", "err_aborted", "err_blocked_by_*",
		"err_tunnel_connection_failed", "err_proxy_connection_failed", "dns_probe_*",
	} {
		p.HTTPError = append(p.HTTPError, Pattern{Text: t})
	}
	return p
}

// Validate joins all problems of the patterns.
func (p *Patterns) Validate() error {
	var errs []error
	for _, list := range [...]struct {
		name     string
		patterns []Pattern
	}{{"captcha", p.Captcha}, {"http_error", p.HTTPError}} {
		for i, q := range list.patterns {
			if err := q.validate(); err != nil {
				errs = append(errs, fmt.Errorf("%s, pattern %d: %w", list.name, i+1, err))
			}
		}
	}
	for i, text := range p.Refused {
		if err := meaningful(text); err != nil {
			errs = append(errs, fmt.Errorf("refused, pattern %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func (q *Pattern) validate() error {
	if q.Title == "" && q.Text == "" && q.URL == "" && !q.Blank {
		return errors.New("it names nothing; give it a title, text, url, or blank: true")
	}
	if q.Lines < 0 || q.Lines > limitLines {
		return fmt.Errorf("lines %d: want 0 to %d", q.Lines, limitLines)
	}
	for _, text := range [...]string{q.Title, q.Text, q.URL} {
		if text != "" {
			if err := meaningful(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// meaningful refuses what is met by everything, or cannot be told by its text.
func meaningful(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%q: want UTF-8 text", text)
	}
	if strings.Trim(text, "* \t\r\n") == "" {
		return fmt.Errorf("%q: nothing but * and blanks, so that every page meets it", text)
	}
	return nil
}

// Hash returns the SHA-256 of the patterns, in hexadecimal.
func (p *Patterns) Hash() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic("filter: patterns are strings and numbers: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// compiled is Patterns in the form in which pages are compared.
type compiled struct {
	captcha, httpError *pageRules
	lines              int // of the longest page that any rule takes
	refused            []glob
	refusals           starts // of refused
}

// pageRules are the patterns of one filter.
type pageRules struct {
	rules     []rule
	texts     starts // of all rules' texts
	lines     int    // of the longest page that any of them takes
	textLines int    // that any with a text takes
}

// rule is a compiled Pattern; lines is set.
type rule struct {
	title, text, url glob
	blank            bool
	lines            int
}

func (p *Patterns) compile() (*compiled, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c := &compiled{captcha: compileRules(p.Captcha), httpError: compileRules(p.HTTPError)}
	c.lines = max(c.captcha.lines, c.httpError.lines)
	for _, text := range p.Refused {
		g := newGlob(text)
		c.refused = append(c.refused, g)
		c.refusals.add(g)
	}
	return c, nil
}

func compileRules(patterns []Pattern) *pageRules {
	r := &pageRules{}
	for _, p := range patterns {
		q := rule{title: newGlob(p.Title), text: newGlob(p.Text), url: newGlob(p.URL), blank: p.Blank, lines: p.Lines}
		if q.lines == 0 {
			if q.lines = mostLines; p.Text != "" {
				q.lines = fewLines
			}
		}
		if q.text != nil {
			r.texts.add(q.text)
			r.textLines = max(r.textLines, q.lines)
		}
		r.lines = max(r.lines, q.lines)
		r.rules = append(r.rules, q)
	}
	return r
}

// starts tells by the first character of a text whether any of some globs can meet it, folded.
type starts struct {
	byte [256]bool
	any  bool
}

func (s *starts) add(g glob) {
	if first := g[0]; first == "" {
		s.any = true
	} else {
		s.byte[first[0]] = true
	}
}

func (s *starts) may(text string) bool {
	if s.any {
		return true
	}
	for text != "" {
		r, n := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text)
		}
		if isBlank(r) {
			text = text[n:]
			continue
		}
		var first [utf8.UTFMax]byte
		return s.byte[appendFoldedRune(first[:0], r)[0]]
	}
	return false
}

// glob is a folded pattern, cut at its stars; nil is none.
type glob []string

func newGlob(pattern string) glob {
	if pattern == "" {
		return nil
	}
	return strings.Split(string(appendFolded(nil, pattern)), "*")
}

// meets tells whether a folded text is what the pattern says, from end to end.
func (g glob) meets(text []byte) bool {
	first, last := g[0], g[len(g)-1]
	if len(g) == 1 {
		return string(text) == first
	}
	if len(text) < len(first)+len(last) || string(text[:len(first)]) != first || string(text[len(text)-len(last):]) != last {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range g[1 : len(g)-1] {
		i := indexIn(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

// mayMeet tells whether a text that begins with head, folded, can be what the pattern says.
func (g glob) mayMeet(head []byte) bool {
	n := min(len(head), len(g[0]))
	return string(head[:n]) == g[0][:n]
}

func indexIn(text []byte, part string) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if string(text[i:i+len(part)]) == part {
			return i
		}
	}
	return -1
}

// appendFolded appends text in lower case, with plain apostrophes, each run of blanks as one space, and none
// at either end.
func appendFolded(dst []byte, text string) []byte {
	from, blank := len(dst), false
	for _, r := range text {
		if isBlank(r) {
			blank = len(dst) > from
			continue
		}
		if blank {
			dst, blank = append(dst, ' '), false
		}
		dst = appendFoldedRune(dst, r)
	}
	return dst
}

// isBlank tells whether r separates words, or is not seen at all.
func isBlank(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	return unicode.IsSpace(r) || r == '\u200e' || r == '\u200b'
}

func appendFoldedRune(dst []byte, r rune) []byte {
	switch {
	case r == '’' || r == '‘' || r == '`':
		return append(dst, '\'')
	case r < utf8.RuneSelf:
		return append(dst, volatile.Lower(byte(r)))
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}
