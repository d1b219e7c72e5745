package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/internal/extsort"
)

// TestScanDamaged: records are numbered alike by scan and run whatever is between them: damage, spliced lines, files of
// several runs, all compressions. With the corpus twice, all that was decoded of the second is a duplicate.
func TestScanDamaged(t *testing.T) {
	corpus := mixedCorpus(t)
	for name, set := range map[string]func(*Options){
		"partitions": func(o *Options) { o.Partitions = 11 },
		"a limit":    func(o *Options) { o.Partitions, o.Limit = 4, 150 },
		"near":       func(o *Options) { o.Partitions, o.Dedup = 5, dedupNear },
		"turns":      func(o *Options) { o.Partitions, o.Dedup = 5, dedupTurns },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, corpus, corpus)
			o.Dedup = dedupExact
			set(&o)
			m := mustRun(t, o)
			mustCheck(t, o)
			if m.Scan.dropped() == 0 {
				t.Error("nothing is dropped: this proves nothing")
			}
			dropped := int64(0)
			for _, r := range m.Scan.Files {
				dropped += r.Rows
			}
			if dropped != m.Scan.dropped() {
				t.Errorf("%d decisions, %d dropped", dropped, m.Scan.dropped())
			}
			many := with(t, o, func(o *Options) { o.Workers = 6 })
			mustRun(t, many)
			sameFiles(t, "6 workers", digest(t, o.Output), digest(t, many.Output))
		})
	}
}

// TestScanStopped: a scan that is stopped, or cannot read, leaves nothing: no OUT and no file beside it.
func TestScanStopped(t *testing.T) {
	dir, _, _ := copies(t)
	for name, stop := range map[string]func(cancel context.CancelFunc) error{
		"cancelled":  func(cancel context.CancelFunc) error { cancel(); return nil },
		"unreadable": func(context.CancelFunc) error { return fs.ErrPermission },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			o := options(t, dir)
			o.Dedup = dedupNear
			read := 0
			o.stored = func(r io.Reader) io.Reader {
				return readerFunc(func(p []byte) (int, error) {
					if read++; read > 3 {
						if err := stop(cancel); err != nil {
							return 0, err
						}
					}
					return r.Read(p)
				})
			}
			if _, err := CPT(ctx, o); err == nil {
				t.Fatal("it went on")
			}
			left, err := os.ReadDir(filepath.Dir(o.Output))
			if err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestScanOnDisk: what is decided does not depend on how much fits into memory.
func TestScanOnDisk(t *testing.T) {
	dir := t.TempDir()
	for _, method := range []dedup.Method{&dedup.Turns{}, &exact{}} {
		var want string
		for _, memory := range []int64{1, 1 << 30} {
			c := &scan{dir: dir, keys: extsort.New(dir, memory), places: extsort.NewSpool(dir), bodies: extsort.NewSpool(dir), ends: extsort.NewSpool(dir), tasks: extsort.NewSpool(dir), mixed: extsort.NewSpool(dir), inputs: map[string]uint64{"0/a": 0}}
			c.setup = &setup{plan: &Plan{Partitions: make([][]Range, 1), Inputs: []PlanInput{{Path: "0/a"}}, Config: Config{Dedup: dedupTurns}}}
			if _, ok := method.(*exact); ok {
				c.setup.plan.Config.Dedup = dedupExact
			}
			for i := range 6000 {
				out := &outcome{scanned: &scanned{path: "0/a"}}
				s := out.scanned
				s.print.Keys = append(s.print.Keys, [2]uint64{uint64(i % 5000), 1})
				s.units = append(s.units, scannedUnit{record: int64(i), line: int64(i + 1), keys: 1, body: len(s.print.Body)})
				if err := c.write(out); err != nil {
					t.Fatal(err)
				}
			}
			if memory == 1 && c.keys.DiskBytes() == 0 {
				t.Error("nothing was written to disk")
			}
			result, files, err := c.decide(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(result)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("with %d bytes %s, and %s", memory, got, want)
			}
			if _, isExact := method.(*exact); isExact && result.dropped() != 1000 {
				t.Errorf("%d of 1,000 are dropped", result.dropped())
			}
			files.close()
			c.close()
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if _, err := extsort.Nameless(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
