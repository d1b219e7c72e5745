package arrow

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
)

// behind starts each batch on a goroutine that waits to be let go on, and counts.
type behind struct {
	running sync.WaitGroup
	started int
	gate    chan struct{} // closed: nobody waits
}

func (b *behind) start(write func() error) func() error {
	b.started++
	done := make(chan error, 1)
	b.running.Go(func() {
		<-b.gate
		done <- write()
	})
	return func() error { return <-done }
}

// TestWriterBehind: batches that are written while the next ones are filled are those that are written at once.
func TestWriterBehind(t *testing.T) {
	for p := range Profile(numProfiles) {
		limits := Limits{Rows: 3, Bytes: 1 << 14}
		rows := testRows(p, 2, 3, 64, 65, 2000, 5, 1, 700, 40_000, 9, 9, 9, 9, 2)
		rows = append(rows[:6], rows[7:]...) // a row of one token has no loss
		want := stream(t, options(p, limits), rows)

		b := &behind{gate: make(chan struct{})}
		close(b.gate)
		o := options(p, limits)
		o.Behind = b.start
		var out bytes.Buffer
		w, err := NewWriter(&out, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time with what the first one left
			out.Reset()
			w.Reset(&out)
			appendAll(t, w, rows)
			if !bytes.Equal(out.Bytes(), want) || w.Size() != int64(len(want)) {
				t.Errorf("%s: %d bytes, Size %d, want the %d of a plain writer", p, out.Len(), w.Size(), len(want))
			}
		}
		if b.started < 6 {
			t.Errorf("%s: %d batches were written behind", p, b.started)
		}
	}
}

// TestWriterSizeBehind: where a file ends must not depend on how far its writing is.
func TestWriterSizeBehind(t *testing.T) {
	limits := Limits{Rows: 2}
	rows := testRows(ProfileHF, 5, 6, 7)
	plain, err := NewWriter(io.Discard, options(ProfileHF, limits))
	if err != nil {
		t.Fatal(err)
	}
	b := &behind{gate: make(chan struct{})}
	o := options(ProfileHF, limits)
	o.Behind = b.start
	late, err := NewWriter(io.Discard, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if err := errors.Join(plain.Append(row), late.Append(row)); err != nil {
			t.Fatal(err)
		}
		if plain.Size() != late.Size() {
			t.Errorf("row %d: Size %d, want %d: its batch is not written yet", i, late.Size(), plain.Size())
		}
	}
	close(b.gate)
	late.Abandon()
	b.running.Wait()
}

// TestWriterBehindFails: a failure comes back with the next batch or Close, and nothing follows it.
func TestWriterBehindFails(t *testing.T) {
	b := &behind{gate: make(chan struct{})}
	close(b.gate)
	o := options(ProfileHF, Limits{Rows: 1})
	o.Behind = b.start
	full := &fullDisk{left: 1000}
	w, err := NewWriter(full, o)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err = w.Append(testRow(0, 9, ProfileHF)); err != nil {
			break
		}
	}
	if !errors.Is(err, errNoRoom) {
		t.Fatalf("Append = %v, want the failure", err)
	}
	written := full.written
	for range 2 {
		if err := w.Append(testRow(0, 9, ProfileHF)); !errors.Is(err, errNoRoom) {
			t.Errorf("Append after the failure = %v", err)
		}
		if err := w.Close(); !errors.Is(err, errNoRoom) {
			t.Errorf("Close after the failure = %v", err)
		}
	}
	if full.written != written {
		t.Errorf("%d bytes follow the failure", full.written-written)
	}
}

var errNoRoom = errors.New("no room")

type fullDisk struct{ left, written int }

func (f *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left, f.written = f.left-n, f.written+n
	if n < len(p) {
		return n, errNoRoom
	}
	return n, nil
}

// TestWriterAbandon: when it returns nothing is written any more, and the writer serves another stream.
func TestWriterAbandon(t *testing.T) {
	b := &behind{gate: make(chan struct{})}
	o := options(ProfileHF, Limits{Rows: 1})
	o.Behind = b.start
	var lost, out bytes.Buffer
	w, err := NewWriter(&lost, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := testRows(ProfileHF, 4, 5)
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	close(b.gate)
	w.Abandon()
	n := lost.Len() // the race detector sees a writer that is still at it
	if err := w.Append(rows[0]); err == nil {
		t.Error("Append succeeds on an abandoned stream")
	}
	w.Reset(&out)
	appendAll(t, w, rows)
	if want := stream(t, options(ProfileHF, Limits{Rows: 1}), rows); !bytes.Equal(out.Bytes(), want) || lost.Len() != n {
		t.Errorf("%d bytes in the next stream, want %d; %d more in the one before", out.Len(), len(want), lost.Len()-n)
	}
}
