package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// With --shuffle partitions write what has rows, or says where they are, below unshuffled/, as they write it without,
// and merge writes it anew in the order of the draw:
//
//	unshuffled/train/data-pNNNNN-SSSSS.arrow  --+
//	unshuffled/turns/pNNNNN.parquet           --+--> buckets by draw --> train/data-sSSSSS.arrow
//	                                                                       places, by row of the plan
//	unshuffled/turns/pNNNNN.parquet           ---------------------------> turns/pNNNNN.parquet
//	unshuffled/queries/pNNNNN.jsonl.zst       ---------------------------> queries/pNNNNN.jsonl.zst
//
// The manifest names what was written and stands above the commits: with it the run is whole, and what is left below
// unshuffled/ is removed.

// unshuffledDir is where partitions leave what merge orders.
const unshuffledDir = "unshuffled"

// shuffledDirs are the directories of what merge orders or rewrites.
var shuffledDirs = [...]string{splitNames[train], splitNames[validation], "turns", "queries"}

// shuffled tells whether merge writes a file of a run that shuffles, and not a partition.
func shuffled(path string) bool {
	dir, _, _ := strings.Cut(path, "/")
	for _, d := range shuffledDirs {
		if d == dir {
			return true
		}
	}
	return false
}

// staged returns where a partition writes a file that is to be at path.
func (p *Plan) staged(path string) string {
	if p.Config.Shuffle && shuffled(path) {
		return unshuffledDir + "/" + path
	}
	return path
}

// unstaged is the inverse of staged.
func unstaged(path string) string { return strings.TrimPrefix(path, unshuffledDir+"/") }

// stagedSink is a sink of a partition whose rows merge shuffles.
type stagedSink struct {
	sink
	plan *Plan
}

func (s stagedSink) create(path string) (sinkFile, error) { return s.sink.create(s.plan.staged(path)) }

// shuffledPath is the path of shard n of a split in its own order.
func shuffledPath(of split, n int) string { return fmt.Sprintf("%s/data-s%05d.arrow", of, n) }

// done tells which partitions of a run need no more running.
type done struct {
	root, planSum string
	// ordered are the files that merge has written in the order of the draw, from the manifest, where it stands and
	// all of them are there.
	ordered []FileSum
}

// done looks at what lies below root.
func (p *Plan) done(root, planSum string) done {
	d := done{root: root, planSum: planSum}
	if p.Config.Shuffle {
		d.ordered = orderedFiles(root, planSum)
	}
	return d
}

// commit returns the valid commit of partition i, or nil when it has to be run.
func (d *done) commit(i int) *Commit {
	c, err := readCommit(d.root, i)
	if err != nil || !d.valid(c) {
		return nil
	}
	return c
}

// valid tells whether a commit is of the plan and every file that it names is there, or was shuffled.
func (d *done) valid(c *Commit) bool {
	if d.ordered == nil {
		return c.valid(d.root, d.planSum)
	}
	kept := *c
	kept.Files = withoutStaged(c.Files)
	return kept.valid(d.root, d.planSum)
}

// withoutStaged returns the files of a commit that stay when its rows are shuffled.
func withoutStaged(files []FileSum) (stay []FileSum) {
	for _, f := range files {
		if !strings.HasPrefix(f.Path, unshuffledDir+"/") {
			stay = append(stay, f)
		}
	}
	return stay
}

// orderedFiles returns what the manifest of a plan has of shuffled files, nil unless all of them are there in their
// size.
func orderedFiles(root, planSum string) []FileSum {
	m, err := readManifest(root)
	if err != nil || m.Plan != planSum {
		return nil
	}
	whole := Commit{Plan: planSum, Files: shuffledOf(m)}
	if !whole.valid(root, planSum) {
		return nil
	}
	return whole.Files
}

// shuffledOf returns the files of a manifest that hold rows or say where they are. The one shard of a split without
// rows is not among them: it is made with the small files.
func shuffledOf(m *Manifest) (files []FileSum) {
	for _, f := range m.Files {
		small := filepath.Ext(f.Path) == ".json" || filepath.Ext(f.Path) == ".arrow" && f.Rows == 0
		if shuffled(f.Path) && !small && filepath.IsLocal(filepath.FromSlash(f.Path)) {
			files = append(files, f)
		}
	}
	return files
}

// readManifest reads OUT/manifest.json.
func readManifest(root string) (*Manifest, error) {
	data, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	return m, json.Unmarshal(data, m)
}

// removeUnshuffled removes what merge has shuffled, and no file that a run has not written.
func removeUnshuffled(root string) error {
	for _, dir := range append(shuffledDirs[:], "") {
		dir = filepath.Join(root, unshuffledDir, dir)
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() && own(e.Name()) {
				err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(dir, e.Name()))))
			}
		}
		if err = errors.Join(err, notEmpty(ignoreMissing(os.Remove(dir)))); err != nil {
			return err
		}
	}
	return nil
}

// placedRow is a row as the turns table of its partition has it.
type placedRow struct {
	at         place
	id         string
	window     int64
	partition  int
	trajectory int64
}

// draw is what the row is ordered by.
func (r *placedRow) draw(seed string) uint64 { return mask.DrawShuffle(seed, r.id, r.window) }

// rowColumns are what rowWalk reads of a turn.
var rowColumns = [...]string{"id", "turn", "trajectory", "status", "shard", "row"}

// rowWalk finds the rows of a partition in its turns: a row is where turns next to each other say that they stand.
type rowWalk struct {
	samples bool // of sft, where a row is its target's
	visit   func(*placedRow) error
	row     placedRow
	open    bool
	window  int64 // of the next row of the trajectory
}

// turn takes the next turn.
func (w *rowWalk) turn(t *stats.TurnRow) error {
	if t.Trajectory != w.row.trajectory {
		if err := w.end(); err != nil {
			return err
		}
		w.row.trajectory, w.window = t.Trajectory, 0
	}
	if t.Shard == "" {
		return nil
	}
	if at := (place{t.Shard, t.Row}); !w.open || at != w.row.at {
		if err := w.end(); err != nil {
			return err
		}
		w.row.at, w.row.id, w.row.window, w.open = at, t.ID, w.window, true
		w.window++
	}
	if w.samples && t.Status == "target" {
		w.row.id, w.row.window = queryID(&turnmill.Trajectory{ID: t.ID, Turns: []turnmill.Turn{{Index: int(t.Turn)}}}, 0), 0
	}
	return nil
}

// end hands out the row at hand.
func (w *rowWalk) end() error {
	if !w.open {
		return nil
	}
	w.open = false
	return w.visit(&w.row)
}

// eachRow visits the rows that a turns table names, in its order.
func (p *Plan) eachRow(ctx context.Context, root, path string, partition int, visit func(*placedRow) error) error {
	w := rowWalk{samples: p.samples(), visit: visit, row: placedRow{partition: partition, trajectory: -1}}
	err := eachTurnAt(root, path, func(rows []stats.TurnRow) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := range rows {
			if err := w.turn(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}, rowColumns[:]...)
	if err != nil {
		return err
	}
	return w.end()
}
