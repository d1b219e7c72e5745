package pipelines

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestDeterminism: the same inputs, options and seed give the same bytes, whoever makes them and where.
func TestDeterminism(t *testing.T) {
	corpus := mixedCorpus(t)
	base := options(t, corpus)
	base.Partitions = 9
	base.Workers = 1
	m := mustRun(t, base)
	want := digest(t, base.Output)
	hasEverything(t, m, base.Output)
	mustCheck(t, base)

	for _, c := range []struct {
		workers, procs int
		memory         int64
	}{
		{1, 1, 256 << 20}, {2, 2, 2 << 30}, {2, 1, 192 << 20}, {7, 2, 8 << 30}, {7, 1, 512 << 20}, {16, 2, 512 << 20}, {16, 1, 2 << 30},
	} {
		t.Run(fmt.Sprintf("workers %d, GOMAXPROCS %d, %d MiB", c.workers, c.procs, c.memory>>20), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
			o := with(t, base, func(o *Options) { o.Workers, o.Memory = c.workers, c.memory })
			mustRun(t, o)
			sameFiles(t, "another machine", want, digest(t, o.Output))
		})
	}
	t.Run("from another directory", func(t *testing.T) {
		t.Chdir(filepath.Dir(corpus))
		o := with(t, base, func(o *Options) { o.Inputs = []string{filepath.Base(corpus)} })
		mustRun(t, o)
		sameFiles(t, "relative inputs", want, digest(t, o.Output))
	})
	t.Run("with output in the working directory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		o := with(t, base, func(o *Options) { o.Output = "here" })
		mustRun(t, o)
		sameFiles(t, "relative output", want, digest(t, o.Output))
	})
	t.Run("twice into one directory", func(t *testing.T) {
		mustRun(t, base)
		sameFiles(t, "again", want, digest(t, base.Output))
	})
}

// hasEverything makes sure that the corpus puts to the test what it is there for.
func hasEverything(t *testing.T, m *Manifest, root string) {
	t.Helper()
	busy := 0
	for i := range m.Config.Partitions {
		c, err := readCommit(root, i)
		if err != nil {
			t.Fatal(err)
		}
		if c.Counts.Tokens.Rows > 0 {
			busy++
		}
	}
	if busy < 8 {
		t.Errorf("%d partitions have rows, want 8 or more", busy)
	}
	total := m.Ledger.Total
	for _, r := range []turnmill.Reason{turnmill.ReasonBadJSON, turnmill.ReasonWrongFormat, turnmill.ReasonBadField, turnmill.ReasonRepeatedIndex,
		turnmill.ReasonNoRecords, turnmill.ReasonUnknownFormat, turnmill.ReasonBadCompression} {
		if total.Records.Rejected[r] == 0 {
			t.Errorf("no record is rejected for %s", r)
		}
	}
	for _, r := range []turnmill.Reason{turnmill.ReasonTooFewTurns, turnmill.ReasonNoEnvironment, turnmill.ReasonNoTarget, turnmill.ReasonEmptyText} {
		if total.Records.Dropped[r] == 0 {
			t.Errorf("no record is dropped for %s", r)
		}
	}
	for _, r := range []turnmill.Reason{turnmill.ReasonNoAction, turnmill.ReasonTurnTooLong} {
		if total.Turns.Dropped[r] == 0 {
			t.Errorf("no turn is dropped for %s", r)
		}
	}
	if total.LossTokens.Dropped[turnmill.ReasonMasked] == 0 || total.LossTokens.Dropped[turnmill.ReasonRowStart] == 0 {
		t.Errorf("loss tokens are dropped for %v, want masked and row_start", total.LossTokens.Dropped)
	}
	if m.DuplicateIDs == 0 || m.Repairs["input"]["spliced_lines"] == 0 || m.Repairs["input"]["bom"] == 0 || m.Repairs["terminal"]["bad_utf8"] == 0 {
		t.Errorf("%d duplicate ids, repairs %v", m.DuplicateIDs, m.Repairs)
	}
	var formats []string
	for _, in := range m.Inputs {
		if !slices.Contains(formats, in.Format) {
			formats = append(formats, in.Format)
		}
	}
	if len(formats) != 4 { // three, and none
		t.Errorf("formats %q", formats)
	}
}

