package turnmill

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCorrupt marks every error that says that a file of a run is not what was written.
var ErrCorrupt = errors.New("corrupt")

// Pos says where in the input something stands. Offsets count decompressed bytes from the start of the
// file, or of the zstd frame that Frame names.
type Pos struct {
	Path   string // argument ordinal and the path below it, as in the plan: "0/a/b.jsonl"
	Frame  int64  // offset of the zstd frame in the stored file; -1 when offsets count from the file's start
	Line   int64  // from 1; 0 when the layout has no lines
	Offset int64  // of the record's first byte
	Bytes  int64  // length of the record
}

// String returns "path:line" where there is a line, else "path@offset".
func (p Pos) String() string {
	switch {
	case p.Line > 0 && p.Frame > 0:
		return fmt.Sprintf("%s[frame %d]:%d", p.Path, p.Frame, p.Line)
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", p.Path, p.Line)
	case p.Frame > 0:
		return fmt.Sprintf("%s[frame %d]@%d", p.Path, p.Frame, p.Offset)
	default:
		return fmt.Sprintf("%s@%d", p.Path, p.Offset)
	}
}

// RecordError is a failure that costs one record, or one trajectory of it, and nothing else.
type RecordError struct {
	Pos    Pos
	Step   string // "frame", "decode", "render", "encode"
	Reason Reason
	Err    error  // what is wrong; never quotes more of the record than a name
	Hint   string // what to try; may be empty
}

// Error returns "position: step: cause; try hint".
func (e *RecordError) Error() string {
	var b strings.Builder
	if e.Pos.Path != "" {
		b.WriteString(e.Pos.String())
		b.WriteString(": ")
	}
	if e.Step != "" {
		b.WriteString(e.Step)
		b.WriteString(": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	} else {
		b.WriteString(string(e.Reason))
	}
	if e.Hint != "" {
		b.WriteString("; try ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }
