package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/turnmill/turnmill"
)

func gzipped(t testing.TB, texts ...string) string {
	var b bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func zstded(t testing.TB, texts ...string) string {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var b []byte
	for _, text := range texts {
		b = w.EncodeAll([]byte(text), b)
	}
	return string(b)
}

func skippableFrame(content string) string {
	return string(binary.LittleEndian.AppendUint32([]byte{0x5A, 0x2A, 0x4D, 0x18}, uint32(len(content)))) + content
}

// rawFrame is a zstd frame of one uncompressed block whose header asks for a window of 1<<log bytes.
func rawFrame(log int, content string) string {
	head := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, byte(log-10) << 3}
	block := uint32(len(content))<<3 | 1
	return string(append(head, byte(block), byte(block>>8), byte(block>>16))) + content
}

// singleSegment is the start of a zstd frame whose window is its content of size bytes.
func singleSegment(size uint64, content string) string {
	head := binary.LittleEndian.AppendUint64([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0}, size)
	block := uint32(len(content))<<3 | 1
	return string(append(head, byte(block), byte(block>>8), byte(block>>16))) + content
}

func decompressed(t testing.TB, stored string, kind Compression, maxWindow int64) (string, error) {
	t.Helper()
	d, err := Decompress(strings.NewReader(stored), kind, maxWindow)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(d)
	if cerr := d.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	return string(b), err
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]Compression{
		"": None, "\x1F": None, "\x1F\x8B": None, "{}": None, "(\xB5/": None, "\x28\xB5\x2F\xFC": None,
		gzipped(t, "x"): Gzip, zstded(t, "x"): Zstd, skippableFrame("") + zstded(t, "x"): Zstd,
	} {
		if got := Sniff([]byte(in)); got != want {
			t.Errorf("Sniff(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestDecompress(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<16)
	tests := []struct {
		name   string
		kind   Compression
		stored string
		want   string
	}{
		{"none", None, "plain", "plain"},
		{"gzip", Gzip, gzipped(t, long), long},
		{"gzip/members", Gzip, gzipped(t, "a\n", "", "b\n", long), "a\nb\n" + long},
		{"gzip/nul-padding", Gzip, gzipped(t, "a\n") + "\x00\x00\x00" + gzipped(t, "b\n") + strings.Repeat("\x00", 1000), "a\nb\n"},
		{"zstd", Zstd, zstded(t, long), long},
		{"zstd/frames", Zstd, zstded(t, "a\n", "b\n", long, "c"), "a\nb\n" + long + "c"},
		{"zstd/skippable", Zstd, skippableFrame("index") + zstded(t, "a\n") + skippableFrame("") + zstded(t, "b\n") + skippableFrame(long), "a\nb\n"},
		{"zstd/raw", Zstd, rawFrame(17, "a") + rawFrame(10, "") + rawFrame(20, "b"), "ab"},
		{"zstd/empty", Zstd, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decompressed(t, tt.stored, tt.kind, 0)
			if err != nil || got != tt.want {
				t.Errorf("got %d bytes, error %v, want %d bytes", len(got), err, len(tt.want))
			}
			d, _ := Decompress(iotest.OneByteReader(strings.NewReader(tt.stored)), tt.kind, 0)
			if b, err := io.ReadAll(d); err != nil || string(b) != tt.want {
				t.Errorf("by one byte: got %d bytes, error %v, want %d bytes", len(b), err, len(tt.want))
			}
		})
	}
	if _, err := Decompress(nil, 9, 0); err == nil {
		t.Error("no error for an unknown compression")
	}
}

// A cut at any byte delivers a part of the text, and says so unless the cut is a border of members.
func TestDecompressCut(t *testing.T) {
	text := []string{strings.Repeat("{\"id\":1}\n", 30), strings.Repeat("{\"id\":2}\n", 30)}
	all := text[0] + text[1]
	for kind, stored := range map[Compression]string{Gzip: gzipped(t, text...), Zstd: zstded(t, text...)} {
		first := map[Compression]string{Gzip: gzipped(t, text[0]), Zstd: zstded(t, text[0])}[kind]
		for n := range len(stored) {
			got, err := decompressed(t, stored[:n], kind, 0)
			if !strings.HasPrefix(all, got) {
				t.Fatalf("%s cut at %d: not a part of the text", kind, n)
			}
			if n >= len(first) && !strings.HasPrefix(got, text[0]) {
				t.Fatalf("%s cut at %d: the first member, whole, is not delivered", kind, n)
			}
			if n == 0 || n == len(first) {
				if err != nil {
					t.Errorf("%s cut at %d: %v", kind, n, err)
				}
				continue
			}
			var damage *DamageError
			if !errors.As(err, &damage) || damage.Compression != kind || damage.Offset > int64(n) || Reason(err) != turnmill.ReasonBadCompression {
				t.Errorf("%s cut at %d: %v", kind, n, err)
			}
		}
	}
}

// A changed byte is found, or changes nothing; it is never passed on as text.
func TestDecompressChanged(t *testing.T) {
	text := strings.Repeat("{\"id\":1,\"text\":\"some words\"}\n", 30)
	for kind, stored := range map[Compression]string{Gzip: gzipped(t, text, text), Zstd: zstded(t, text, text)} {
		for n := range len(stored) {
			for _, by := range []byte{0x01, 0x80, 0xFF} {
				b := []byte(stored)
				b[n] ^= by
				got, err := decompressed(t, string(b), kind, 0)
				var damage *DamageError
				var window *WindowError
				switch {
				case err == nil && got != text+text && kind == Zstd && n < 4:
					// The first frame has become a skippable one.
				case err == nil && got != text+text:
					t.Fatalf("%s, byte %d ^ %#x: %q", kind, n, by, got)
				case err != nil && !errors.As(err, &damage) && !errors.As(err, &window):
					t.Fatalf("%s, byte %d ^ %#x: %v", kind, n, by, err)
				}
			}
		}
	}
}

func TestDecompressGarbageAfter(t *testing.T) {
	for kind, stored := range map[Compression]string{Gzip: gzipped(t, "a\n"), Zstd: zstded(t, "a\n")} {
		for _, garbage := range []string{"x", "garbage that is longer than any header"} {
			got, err := decompressed(t, stored+garbage, kind, 0)
			var damage *DamageError
			if got != "a\n" || !errors.As(err, &damage) || damage.Offset < int64(len(stored)) {
				t.Errorf("%s with %q after it: %q, %v", kind, garbage, got, err)
			}
		}
	}
}

// An error of the file is no damage.
func TestDecompressReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	for kind, stored := range map[Compression]string{None: "text", Gzip: gzipped(t, "text"), Zstd: zstded(t, "text")} {
		for n := range len(stored) {
			d, _ := Decompress(io.MultiReader(strings.NewReader(stored[:n]), iotest.ErrReader(broken)), kind, 0)
			_, err := io.ReadAll(d)
			if !errors.Is(err, broken) || Reason(err) != turnmill.ReasonUnreadable {
				t.Errorf("%s, failure at %d: %v", kind, n, err)
			}
		}
	}
}

