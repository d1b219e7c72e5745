package arrow

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// A stream that lost a part must never get its end marker, even when the output recovers.
func TestWriterAfterFailure(t *testing.T) {
	full := len(stream(t, options(ProfileHF, Limits{Rows: 1}), testRows(ProfileHF, 5, 5, 5)))
	for limit := range full {
		out := &failing{left: limit}
		w, err := NewWriter(out, options(ProfileHF, Limits{Rows: 1}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if err := w.Append(testRow(i, 5, ProfileHF)); err != nil && !errors.Is(err, errFull) {
				t.Fatalf("limit %d: Append: %v", limit, err)
			}
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Fatalf("limit %d: Close = %v, want the failure", limit, err)
		}
		if bytes.HasSuffix(out.Bytes(), []byte(endMarker)) {
			t.Fatalf("limit %d: a broken stream of %d of %d bytes ends with the end marker", limit, out.Len(), full)
		}
	}
}

var errFull = errors.New("disk full")

// failing fails once, at the write that would pass the limit, and accepts all others.
type failing struct {
	bytes.Buffer
	left   int
	failed bool
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left && !f.failed {
		f.failed = true
		return 0, errFull
	}
	f.left -= len(p)
	return f.Buffer.Write(p)
}

func TestWriterClosed(t *testing.T) {
	w, err := NewWriter(io.Discard, options(ProfileHF, Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if err := w.Append(testRow(0, 5, ProfileHF)); !errors.Is(err, errClosed) {
		t.Errorf("Append after Close = %v, want %v", err, errClosed)
	}
}
