package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
)

// newLogger returns the logger of a run: to standard error, text or JSON.
func newLogger(s streams, format string) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(s.err, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(s.err, nil)), nil
	}
	return nil, usage(fmt.Errorf("--log-format %q: want text or json", format))
}

// gcPercent makes the collector run when the heap has grown by this much. What lives is mostly buffers that
// are used again, so collections are rare either way; a small percentage keeps the peak near what lives, at
// three per cent of CPU.
const gcPercent = 40

// outside is what of the process the collector does not see: the program's own pages, and what the system
// holds for it.
const outside = 96 << 20

// limitMemory tells the garbage collector the bound of the process. GOMEMLIMIT and GOGC win where the user
// has set them.
func limitMemory(bytes int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" && bytes > 0 {
		debug.SetMemoryLimit(bytes - min(outside, bytes/16))
	}
}
