package hub

import (
	"fmt"
	"strings"
	"time"
)

// Kind tells failures apart.
type Kind uint8

// What can go wrong.
const (
	NotFound    Kind = iota + 1 // the hub has no such repository, revision or file
	Denied                      // a token with access is needed, or the licence to be accepted
	NotCached                   // the cache does not have it, and no hub may be asked
	BadSetting                  // HF_ENDPOINT or a token cannot be used
	Unreachable                 // the network or the hub fails; another day it may work
	Damaged                     // what came, or what the cache holds, is not what it says it is
)

// Error says why a file could not be had: what, where, and what to try.
type Error struct {
	Kind  Kind
	Ref   Ref
	Cache string // the directory that was looked in first, in vain; "" for none

	what string // what went wrong, in words that go on from "and"
	try  string
	err  error // the cause, or nil

	entry bool          // the hub has the revision, and knows that the file is not in it
	retry bool          // another try may help
	wait  time.Duration // for as long as the server asked; 0 when it did not
}

// Error names the cache that was looked in, what went wrong then, and what to try.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Cache != "" {
		fmt.Fprintf(&b, "not in the cache %s, and ", e.Cache)
	}
	b.WriteString(e.brief())
	if e.try != "" {
		fmt.Fprintf(&b, "; %s", e.try)
	}
	return b.String()
}

// brief names what went wrong alone.
func (e *Error) brief() string {
	if e.err != nil {
		return fmt.Sprintf("%s: %v", e.what, e.err)
	}
	return e.what
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// Setting tells whether another name or setting is needed, rather than another try.
func (e *Error) Setting() bool {
	switch e.Kind {
	case NotFound, Denied, NotCached, BadSetting:
		return true
	}
	return false
}
