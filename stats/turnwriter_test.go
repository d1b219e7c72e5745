package stats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// However rows are handed over, and whatever was written before, the bytes are the same. Strings are
// overwritten after each call: the writer only borrows them.
func TestTurnWriterIsDeterministic(t *testing.T) {
	rows := testTurns(10_000)
	want := table(t, rows, len(rows))
	for _, perCall := range []int{1, 7, 64, 1000} {
		if got := table(t, rows, perCall); !bytes.Equal(got, want) {
			t.Errorf("%d rows a call give %d other bytes than one call's %d", perCall, len(got), len(want))
		}
	}
	var out bytes.Buffer
	w := newTestWriter(t, &out)
	w.limit = testGroup
	for i := range rows {
		spans, id := slices.Clone(rows[i].KeptSpans), []byte(rows[i].ID)
		row := rows[i]
		row.KeptSpans, row.ID = spans, borrowed(id)
		if err := w.Write([]TurnRow{row}); err != nil {
			t.Fatal(err)
		}
		clear(spans)
		clear(id)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Error("the writer keeps what it was lent")
	}
	if bytes.Equal(want, table(t, rows[1:], 64)) {
		t.Error("other rows give the same bytes")
	}
}

// borrowed is a string in someone else's memory.
func borrowed(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Pitfall 14: many small writes make few row groups, and large rows close them by bytes.
func TestPitfall14RowGroups(t *testing.T) {
	if got := rowGroups(t, table(t, testTurns(1000), 1)); got != 1 {
		t.Errorf("1000 one-row writes make %d row groups, want 1", got)
	}
	if got := rowGroups(t, table(t, testTurns(20_000), 20)); got < 6 || got > 9 {
		t.Errorf("20,000 rows of some 400 bytes make %d row groups of 1 MiB, want 8", got)
	}
	rows := testTurns(40)
	for i := range rows {
		rows[i].Tool = strings.Repeat("y", 1<<18) + fmt.Sprint(i)
	}
	if got := rowGroups(t, table(t, rows, 1)); got != 10 {
		t.Errorf("40 rows of 256 KiB make %d row groups of 1 MiB, want 10", got)
	}
}

func rowGroups(t *testing.T, file []byte) int {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Metadata().CreatedBy; !strings.HasPrefix(got, "turnmill version 1.2.3") {
		t.Errorf("created by %q", got)
	}
	return len(f.RowGroups())
}

func TestTurnWriterMemory(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools give up what they hold at the second
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	w := newTestWriter(t, io.Discard)
	var most int64
	row := make([]TurnRow, 1)
	for i := range 100_000 {
		row[0] = testTurn(i)
		row[0].ID = fmt.Sprintf("sha256:%032x", uint64(i)*0x9e3779b97f4a7c15) // a new id each turn
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
		if i%10_000 == 9999 {
			most = max(most, heap()-before)
		}
	}
	if most > 16<<20 {
		t.Errorf("the writer holds up to %d bytes, want at most 16 MiB", most)
	}
	t.Logf("at most %.1f MiB held", float64(most)/(1<<20))
}

func TestTurnWriterFails(t *testing.T) {
	rows := testTurns(1000)
	for limit := range 20 {
		w := newTestWriter(t, &failingWriter{left: limit << 10})
		err := errors.Join(w.Write(rows), w.Close())
		if limit == 0 && err == nil {
			t.Fatal("a full disk is no error")
		}
		if err != nil && !errors.Is(err, errDiskFull) {
			t.Fatalf("%d KiB left: %v, want the failure", limit, err)
		}
		if err != nil && w.Close() == nil {
			t.Fatal("Close succeeds after a failure")
		}
	}
}

var errDiskFull = errors.New("disk full")

type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

func BenchmarkTurnWriter(b *testing.B) {
	rows := testTurns(20_000)
	w := newTestWriter(b, io.Discard)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := w.Write(rows[n : n+20]); err != nil {
			b.Fatal(err)
		}
		n = (n + 20) % len(rows)
	}
	b.ReportMetric(20*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
