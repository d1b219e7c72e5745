package pipelines

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
)

// resumable is what the tests of resuming start from: a run that was never interrupted.
func resumable(t *testing.T) (o Options, want map[string]string, outcomes int) {
	t.Helper()
	o = options(t, mixedCorpus(t))
	o.Partitions, o.ShardBytes = 9, 150_000
	o.Progress = func(Progress) { outcomes++ }
	mustRun(t, o)
	o.Progress = nil
	return o, digest(t, o.Output), outcomes
}

// interrupt runs o and cancels it after k outcomes. It tells whether the run was over before that.
func interrupt(t *testing.T, o Options, k int) (finished bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	o.Progress = func(Progress) {
		if n++; n == k {
			cancel()
		}
	}
	m, err := CPT(ctx, o)
	if err == nil {
		return true
	}
	if !errors.Is(err, context.Canceled) || m != nil {
		t.Fatalf("cancelled after outcome %d: %v, manifest %v", k, err, m)
	}
	return false
}

// TestResume: cancelled anywhere, as often as you like, a run ends in the bytes of one that was not.
func TestResume(t *testing.T) {
	base, want, outcomes := resumable(t)
	if outcomes < 15 {
		t.Fatalf("%d outcomes in all: too few to cancel between", outcomes)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		o := with(t, base, func(o *Options) { o.Workers = 1 + rng.IntN(4) })
		breaks, kept := 0, 0
		for {
			if interrupt(t, o, breaks+1+rng.IntN(outcomes/2)) {
				break
			}
			breaks++
			noTemporary(t, o.Output)
			if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a manifest after a break: %v", err)
			}
			if _, err := Check(context.Background(), checkOptions(&o, false)); err == nil {
				t.Errorf("check passes a run that is not finished")
			}
			before := committedFiles(t, o.Output)
			kept += len(before)
			o.Workers = 1 + rng.IntN(4)
			defer sameInodes(t, before) // to the very end: what is committed is never made again
		}
		sameFiles(t, "resumed", want, digest(t, o.Output))
		t.Logf("%d breaks, %d committed files met on the way", breaks, kept)
	}
}

// noTemporary makes sure that no unfinished file is left.
func noTemporary(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, tempSuffix) {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// committedFiles returns every commit and every file that a commit names.
func committedFiles(t *testing.T, root string) map[string]os.FileInfo {
	t.Helper()
	files := map[string]os.FileInfo{}
	add := func(name string) {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatalf("a commit names %s: %v", name, err)
		}
		files[filepath.Join(root, name)] = info
	}
	for i := range 100 {
		c, err := readCommit(root, i)
		if err != nil {
			continue
		}
		add(commitPath(i))
		for _, f := range c.Files {
			add(f.Path)
		}
	}
	return files
}

// sameInodes makes sure that none of the files was written again.
func sameInodes(t *testing.T, files map[string]os.FileInfo) {
	t.Helper()
	for name, was := range files {
		now, err := os.Stat(name)
		if err != nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) {
			t.Errorf("%s was made again: %v", name, err)
		}
	}
}

