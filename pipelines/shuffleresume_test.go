package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// finished returns a digest without what partitions leave for merge.
func finished(t *testing.T, root string) map[string]string {
	t.Helper()
	sums := digest(t, root)
	maps.DeleteFunc(sums, func(name, _ string) bool { return name != unstaged(name) })
	return sums
}

// unmerged is a run with everything whose partitions are done, and nothing else.
func unmerged(t *testing.T) Options {
	t.Helper()
	o := shuffledRun(t)
	o.Partitions = 4
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	mustRunPart(t, later(o), 0, 1, 2, 3)
	return o
}

// TestShuffleDiskFull: wherever the disk fills up while rows are shuffled, the run says so, leaves nothing that reads as
// whole and is not, and ends in the right bytes when there is room.
func TestShuffleDiskFull(t *testing.T) {
	base := unmerged(t)
	merge := func(o *Options, d disk) error {
		l := later(*o)
		l.disk, l.buckets = d, base.buckets
		_, err := Merge(context.Background(), l)
		return err
	}
	o := with(t, base, nil)
	copyDir(t, base.Output, o.Output)
	all := &faultyDisk{from: math.MaxInt, to: math.MaxInt}
	if err := merge(&o, all); err != nil {
		t.Fatal(err)
	}
	want := digest(t, o.Output)
	t.Logf("%d operations", all.n)
	for n := 0; n < all.n; n += 1 + all.n/40 {
		t.Run(fmt.Sprint("operation ", n), func(t *testing.T) {
			o := with(t, base, nil)
			copyDir(t, base.Output, o.Output)
			if err := merge(&o, &faultyDisk{from: n, to: math.MaxInt}); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("error %v", err)
			} else {
				wantError(t, err, "writing ", "try to free space there", "run the same command again")
			}
			noTemporary(t, o.Output)
			for name, sum := range finished(t, o.Output) {
				if want[name] != sum {
					t.Errorf("%s is there, and is not what it has to be", name)
				}
			}
			_, whole := want["manifest.json"]
			if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); (err == nil) != (len(finished(t, o.Output)) == len(want)) || !whole {
				t.Errorf("the manifest: %v", err)
			}
			if err := merge(&o, nil); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, "with room", want, digest(t, o.Output))
		})
	}
}

// TestShuffleRoom: rows are not shuffled where they cannot be written once more, and that is said before.
func TestShuffleRoom(t *testing.T) {
	o := unmerged(t)
	l := later(o)
	free := int64(1000)
	l.freeBytes = func() (int64, error) { return free, nil }
	before := digest(t, o.Output)
	_, err := Merge(context.Background(), l)
	wantError(t, err, "--output "+o.Output, "are needed to shuffle the rows", "1e-06 GB are free", "try to free space")
	sameFiles(t, "refused", before, digest(t, o.Output))
	free = 0
	for name := range before {
		if name != unstaged(name) {
			info, err := os.Stat(filepath.Join(o.Output, name))
			if err != nil {
				t.Fatal(err)
			}
			free += info.Size()
		}
	}
	if _, err := Merge(context.Background(), l); err != nil {
		t.Error(err)
	}
}

// TestShuffleCancelled: a merge that is called off goes on from the start, with nothing lost.
func TestShuffleCancelled(t *testing.T) {
	o := unmerged(t)
	before := finished(t, o.Output)
	ctx, cancel := context.WithCancel(context.Background())
	l := later(o)
	l.disk = &cancelDisk{cancel: cancel, after: 12}
	if m, err := Merge(ctx, l); m != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("manifest %v, %v", m != nil, err)
	}
	noTemporary(t, o.Output)
	if len(finished(t, o.Output)) < len(before) {
		t.Error("files are gone")
	}
	l.disk = nil
	if _, err := Merge(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, o)
}

// cancelDisk calls a run off at some operation.
type cancelDisk struct {
	machine
	cancel context.CancelFunc
	after  int
}

func (d *cancelDisk) create(name string) (diskFile, error) {
	if d.after--; d.after == 0 {
		d.cancel()
	}
	return d.machine.create(name)
}

func (d *cancelDisk) scratch(name string) (diskFile, error) { return d.create(name) }

