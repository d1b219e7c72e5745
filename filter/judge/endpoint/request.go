package endpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Key names a request in a journal: SHA-256 of its canonical JSON, keys sorted, no blanks, least escapes, numbers as
// they are spelt:
//
//	{"id":"q1","kind":"rollout","messages":[{"content":"…","role":"user"}],"model":"m","params":{"max_tokens":9,"seed":1,
//	 "temperature":0.6,"top_p":0.95},"sample":0}
//
// The id is part of it, so that equal prompts of two queries are two requests.
type Key [sha256.Size]byte

// String returns 64 hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// KeyOf returns the key of a request. kind says what is asked: rollout, score, pair.
func KeyOf(kind string, r *turnmill.Request) Key {
	b := append([]byte(`{"id":`), jsonscan.AppendQuoted(nil, r.ID)...)
	b = jsonscan.AppendQuoted(append(b, `,"kind":`...), kind)
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendQuoted(append(b, `{"content":`...), m.Content)
		b = append(jsonscan.AppendQuoted(append(b, `,"role":`...), m.Role), '}')
	}
	b = jsonscan.AppendQuoted(append(b, `],"model":`...), r.Model)
	b = append(b, `,"params":{`...)
	b = appendParams(b, r.Params, "max_tokens")
	b = strconv.AppendInt(append(b, `},"sample":`...), int64(r.Sample), 10)
	return sha256.Sum256(append(b, '}'))
}

// appendParams appends the members of the parameters that are set, sorted.
func appendParams(b []byte, p turnmill.Params, limit string) []byte {
	first := true
	member := func(name, value string) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(append(b, '"'), name...), `":`...), value...)
	}
	if p.MaxTokens != 0 {
		member(limit, strconv.FormatInt(p.MaxTokens, 10))
	}
	if p.Seed != nil {
		member("seed", strconv.FormatInt(*p.Seed, 10))
	}
	if p.Temperature != "" {
		member("temperature", p.Temperature)
	}
	if p.TopP != "" {
		member("top_p", p.TopP)
	}
	return b
}

// appendBody appends the request as an endpoint takes it. One sample a request: n is left out.
func appendBody(b []byte, r *turnmill.Request, limit string) []byte {
	b = jsonscan.AppendQuotedLine(append(b, `{"model":`...), r.Model)
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendQuotedLine(append(b, `{"role":`...), m.Role)
		b = append(jsonscan.AppendQuotedLine(append(b, `,"content":`...), m.Content), '}')
	}
	b = append(b, ']')
	if r.Params != (turnmill.Params{}) {
		b = appendParams(append(b, ','), r.Params, limit)
	}
	return append(b, '}')
}

// checkRequest refuses what no endpoint could answer; it is the caller's fault and ends the run.
func checkRequest(r *turnmill.Request) error {
	switch {
	case r.ID == "" || !utf8.ValidString(r.ID):
		return fmt.Errorf("a request whose id %q is no name", r.ID)
	case r.Sample < 0:
		return fmt.Errorf("request %s: sample %d", r.ID, r.Sample)
	case len(r.Messages) == 0:
		return fmt.Errorf("request %s: no messages", r.ID)
	case r.Params.MaxTokens < 0:
		return fmt.Errorf("request %s: max_tokens %d", r.ID, r.Params.MaxTokens)
	}
	for name, s := range map[string]string{"temperature": r.Params.Temperature, "top_p": r.Params.TopP} {
		var doc jsonscan.Doc
		if v, err := doc.Parse([]byte(s)); s != "" && (err != nil || v.Kind() != jsonscan.Number || len(v.Raw()) != len(s)) {
			return fmt.Errorf("request %s: %s %q is no number", r.ID, name, s)
		}
	}
	return nil
}

// CustomID returns the name of a request in batch files: the key in base64 for addresses, a dash, the sample; at most 54
// characters of [A-Za-z0-9_-].
//
//	k1R9…43 characters…-2
func CustomID(k Key, sample int) string {
	return base64.RawURLEncoding.EncodeToString(k[:]) + "-" + strconv.Itoa(sample)
}

// ParseCustomID is the inverse of CustomID.
func ParseCustomID(s string) (k Key, sample int, ok bool) {
	const n = 43 // of 32 bytes in base64
	if len(s) < n+2 || s[n] != '-' {
		return Key{}, 0, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s[:n])
	sample, err2 := strconv.Atoi(s[n+1:])
	if err != nil || err2 != nil || sample < 0 {
		return Key{}, 0, false
	}
	k = Key(raw)
	return k, sample, CustomID(k, sample) == s
}