func TestDecompressClosed(t *testing.T) {
	for kind, stored := range map[Compression]string{Gzip: gzipped(t, "text"), Zstd: zstded(t, "text")} {
		d, _ := Decompress(strings.NewReader(stored), kind, 0)
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if n, err := d.Read(make([]byte, 8)); n != 0 || err == nil {
			t.Errorf("%s: read %d bytes after Close, error %v", kind, n, err)
		}
	}
}

// Sound frames whose window is above the limit are refused by name, before memory is taken for them, and
// what stands before them is delivered. Up to the limit they are read.
func TestReport46LongWindow(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		name   string
		frame  string
		limit  int64
		window uint64 // refused
	}{
		{"w27", rawFrame(27, "b\n"), 0, 0},
		{"w28", rawFrame(28, "b\n"), 0, 256 * mib},
		{"w31", rawFrame(31, "b\n"), 0, 2048 * mib},
		{"w28-allowed", rawFrame(28, "b\n"), 256 * mib, 0},
		{"w21-small-limit", rawFrame(21, "b\n"), mib, 2 * mib},
		{"tiny-limit", rawFrame(10, "b\n"), 1, 1024},
		{"single-segment", singleSegment(2, "b\n"), 0, 0},
		{"single-segment-claims-60-gib", singleSegment(60<<30, "b\n"), 0, 60 << 30},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored := singleSegment(2, "a\n")
			if tt.limit == 1 {
				stored = ""
			}
			before := len(stored)
			var m0, m1 runtime.MemStats
			runtime.ReadMemStats(&m0)
			got, err := decompressed(t, stored+tt.frame+singleSegment(2, "c\n"), Zstd, tt.limit)
			runtime.ReadMemStats(&m1)
			if tt.window == 0 {
				if err != nil || got != "a\nb\nc\n" {
					t.Fatalf("got %q, %v", got, err)
				}
				return
			}
			var refused *WindowError
			if !errors.As(err, &refused) || refused.Window != tt.window || refused.Offset != int64(before) || Reason(err) != turnmill.ReasonWindowTooLarge {
				t.Fatalf("got %q, %v", got, err)
			}
			if before > 0 && got != "a\n" {
				t.Errorf("what stood before is lost: %q", got)
			}
			for _, part := range []string{fmt.Sprint(tt.window), fmt.Sprint(refused.Limit), "--max-window"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %s", err, part)
				}
			}
			if took := m1.TotalAlloc - m0.TotalAlloc; took > 8*mib {
				t.Errorf("%d bytes were allocated", took)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	for in, want := range map[string]uint64{
		"": 0, "{}": 0, gzipped(t, "x"): 0, rawFrame(27, "x"): 128 << 20, singleSegment(300, "x"): 300, skippableFrame("x"): 0,
	} {
		if got := Window([]byte(in)); got != want {
			t.Errorf("Window(%q) = %d, want %d", in, got, want)
		}
	}
}

