package pipelines

import (
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Sizes of a record's excerpt, in bytes.
const (
	recordHead = 700
	recordTail = 200
)

// secretReach is how much beyond an excerpt is looked at for secrets that its end would cut, in bytes.
const secretReach = 16 << 10

// recordText is a record without its middle; empty where the record could not be read.
type recordText struct {
	Head    string `json:"head,omitempty"`
	Skipped int    `json:"skipped,omitempty"` // bytes
	Tail    string `json:"tail,omitempty"`
}

// recordBytes is what of a record's bytes its text may be made of: all of them, or the first and the last. It is borrowed
// from an arena.
type recordBytes struct {
	head, tail string
	skipped    int // bytes between them
}

// recordBytesOf copies what may be shown of a record into the arena.
func recordBytesOf(raw []byte, a *jsonscan.Arena) *recordBytes {
	if len(raw) <= 2*secretReach {
		return &recordBytes{head: a.CopyBytes(raw)}
	}
	end, start := charStart(raw, secretReach, -1), charStart(raw, len(raw)-secretReach, 1)
	return &recordBytes{head: a.CopyBytes(raw[:end]), tail: a.CopyBytes(raw[start:]), skipped: start - end}
}

// text cuts the middle out, and what is secret. What is no UTF-8 becomes U+FFFD. The text owns its memory.
func (e *recordBytes) text(hide *secrets.Scrubber) recordText {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	head, tail, skipped := e.head, e.tail, e.skipped
	if hide != nil {
		head, tail = hide.Text(valid(head)), hide.Text(valid(tail))
	}
	if skipped == 0 { // one text
		if len(head) <= recordHead+recordTail {
			return recordText{Head: strings.Clone(valid(head))}
		}
		tail, skipped = head, -len(head)
	}
	from, to := charStart(head, recordHead, -1), charStart(tail, len(tail)-recordTail, 1)
	return recordText{strings.Clone(valid(head[:from])), skipped + len(head) - from + to, strings.Clone(valid(tail[to:]))}
}

// charStart returns the nearest place in a text, going by step from i, at which no character is parted, or i within the
// text where that is far.
func charStart[T string | []byte](text T, i, step int) int {
	i = min(max(i, 0), len(text))
	for at := i; at > 0 && at < len(text) && at-i < utf8.UTFMax && i-at < utf8.UTFMax; at += step {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return i
}
