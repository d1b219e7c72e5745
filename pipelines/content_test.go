package pipelines

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/shard/arrow"
)

// content is what a run holds, wherever its inputs were cut: rows of each split, turns and rejects, in order.
type content struct {
	Rows    map[string][]string // by split
	Turns   []string            // without the places that a partition gives
	Rejects []rejectLine
}

// contentOf reads a whole run.
func contentOf(t testing.TB, root string, m *Manifest) content {
	t.Helper()
	profile, _ := arrow.ParseProfile(m.Config.Profile)
	c := content{Rows: map[string][]string{}}
	for _, shard := range shardsOf(m) {
		of, _ := splitOf(shard)
		for _, r := range readShard(t, root, shard, profile) {
			c.Rows[of.String()] = append(c.Rows[of.String()], fmt.Sprint(r.IDs, r.Labels, r.Weights))
		}
	}
	for i := range partitionsOf(t, root) {
		for _, turn := range readTurns(t, root, i) {
			turn.Shard, turn.Row, turn.Record, turn.Trajectory = "", 0, 0, 0
			c.Turns = append(c.Turns, fmt.Sprintf("%+v", turn))
		}
		c.Rejects = append(c.Rejects, readRejects(t, root, i)...)
	}
	return c
}

// partitionsOf returns how many partitions a run has committed.
func partitionsOf(t testing.TB, root string) int {
	t.Helper()
	commits, err := filepath.Glob(filepath.Join(root, "commits", "p*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(commits)
}

func readRejects(t testing.TB, root string, i int) []rejectLine {
	t.Helper()
	f, err := os.Open(filepath.Join(root, rejectsPath(i)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstdio.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all []rejectLine
	for d := json.NewDecoder(z); ; {
		var l rejectLine
		if err := d.Decode(&l); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

// sameContent compares two runs of the same text, which may lie in files of other kinds. Whole rejected files
// have other sizes then.
func sameContent(t testing.TB, what string, want, got content) {
	t.Helper()
	strip := func(c content) content {
		c.Rejects = slices.Clone(c.Rejects)
		for i := range c.Rejects {
			r := &c.Rejects[i]
			if r.Path, r.Frame = "", nil; r.Kind == "file" {
				r.Bytes, r.Detail = 0, ""
			}
		}
		return c
	}
	if diff := cmp.Diff(strip(want), strip(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%.3000s", what, diff)
	}
}

// parts returns the files of a digest that hold rows, turns and rejects.
func parts(sums map[string]string) map[string]string {
	some := maps.Clone(sums)
	for _, name := range []string{"plan.json", "manifest.json"} {
		delete(some, name)
	}
	maps.DeleteFunc(some, func(name, _ string) bool { return filepath.Dir(name) == "commits" })
	return some
}
