package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/internal/demo"
)

const plannedParts = 9

// mustPlan plans a run of every kind of file, with a tokenizer in a file of its own.
func mustPlan(t *testing.T) Options {
	t.Helper()
	files := readableFiles()
	files = append(files, testFile{"e-notes.txt", []byte("Remember to feed the cat.\n")})
	o := options(t, writeFiles(t, files))
	o.Tokenizer = filepath.Join(t.TempDir(), "tokenizer.json")
	write(t, o.Tokenizer, demo.Tokenizer())
	o.Partitions = plannedParts
	p, err := PlanCPT(context.Background(), o)
	if err != nil || len(p.Partitions) != plannedParts {
		t.Fatalf("plan: %v", err)
	}
	return o
}

// later are the options of a turnmill run or merge of the same OUT.
func later(o Options) Options {
	return Options{Output: o.Output, Memory: o.Memory, MaxRejectRate: 1, MaxDropRate: 1}
}

func mustRunPart(t *testing.T, o Options, parts ...int) {
	t.Helper()
	for _, i := range parts {
		if err := Run(context.Background(), o, i); err != nil {
			t.Fatalf("partition %d: %v", i, err)
		}
	}
}

// TestPlanRunMerge: in any order, the three steps give the bytes of cpt.
func TestPlanRunMerge(t *testing.T) {
	o := mustPlan(t)
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	mustRunPart(t, later(o), 7, 0, 3, 8, 8, 2, 1, 5, 6, 4)
	if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); err == nil {
		t.Error("there is a manifest before the merge")
	}
	m, err := Merge(context.Background(), later(o))
	if err != nil || m.Counts.Tokens.Rows == 0 {
		t.Fatalf("merge: %v", err)
	}
	sameFiles(t, "three steps", digest(t, cpt.Output), digest(t, o.Output))
	before := treeInfo(t, o.Output)
	mustRunPart(t, later(o), 4) // nothing is left to do
	sameTree(t, o.Output, before)
	if _, err := Merge(context.Background(), later(o)); err != nil {
		t.Errorf("a second merge: %v", err)
	}
	low := later(o)
	low.MaxRejectRate = 0.001
	var passed *ThresholdError
	if m, err := Merge(context.Background(), low); !errors.As(err, &passed) || m == nil {
		t.Errorf("a merge above the rate: %v", err)
	}
	sameFiles(t, "merged again", digest(t, cpt.Output), digest(t, o.Output))
	mustCheck(t, o)
}

// TestMergeNamesMissing: merge names what is not committed, and removes what killed runs left.
func TestMergeNamesMissing(t *testing.T) {
	o := mustPlan(t)
	mustRunPart(t, later(o), 1, 2, 4, 8)
	temporary := filepath.Join(o.Output, "train", ".data-p00003-00000.arrow.77-0.tmp")
	for _, want := range []string{"0, 3, 5-7", "0, 3, 5-8"} {
		write(t, temporary, []byte("half"))
		_, err := Merge(context.Background(), later(o))
		wantError(t, err, want+" ", "9", "turnmill run "+o.Output+" --partition 0")
		noTemporary(t, o.Output)
		if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); err == nil {
			t.Error("there is a manifest")
		}
		if err := os.Remove(filepath.Join(o.Output, turnsPath(8))); err != nil && want == "0, 3, 5-7" {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		of   []int
		want string
	}{{nil, ""}, {[]int{4}, "4"}, {[]int{4, 5}, "4-5"}, {[]int{0, 2, 3, 4, 9}, "0, 2-4, 9"}} {
		if got := numbers(c.of); got != c.want {
			t.Errorf("%v: %q, want %q", c.of, got, c.want)
		}
	}
	var odd []int
	for i := range 50 {
		odd = append(odd, 2*i+1)
	}
	if got := numbers(odd); !strings.HasSuffix(got, ", 39 and 30 more") {
		t.Errorf("got %q", got)
	}
}

