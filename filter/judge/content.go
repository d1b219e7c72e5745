package judge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

// ContentClass says how much of a stretch of the real observation could be known. Report, section 4.2.
type ContentClass string

// The three classes.
const (
	Deterministic   ContentClass = "deterministic"    // follows from the history and the action: must be right
	PreExisting     ContentClass = "pre_existing"     // was in the environment before, unseen: must be plausible
	RuntimeMetadata ContentClass = "runtime_metadata" // times, ids, durations: the form must be right
)

// ContentSpan is a stretch of the real observation, in bytes, and its class.
type ContentSpan struct {
	turnmill.Span
	Class ContentClass
}

// classes lists stretches one a line, as JSON strings, so that no stretch looks like another line.
func classes(text string, spans []ContentSpan) string {
	var b strings.Builder
	b.WriteString("deterministic: must be right; pre_existing: must be plausible; runtime_metadata: must have the right form\n")
	for i, s := range spans {
		if s.Start < 0 || s.Start > s.End || int(s.End) > len(text) {
			continue // a span of another text says nothing
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "bytes %d-%d %s: %s", s.Start, s.End, s.Class, strconv.Quote(text[s.Start:s.End]))
	}
	return b.String()
}
