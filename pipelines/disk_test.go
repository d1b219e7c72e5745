package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// faultyDisk is the machine's disk, with no space during some of the operations, which are counted from 0: a
// write then writes half of what it is given.
type faultyDisk struct {
	machine
	from, to int // operations from <= n < to fail

	mu sync.Mutex
	n  int
}

func (d *faultyDisk) operation(what, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if d.n <= d.from || d.n > d.to {
		return nil
	}
	return &fs.PathError{Op: what, Path: name, Err: syscall.ENOSPC}
}

func (d *faultyDisk) create(name string) (diskFile, error) {
	if err := d.operation("open", name); err != nil {
		return nil, err
	}
	f, err := d.machine.create(name)
	return faultyFile{f, d}, err
}

func (d *faultyDisk) scratch(name string) (diskFile, error) {
	if err := d.operation("open", name); err != nil {
		return nil, err
	}
	f, err := d.machine.scratch(name)
	return faultyFile{f, d}, err
}

func (d *faultyDisk) rename(from, to string) error {
	if err := d.operation("rename", from); err != nil {
		return err
	}
	return d.machine.rename(from, to)
}

func (d *faultyDisk) syncDir(name string) error {
	if err := d.operation("sync", name); err != nil {
		return err
	}
	return d.machine.syncDir(name)
}

type faultyFile struct {
	diskFile
	disk *faultyDisk
}

func (f faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.operation("write", f.Name()); err != nil {
		n, _ := f.diskFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.diskFile.Write(p)
}

func (f faultyFile) Sync() error {
	if err := f.disk.operation("sync", f.Name()); err != nil {
		return err
	}
	return f.diskFile.Sync()
}

// diskRun is a small run that has everything: two partitions, one after the other, both splits, several shards,
// rejects.
func diskRun(t *testing.T) Options {
	t.Helper()
	records := demoRecords()
	text := append(lines(records[:7]), "{\"id\":\n"...)
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", append(text, lines(records[40:44])...)}}))
	o.SeqLen, o.Partitions, o.ShardBytes, o.Validation = 1300, 2, 160_000, "0.4"
	o.Workers, o.Memory = 1, 224<<20
	return o
}

// TestDiskFullAtEveryOperation: wherever the disk fills up, for good or for one operation, the run says what and
// what to try, leaves nothing that check takes for whole and is not, and ends in the right bytes when there is
// room.
func TestDiskFullAtEveryOperation(t *testing.T) {
	base := diskRun(t)
	disk := &faultyDisk{from: math.MaxInt, to: math.MaxInt}
	base.disk = disk
	m := mustRun(t, base)
	want := digest(t, base.Output)
	if shards := shardsOf(m); len(shards) < 4 || len(shards) > 8 || m.Ledger.Total.Records.AllRejected() == 0 {
		t.Fatalf("shards %v, rejected %d: not what to fail at", shards, m.Ledger.Total.Records.AllRejected())
	}
	t.Logf("%d operations", disk.n)
	for _, c := range []struct {
		name              string
		first, step, long int
	}{{"for good, even", 0, 2, math.MaxInt32}, {"for good, odd", 1, 2, math.MaxInt32}, {"once", 0, 4, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait for the disk most of the time
			for n := c.first; n < disk.n; n += c.step {
				o := base
				o.Output = filepath.Join(t.TempDir(), "out")
				o.disk = &faultyDisk{from: n, to: n + c.long}
				fillsUp(t, fmt.Sprintf("operation %d", n), o, want)
			}
		})
	}
}

// fillsUp runs o on its disk, which has to fail, and then on the machine's.
func fillsUp(t *testing.T, what string, o Options, want map[string]string) {
	t.Helper()
	m, err := CPT(context.Background(), o)
	if m != nil || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%s: manifest %v, error %v", what, m != nil, err)
	}
	wantError(t, err, "writing ", "no space left on device", "try to free space there", "run the same command again")
	if strings.Contains(err.Error(), "\n") && strings.Count(err.Error(), "no space") == 1 {
		t.Errorf("%s: %q speaks of something else too", what, err)
	}
	got := digest(t, o.Output)
	for name, sum := range got {
		if want[name] != sum {
			t.Errorf("%s: %s is there, and is not what it has to be", what, name)
		}
	}
	whole := len(got) == len(want)
	if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); (err == nil) != whole {
		t.Errorf("%s: %d of %d files, and of the manifest: %v", what, len(got), len(want), err)
	}
	if _, err := Check(context.Background(), checkOptions(&o, false)); (err == nil) != whole {
		t.Errorf("%s: %d of %d files, and check says %v", what, len(got), len(want), err)
	}
	o.disk = nil
	mustRun(t, o)
	sameFiles(t, what, want, digest(t, o.Output))
}
