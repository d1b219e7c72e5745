package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

func write(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestRange(t *testing.T) {
	content := strings.Repeat("0123456789", 100_000)
	path := write(t, content)
	n := int64(len(content))
	for _, c := range [][2]int64{{0, 0}, {0, 1}, {0, n}, {5, 17}, {n - 1, n}, {n, n}, {300_000, 800_001}} {
		want := []byte(content[c[0]:c[1]])
		for _, read := range []int64{0, 1, c[1] - c[0]} { // of the range, before Sum
			r, err := OpenRange(path, c[0], c[1])
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(io.LimitReader(r, read))
			if err != nil || !bytes.Equal(got, want[:min(read, int64(len(want)))]) {
				t.Errorf("%v: %d bytes, %v", c, len(got), err)
			}
			for range 2 {
				if sum, err := r.Sum(); err != nil || sum != hexSum(want) {
					t.Errorf("%v after %d bytes: sum %s, %v", c, read, sum, err)
				}
			}
			if n, err := r.Read(make([]byte, 8)); n != 0 || err != io.EOF {
				t.Errorf("%v: read %d, %v after the end", c, n, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	r, err := OpenRange(path, 3, 103)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(struct{ io.Reader }{r}, []byte(content[3:103])); err != nil {
		t.Error(err)
	}
}

func TestRangeChanged(t *testing.T) {
	path := write(t, "0123456789")
	_, err := OpenRange(path, 4, 11)
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "10 bytes") || !strings.Contains(err.Error(), "try") {
		t.Errorf("range beyond the end: %v", err)
	}
	r, err := OpenRange(path, 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if string(got) != "234" || !errors.Is(err, ErrChanged) || frame.Reason(err) != turnmill.ReasonUnreadable {
		t.Errorf("file cut while it is read: %q, %v", got, err)
	}
	if _, err := r.Sum(); !errors.Is(err, ErrChanged) {
		t.Errorf("Sum of a file that was cut: %v", err)
	}
}

func TestRangeErrors(t *testing.T) {
	path := write(t, "0123456789")
	for _, c := range [][2]int64{{-1, 3}, {4, 3}} {
		if _, err := OpenRange(path, c[0], c[1]); err == nil {
			t.Errorf("no error for %v", c)
		}
	}
	_, err := OpenRange(path+".gone", 0, 1)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "try") {
		t.Error(err)
	}
}