// TestDeterminismOfSettings: each setting gives one set of bytes, for any number of workers, and another
// one than the others give; and check proves it.
func TestDeterminismOfSettings(t *testing.T) {
	corpus := mixedCorpus(t)
	seen := map[string]string{}
	for _, c := range []struct {
		name  string
		twice bool // run with one worker too, and not only checked
		set   func(*Options)
	}{
		{"mask turn", true, func(o *Options) {}},
		{"mask token", true, func(o *Options) { o.Mask = "token" }},
		{"mask weight", true, func(o *Options) { o.Mask, o.Profile = "weight", "weighted" }},
		{"mask span", true, func(o *Options) { o.Mask = "span" }},
		{"mask span, small windows", false, func(o *Options) { o.Mask, o.SeqLen = "span", 512 }},
		{"mask changed", true, func(o *Options) { o.Mask = "changed" }},
		{"mask span, a template", false, func(o *Options) { o.Mask, o.Template = "span", "v3" }},
		{"mask changed, copied lines seldom", false, func(o *Options) { o.Mask, o.CopiedKeep = "changed", "0.01" }},
		{"mask off", true, func(o *Options) { o.Mask = "off" }},
		{"objective policy", true, func(o *Options) { o.Objective = "policy" }},
		{"objective all", true, func(o *Options) { o.Objective = "all" }},
		{"objective all, mask span", false, func(o *Options) { o.Objective, o.Mask = "all", "span" }},
		{"objective all, mask token", false, func(o *Options) { o.Objective, o.Mask = "all", "token" }},
		{"chat qwen3", true, func(o *Options) { o.Chat = "qwen3" }},
		{"chat qwen3, small windows", false, func(o *Options) { o.Chat, o.SeqLen = "qwen3", 700 }},
		{"seq-len 512", true, func(o *Options) { o.SeqLen = 512 }},
		{"seq-len 64", false, func(o *Options) { o.SeqLen = 64 }},
		{"shard-bytes 40 kB", true, func(o *Options) { o.ShardBytes = 40_000 }},
		{"shard-bytes 1, a row a shard", false, func(o *Options) { o.ShardBytes, o.SeqLen, o.Partitions = 1, 2000, 2 }},
		{"seed", false, func(o *Options) { o.Seed = "other" }},
		{"state changed", false, func(o *Options) { o.State = "changed" }},
		{"state never", false, func(o *Options) { o.State = "never" }},
		{"template v1", true, func(o *Options) { o.Template = "v1" }},
		{"template v7, state changed, qwen3, small windows", false, func(o *Options) { o.Template, o.State, o.Chat, o.SeqLen = "v7", "changed", "qwen3", 1500 }},
		{"train-dialogue", false, func(o *Options) { o.TrainDialogue = true }},
		{"no filters", false, func(o *Options) { o.Filters = []string{"none"} }},
		{"min-turns 6", false, func(o *Options) { o.MinTurns = 6 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			many := options(t, corpus)
			many.Partitions, many.Workers = 3, 7
			c.set(&many)
			mustRun(t, many)
			sums := digest(t, many.Output)
			if c.twice {
				one := with(t, many, func(o *Options) { o.Workers = 1 })
				mustRun(t, one)
				sameFiles(t, "7 workers", digest(t, one.Output), sums)
			}
			rows := trainFiles(sums)
			if other, again := seen[rows]; again {
				t.Errorf("the same rows as %s", other)
			}
			seen[rows] = c.name
			mustCheck(t, many) // which runs it again with one worker, in memory
		})
	}
}

// TestPartitionsChangePlacesOnly: however the input is dealt out, the same rows and turns come out in the
// same order.
func TestPartitionsChangePlacesOnly(t *testing.T) {
	corpus := mixedCorpus(t)
	contents := func(n int) (rows [][]int32, turns []string) {
		o := options(t, corpus)
		o.Partitions, o.SeqLen = n, 900
		m := mustRun(t, o)
		for _, shard := range shardsOf(m) {
			for _, r := range readShard(t, o.Output, shard, 0) {
				rows = append(rows, r.IDs, r.Labels)
			}
		}
		for _, turn := range allTurns(t, o.Output, n) {
			turn.Shard, turn.Row, turn.Record, turn.Trajectory = "", 0, 0, 0
			turns = append(turns, fmt.Sprintf("%+v", turn))
		}
		return rows, turns
	}
	rows, turns := contents(1)
	for _, n := range []int{2, 9, 60} {
		gotRows, gotTurns := contents(n)
		if !slices.Equal(turns, gotTurns) {
			t.Errorf("%d partitions: other turns than one", n)
		}
		if !slices.EqualFunc(rows, gotRows, slices.Equal) {
			t.Errorf("%d partitions: other rows than one", n)
		}
	}
}
