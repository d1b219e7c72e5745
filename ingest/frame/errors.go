package frame

import (
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// DamageError says that compressed data is damaged or cut. What was decompressed before it was handed out.
type DamageError struct {
	Compression Compression
	Offset      int64 // in the stored bytes: what gzip had read, or the start of the zstd block with the damage
	Err         error
}

// Error names the compression, the place and the cause.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s data cannot be decoded near stored byte %d: %v; the file may be damaged or cut, try to fetch or write it again", e.Compression, e.Offset, e.Err)
}

// Unwrap returns the decoder's error.
func (e *DamageError) Unwrap() error { return e.Err }

// WindowError says that a zstd frame wants more memory than the limit allows. The data itself is sound.
type WindowError struct {
	Offset int64  // of the frame in the stored bytes
	Window uint64 // bytes that the frame's header asks for
	Limit  uint64
}

// Error names the window, the limit and the flag.
func (e *WindowError) Error() string {
	return fmt.Sprintf("the zstd frame at stored byte %d needs a window of %d bytes, above the limit of %d; try --max-window %d", e.Offset, e.Window, e.Limit, e.Window)
}

// Reason names an error of this package, or of jsonscan, as ledgers do. Errors that nobody here made are
// those of the file: unreadable. It is empty for nil.
func Reason(err error) turnmill.Reason {
	var (
		record *turnmill.RecordError
		damage *DamageError
		window *WindowError
		syntax *jsonscan.SyntaxError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &record):
		return record.Reason
	case errors.As(err, &damage):
		return turnmill.ReasonBadCompression
	case errors.As(err, &window):
		return turnmill.ReasonWindowTooLarge
	case errors.As(err, &syntax):
		return syntaxReason(syntax)
	}
	return turnmill.ReasonUnreadable
}
