package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// planned makes the setup of a run, and a pool for it that the test closes.
func planned(t *testing.T, o *Options) (*setup, *pool) {
	t.Helper()
	s, window, err := plan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, budget, err := memoryBudget(o, s, window)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(s, budget, 2, reporter{})
	t.Cleanup(p.close)
	return s, p
}

// TestCancelledBeforeTheFirst: partitions that were never started are not done.
func TestCancelledBeforeTheFirst(t *testing.T) {
	o := options(t, demoCorpus(t))
	o.Partitions = 4
	s, p := planned(t, &o)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the machine goes down")
	cancel(why)
	err := p.partitions(ctx, everyPartition(s), 2, o.sink(), func(*Commit) error { return nil })
	if !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

// TestCancelledByDone: what the caller makes of a commit ends the run when it fails.
func TestCancelledByDone(t *testing.T) {
	o := options(t, demoCorpus(t))
	o.Partitions = 4
	s, p := planned(t, &o)
	full := errors.New("no space for the commit")
	calls := 0
	err := p.partitions(context.Background(), everyPartition(s), 2, o.sink(), func(*Commit) error {
		calls++
		return full
	})
	if !errors.Is(err, full) || calls > 2 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

// failingSink is a disk that is full after some bytes: everything that is written counts.
type failingSink struct {
	dirSink
	left *int64
	mu   *sync.Mutex
}

var errFull = errors.New("no space left on device")

type failingFile struct {
	sinkFile
	failingSink
}

func (s failingSink) create(path string) (sinkFile, error) {
	f, err := s.dirSink.create(path)
	return failingFile{f, s}, err
}

func (f failingFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if int64(len(p)) > *f.left {
		n, _ := f.sinkFile.Write(p[:*f.left])
		*f.left = 0
		return n, errFull
	}
	*f.left -= int64(len(p))
	return f.sinkFile.Write(p)
}

// TestPitfall07DiskFull: wherever the disk is full, the run fails with that error, no partition that lacks a
// byte is committed, nothing unfinished is left, and with room again the run ends as any other.
func TestPitfall07DiskFull(t *testing.T) {
	base := options(t, demoCorpus(t))
	base.Partitions, base.ShardBytes = 3, 100_000
	mustRun(t, base)
	want := digest(t, base.Output)
	var all int64
	for name := range want {
		if strings.HasPrefix(name, "train/data") || strings.HasPrefix(name, "turns/") || strings.HasPrefix(name, "rejects/") {
			info, err := os.Stat(filepath.Join(base.Output, name))
			if err != nil {
				t.Fatal(err)
			}
			all += info.Size()
		}
	}
	for _, share := range []float64{0, 0.001, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.999} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			o := with(t, base, nil)
			s, p := planned(t, &o)
			unlock, err := openOutput(&o, s)
			if err != nil {
				t.Fatal(err)
			}
			left := int64(share * float64(all))
			to := failingSink{dirSink{o.Output, machine{}}, &left, &sync.Mutex{}}
			err = p.partitions(context.Background(), everyPartition(s), 2, to, func(c *Commit) error {
				_, err := writeFile(o.sink(), commitPath(c.Partition), encodeJSON(c))
				return err
			})
			if !errors.Is(err, errFull) {
				t.Fatalf("got %v, want %v", err, errFull)
			}
			unlock()
			noTemporary(t, o.Output)
			for name, sum := range digest(t, o.Output) {
				if want[name] != sum {
					t.Errorf("%s is there and is not what it has to be", name)
				}
			}
			mustRun(t, o)
			sameFiles(t, "with room again", want, digest(t, o.Output))
		})
	}
}

