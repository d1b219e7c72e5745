package pipelines

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
)

// shuffledRun is a run with everything whose rows are shuffled, in buckets so small that they are divided again.
func shuffledRun(t *testing.T) Options {
	t.Helper()
	o := options(t, mixedCorpus(t))
	o.Partitions, o.ShardBytes, o.SeqLen, o.Validation, o.Shuffle = 9, 150_000, 2048, "0.3", true
	o.buckets = bucketSizes{bytes: 60_000, bits: 2}
	return o
}

// rowKey is a row in a form that compares.
func rowKey(r *turnmill.Row) string { return fmt.Sprint(r.IDs, r.Labels, r.Weights) }

// splitRows returns the rows of a split in the order in which a trainer reads them.
func splitRows(t *testing.T, root string, m *Manifest, of split) (rows []string) {
	t.Helper()
	profile, _ := arrow.ParseProfile(m.Config.Profile)
	for _, name := range shardsOf(m) {
		if strings.HasPrefix(name, of.String()+"/") {
			for _, r := range readShard(t, root, name, profile) {
				rows = append(rows, rowKey(&r))
			}
		}
	}
	return rows
}

// drawOf is the draw of a row by the documentation, computed on its own.
func drawOf(seed, id string, window int) uint64 {
	sum := sha256.Sum256([]byte("shuffle\x00" + seed + "\x00" + id + "\x00" + fmt.Sprint(window)))
	return binary.BigEndian.Uint64(sum[:])
}

// inOrder returns the rows of a run that is not shuffled, split by split, in the order in which shuffling has to put
// them.
func inOrder(t *testing.T, root string, m *Manifest) (want [len(splitNames)][]string) {
	t.Helper()
	type drawnRow struct {
		draw uint64
		row  string
	}
	profile, _ := arrow.ParseProfile(m.Config.Profile)
	rows := map[string][]turnmill.Row{}
	for _, name := range shardsOf(m) {
		rows[name] = readShard(t, root, name, profile)
	}
	var all [len(splitNames)][]drawnRow
	for i := range m.Config.Partitions {
		last, trajectory, window := place{}, int64(-1), 0
		for _, r := range readTurns(t, root, i) {
			if r.Trajectory != trajectory {
				trajectory, window = r.Trajectory, 0
			}
			at := place{r.Shard, r.Row}
			if r.Shard == "" || at == last {
				continue
			}
			of, _ := splitOf(r.Shard)
			all[of] = append(all[of], drawnRow{drawOf(m.Mask.Seed, r.ID, window), rowKey(&rows[r.Shard][r.Row])})
			last = at
			window++
		}
	}
	for of := range all {
		slices.SortStableFunc(all[of], func(a, b drawnRow) int { return cmp.Compare(a.draw, b.draw) })
		for _, r := range all[of] {
			want[of] = append(want[of], r.row)
		}
	}
	return want
}

// TestShuffle: the rows are those of the run without it, in the order of the draw; tables follow; check proves it; and
// neither workers, memory, buckets nor a second run change a byte.
func TestShuffle(t *testing.T) {
	base := shuffledRun(t)
	m := mustRun(t, base)
	mustCheck(t, base)
	want := digest(t, base.Output)
	plain := with(t, base, func(o *Options) { o.Shuffle = false })
	before := mustRun(t, plain)
	ordered := inOrder(t, plain.Output, before)
	for of := range ordered {
		got, was := splitRows(t, base.Output, m, split(of)), splitRows(t, plain.Output, before, split(of))
		if !slices.Equal(got, ordered[of]) {
			t.Errorf("%s: %d rows are not in the order of the draw", split(of), len(got))
		}
		if slices.Equal(got, was) || len(got) < 20 {
			t.Errorf("%s: %d rows, in the order of the plan: %v", split(of), len(got), slices.Equal(got, was))
		}
		slices.Sort(got)
		slices.Sort(was)
		if !slices.Equal(got, was) {
			t.Errorf("%s: other rows than without --shuffle", split(of))
		}
	}
	sameTurns(t, base.Output, plain.Output, m, before)
	if len(shardsOf(m)) < 6 {
		t.Errorf("%d shards: too few to prove anything", len(shardsOf(m)))
	}
	for _, c := range []struct {
		workers int
		memory  int64
		sizes   bucketSizes
	}{{1, 256 << 20, bucketSizes{}}, {2, 2 << 30, bucketSizes{bytes: 1, bits: 1}}, {7, 512 << 20, bucketSizes{bytes: 1 << 20, bits: 3}}} {
		o := with(t, base, func(o *Options) { o.Workers, o.Memory, o.buckets = c.workers, c.memory, c.sizes })
		mustRun(t, o)
		sameFiles(t, fmt.Sprintf("%+v", c), want, digest(t, o.Output))
		mustRun(t, o)
		sameFiles(t, "again", want, digest(t, o.Output))
	}
}

