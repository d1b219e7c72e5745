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

// limitMemory tells the garbage collector the bound of the process, unless the user has set GOMEMLIMIT.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" && bytes > 0 {
		debug.SetMemoryLimit(bytes)
	}
}