// TestShuffleLeftOver: once the manifest stands the run is whole, whatever is left below unshuffled/; the same command
// removes that, and does anew what is gone.
func TestShuffleLeftOver(t *testing.T) {
	base := unmerged(t)
	merged := with(t, base, nil)
	copyDir(t, base.Output, merged.Output)
	mustRun(t, merged)
	want := digest(t, merged.Output)
	path := func(o Options, name string) string { return filepath.Join(o.Output, name) }
	for _, c := range []struct {
		name string
		harm func(o Options) error
		ends bool // check passes before the next command
	}{
		{"all of it", func(Options) error { return nil }, true},
		{"half of it", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled/train")), os.Remove(path(o, "unshuffled/turns/p00001.parquet")))
		}, true},
		{"all of it, and a commit is gone", func(o Options) error { return os.Remove(path(o, commitPath(2))) }, false},
		{"half of it, and a shuffled shard is gone", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled/train")), os.Remove(path(o, shuffledPath(train, 0))))
		}, false},
		{"nothing, and turns are cut", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled")), os.Truncate(path(o, turnsPath(3)), 100))
		}, false},
		{"nothing, and rejects are gone", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled")), os.Remove(path(o, rejectsPath(1))))
		}, false},
		{"nothing, and the manifest is gone", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled")), os.Remove(path(o, "manifest.json")))
		}, false},
		{"nothing, and state.json is gone", func(o Options) error {
			return errors.Join(os.RemoveAll(path(o, "unshuffled")), os.Remove(path(o, "train/state.json")))
		}, false},
		{"foreign files", func(o Options) error { return os.WriteFile(path(o, "unshuffled/train/mine.txt"), nil, 0o666) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := with(t, base, nil)
			copyDir(t, base.Output, o.Output)
			if err := os.CopyFS(o.Output, missing{os.DirFS(merged.Output), base.Output}); err != nil {
				t.Fatal(err)
			}
			if err := c.harm(o); err != nil {
				t.Fatal(err)
			}
			r, err := Check(context.Background(), checkOptions(&o, false))
			if (err == nil) != c.ends || c.ends && !strings.Contains(strings.Join(r.Notes, "\n"), "unshuffled is left over") {
				t.Errorf("check: %v", err)
			}
			if c.ends {
				if s, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: 3}); err != nil || s.Shard != shuffledPath(train, 0) || s.Row != 3 {
					t.Errorf("show: %+v, %v", s, err)
				}
			}
			mustRun(t, o)
			got := digest(t, o.Output)
			delete(got, "unshuffled/train/mine.txt")
			sameFiles(t, "after it", want, got)
			mustCheck(t, o)
		})
	}
}

// The environment of a process that is there to be killed while it shuffles.
const killShuffleCorpus, killShuffleOutput = "TURNMILL_TEST_KILL_SHUFFLE_CORPUS", "TURNMILL_TEST_KILL_SHUFFLE_OUTPUT"

// TestKilledShuffle is the process that TestShuffleKill starts; on its own it has nothing to do.
func TestKilledShuffle(t *testing.T) {
	corpus := os.Getenv(killShuffleCorpus)
	if corpus == "" {
		return
	}
	o := DefaultOptions()
	killed(&o, corpus)
	o.Output, o.Shuffle, o.buckets, o.disk = os.Getenv(killShuffleOutput), true, bucketSizes{bytes: 60_000, bits: 2}, &tellingDisk{}
	mustRun(t, o)
}

// tellingDisk says so whenever merge is about to make, or has made, a file.
type tellingDisk struct {
	machine
	mu      sync.Mutex
	merging bool
}

func (d *tellingDisk) tell(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.merging = d.merging || strings.HasPrefix(filepath.Base(name), ".rows-"); d.merging {
		fmt.Println("outcome")
	}
}

func (d *tellingDisk) create(name string) (diskFile, error) {
	d.tell(name)
	return d.machine.create(name)
}

func (d *tellingDisk) scratch(name string) (diskFile, error) {
	d.tell(name)
	return d.machine.scratch(name)
}

func (d *tellingDisk) rename(from, to string) error {
	d.tell(to)
	return d.machine.rename(from, to)
}

func (d *tellingDisk) syncDir(name string) error {
	d.tell(name)
	return d.machine.syncDir(name)
}

// TestShuffleKill: a process that is killed outright at any moment of merge leaves nothing that reads as whole and is
// not, and the next one ends in the bytes of a run that was not killed.
func TestShuffleKill(t *testing.T) {
	corpus := mixedCorpus(t)
	base := options(t, corpus)
	killed(&base, corpus)
	base.Shuffle = true
	m := mustRun(t, base)
	want := digest(t, base.Output)
	rng := rand.New(rand.NewPCG(5, 12))
	for range 8 {
		o := with(t, base, nil)
		after := 1 + rng.IntN(2*len(m.Files)+20)
		killAs(t, "^TestKilledShuffle$", []string{killShuffleCorpus + "=" + corpus, killShuffleOutput + "=" + o.Output}, after)
		if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); err == nil {
			sameFiles(t, "with a manifest", want, finished(t, o.Output))
			mustCheck(t, o)
		}
		o.Workers = 1 + 7*rng.IntN(2)
		mustRun(t, o)
		sameFiles(t, fmt.Sprintf("killed after step %d", after), want, digest(t, o.Output))
		mustCheck(t, o)
	}
}

// missing is a file system without what lies below another root already.
type missing struct {
	fs.FS
	root string
}

// ReadDir leaves files out that are there.
func (m missing) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(m.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		_, err := os.Stat(filepath.Join(m.root, name, e.Name()))
		return !e.IsDir() && err == nil
	}), err
}
