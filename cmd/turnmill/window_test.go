package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// streamed compresses as a pipe does: the frame states a window and no size.
func streamed(t *testing.T, window int, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(min(window, zstd.MaxWindowSize)), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range [][]byte{data[:len(data)/2], data[len(data)/2:]} { // one write would be known in size
		if _, err := z.Write(half); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return stateWindow(t, b.Bytes(), window)
}

// stateWindow writes another window, a power of two, into the header of a frame. RFC 8878, 3.1.1.1.2: the
// byte after the descriptor, five bits of exponent above 10 and three of mantissa. A larger window than
// needed is as sound.
func stateWindow(t *testing.T, frame []byte, window int) []byte {
	t.Helper()
	const single = 1 << 5
	if binary.LittleEndian.Uint32(frame) != 0xFD2FB528 || frame[4]&single != 0 {
		t.Fatalf("not a frame with a window: % x", frame[:6])
	}
	for exponent := range 32 {
		if 1<<(10+exponent) == window {
			frame[5] = byte(exponent << 3)
			return frame
		}
	}
	t.Fatalf("window %d is no power of two", window)
	return nil
}

// TestReport46: a frame is read within the limit, which is what the zstd program allows without a flag;
// beyond it the file is one rejected record whose message names window, limit and flag, and it opens with
// that flag. The limit counts, not the size of the content.
func TestReport46(t *testing.T) {
	data := jsonLines(terminal("a", `"one"`), terminal("b", `"two"`))
	for _, c := range []struct {
		window int
		flags  []string
		read   bool
	}{
		{1 << 17, nil, true},
		{128 << 20, nil, true},
		{128 << 20, []string{"--max-window", "64MiB"}, false},
		{256 << 20, nil, false},
		{256 << 20, []string{"--max-window", "256MiB"}, true},
		{2 << 30, nil, false},
	} {
		t.Run(fmt.Sprint(c.window, c.flags), func(t *testing.T) {
			input := writeTemp(t, "w.jsonl.zst", streamed(t, c.window, data))
			window(t, input, c.window, c.read, c.flags...)
		})
	}
}

// window runs cpt over a file of two runs that is read, or refused for its window.
func window(t *testing.T, input string, size int, read bool, flags ...string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{"cpt", input, "-o", out, "--tokenizer", "demo", "--min-turns", "1", "--workers", "1"}, flags...)
	want, code := clean(2), exitDone
	if !read {
		want, code = figures{records: rejected(0, "window_too_large", 1)}, exitThreshold
	}
	mustRun(t, code, args...)
	if d := diff(want, figuresOf(t, manifest(t, out).Counts)); d != "" {
		t.Errorf("manifest (-want +got):\n%s", d)
	}
	if read {
		return
	}
	limit := "134217728"
	if len(flags) > 0 {
		limit = "67108864"
	}
	for _, part := range []string{fmt.Sprintf("needs a window of %d bytes", size), "above the limit of " + limit, fmt.Sprintf("try --max-window %d", size)} {
		if got := mustRun(t, exitThreshold, append([]string{"ingest", input}, flags...)...).errors; !strings.Contains(got, part) {
			t.Errorf("stderr does not say %q: %s", part, got)
		}
	}
}

// TestReport46Memory: a window that is allowed and does not fit the memory is refused with what would.
func TestReport46Memory(t *testing.T) {
	input := writeTemp(t, "w.jsonl.zst", streamed(t, 2<<30, jsonLines(terminal("a", `"one"`))))
	r := mustRun(t, exitUsage, "cpt", input, "-o", filepath.Join(t.TempDir(), "out"), "--tokenizer", "demo", "--max-window", "2GiB")
	if !strings.Contains(r.errors, "error: --memory 2147483648: too little for") || !strings.Contains(r.errors, "try --memory ") {
		t.Errorf("stderr: %s", r.errors)
	}
}

// TestReport46Program is TestReport46 with the files of the report, which the zstd program makes.
func TestReport46Program(t *testing.T) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no zstd program here; TestReport46 makes such frames itself")
	}
	data := jsonLines(terminal("a", `"one"`), terminal("b", `"two"`))
	for _, c := range []struct {
		flag string
		size int
		read bool
	}{{"--long=27", 128 << 20, true}, {"--ultra -22", 128 << 20, true}, {"--long=31", 2 << 30, false}} {
		t.Run(c.flag, func(t *testing.T) {
			cmd := exec.Command(program, append([]string{"-q", "-c"}, strings.Fields(c.flag)...)...)
			cmd.Stdin = bytes.NewReader(data)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			window(t, writeTemp(t, "w.jsonl.zst", packed), c.size, c.read)
		})
	}
}
