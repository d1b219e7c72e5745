package stats

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/turnmill/turnmill"
)

func TestTurnReaderChoosesColumns(t *testing.T) {
	rows := testTurns(5000)
	file := table(t, rows, 100)
	got, err := readTable(file, 333, "id", "turn", "trajectory")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if diff := cmp.Diff(TurnRow{ID: r.ID, Turn: r.Turn, Trajectory: r.Trajectory}, got[i]); diff != "" {
			t.Fatalf("row %d (-want +got):\n%s", i, diff)
		}
	}
	if _, err := readTable(file, 1, "id", "colour"); err == nil || !strings.Contains(err.Error(), `no column "colour"`) {
		t.Errorf("unknown column: %v", err)
	}
}

func TestTurnReaderRefuses(t *testing.T) {
	var unsealed, sealed bytes.Buffer
	out := &sealWriter{w: &sealed, hold: true}
	for _, w := range []*parquet.GenericWriter[otherRow]{
		parquet.NewGenericWriter[otherRow](&unsealed),
		parquet.NewGenericWriter[otherRow](out, parquet.KeyValueMetadata(sealKey, sealBlank)),
	} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.seal(); err != nil {
		t.Fatal(err)
	}
	file := table(t, testTurns(10), 10)
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "no seal"},
		{"written by others", unsealed.Bytes(), "no seal"},
		{"other columns", sealed.Bytes(), "its columns are not those of the turns table"},
		{"tail", append(bytes.Clone(file), 0), "no seal"},
		{"long footer", patchTail(file, 1<<31), "no seal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readTable(tt.file, 10)
			if !errors.Is(err, turnmill.ErrCorrupt) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "p00000.parquet: ") {
				t.Errorf("got %v, want ErrCorrupt with %q", err, tt.want)
			}
		})
	}
	for n := range len(file) {
		if _, err := readTable(file[:n], 10); !errors.Is(err, turnmill.ErrCorrupt) || errors.Is(err, io.EOF) {
			t.Fatalf("cut to %d of %d bytes: %v, want ErrCorrupt and no EOF", n, len(file), err)
		}
	}
}

type otherRow struct {
	ID string `parquet:"id"`
}

// No changed bit gets past the seal, wherever it lies, to where it could exhaust the memory.
func TestTurnReaderNoticesFlips(t *testing.T) {
	file := table(t, testTurns(70), 10)
	for at := range file {
		flip := byte(1) << (at % 8)
		file[at] ^= flip
		if rows, err := readTable(file, 10); !errors.Is(err, turnmill.ErrCorrupt) || len(rows) != 0 {
			t.Fatalf("byte %d of %d xor %d: %d rows and %v, want ErrCorrupt", at, len(file), flip, len(rows), err)
		}
		file[at] ^= flip
	}
}

func patchTail(file []byte, length uint32) []byte {
	b := bytes.Clone(file)
	for i := range 4 {
		b[len(b)-8+i] = byte(length >> (8 * i))
	}
	return b
}

// A failure to read says nothing about the file.
func TestTurnReaderPassesReadErrorsOn(t *testing.T) {
	file := table(t, testTurns(1000), 10)
	broken := errors.New("cable pulled")
	for limit := range 60 {
		src := &failingAt{r: bytes.NewReader(file), left: limit, err: broken}
		_, err := readTableFrom(src, int64(len(file)), 100)
		if src.left >= 0 && err == nil {
			return // it needs no more calls than that
		}
		if !errors.Is(err, broken) || errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("after %d calls: %v, want the read error alone", limit, err)
		}
	}
	t.Error("reading 1000 rows takes more than 60 calls of ReadAt")
}

// failingAt fails after so many calls.
type failingAt struct {
	r    io.ReaderAt
	left int
	err  error
}

func (f *failingAt) ReadAt(p []byte, at int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.r.ReadAt(p, at)
}

// Damage is an error or a changed value, never a panic nor endless memory.
func FuzzTurnReader(f *testing.F) {
	for _, n := range []int{0, 1, 70} {
		f.Add(table(f, testTurns(n), 10), 0, byte(0))
		f.Add(table(f, testTurns(n), 10), 1000, byte(0x81))
	}
	f.Fuzz(func(t *testing.T, file []byte, at int, flip byte) {
		if at >= 0 && at < len(file) {
			file = bytes.Clone(file)
			file[at] ^= flip
		}
		rows, err := readTable(file, 10)
		if err != nil && !errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("%v does not wrap ErrCorrupt (after %d rows)", err, len(rows))
		}
	})
}

func BenchmarkTurnReader(b *testing.B) {
	file := table(b, testTurns(100_000), 1000)
	for name, columns := range map[string][]string{"all": nil, "ids": {"id", "turn", "trajectory"}} {
		b.Run(name, func(b *testing.B) {
			rows := make([]TurnRow, 256)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewTurnReader(bytes.NewReader(file), int64(len(file)), "p00000.parquet", columns...)
				for err == nil {
					_, err = r.Read(rows)
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e5*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
