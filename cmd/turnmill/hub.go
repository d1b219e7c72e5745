package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/shard/hub"
)

// hubFromEnv returns where tokenizers are found that are named as repositories, as Hugging Face's own clients
// read it from the environment, with the real clock.
func hubFromEnv(logger *slog.Logger) hub.Options {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // no cache, unless a variable names one
	}
	o := hub.FromEnv(os.Getenv, home)
	o.UserAgent = "turnmill/" + pipelines.Version
	o.Sleep = sleep
	o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	o.Logger = logger
	return o
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
