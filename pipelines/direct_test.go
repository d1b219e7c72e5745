package pipelines

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestDiskFile: pieces of any size, to files of any size, are what is in the file; nothing is behind Sync.
func TestDiskFile(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 4 << 20, 4<<20 + 1, 5 << 20, 5<<20 + 4095, 9<<20 + 12345, 12 << 20} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(draw.Uint32())
		}
		name := filepath.Join(t.TempDir(), "file")
		f, err := machine{}.create(name)
		if err != nil {
			t.Fatal(err)
		}
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+draw.IntN(3<<20))
			if draw.IntN(2) == 0 {
				n = min(n, 1+draw.IntN(100))
			}
			if got, err := f.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("size %d: wrote %d of %d: %v", size, got, n, err)
			}
			rest = rest[n:]
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("size %d: the file has %d other bytes", size, len(got))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