// TestOutputThatCannotBeWritten: the error names the file and says what to try.
func TestOutputThatCannotBeWritten(t *testing.T) {
	corpus := demoCorpus(t)
	t.Run("a file as output", func(t *testing.T) {
		o := options(t, corpus)
		write(t, o.Output, []byte("mine"))
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, "--output", o.Output)
		if data, err := os.ReadFile(o.Output); err != nil || string(data) != "mine" {
			t.Errorf("the file holds %q, %v", data, err)
		}
	})
	t.Run("a file above the output", func(t *testing.T) {
		o := options(t, corpus)
		write(t, o.Output, []byte("mine"))
		o.Output = filepath.Join(o.Output, "below")
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, "--output", "not a directory")
	})
	t.Run("a file in place of a folder", func(t *testing.T) {
		for _, folder := range []string{"train", "turns", "rejects", "commits"} {
			o := options(t, corpus)
			mustRun(t, o)
			want := digest(t, o.Output)
			name := filepath.Join(o.Output, folder)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			write(t, name, []byte("mine"))
			_, err := CPT(context.Background(), o)
			wantError(t, err, folder, "not a directory")
			noTemporary(t, o.Output)
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			mustRun(t, o)
			sameFiles(t, folder, want, digest(t, o.Output))
		}
	})
	t.Run("a folder in place of a file", func(t *testing.T) {
		for _, path := range []string{"manifest.json", "train/state.json", shardPath(train, 0, 0), turnsPath(0), commitPath(0)} {
			o := options(t, corpus)
			mustRun(t, o)
			name := filepath.Join(o.Output, path)
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(name, "full"), 0o777); err != nil {
				t.Fatal(err)
			}
			_, err := CPT(context.Background(), o)
			wantError(t, err, path, "try")
			noTemporary(t, o.Output)
		}
	})
}

// TestNoGoroutineIsLeft: however a run ends, all that it started is over.
func TestNoGoroutineIsLeft(t *testing.T) {
	base := options(t, mixedCorpus(t))
	base.Partitions = 9
	outcomes := 0
	base.Progress = func(Progress) { outcomes++ }
	before := runtime.NumGoroutine()
	mustRun(t, base)
	goroutines(t, before, "a run")
	for _, workers := range []int{1, 7} {
		for k := 1; k < outcomes; k += 1 + outcomes/5 {
			o := with(t, base, func(o *Options) { o.Workers = workers; o.Memory = 512 << 20 })
			interrupt(t, o, k)
			goroutines(t, before, fmt.Sprintf("%d workers, cancelled after outcome %d", workers, k))
		}
	}
	if _, err := Check(context.Background(), checkOptions(&base, true)); err != nil {
		t.Error(err)
	}
	goroutines(t, before, "a check")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Check(ctx, checkOptions(&base, true)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check: %v", err)
	}
	goroutines(t, before, "a cancelled check")
	damage(t, base.Output)
	if _, err := Check(context.Background(), checkOptions(&base, true)); err == nil {
		t.Error("check passes a damaged run")
	}
	goroutines(t, before, "a check that failed")
}

// damage changes a byte of every shard.
func damage(t *testing.T, root string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "train", "*.arrow"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d shards: %v", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-100] ^= 1
		write(t, name, data)
	}
}

// goroutines waits until no more of them run than before.
func goroutines(t *testing.T, before int, after string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%s: %d goroutines, %d before:\n%s", after, runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestProgress: what is reported only grows, and ends with what the manifest says.
func TestProgress(t *testing.T) {
	o := options(t, mixedCorpus(t))
	o.Partitions = 9
	var last Progress
	o.Progress = func(p Progress) {
		if p.BytesAll != last.BytesAll && last.BytesAll != 0 || p.BytesDone < last.BytesDone || p.Records < last.Records || p.Rows < last.Rows ||
			p.Dropped < last.Dropped || p.Rejected < last.Rejected || p.BytesDone > p.BytesAll {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	m := mustRun(t, o)
	r := m.Ledger.Total.Records
	want := Progress{Records: r.In, Rows: m.Counts.Tokens.Rows, Dropped: r.AllDropped(), Rejected: r.AllRejected()}
	got := last
	got.BytesDone, got.BytesAll = 0, 0
	if got != want {
		t.Errorf("at the end %+v, the manifest says %+v", got, want)
	}
	if last.BytesDone*10 < last.BytesAll*9 {
		t.Errorf("%d of %d bytes at the end", last.BytesDone, last.BytesAll)
	}
}

// TestRunFileNames: what is not to be read has a name that readers skip.
func TestRunFileNames(t *testing.T) {
	o := options(t, demoCorpus(t))
	seen := 0
	o.Progress = func(Progress) {
		err := filepath.WalkDir(o.Output, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(path, "p00000") {
				seen++
				if !strings.HasPrefix(d.Name(), ".") || filepath.Ext(d.Name()) != tempSuffix {
					t.Errorf("%s is visible before its partition is done", path)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	mustRun(t, o)
	if seen == 0 {
		t.Error("no unfinished file was seen: the test proves nothing")
	}
}
