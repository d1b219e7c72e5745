package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// options are those of a run of inputs with the demo tokenizer, into a directory that does not exist yet.
// No rate fails: the corpora are damaged on purpose.
func options(t testing.TB, inputs ...string) Options {
	t.Helper()
	o := DefaultOptions()
	o.Inputs, o.Tokenizer, o.SeqLen = inputs, "demo", 4096
	o.Output = filepath.Join(t.TempDir(), "out")
	o.MaxRejectRate, o.MaxDropRate = 1, 1
	return o
}

// with returns a copy of o with a fresh output directory and with what set changes.
func with(t testing.TB, o Options, set func(*Options)) Options {
	t.Helper()
	o.Output = filepath.Join(t.TempDir(), "out")
	if set != nil {
		set(&o)
	}
	return o
}

// mustRun runs a CPT and returns its manifest.
func mustRun(t testing.TB, o Options) *Manifest {
	t.Helper()
	m, err := CPT(context.Background(), o)
	if err != nil {
		t.Fatalf("cpt: %v", err)
	}
	return m
}

// checkOptions are those of a check of the run that o made.
func checkOptions(o *Options, inputs bool) CheckOptions {
	c := CheckOptions{Path: o.Output, Memory: o.Memory, Workers: 1}
	if inputs {
		c.Inputs = o.Inputs
	}
	return c
}

// mustCheck checks a run, with its inputs.
func mustCheck(t testing.TB, o Options) *CheckReport {
	t.Helper()
	r, err := Check(context.Background(), checkOptions(&o, true))
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	return r
}

// digest returns the SHA-256 of every file below root, but for the two that no promise covers.
func digest(t testing.TB, root string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); name != "run.log.jsonl" && name != "local.json" {
			sum := sha256.Sum256(data)
			sums[name] = hex.EncodeToString(sum[:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// sameFiles compares two digests.
func sameFiles(t testing.TB, what string, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// trainFiles returns the shards of a digest, in order, as one text.
func trainFiles(sums map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if strings.HasPrefix(name, "train/data-") {
			b.WriteString(name + " " + sums[name] + "\n")
		}
	}
	return b.String()
}

// readTurns returns the turns table of a partition.
func readTurns(t testing.TB, root string, i int) []stats.TurnRow {
	t.Helper()
	var all []stats.TurnRow
	err := eachTurn(root, i, func(rows []stats.TurnRow) error {
		all = append(all, rows...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// allTurns returns the turns tables of a run, one after the other.
func allTurns(t testing.TB, root string, partitions int) []stats.TurnRow {
	t.Helper()
	var all []stats.TurnRow
	for i := range partitions {
		all = append(all, readTurns(t, root, i)...)
	}
	return all
}

// readShard returns the rows of a shard, which are the caller's.
func readShard(t testing.TB, root, shard string, profile arrow.Profile) []turnmill.Row {
	t.Helper()
	f, err := os.Open(filepath.Join(root, shard))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := arrow.NewReader(f, info.Size(), shard, profile)
	if err != nil {
		t.Fatal(err)
	}
	var rows []turnmill.Row
	for {
		row, err := r.Next()
		if err != nil {
			if eof(err) != nil {
				t.Fatal(err)
			}
			return rows
		}
		rows = append(rows, turnmill.Row{IDs: slices.Clone(row.IDs), Labels: slices.Clone(row.Labels), Weights: slices.Clone(row.Weights)})
	}
}

// shardsOf returns the names of a manifest's shards, in the order of their rows.
func shardsOf(m *Manifest) []string {
	var names []string
	for _, f := range m.Files {
		if strings.HasSuffix(f.Path, ".arrow") {
			names = append(names, f.Path)
		}
	}
	return names
}

// wantError tests that err is there and says all of what is wanted.
func wantError(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// wantUsage is wantError for errors of usage: exit code 2.
func wantUsage(t testing.TB, err error, want ...string) {
	t.Helper()
	wantError(t, err, want...)
	var usage *UsageError
	if !errors.As(err, &usage) {
		t.Errorf("%q is not a *UsageError", err)
	}
}
