package ingest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// frames writes parts as one zstd frame each, with a skippable frame now and then.
func writeFrames(t testing.TB, parts []string) string {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for i, p := range parts {
		if i%3 == 2 {
			b = append(b, 0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'x', 'y', 'z')
		}
		b = e.EncodeAll([]byte(p), b)
	}
	name := filepath.Join(t.TempDir(), "f.zst")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Whatever the frames and the ranges, every line comes once, whole and in order.
func TestFrameRangesCoverLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab\n]{0,8}`), 1, 8).Draw(rt, "frames")
		name := writeFrames(t, parts)
		defer os.Remove(name)
		starts, err := Frames(name)
		if err != nil {
			rt.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			rt.Fatal(err)
		}
		borders := []int64{0}
		for _, s := range starts {
			if s > 0 && rapid.Bool().Draw(rt, "cut") {
				borders = append(borders, s)
			}
		}
		borders = append(borders, info.Size())
		var got strings.Builder
		for i := range borders[1:] {
			r, err := OpenFrames(name, borders[i], borders[i+1], info.Size(), 0, nil)
			if err != nil {
				rt.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				rt.Fatal(err)
			}
			if i < len(borders)-2 && len(data) > 0 && data[len(data)-1] != '\n' && got.Len()+len(data) < len(strings.Join(parts, "")) {
				rt.Fatalf("range %d ends inside a line: %q", i, data)
			}
			got.Write(data)
			if _, err := r.Sum(); err != nil {
				rt.Fatal(err)
			}
			r.Close()
		}
		if want := strings.Join(parts, ""); got.String() != want {
			rt.Fatalf("got %q, want %q", got.String(), want)
		}
	})
}

func TestFrames(t *testing.T) {
	name := writeFrames(t, []string{"one\n", strings.Repeat("two\n", 100_000), "", "four\n"})
	starts, err := Frames(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(starts) != 4 || starts[0] != 0 || !slices.IsSorted(starts) {
		t.Fatalf("frames at %v, want four", starts)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range starts {
		if !bytes.HasPrefix(data[s:], []byte{0x28, 0xB5, 0x2F, 0xFD}) {
			t.Errorf("no frame starts at %d", s)
		}
	}
	// A file that is cut loses its last frame only.
	if err := os.WriteFile(name, data[:len(data)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if cut, err := Frames(name); err != nil || len(cut) != 3 {
		t.Errorf("cut file: frames at %v, %v", cut, err)
	}
}
