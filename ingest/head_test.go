package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

func stored(t testing.TB, kind frame.Compression, text string) string {
	t.Helper()
	var b bytes.Buffer
	switch kind {
	case frame.None:
		return text
	case frame.Gzip:
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case frame.Zstd:
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(2<<20), zstd.WithSingleSegment(false))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestReadHead(t *testing.T) {
	for _, kind := range []frame.Compression{frame.None, frame.Gzip, frame.Zstd} {
		for _, size := range []int{0, 1, 3, 31, 32, 33, 4096, HeadBytes - 1, HeadBytes, HeadBytes + 1, 3 * HeadBytes} {
			text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			h, err := ReadHead(write(t, stored(t, kind, text)), 0)
			if err != nil {
				t.Fatal(err)
			}
			if string(h.Data) != text[:min(size, HeadBytes)] || h.Complete != (size <= HeadBytes) {
				t.Errorf("%s of %d bytes: %d bytes, complete %v", kind, size, len(h.Data), h.Complete)
			}
			if want := kind; h.Compression != want && size > 0 {
				t.Errorf("%s of %d bytes: taken for %s", kind, size, h.Compression)
			}
			if (h.Window > 0) != (h.Compression == frame.Zstd) {
				t.Errorf("%s of %d bytes: window %d", kind, size, h.Window)
			}
		}
	}
}

func TestReadHeadErrors(t *testing.T) {
	_, err := ReadHead(write(t, "")+".gone", 0)
	if !errors.Is(err, os.ErrNotExist) || frame.Reason(err) != turnmill.ReasonUnreadable {
		t.Error(err)
	}
	text := strings.Repeat("{\"id\":1}\n", 20_000)
	damaged := stored(t, frame.Gzip, text)
	path := write(t, damaged[:len(damaged)-9])
	h, err := ReadHead(path, 0)
	if frame.Reason(err) != turnmill.ReasonBadCompression || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if len(h.Data) == 0 || !strings.HasPrefix(text, string(h.Data)) || h.Complete {
		t.Errorf("%d bytes before the damage, complete %v", len(h.Data), h.Complete)
	}
	h, err = ReadHead(write(t, stored(t, frame.Zstd, strings.Repeat(text, 20))), 1<<20)
	if frame.Reason(err) != turnmill.ReasonWindowTooLarge || h.Compression != frame.Zstd || h.Window != 2<<20 {
		t.Errorf("%v, window %d", err, h.Window)
	}
}

func TestHeadTail(t *testing.T) {
	for _, size := range []int{0, 1, endBytes - 1, endBytes, endBytes + 1, 2*endBytes - 1, 2 * endBytes, 2*endBytes + 1, 1 << 20} {
		content := strings.Repeat("0123456789", size/10+1)[:size]
		n := min(size, endBytes)
		want := hexSum([]byte(string(binary.BigEndian.AppendUint64(nil, uint64(size))) + content[:n] + content[size-n:]))
		sum, got, err := HeadTail(write(t, content))
		if err != nil || sum != want || got != int64(size) {
			t.Errorf("%d bytes: %s, %d, %v, want %s", size, sum, got, err, want)
		}
	}
	if _, _, err := HeadTail(write(t, "") + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
