package formats

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata, which -update rewrites.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// realFiles returns the published files by their path, or skips the test where they are not at hand.
func realFiles(t testing.TB, under string) map[string][]byte {
	t.Helper()
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA does not name the folder of published files")
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(filepath.Join(root, under), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("TURNMILL_DATA names a folder without published files")
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// records cuts a file as ingest/frame does, for files without damage.
func records(t testing.TB, layout frame.Layout, data []byte) [][]byte {
	t.Helper()
	var out [][]byte
	switch layout {
	case frame.Lines:
		for line := range bytes.Lines(data) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				out = append(out, line)
			}
		}
	case frame.Whole:
		out = append(out, data)
	case frame.Values, frame.Array:
		rest := bytes.TrimSpace(data)
		if layout == frame.Array {
			rest = rest[1 : len(rest)-1]
		}
		for rest = bytes.TrimLeft(rest, ", \r\n\t"); len(rest) > 0; rest = bytes.TrimLeft(rest, ", \r\n\t") {
			var doc jsonscan.Doc
			v, end, err := doc.ParsePrefix(rest)
			if err != nil {
				t.Fatal(err)
			}
			out, rest = append(out, v.Raw()), rest[end:]
		}
	}
	return out
}

// decoded is a record as goldens show it: its trajectories and documents in the unified form, then what
// was noted, or the error.
func decoded(d Decoder, raw []byte) string {
	var out Decoded
	var b strings.Builder
	if err := d.Decode(raw, &out); err != nil {
		var e *turnmill.RecordError
		if !errors.As(err, &e) {
			return fmt.Sprintf("not a RecordError: %v\n", err)
		}
		return fmt.Sprintf("rejected %s: %v\n", e.Reason, err)
	}
	for i := range out.Trajectories {
		b.Write(append(AppendUnified(nil, &out.Trajectories[i]), '\n'))
	}
	for i := range out.Documents {
		b.Write(append(AppendDocument(nil, &out.Documents[i]), '\n'))
	}
	out.NoteTexts()
	b.WriteString(noteLine(&out.Notes))
	b.WriteString(lossLines(&out))
	return b.String()
}

// lossLines lists what of a record was copied or could not be read.
func lossLines(d *Decoded) string {
	var b strings.Builder
	if d.Copied > 0 {
		fmt.Fprintf(&b, "copied %d\n", d.Copied)
	}
	for _, l := range d.Lost {
		fmt.Fprintf(&b, "lost %d+%d %s: %v\n", l.Offset, l.Bytes, l.Reason, l.Err)
	}
	for _, r := range d.Rejected {
		fmt.Fprintf(&b, "rejected trajectory %d %s: %v\n", r.Ordinal, r.Reason, r.Err)
	}
	return b.String()
}

func noteLine(n *turnmill.Notes) string {
	var b strings.Builder
	for i, count := range n {
		if count != 0 {
			fmt.Fprintf(&b, " %s=%d", turnmill.Note(i), count)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "notes" + b.String() + "\n"
}

func mustFormat(t testing.TB, name string) Format {
	t.Helper()
	f, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// reasonOf returns the reason of a RecordError, or "".
func reasonOf(err error) turnmill.Reason {
	var e *turnmill.RecordError
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}
