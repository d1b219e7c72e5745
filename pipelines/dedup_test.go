package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// copies returns a corpus of three files with copies under other ids, and how many of its records are copies.
func copies(t testing.TB) (dir string, records, again int64) {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(3, 5))}
	demo := demoRecords()
	first := g.copyOf(demo, 0)
	second := slices.Concat(demo[:10], g.copyOf(demo, 1))
	for i := range second[:10] {
		second[i].ID = fmt.Sprintf("another-%d", i)
	}
	third := append(slices.Clone(second[:5]), g.copyOf(demo, 2)...)
	files := []testFile{{"a.jsonl", lines(slices.Concat(demo, first))}, {"b.json", array(second)}, {"c.jsonl.gz", gzipped(lines(third))},
		{"d.jsonl", slices.Concat(lines(g.documents()), []byte("not JSON\n"), lines(g.documents()))}}
	return writeFiles(t, files), 0, 15
}

// TestDedupExact: the first of what has the same content stays, wherever the others lie and whatever their ids; every
// other one is counted, says where the first one is, and the ledger and check hold.
func TestDedupExact(t *testing.T) {
	dir, _, again := copies(t)
	o := options(t, dir)
	o.Partitions = 5
	plain := mustRun(t, o)
	o = with(t, o, func(o *Options) { o.Dedup = dedupExact })
	m := mustRun(t, o)
	dropped := m.Ledger.Total.Records.Dropped[turnmill.ReasonDuplicate]
	if m.Scan == nil || m.Scan.Dropped[turnmill.ReasonDuplicate] != dropped || dropped < again || m.Scan.Units != plain.Ledger.Total.Trajectories.In+documentsIn(m) {
		t.Fatalf("%d dropped, the scan says %+v", dropped, m.Scan)
	}
	seen := map[string]string{}
	for _, r := range allRejects(t, o.Output) {
		if r.Reason != turnmill.ReasonDuplicate {
			continue
		}
		if !strings.HasPrefix(r.Detail, "as 0/") {
			t.Errorf("%s:%d: detail %q", r.Path, r.Line, r.Detail)
		}
		seen[fmt.Sprintf("%s:%d", r.Path, r.Line)] = r.Detail
	}
	if int64(len(seen)) != dropped || seen["0/b.json:2"] != "as 0/a.jsonl:1" {
		t.Errorf("%d lines of %d: %v", len(seen), dropped, seen)
	}
	mustCheck(t, o)
	for _, workers := range []int{1, 3, 8} {
		other := with(t, o, func(o *Options) { o.Workers = workers })
		mustRun(t, other)
		sameFiles(t, fmt.Sprintf("%d workers", workers), digest(t, o.Output), digest(t, other.Output))
	}
	if left := mustRun(t, with(t, o, func(o *Options) { o.Inputs, o.Partitions = []string{dir}, 2 })); left.Ledger.Total.Records.Dropped[turnmill.ReasonDuplicate] != dropped {
		t.Errorf("with other partitions %d are dropped, and %d were", left.Ledger.Total.Records.Dropped[turnmill.ReasonDuplicate], dropped)
	}
}

func documentsIn(m *Manifest) (n int64) {
	for d, l := range m.Ledger.Domains {
		if l.Trajectories.In == 0 && d == turnmill.DomainKnowledge {
			n += l.Records.In
		}
	}
	return n
}

// allRejects reads the rejects of all partitions.
func allRejects(t testing.TB, root string) (all []rejectLine) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "rejects", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		all = append(all, readRejects(t, root, i)...)
	}
	return all
}

// TestDedupDryRun: a dry run says what the run does, and leaves no byte.
func TestDedupDryRun(t *testing.T) {
	dir, _, _ := copies(t)
	o := options(t, dir)
	o.Partitions, o.Dedup = 3, dedupExact
	want := mustRun(t, o)
	dry := with(t, o, func(o *Options) { o.DryRun = true })
	got := mustRun(t, dry)
	if diff := cmp.Diff(want.Ledger, got.Ledger); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Scan, got.Scan); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(dry.Output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OUT: %v", err)
	}
}