// TestRunRefused: run says what of its plan is not so any more, and changes nothing.
func TestRunRefused(t *testing.T) {
	base := mustPlan(t)
	other := filepath.Join(t.TempDir(), "other.json")
	write(t, other, append([]byte(" "), demo.Tokenizer()...))
	for _, c := range []struct {
		name string
		i    int
		harm func(o *Options, path func(string) string)
		want []string
	}{
		{"index below", -1, nil, []string{"--partition -1", "the plan has 9, counted from 0"}},
		{"index above", 9, nil, []string{"--partition 9", "the plan has 9, counted from 0"}},
		{"another tokenizer", 0, func(o *Options, _ func(string) string) { o.Tokenizer = other }, []string{other, "another one"}},
		{"no tokenizer", 0, func(o *Options, _ func(string) string) { o.Tokenizer = other + ".gone" }, []string{other + ".gone"}},
		{"no plan", 0, func(o *Options, path func(string) string) { os.Remove(path("plan.json")) }, []string{"no plan.json", "turnmill plan"}},
		{"no OUT", 0, func(o *Options, path func(string) string) { os.RemoveAll(o.Output) }, []string{"no plan.json", "turnmill plan"}},
		{"another version", 0, func(o *Options, path func(string) string) {
			replaceIn(t, path("plan.json"), `"`+Version+`"`, `"0.0.1"`)
		},
			[]string{"planned by turnmill 0.0.1", "this is " + Version, "--restart"}},
		{"no local.json", 0, func(o *Options, path func(string) string) { os.Remove(path("local.json")) }, []string{"local.json", "try --tokenizer"}},
		{"no local.json, and a tokenizer", 0, func(o *Options, path func(string) string) {
			os.Remove(path("local.json"))
			o.Tokenizer = base.Tokenizer
		}, []string{"local.json", "try --inputs"}},
		{"other inputs", 0, func(o *Options, path func(string) string) { o.Inputs = []string{filepath.Dir(other)} }, []string{"input 0/a.jsonl", "not among --inputs"}},
		{"inputs that are not there", 0, func(o *Options, path func(string) string) { o.Inputs = []string{other + ".gone"} }, []string{other + ".gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := later(base)
			o.Output = filepath.Join(t.TempDir(), "out")
			copyDir(t, base.Output, o.Output)
			if c.harm != nil {
				c.harm(&o, func(name string) string { return filepath.Join(o.Output, name) })
			}
			before := treeInfo(t, o.Output)
			wantUsage(t, Run(context.Background(), o, c.i), c.want...)
			if strings.Contains(c.name, "version") || strings.HasSuffix(c.name, "plan") {
				_, err := Merge(context.Background(), o)
				wantUsage(t, err, c.want...)
			}
			sameTree(t, o.Output, before)
		})
	}
}

func replaceIn(t *testing.T, name, old, with string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	write(t, name, bytes.Replace(data, []byte(old), []byte(with), 1))
}

// TestRunOnAnotherMachine: where inputs and tokenizer lie elsewhere, --inputs and --tokenizer say where.
func TestRunOnAnotherMachine(t *testing.T) {
	o := mustPlan(t)
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	moved := t.TempDir()
	for from, to := range map[string]string{o.Inputs[0]: "in", o.Tokenizer: "tok.json", o.Output: "out"} {
		if err := os.Rename(from, filepath.Join(moved, to)); err != nil {
			t.Fatal(err)
		}
	}
	there := later(o)
	there.Output, there.Inputs, there.Tokenizer = filepath.Join(moved, "out"), []string{filepath.Join(moved, "in")}, filepath.Join(moved, "tok.json")
	for _, local := range []bool{true, false} {
		if local {
			if err := Run(context.Background(), Options{Output: there.Output, Memory: o.Memory}, 0); err == nil {
				t.Error("inputs and tokenizer are gone, and it ran")
			}
		} else if err := os.Remove(filepath.Join(there.Output, "local.json")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(there.Output, "commits")); err != nil {
			t.Fatal(err)
		}
		for i := range plannedParts {
			mustRunPart(t, there, i)
		}
		if _, err := Merge(context.Background(), there); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, "elsewhere", digest(t, cpt.Output), digest(t, there.Output))
	}
}

// TestRunOfChangedInput: an input that is not what was planned stops the partitions that read it, and no other.
func TestRunOfChangedInput(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"changed": func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, append([]byte{data[0] ^ 1}, data[1:]...), 0o666))
		},
		"changed at its end": func(path string) error {
			data, err := os.ReadFile(path)
			data[len(data)-2] ^= 1
			return errors.Join(err, os.WriteFile(path, data, 0o666))
		},
		"grown": grow, "shrunk": func(path string) error { return os.Truncate(path, 100) }, "gone": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			o := mustPlan(t)
			p, err := readPlan(o.Output)
			if err != nil {
				t.Fatal(err)
			}
			const input = 2 // c.jsonl.zst
			if err := change(filepath.Join(o.Inputs[0], "c.jsonl.zst")); err != nil {
				t.Fatal(err)
			}
			stopped := 0
			for i, ranges := range p.Partitions {
				reads := false
				for _, r := range ranges {
					reads = reads || r.Input == input
				}
				err := Run(context.Background(), later(o), i)
				if !reads {
					if err != nil {
						t.Errorf("partition %d does not read it: %v", i, err)
					}
					continue
				}
				stopped++
				wantError(t, err, "c.jsonl.zst")
				if !errors.Is(err, ingest.ErrChanged) && name != "gone" {
					t.Errorf("partition %d: %v: not ErrChanged", i, err)
				}
				if (&done{root: o.Output, planSum: hexSum(readAll(t, o.Output, "plan.json"))}).commit(i) != nil {
					t.Errorf("partition %d is committed", i)
				}
			}
			if stopped < 2 || stopped == plannedParts {
				t.Errorf("%d partitions read it", stopped)
			}
		})
	}
}

