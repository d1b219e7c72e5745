package pipelines

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// TestDryRun: a dry run gives the counts of a real one, and no byte on disk changes by it.
func TestDryRun(t *testing.T) {
	corpus := mixedCorpus(t)
	text := lines(demoRecords())
	for _, c := range []struct {
		name string
		set  func(*Options)
	}{
		{"files", func(o *Options) { o.Inputs, o.Partitions = []string{corpus}, 5 }},
		{"files with a limit", func(o *Options) { o.Inputs, o.Partitions, o.Limit = []string{corpus}, 3, 101 }},
		{"validation", func(o *Options) { o.Inputs, o.Validation = []string{corpus}, "0.3" }},
		{"standard input", func(o *Options) { o.Inputs, o.Stdin, o.PartitionBytes = []string{"-"}, bytes.NewReader(text), 9000 }},
		{"standard input, gzip", func(o *Options) {
			o.Inputs, o.Stdin, o.PartitionBytes = []string{"-"}, bytes.NewReader(gzipped(text)), 9000
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			real := options(t)
			c.set(&real)
			want := mustRun(t, real)

			dry := options(t)
			c.set(&dry)
			dry.DryRun, dry.Workers = true, 3
			for _, out := range []string{filepath.Join(t.TempDir(), "absent"), real.Output, ""} {
				dry.Output = out
				if s, seeks := dry.Stdin.(*bytes.Reader); seeks {
					s.Seek(0, 0)
				}
				before := treeInfo(t, out)
				got, err := CPT(context.Background(), dry)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Counts, got.Counts, cmpopts.IgnoreFields(stats.Counts{}, "Sources")); diff != "" || len(got.Files) > 0 {
					t.Errorf("%d files, counts (-real +dry):\n%s", len(got.Files), diff)
				}
				sameTree(t, out, before)
				bySource(t, got.Counts)
			}
		})
	}
}

// bySource: what a dry run tells by source is what the ledger tells by reason, of turns and of trajectories.
func bySource(t *testing.T, c *stats.Counts) {
	t.Helper()
	sum := stats.NewCounts()
	for _, l := range c.Sources.Losses() {
		sum.Each(l.Domain, func(to *stats.Ledger) {
			to.Trajectories.Drop(l.Reason, l.Trajectories)
			to.Turns.Drop(l.Reason, l.Turns)
		})
	}
	for d, l := range c.Ledger.Domains {
		if d == turnmill.DomainKnowledge {
			continue // documents are no trajectories
		}
		got := sum.Domain(d)
		if diff := cmp.Diff(l.Trajectories.Dropped, got.Trajectories.Dropped); diff != "" {
			t.Errorf("%s: trajectories (-ledger +sources):\n%s", d, diff)
		}
		if diff := cmp.Diff(l.Turns.Dropped, got.Turns.Dropped); diff != "" {
			t.Errorf("%s: turns (-ledger +sources):\n%s", d, diff)
		}
	}
}

// treeInfo returns what a directory holds; nil when there is none.
func treeInfo(t *testing.T, root string) map[string]os.FileInfo {
	t.Helper()
	all := map[string]os.FileInfo{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all[path], err = d.Info()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameTree(t *testing.T, root string, before map[string]os.FileInfo) {
	t.Helper()
	now := treeInfo(t, root)
	if len(now) != len(before) {
		t.Errorf("%d files and directories, there were %d", len(now), len(before))
	}
	sameInodes(t, before)
}

// TestDryRunThreshold: it fails as the real run does, by rates and by bad inputs.
func TestDryRunThreshold(t *testing.T) {
	o := options(t, mixedCorpus(t))
	o.DryRun, o.MaxRejectRate = true, 0.01
	m, err := CPT(context.Background(), o)
	var passed *ThresholdError
	if !errors.As(err, &passed) || m == nil {
		t.Errorf("manifest %v, error %v", m != nil, err)
	}
	o.Inputs = []string{filepath.Join(t.TempDir(), "nowhere")}
	if _, err := CPT(context.Background(), o); err == nil {
		t.Error("no error for an input that is not there")
	}
	if treeInfo(t, o.Output) != nil {
		t.Error("it has made its output directory")
	}
}
