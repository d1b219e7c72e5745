package pipelines

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill/ingest"
)

// TestInputChanges: what happens to an input between plan and run is an error that names the file; the
// partition that met it leaves nothing, and with the file as it was the run goes on.
func TestInputChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(name string, data []byte) error
		changed bool // ingest.ErrChanged
		want    []string
	}{
		{"cut", func(name string, data []byte) error { return os.Truncate(name, int64(len(data)/2)) }, true, []string{"--restart"}},
		{"empty", func(name string, data []byte) error { return os.Truncate(name, 0) }, true, []string{"it has 0 bytes"}},
		{"grown by a line", func(name string, data []byte) error {
			return os.WriteFile(name, append(bytes.Clone(data), data[:bytes.IndexByte(data, '\n')+1]...), 0o666)
		}, true, []string{"--restart"}},
		{"grown by a byte", func(name string, data []byte) error {
			return os.WriteFile(name, append(bytes.Clone(data), '\n'), 0o666)
		}, true, []string{"were planned"}},
		{"gone", func(name string, data []byte) error { return os.Remove(name) }, false, []string{"no such file", "try"}},
		{"a directory", func(name string, data []byte) error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o777)) }, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			corpus := demoCorpus(t)
			o := options(t, corpus)
			o.Partitions = 4
			s, p := planned(t, &o)
			unlock, err := openOutput(&o, s)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(corpus, "swe.jsonl")
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(name, data); err != nil {
				t.Fatal(err)
			}
			err = p.partitions(context.Background(), everyPartition(s), 2, o.sink(), func(c *Commit) error {
				_, err := writeFile(o.sink(), commitPath(c.Partition), encodeJSON(c))
				return err
			})
			unlock()
			wantError(t, err, append(c.want, "swe.jsonl", "partition ")...)
			if errors.Is(err, ingest.ErrChanged) != c.changed {
				t.Errorf("%q: is ErrChanged %v, want %v", err, !c.changed, c.changed)
			}
			noTemporary(t, o.Output)
			for i, ranges := range s.plan.Partitions {
				reads := false
				for _, r := range ranges {
					reads = reads || s.plan.Inputs[r.Input].Path == "0/swe.jsonl"
				}
				if got := (&done{root: o.Output, planSum: s.planSum}).commit(i); reads && got != nil {
					t.Errorf("partition %d is committed and has read the file", i)
				}
			}

			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			write(t, name, data)
			mustRun(t, o)
			mustCheck(t, o)
		})
	}
}

// TestReadError: a file that is there in its size and cannot be read ends the run; it is no reject. The
// stand-in is a directory whose own size is that of the file.
func TestReadError(t *testing.T) {
	directory, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	record := []byte(`{"id":"x","turns":[]}`)
	if int(directory.Size()) < len(record) {
		t.Skipf("an empty directory has %d bytes here, too few for a record", directory.Size())
	}
	record = append(record, bytes.Repeat([]byte("\n"), int(directory.Size())-len(record))...)
	corpus := writeFiles(t, []testFile{{"a.jsonl", record}, {"b.jsonl", record}})
	o := options(t, corpus)
	o.Format = "turnmill"
	s, p := planned(t, &o)
	name := filepath.Join(corpus, "b.jsonl")
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o777)); err != nil {
		t.Fatal(err)
	}
	err = p.partitions(context.Background(), everyPartition(s), 1, o.sink(), func(*Commit) error {
		t.Error("the partition is done")
		return nil
	})
	wantError(t, err, "b.jsonl", "partition 0", "is a directory")
	noTemporary(t, o.Output)
	if got := digest(t, o.Output); len(got) != 0 {
		t.Errorf("files are left: %v", got)
	}
}

// TestInputsThatCannotBePlanned: nothing is written for inputs that are not there.
func TestInputsThatCannotBePlanned(t *testing.T) {
	empty := t.TempDir()
	hidden := writeFiles(t, []testFile{{".hidden.jsonl", []byte("{}")}, {"part.tmp", []byte("{}")}})
	for _, c := range []struct {
		name   string
		inputs []string
		want   []string
	}{
		{"absent", []string{filepath.Join(empty, "runs")}, []string{"no such file"}},
		{"an empty directory", []string{empty}, []string{"no file below it"}},
		{"hidden files only", []string{hidden}, []string{"no file below it"}},
		{"a pattern that matches nothing", []string{filepath.Join(empty, "*.jsonl")}, []string{"matches no file"}},
		{"one of two", []string{hidden, demoCorpus(t)}, []string{hidden}},
		{"standard input", []string{"-"}, []string{"standard input"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, c.inputs...)
			_, err := CPT(context.Background(), o)
			wantUsage(t, err, append(c.want, "try")...)
			if _, err := os.Stat(o.Output); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the output directory is there: %v", err)
			}
		})
	}
}