func readAll(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestLocks: runs work beside each other; plan, merge and cpt alone.
func TestLocks(t *testing.T) {
	o := mustPlan(t)
	l := later(o)
	alone := map[string]func() error{
		"plan":  func() error { _, err := PlanCPT(context.Background(), o); return err },
		"merge": func() error { _, err := Merge(context.Background(), l); return err },
		"cpt":   func() error { _, err := CPT(context.Background(), o); return err },
	}
	for _, exclusive := range []bool{false, true} {
		unlock, err := lockDir(o.Output, exclusive)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range alone {
			if err := f(); err == nil || !strings.Contains(err.Error(), "another turnmill works on it") {
				t.Errorf("%s beside a lock (exclusive %v): %v", name, exclusive, err)
			}
		}
		err = Run(context.Background(), l, 0)
		if refused := err != nil && strings.Contains(err.Error(), "another turnmill works on it"); refused != exclusive || err != nil && !exclusive {
			t.Errorf("run beside a lock (exclusive %v): %v", exclusive, err)
		}
		unlock()
	}
	mustRunPart(t, l, 1)
	if err := alone["cpt"](); err != nil {
		t.Errorf("cpt when all is unlocked: %v", err)
	}
}

// TestPlanAgain: the same plan changes nothing and keeps what is committed; another one is refused, unless it is
// to replace the first.
func TestPlanAgain(t *testing.T) {
	o := mustPlan(t)
	mustRunPart(t, later(o), 3, 5)
	plan, before := readAll(t, o.Output, "plan.json"), committedFiles(t, o.Output)
	t.Chdir(filepath.Dir(o.Inputs[0]))
	o.Inputs = []string{filepath.Base(o.Inputs[0])} // from another working directory
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(plan, readAll(t, o.Output, "plan.json")) {
		t.Error("the plan is another one")
	}
	sameInodes(t, before)

	other := o
	other.SeqLen, other.Partitions = 1000, 4
	want := digest(t, o.Output)
	_, err := PlanCPT(context.Background(), other)
	wantUsage(t, err, "--seq-len: was 4096, now 1000", "--partitions: was 9, now 4", "--restart")
	sameFiles(t, "a refused plan", want, digest(t, o.Output))

	mustRun(t, o) // cpt goes on in a planned OUT
	sameInodes(t, before)
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	sameFiles(t, "cpt after plan and run", digest(t, cpt.Output), digest(t, o.Output))

	other.Restart = true
	if p, err := PlanCPT(context.Background(), other); err != nil || len(p.Partitions) != 4 {
		t.Fatalf("restart: %v", err)
	}
	if left := digest(t, o.Output); len(left) != 1 {
		t.Errorf("beside the new plan there is %v", left)
	}
	for i := range 4 {
		mustRunPart(t, later(other), i)
	}
	if _, err := Merge(context.Background(), later(other)); err != nil {
		t.Error(err)
	}
	mustCheck(t, other)
}

// TestRunOptions: a run's options change no byte, whatever they are.
func TestRunOptions(t *testing.T) {
	o := mustPlan(t)
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	for i := range plannedParts {
		l := later(o)
		l.Workers, l.Memory = 1+i, int64(256+64*i)<<20
		l.SeqLen, l.Seed, l.Mask, l.Validation, l.Limit = 17, fmt.Sprint(i), "off", "0.5", 1 // which are the plan's
		mustRunPart(t, l, i)
	}
	if _, err := Merge(context.Background(), later(o)); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "other options", digest(t, cpt.Output), digest(t, o.Output))
	bad := later(o)
	bad.Workers = -1
	if err := os.Remove(filepath.Join(o.Output, commitPath(0))); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, Run(context.Background(), bad, 0), "--workers -1")
	bad = later(o)
	bad.MaxDropRate = 2
	_, err := Merge(context.Background(), bad)
	wantUsage(t, err, "--max-drop-rate 2")
}