// TestResumeRepairs: what is gone or damaged is made again, and nothing else.
func TestResumeRepairs(t *testing.T) {
	base, want, _ := resumable(t)
	for _, c := range []struct {
		name string
		harm func(path func(string) string) error
		runs []int // partitions
	}{
		{"nothing", func(func(string) string) error { return nil }, nil},
		{"a shard is gone", func(p func(string) string) error { return os.Remove(p(shardPath(train, 2, 0))) }, []int{2}},
		{"a shard is cut", func(p func(string) string) error { return os.Truncate(p(shardPath(train, 1, 0)), 1000) }, []int{1}},
		{"a shard has grown", func(p func(string) string) error { return grow(p(shardPath(train, 1, 0))) }, []int{1}},
		{"turns are gone", func(p func(string) string) error { return os.Remove(p(turnsPath(0))) }, []int{0}},
		{"rejects are cut", func(p func(string) string) error { return os.Truncate(p(rejectsPath(0)), 5) }, []int{0}},
		{"a commit is gone", func(p func(string) string) error { return os.Remove(p(commitPath(3))) }, []int{3}},
		{"a commit is cut", func(p func(string) string) error { return os.Truncate(p(commitPath(3)), 100) }, []int{3}},
		{"a commit is of another partition", func(p func(string) string) error {
			return errors.Join(os.Remove(p(commitPath(5))), os.Link(p(commitPath(4)), p(commitPath(5))))
		}, []int{5}},
		{"all commits and shards are gone", func(p func(string) string) error {
			return errors.Join(os.RemoveAll(p("commits")), os.RemoveAll(p("train")))
		}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"the manifest and what goes with it are gone", func(p func(string) string) error {
			return errors.Join(os.Remove(p("manifest.json")), os.Remove(p("train/state.json")), os.Remove(p("dataset_dict.json")))
		}, nil},
		{"the manifest is cut", func(p func(string) string) error { return os.Truncate(p("manifest.json"), 10) }, nil},
		{"unfinished files lie about", func(p func(string) string) error {
			return errors.Join(os.WriteFile(p("train/.data-p00000-00000.arrow.77-0.tmp"), []byte("x"), 0o666),
				os.WriteFile(p("turns/.p00001.parquet.77-0.tmp"), nil, 0o666), os.WriteFile(p(".manifest.json.77-3.tmp"), nil, 0o666))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := with(t, base, nil)
			copyDir(t, base.Output, o.Output)
			if err := c.harm(func(name string) string { return filepath.Join(o.Output, name) }); err != nil {
				t.Fatal(err)
			}
			before := committedInfo(t, o.Output)
			mustRun(t, o)
			sameFiles(t, "repaired", want, digest(t, o.Output))
			noTemporary(t, o.Output)
			var again []int
			for i := range before {
				now, err := os.Stat(filepath.Join(o.Output, commitPath(i)))
				if err != nil {
					t.Fatal(err)
				}
				if before[i] == nil || !os.SameFile(before[i], now) {
					again = append(again, i)
				}
			}
			if !slices.Equal(again, c.runs) {
				t.Errorf("partitions %v were run again, want %v", again, c.runs)
			}
		})
	}
}