// Damage in the middle costs what comes after it: the records before are good, the one that was being
// read is rejected with its position, and the failure comes last.
func TestFrameDamagedFile(t *testing.T) {
	text := `{"id":1}` + "\n" + `{"id":2}` + "\n" + `{"id":3,"t":"`
	for _, stored := range []string{zstded(t, text) + "garbage", gzipped(t, text) + "garbage"} {
		for layout, want := range map[Layout]string{
			Lines:  `{"id":1} | {"id":2} | truncated@18+13`,
			Values: `{"id":1} | {"id":2} | truncated@18+13`,
			Whole:  `truncated@0+31`,
			Array:  `bad_json@0+31`,
		} {
			d, _ := Decompress(strings.NewReader(stored), Sniff([]byte(stored)), 0)
			items, err := drain(t, New(layout, d, Options{}))
			var damage *DamageError
			if got := short(items); got != want || !errors.As(err, &damage) {
				t.Errorf("%s: %s, %v, want %s", layout, got, err, want)
			}
		}
		d, _ := Decompress(strings.NewReader(strings.Repeat("x", 3)+stored), None, 0)
		if _, err := drain(t, New(Lines, d, Options{})); err != nil {
			t.Error(err)
		}
	}
}

// Each member of a joined file may start with a byte order mark, and need not end with a line feed.
func TestPitfall10Members(t *testing.T) {
	stored := gzipped(t, bom+"{\"id\":1}\r\n", bom+"{\"id\":2}\r\n\r\n", bom+"{\"id\":3}")
	d, _ := Decompress(strings.NewReader(stored), Gzip, 0)
	f := New(Lines, d, Options{})
	items, err := drain(t, f)
	if got := short(items); err != nil || got != `{"id":1} | {"id":2} | {"id":3}` {
		t.Errorf("%s, %v", got, err)
	}
	if n := f.Notes(); n[turnmill.NoteBOM] != 3 {
		t.Errorf("%d byte order marks counted, want 3", n[turnmill.NoteBOM])
	}
}
