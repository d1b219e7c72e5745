package completion

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Error is what a server says instead of an answer.
type Error struct {
	Message string // as it stands in the body, at most maxMessage bytes
	Code    string // code, else type; may be empty
}

// maxMessage bounds a server's message: some quote the whole prompt.
const maxMessage = 300

// Error returns code and message.
func (e *Error) Error() string {
	switch {
	case e.Code == "":
		return "the server says: " + e.Message
	case e.Message == "":
		return "the server says: " + e.Code
	default:
		return fmt.Sprintf("the server says: %s: %s", e.Code, e.Message)
	}
}

// Refused tells that a content filter stopped the request, which some endpoints report as an error.
func (e *Error) Refused() bool {
	return strings.Contains(e.Code, "content_filter") || e.Code == "content_policy_violation"
}

// ReadError finds the error of a parsed body, in the shapes that servers use:
//
//	{"error":{"message":"…","code":"…","type":"…"}}   {"error":"…"}   {"object":"error","message":"…"}   {"detail":"…"}
func ReadError(v jsonscan.Value) (*Error, bool) {
	e := v.Get("error")
	switch {
	case e.Kind() == jsonscan.String:
		return &Error{Message: Bounded(text(e), maxMessage)}, true
	case e.Kind() == jsonscan.Object:
	case v.Get("object").Is("error"), v.Get("message").Kind() == jsonscan.String:
		e = v
	case v.Get("detail").Present():
		d := v.Get("detail")
		if d.Kind() == jsonscan.String {
			return &Error{Message: Bounded(text(d), maxMessage)}, true
		}
		return &Error{Message: Bounded(d.RawStr(), maxMessage)}, true
	default:
		return nil, false
	}
	found := &Error{Message: Bounded(scalar(e.Get("message")), maxMessage)}
	for _, name := range []string{"code", "type"} {
		if found.Code == "" {
			found.Code = Bounded(scalar(e.Get(name)), 60)
		}
	}
	if found.Message == "" && found.Code == "" {
		found.Message = Bounded(e.RawStr(), maxMessage)
	}
	return found, true
}

// scalar returns a text, or a number as it is spelt: codes are both.
func scalar(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Number {
		return v.RawStr()
	}
	return text(v)
}
