package ingest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill/ingest/frame"
)

// naiveCut finds the cut for one target by looking at every byte.
func naiveCut(content string, target int64) Cut {
	at := max(0, target)
	for at < int64(len(content)) && at > 0 && content[at-1] != '\n' {
		at++
	}
	at = min(at, int64(len(content)))
	return Cut{at, int64(strings.Count(content[:at], "\n")) + 1}
}

func TestCutLines(t *testing.T) {
	long := strings.Repeat("x", 2*readBytes)
	for _, content := range []string{"", "\n", "a", "a\n", "a\nbb\n\nccc", long, long + "\n" + long + "\n", strings.Repeat("\n", readBytes+3), strings.Repeat("0123456\n", readBytes/8) + "end"} {
		path := write(t, content)
		size := int64(len(content))
		targets := []int64{-5, 0, 1, 2, 3, 4, 7, 8, 9, readBytes - 1, readBytes, readBytes + 1, size - 1, size, size + 1, size + 100}
		var sorted []int64
		for i, x := range targets {
			if i == 0 || x >= sorted[len(sorted)-1] {
				sorted = append(sorted, x)
			}
		}
		var want []Cut
		for _, x := range sorted {
			want = append(want, naiveCut(content, x))
		}
		got, err := CutLines(path, sorted)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%.40q of %d bytes: %v (-want +got):\n%s", content, size, err, diff)
		}
	}
}

func TestCutLinesErrors(t *testing.T) {
	path := write(t, "a\nb\n")
	if _, err := CutLines(path, []int64{3, 1}); err == nil || !strings.Contains(err.Error(), "ascending") {
		t.Error(err)
	}
	if _, err := CutLines(path+".gone", []int64{1}); !os.IsNotExist(unwrapAll(err)) {
		t.Error(err)
	}
	if got, err := CutLines(path, nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if _, ok := err.(*os.PathError); ok {
			return err
		}
		err = u.Unwrap()
	}
}

// Cut anywhere, the partitions of a file hold the records of the whole, with the same lines and offsets.
func TestCutPartitionsGiveTheSameRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"{\"id\":1}\n", "\n", "\r\n", "{\"id\":\"long long long\"}\r\n", "\x00\x00\n", "\xEF\xBB\xBF{}\n", " x \n", "\x00{}\n"})
		content := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "") + rapid.SampledFrom([]string{"", "{\"id\":2}"}).Draw(t, "end")
		path := dir + "/in.jsonl"
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		part := rapid.IntRange(1, 60).Draw(t, "part")
		var targets []int64
		for x := part; x < len(content); x += part {
			targets = append(targets, int64(x))
		}
		cuts, err := CutLines(path, targets)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		from := Cut{0, 1}
		for _, to := range append(cuts, Cut{Offset: int64(len(content))}) {
			r, err := OpenRange(path, from.Offset, to.Offset)
			if err != nil {
				t.Fatal(err)
			}
			print(t, &got, frame.New(frame.Lines, r, frame.Options{MaxRecord: 20, Offset: from.Offset, Line: from.Line}))
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			from = to
		}
		var want bytes.Buffer
		print(t, &want, frame.New(frame.Lines, strings.NewReader(content), frame.Options{MaxRecord: 20}))
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Fatalf("%q cut every %d bytes (-want +got):\n%s", content, part, diff)
		}
	})
}

func print(t *rapid.T, w io.Writer, f *frame.Framer) {
	for {
		rec, err := f.Next()
		switch frame.Reason(err) {
		case "":
			fmt.Fprintf(w, "%d:%d %q\n", rec.Line, rec.Offset, rec.Data)
		case "record_too_large":
			fmt.Fprintln(w, err)
		default:
			if err != io.EOF {
				t.Fatal(err)
			}
			return
		}
	}
}

func BenchmarkCutLines(b *testing.B) {
	content := strings.Repeat(strings.Repeat("x", 999)+"\n", 64<<10)
	path := write(b, content)
	b.ReportAllocs()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := CutLines(path, []int64{16 << 20, 32 << 20, int64(len(content)) - 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRange(b *testing.B) {
	path := write(b, strings.Repeat(strings.Repeat("x", 999)+"\n", 64<<10))
	b.ReportAllocs()
	b.SetBytes(64000 << 10)
	for b.Loop() {
		r, err := OpenRange(path, 0, 64000<<10)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Sum(); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
