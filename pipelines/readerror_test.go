package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/turnmill/turnmill/ingest"
)

// failsOnce fails one read of an input's stored bytes: the one at which so many have been read in all.
type failsOnce struct{ left atomic.Int64 }

func (f *failsOnce) through(r io.Reader) io.Reader { return &failingRead{r, f} }

type failingRead struct {
	in io.Reader
	*failsOnce
}

func (f *failingRead) Read(p []byte) (int, error) {
	n, err := f.in.Read(p[:min(len(p), 2000)])
	if was := f.left.Add(-int64(n)) + int64(n); was > 0 && was <= int64(n) {
		return 0, &os.PathError{Op: "read", Path: "in", Err: syscall.EIO}
	}
	return n, err
}

// readableFiles are files that are read to their ends, of every kind.
func readableFiles() []testFile {
	records := demoRecords()
	return []testFile{
		{"a.jsonl", lines(records[:20])}, {"b.jsonl.gz", gzipped(lines(records[20:30]))},
		{"c.jsonl.zst", framed(pieces(lines(records[30:40]), 3000))}, {"d.json", array(records[40:])},
	}
}

// TestReadErrorInTheMiddle: an input that cannot be read in its middle ends the run, which says where; it is no reject, and
// the same command goes on when the input can be read again.
func TestReadErrorInTheMiddle(t *testing.T) {
	dir := writeFiles(t, readableFiles())
	base := options(t, dir)
	base.Partitions = 4
	mustRun(t, base)
	want := digest(t, base.Output)
	var size int64
	for _, f := range readableFiles() {
		size += int64(len(f.data))
	}
	kept := 0
	for n := int64(1); n < size; n += size / 9 {
		for _, limit := range []int64{0, 1000} {
			o := with(t, base, func(o *Options) { o.Limit, o.Workers = limit, 1+int(n%2) })
			f := &failsOnce{}
			f.left.Store(n)
			o.stored = f.through
			m, err := CPT(context.Background(), o)
			var usage *UsageError
			if m != nil || !errors.Is(err, syscall.EIO) || errors.As(err, &usage) {
				t.Fatalf("after %d of %d bytes: manifest %v, %v", n, size, m != nil, err)
			}
			wantError(t, err, "0/", "input/output error")
			if limit == 0 {
				noTemporary(t, o.Output)
				kept += len(committedFiles(t, o.Output))
			}
			mustRun(t, o) // its disk is sound by now
			if limit == 0 {
				sameFiles(t, fmt.Sprint("after ", n), want, digest(t, o.Output))
			}
		}
	}
	if kept == 0 {
		t.Error("nothing was committed before any of the failures: the test proves little")
	}
}

// TestInputChangesInTheRun: an input that grows, shrinks or goes while it is read ends the run; when it is as it
// was, the same command goes on.
func TestInputChangesInTheRun(t *testing.T) {
	for _, f := range readableFiles() {
		for name, change := range map[string]func(path string) error{
			"grows":   grow,
			"shrinks": func(path string) error { return os.Truncate(path, int64(len(f.data)/2)) },
			"goes":    os.Remove,
		} {
			t.Run(f.name+" "+name, func(t *testing.T) {
				t.Parallel()
				first := lines(demoRecords()[:20])
				dir := writeFiles(t, []testFile{{"0.jsonl", first}, f})
				base := options(t, dir)
				base.Partitions, base.Workers, base.Memory = 6, 1, 160<<20 // one partition at a time
				mustRun(t, base)
				want := digest(t, base.Output)
				o := with(t, base, nil)
				path, changed := filepath.Join(dir, f.name), false
				o.Progress = func(Progress) {
					if !changed {
						changed = true
						if err := change(path); err != nil {
							t.Error(err)
						}
					}
				}
				m, err := CPT(context.Background(), o)
				if m != nil || !errors.Is(err, ingest.ErrChanged) && !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("manifest %v, %v", m != nil, err)
				}
				wantError(t, err, path, "try to put the file back, or to plan anew with --restart")
				o.Progress = nil
				if name != "goes" { // the next command sees it too
					_, err = CPT(context.Background(), o)
					wantUsage(t, err, "input 0/"+f.name+" has changed")
				}
				write(t, path, f.data)
				mustRun(t, o)
				sameFiles(t, "with the file as it was", want, digest(t, o.Output))
			})
		}
	}
}
