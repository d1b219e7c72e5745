package verify

import (
	"context"
	"testing"
	"time"
)

// BenchmarkProgram is the cost of a sandbox: the smallest program.
func BenchmarkProgram(b *testing.B) {
	if why := opened().Refusal(); why != "" {
		b.Skip("no sandbox here: " + why)
	}
	v, err := Parse([]byte(`{"kind":"program","class":"control","program":"#!/bin/sh\nexit 0"}`), nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		if got, err := v.Check(ctx, opened(), Case{}); err != nil || got.State != Pass {
			b.Fatal(got, err)
		}
		cancel()
	}
}
