package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/stats"
)

// tally is what was made of the bytes of one input: stretches that tile it but for what lies between.
type tally struct {
	unpacker
	text      []byte // decompressed
	layout    frame.Layout
	at        int64 // the end of the last stretch
	stretches int
	counts    *stats.Counts
}

// accountBytes reads an input as a run does, and tells which byte of it nobody took.
func accountBytes(in *PlanInput, path string) (stretches int, err error) {
	text, err := decompressed(path)
	if err != nil {
		return 0, err
	}
	a := &tally{unpacker: newUnpacker([]PlanInput{*in}, formats.Options{}, secrets.Off), text: text, counts: stats.NewCounts()}
	if a.layout, err = frame.ParseLayout(in.Layout); err != nil {
		return 0, err
	}
	d := DefaultOptions()
	var read int64
	_, err = readRange(context.Background(), in, Range{To: in.Bytes, Line: 1}, path, limits{record: d.MaxRecord, window: d.MaxWindow}, &read, a.visit)
	if err == nil {
		err = a.between(int64(len(text)))
	}
	return a.stretches, err
}

// decompressed returns what a file holds, up to where it is damaged.
func decompressed(path string) ([]byte, error) {
	stored, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := frame.Decompress(bytes.NewReader(stored), frame.Sniff(stored), DefaultOptions().MaxWindow)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	var damage *frame.DamageError
	if errors.As(err, &damage) {
		err = nil
	}
	return text, err
}

func (a *tally) visit(from source, raw frame.Record, err error) error {
	var file *fileError
	var reject *turnmill.RecordError
	switch {
	case errors.As(err, &file):
		return a.take(raw.Offset, 0)
	case errors.As(err, &reject):
		return a.take(reject.Pos.Offset, reject.Pos.Bytes)
	case err != nil:
		return err
	}
	for part, err := range a.unpack(from, raw, a.counts) {
		if !bytes.Equal(part.Data, a.text[part.Offset:part.Offset+int64(len(part.Data))]) {
			return fmt.Errorf("a record of %d bytes at %d that is not what stands there", len(part.Data), part.Offset)
		}
		if err := a.take(part.Offset, int64(len(part.Data))); err != nil {
			return err
		}
		if err == nil {
			if err := a.lost(len(part.Data)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost checks that what a decoder could not read lies in the record, in order.
func (a *tally) lost(size int) error {
	at := int64(0)
	for _, l := range a.decoded.Lost {
		if l.Offset < at || l.Bytes <= 0 || l.Offset+l.Bytes > int64(size) {
			return fmt.Errorf("%d bytes lost at %d of a record of %d, after %d", l.Bytes, l.Offset, size, at)
		}
		at = l.Offset + l.Bytes
	}
	return nil
}

// take adds a stretch.
func (a *tally) take(offset, size int64) error {
	if err := a.between(offset); err != nil {
		return err
	}
	a.at, a.stretches = offset+size, a.stretches+1
	return nil
}

// between checks that nothing is lost between the last stretch and the next.
func (a *tally) between(next int64) error {
	if next < a.at || next > int64(len(a.text)) {
		return fmt.Errorf("a stretch at %d after one that ends at %d, of %d bytes", next, a.at, len(a.text))
	}
	gap := bytes.ReplaceAll(a.text[a.at:next], []byte("\uFEFF"), nil)
	padding := "\x00 \t\r\n"
	if a.layout == frame.Array {
		padding += "[,]"
	}
	if rest := bytes.Trim(gap, padding); len(rest) > 0 {
		return fmt.Errorf("%d bytes from %d on are in no record and no reject: %.60q", len(gap), a.at, rest)
	}
	return nil
}

// TestBytesAccounted: every byte of every published file, and of every sample in every shape, is in a record,
// in a reject, or a blank between two of them.
func TestBytesAccounted(t *testing.T) {
	names, files := publishedFiles(t)
	dir := t.TempDir()
	for i, name := range names {
		write(t, filepath.Join(dir, "f"+fmt.Sprintf("%05d", i)), files[name])
	}
	for _, f := range formats.All() {
		for shape, data := range shapes(f) {
			write(t, filepath.Join(dir, f.Name+"-"+shape), data)
			write(t, filepath.Join(dir, f.Name+"-"+shape+"-padded"), bytes.Join([][]byte{[]byte("\uFEFF\x00\x00\r\n"), data, []byte("\x00\x00\n \r\n")}, nil))
		}
	}
	if n := accountFor(t, dir); n < 3*len(formats.All()) {
		t.Errorf("%d stretches: nothing is proven", n)
	} else {
		t.Logf("%d files, %d records and rejects", len(names), n)
	}
}

// TestStrayLines puts a line that is no record between the lines of files that are read as one record or as
// lines: it is lost by itself, at its place, and nothing else is.
func TestStrayLines(t *testing.T) {
	const stray = `{"cut": "in the mid`
	names, files := publishedFiles(t)
	seen := map[string]int{}
	for _, name := range names {
		lines := bytes.SplitAfter(files[name], []byte("\n"))
		if len(lines) < 3 || !json.Valid(lines[0]) || !json.Valid(lines[1]) {
			continue
		}
		before := ingestAlone(t, files[name])
		if len(before.rejects) > 0 { // one that is lost already, or the whole
			continue
		}
		at := int64(len(lines[0]))
		got := ingestAlone(t, bytes.Join([][]byte{lines[0], []byte(stray + "\n"), bytes.Join(lines[1:], nil)}, nil))
		if got.out != before.out {
			t.Errorf("%s: what is read changes with a line that is no record", name)
		}
		if len(got.rejects) != 1 || got.rejects[0].Offset != at || got.rejects[0].Bytes != int64(len(stray)) || got.rejects[0].Reason != turnmill.ReasonBadJSON {
			t.Errorf("%s: rejects %+v, want one of %d bytes at %d", name, got.rejects, len(stray), at)
		}
		seen[before.format]++
	}
	if len(seen) < 2 {
		t.Errorf("files of lines by format: %v: nothing is proven", seen)
	}
	t.Log(seen)
}

// ingested is what came of one file.
type ingested struct {
	format, out string
	rejects     []rejectLine
}

// ingestAlone reads data as the only input.
func ingestAlone(t *testing.T, data []byte) ingested {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	write(t, path, data)
	d := DefaultOptions()
	var out bytes.Buffer
	var got ingested
	o := IngestOptions{Inputs: []string{path}, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow,
		Rejected: func(lines []byte) error {
			for line := range bytes.Lines(lines) {
				var r rejectLine
				if err := json.Unmarshal(line, &r); err != nil {
					return err
				}
				got.rejects = append(got.rejects, r)
			}
			return nil
		}}
	if _, err := Ingest(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	got.out = out.String()
	plan := options(t, path)
	found, _, _, err := inventory(context.Background(), &plan)
	if err != nil {
		t.Fatal(err)
	}
	got.format = found[0].Format
	return got
}