// committedInfo returns what the commits were before, nil where there is none.
func committedInfo(t *testing.T, root string) []os.FileInfo {
	t.Helper()
	infos := make([]os.FileInfo, 9)
	for i := range infos {
		info, err := os.Stat(filepath.Join(root, commitPath(i)))
		if err == nil {
			infos[i] = info
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return infos
}

func grow(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("more")
	return errors.Join(err, f.Close())
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestOtherPlan: a run of another plan is left alone, what changed is named, and Restart replaces it.
func TestOtherPlan(t *testing.T) {
	corpus := demoCorpus(t)
	tokenizer := filepath.Join(t.TempDir(), "tokenizer.json")
	write(t, tokenizer, append([]byte(" "), demo.Tokenizer()...))
	base := options(t, corpus)
	base.Partitions = 2
	mustRun(t, base)
	old := digest(t, base.Output)
	for _, c := range []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"seq-len", func(o *Options) { o.SeqLen = 2048 }, []string{"--seq-len: was 4096, now 2048"}},
		{"several options", func(o *Options) { o.Seed, o.MinTurns = "7", 3 }, []string{`seed: was "0", now "7"`, "--min-turns: was 2, now 3"}},
		{"mask", func(o *Options) { o.Mask = "off" }, []string{`mask: was "turn", now "off"`}},
		{"chat", func(o *Options) { o.Chat = "qwen3" }, []string{"chat: was", "chatml", "qwen3"}},
		{"template", func(o *Options) { o.Template = "v1" }, []string{"--template: was plain, now v1"}},
		{"chat date", func(o *Options) { o.ChatDate = "1 May 2026" }, []string{"--chat-date: was 26 Jul 2024, now 1 May 2026"}},
		{"filters", func(o *Options) { o.Filters = []string{"min-turns"} }, []string{"--filters: was"}},
		{"partitions", func(o *Options) { o.Partitions = 3 }, []string{"--partitions: was 2, now 3"}},
		{"mask table", func(o *Options) { o.MaskTable.Rows = o.MaskTable.Rows[:4] }, []string{"mask-table: was"}},
		{"another tokenizer", func(o *Options) { o.Tokenizer = tokenizer }, []string{"tokenizer: was", "demo", "tokenizer.json"}},
		{"an input is new", func(o *Options) { o.Inputs = append(o.Inputs, filepath.Join(corpus, "web.jsonl")) }, []string{"input 1/web.jsonl is new"}},
		{"an input is gone", func(o *Options) { o.Inputs = []string{filepath.Join(corpus, "*c*.jsonl")} }, []string{"input 0/android.jsonl is gone"}},
		{"an input has changed", func(o *Options) {
			changed := t.TempDir()
			copyDir(t, corpus, changed)
			if err := grow(filepath.Join(changed, "os.jsonl")); err != nil {
				t.Fatal(err)
			}
			o.Inputs = []string{changed}
		}, []string{"input 0/os.jsonl has changed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := base
			o.MaskTable.Rows = append(o.MaskTable.Rows[:0:0], o.MaskTable.Rows...)
			o.Output = filepath.Join(t.TempDir(), "out")
			copyDir(t, base.Output, o.Output)
			c.set(&o)
			_, err := CPT(context.Background(), o)
			wantUsage(t, err, append(c.want, "--restart", "What changed")...)
			sameFiles(t, "a refused run", old, digest(t, o.Output))

			o.Restart = true
			mustRun(t, o)
			fresh := with(t, o, func(o *Options) { o.Restart = false })
			mustRun(t, fresh)
			sameFiles(t, "restarted", digest(t, fresh.Output), digest(t, o.Output))
		})
	}
}

// TestRestartNeedsNoReason: Restart on a run of the same plan goes on with it.
func TestRestartNeedsNoReason(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	before := committedFiles(t, o.Output)
	o.Restart = true
	mustRun(t, o)
	sameInodes(t, before)
}

// TestDamagedPlan: a plan that cannot be read is no reason to write over a run.
func TestDamagedPlan(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	want := digest(t, o.Output)
	for _, text := range []string{"", "{}", `{"format_version":99}`, `{"format_version":1,"later":true}`} {
		write(t, filepath.Join(o.Output, "plan.json"), []byte(text))
		_, err := CPT(context.Background(), o)
		wantError(t, err, "plan.json", "--restart")
	}
	o.Restart = true
	mustRun(t, o)
	sameFiles(t, "restarted", want, digest(t, o.Output))
}

// TestClearedHalfWay: a kill while an old run is thrown away leaves a directory that the next run takes.
func TestClearedHalfWay(t *testing.T) {
	base := options(t, demoCorpus(t))
	mustRun(t, base)
	want := digest(t, base.Output)
	for n := range runParts {
		o := with(t, base, func(o *Options) { o.SeqLen = 512; o.Restart = true })
		mustRun(t, o)
		for _, name := range runParts[:n+1] {
			if err := os.RemoveAll(filepath.Join(o.Output, name)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d parts gone, and the manifest is there: %v", n+1, err)
		}
		o.SeqLen = base.SeqLen
		mustRun(t, o)
		sameFiles(t, "after it", want, digest(t, o.Output))
	}
}

// TestForeignOutput: an output directory with anything else in it is left alone.
func TestForeignOutput(t *testing.T) {
	o := options(t, demoCorpus(t))
	for _, name := range []string{"thesis.txt", ".hidden", "train/data-p00000-00000.arrow", "manifest.json", "notes.tmp/x"} {
		for _, restart := range []bool{false, true} {
			o := with(t, o, func(o *Options) { o.Restart = restart })
			write(t, filepath.Join(o.Output, name), []byte("mine"))
			want := digest(t, o.Output)
			_, err := CPT(context.Background(), o)
			wantUsage(t, err, "--output", strings.Split(name, "/")[0], "empty or absent")
			sameFiles(t, name, want, digest(t, o.Output))
		}
	}
}

// TestTwoAtOnce: while one run works on a directory, a second one is refused and disturbs nothing.
func TestTwoAtOnce(t *testing.T) {
	base, want, _ := resumable(t)
	o := with(t, base, nil)
	refused := 0
	second := o
	o.Progress = func(Progress) {
		if refused > 0 {
			return
		}
		refused++
		_, err := CPT(context.Background(), second)
		if err == nil || !strings.Contains(err.Error(), "another turnmill works on it") {
			t.Errorf("the second run: %v", err)
		}
	}
	mustRun(t, o)
	if refused == 0 {
		t.Error("the second run was never tried")
	}
	sameFiles(t, "with a second run", want, digest(t, o.Output))
	mustRun(t, second) // nothing stays locked
}
