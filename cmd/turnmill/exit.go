package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/turnmill/turnmill/pipelines"
)

// Exit codes, as `turnmill --help` lists them.
const (
	exitDone        = 0   // done
	exitFailed      = 1   // failed
	exitUsage       = 2   // usage or configuration
	exitThreshold   = 3   // done, but a threshold was passed
	exitTryAgain    = 75  // interrupted by SIGTERM or SIGUSR1, resumable; or waiting for a batch API
	exitInterrupted = 130 // interrupted by SIGINT, resumable
)

// errInterrupted and errPreempted are the causes with which a signal cancels the context.
var (
	errInterrupted = errors.New("interrupted")
	errPreempted   = errors.New("told to stop")
)

// withSignals returns a context that the first SIGINT, SIGTERM or SIGUSR1 cancels with its cause. A second
// signal ends the process at once.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	interrupts, stopInt := signal.NotifyContext(ctx, os.Interrupt)
	preempts, stopTerm := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGUSR1)
	context.AfterFunc(interrupts, func() { cancel(errInterrupted); stopInt(); stopTerm() })
	context.AfterFunc(preempts, func() { cancel(errPreempted); stopInt(); stopTerm() })
	return ctx, func() { cancel(nil); stopInt(); stopTerm() }
}

// usage marks an error as one of usage or configuration.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &pipelines.UsageError{Err: err}
}

func exitCode(err error) int {
	var bad *pipelines.UsageError
	var passed *pipelines.ThresholdError
	var drift *pipelines.DriftError
	var pending *pipelines.PendingError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errPreempted), errors.As(err, &pending):
		return exitTryAgain
	case errors.As(err, &bad):
		return exitUsage
	case errors.As(err, &passed), errors.As(err, &drift):
		return exitThreshold
	}
	return exitFailed
}

// explain returns what is printed about an error: its lines, each with "error: " in front. An error may
// quote a name out of the content, so nothing in it steers the terminal.
func explain(err error) string {
	switch {
	case errors.Is(err, errInterrupted):
		return "interrupted: what is committed stays; run the same command again to go on\n"
	case errors.Is(err, errPreempted):
		return "told to stop: what is committed stays; run the same command again to go on\n"
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		fmt.Fprintf(&b, "error: %s\n", visible(line))
	}
	return b.String()
}