// sameTurns makes sure that two runs have the same turns, but for shard and row, and that each turn stands in a row of
// the same content.
func sameTurns(t *testing.T, root, plain string, m, before *Manifest) {
	t.Helper()
	profile, _ := arrow.ParseProfile(m.Config.Profile)
	contents := func(root string, m *Manifest) map[string][]turnmill.Row {
		rows := map[string][]turnmill.Row{}
		for _, name := range shardsOf(m) {
			rows[name] = readShard(t, root, name, profile)
		}
		return rows
	}
	now, was := contents(root, m), contents(plain, before)
	for i := range m.Config.Partitions {
		a, b := readTurns(t, root, i), readTurns(t, plain, i)
		if len(a) != len(b) {
			t.Fatalf("partition %d: %d turns, %d without --shuffle", i, len(a), len(b))
		}
		for k := range a {
			x, y := a[k], b[k]
			if x.Shard != "" && rowKey(&now[x.Shard][x.Row]) != rowKey(&was[y.Shard][y.Row]) {
				t.Fatalf("%s, turn %d: its row has another content", x.ID, x.Turn)
			}
			x.Shard, x.Row, y.Shard, y.Row = "", 0, "", 0
			if diff := gocmp.Diff(y, x, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("partition %d, turn %d (-without --shuffle +with):\n%s", i, k, diff)
			}
		}
	}
}

// TestShuffleOfAnyCut: however the plan cuts the inputs, the rows come in one order; another seed gives another.
func TestShuffleOfAnyCut(t *testing.T) {
	base := shuffledRun(t)
	m := mustRun(t, base)
	for _, partitions := range []int{1, 2, 30} {
		o := with(t, base, func(o *Options) { o.Partitions = partitions })
		again := mustRun(t, o)
		mustCheck(t, o)
		for _, of := range [...]split{train, validation} {
			if !slices.Equal(splitRows(t, base.Output, m, of), splitRows(t, o.Output, again, of)) {
				t.Errorf("%d partitions: the rows of %s come in another order", partitions, of)
			}
		}
	}
	o := with(t, base, func(o *Options) { o.Seed, o.Mask, o.Validation = "1", "off", "0" })
	p := with(t, o, func(o *Options) { o.Seed = "2" })
	a, b := mustRun(t, o), mustRun(t, p)
	x, y := splitRows(t, o.Output, a, train), splitRows(t, p.Output, b, train)
	if slices.Equal(x, y) {
		t.Error("two seeds give one order")
	}
	slices.Sort(x)
	slices.Sort(y)
	if !slices.Equal(x, y) {
		t.Error("two seeds give other rows, without a mask")
	}
}

// TestShuffleInProcesses: plan, three processes' partitions and merge give the bytes of cpt.
func TestShuffleInProcesses(t *testing.T) {
	base := shuffledRun(t)
	mustRun(t, base)
	want := digest(t, base.Output)
	o := with(t, base, nil)
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	mustRunPart(t, later(o), 7, 0, 3, 8, 8, 2, 1, 5, 6, 4)
	l := later(o)
	if _, err := Check(context.Background(), checkOptions(&l, false)); err == nil {
		t.Error("check passes a run that is not merged")
	}
	if _, err := Show(context.Background(), ShowOptions{Path: o.Output}); err == nil {
		t.Error("a row is shown of a run that is not merged")
	}
	for range 2 {
		if _, err := Merge(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, "merged", want, digest(t, o.Output))
	}
	mustRunPart(t, later(o), 3)
	sameFiles(t, "a partition again", want, digest(t, o.Output))
	if entries, _ := filepath.Glob(filepath.Join(o.Output, unshuffledDir)); len(entries) > 0 {
		t.Error("unshuffled/ is left")
	}
}