// TestDedupCluster: plan, run and merge give the bytes of cpt; what the plan decided must be what run reads.
func TestDedupCluster(t *testing.T) {
	dir, _, _ := copies(t)
	o := options(t, dir)
	o.Partitions, o.Dedup = 4, dedupExact
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	noTemporary(t, o.Output)
	mustRunPart(t, later(o), 3, 1, 0, 2)
	if _, err := Merge(context.Background(), later(o)); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "three steps", digest(t, cpt.Output), digest(t, o.Output))
	again := o
	again.Restart = true
	again.Partitions = 3
	if _, err := PlanCPT(context.Background(), again); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.Output, decisionsPath(1))
	data := readAll(t, name)
	write(t, name, append(data, 0))
	if err := Run(context.Background(), later(again), 1); !errors.Is(err, turnmill.ErrCorrupt) || !strings.Contains(err.Error(), "plan/p00001.bin") {
		t.Errorf("with other decisions: %v", err)
	}
	mustRun(t, again) // finds them damaged, and scans again
	mustCheck(t, again)
}

// TestDedupResumed: what was found once is not looked for again, and a process that was killed between decisions and plan
// leaves nothing that the next one refuses.
func TestDedupResumed(t *testing.T) {
	dir, _, _ := copies(t)
	o := options(t, dir)
	o.Partitions, o.Dedup = 4, dedupExact
	mustRun(t, o)
	want := digest(t, o.Output)
	if err := os.Remove(filepath.Join(o.Output, commitPath(2))); err != nil {
		t.Fatal(err)
	}
	reads := int64(0)
	counted := o
	counted.stored = func(r io.Reader) io.Reader { return &metered{r, &reads} }
	counted.Workers = 1
	mustRun(t, counted)
	sameFiles(t, "resumed", want, digest(t, o.Output))
	var size int64
	p, err := readPlan(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Inputs {
		size += p.Inputs[i].Bytes
	}
	if reads == 0 || reads >= size {
		t.Errorf("%d of %d bytes are read for one partition", reads, size)
	}
	entries, err := os.ReadDir(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "plan" {
			if err := os.RemoveAll(filepath.Join(o.Output, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustRun(t, o)
	sameFiles(t, "after a kill before the plan", want, digest(t, o.Output))
}

// TestDedupRefused: standard input is refused, and so is what no method is called.
func TestDedupRefused(t *testing.T) {
	o := options(t, "-")
	o.Dedup, o.Stdin = dedupExact, strings.NewReader("")
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "--dedup exact", "standard input has no second reading")
	o.Dedup = "fuzzy"
	_, err = CPT(context.Background(), o)
	wantUsage(t, err, `--dedup "fuzzy"`, "none, exact")
}

// TestDedupForged: check finds decisions that are not those of the inputs, however well they are signed.
func TestDedupForged(t *testing.T) {
	dir, _, _ := copies(t)
	o := options(t, dir)
	o.Partitions, o.Dedup = 2, dedupExact
	mustRun(t, o)
	for _, c := range []struct{ name, old, now, want string }{
		{"dropped counts", `"duplicate": `, `"duplicate": 1`, "plan.json"},
		{"a decision", "", "", "plan/p00000.bin"},
	} {
		forged := with(t, o, nil)
		copyDir(t, o.Output, forged.Output)
		if c.old != "" {
			replaceIn(t, filepath.Join(forged.Output, "plan.json"), c.old, c.now)
		} else {
			name := filepath.Join(forged.Output, decisionsPath(0))
			write(t, name, append(readAll(t, name), 1, 0, 0, 0))
		}
		if _, err := Check(context.Background(), checkOptions(&forged, true)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
