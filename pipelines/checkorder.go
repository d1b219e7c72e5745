package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// The check of a run whose rows were shuffled goes by the manifest, which names their files, and then takes the order
// apart again: the rows that the turns of a partition name, in the order of the turns, have to give the bytes of the
// shards that its commit names, and so have turns and queries with their places of then. What lay below unshuffled/ need
// not be there.

// openOrdered reads from the manifest which files hold the shuffled rows.
func (c *checker) openOrdered() error {
	m, err := readManifest(c.root)
	if err != nil {
		return fmt.Errorf("manifest.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	if m.Plan != c.planSum {
		return fmt.Errorf("manifest.json: %w: made for another plan", turnmill.ErrCorrupt)
	}
	c.ordered = shuffledOf(m)
	var shards [len(splitNames)]int
	known := map[string]bool{}
	for _, f := range c.ordered {
		if of, ok := splitOf(f.Path); ok {
			shards[of]++
			known[f.Path] = true
		}
	}
	var want []string
	for of := range shards {
		for n := range shards[of] {
			want = append(want, shuffledPath(split(of), n))
		}
	}
	for i := range c.commits {
		want = append(want, turnsPath(i))
	}
	for i := range c.commits {
		if c.plan.samples() {
			want = append(want, queriesPath(i))
		}
	}
	if names := paths(c.ordered); !slices.Equal(names, want) {
		return fmt.Errorf("manifest.json: %w: it names the files %s", turnmill.ErrCorrupt, strings.Join(names, ", "))
	}
	c.rows = &rowsAt{root: c.root, profile: c.profile, shards: known, indexes: map[string]*arrow.Index{}, open: map[string]*os.File{}}
	if _, err := os.Lstat(filepath.Join(c.root, unshuffledDir)); err == nil {
		c.report.Notes = append(c.report.Notes, fmt.Sprintf("note: %s is left over from before the rows were shuffled; give the same command again, which removes it", unshuffledDir))
	}
	return nil
}

// filesOf returns the files of a commit that are there when its run is finished.
func (c *checker) filesOf(commit *Commit) []FileSum {
	if c.plan.Config.Shuffle {
		return withoutStaged(commit.Files)
	}
	return commit.Files
}

// lacksOrdered tells whether a file of shuffled rows is missing.
func (c *checker) lacksOrdered() bool {
	return slices.ContainsFunc(c.ordered, func(f FileSum) bool { return slices.Contains(c.lost, f.Path) })
}

// shuffledShards proves the shards of shuffled rows by themselves.
func (c *checker) shuffledShards(ctx context.Context) {
	p := &partitionCheck{checker: c, commit: &Commit{Files: c.ordered}, counts: stats.NewCounts()}
	for of := range p.shards {
		p.shardCheck = &p.shards[of]
		p.size = -1
		for _, f := range c.ordered {
			if s, ok := splitOf(f.Path); ok && s == split(of) {
				p.left = append(p.left, f.Path)
			}
		}
		err := p.nextRow()
		for err == nil && p.row != nil && ctx.Err() == nil && !c.full() {
			err = p.nextRow()
		}
		p.closeShard()
		if err != nil {
			c.faults = append(c.faults, err)
		}
	}
}

// drawPass is how many rows are held at a time, 16 bytes each.
const drawPass = 4 << 20

// draws proves that the rows of each split rise by draw, then by plan, and that each is one row of the plan: in as many
// passes over the turns tables as keep the memory bounded.
func (c *checker) draws(ctx context.Context) error {
	firsts, total := map[string]int64{}, int64(0)
	var shards []FileSum
	for _, f := range c.ordered {
		if _, ok := splitOf(f.Path); ok {
			firsts[f.Path], total = total, total+f.Rows
			shards = append(shards, f)
		}
	}
	pass := make([]rowDraw, min(total, drawPass))
	before := rowDraw{ordinal: -1}
	for from := int64(0); from < total; from += drawPass {
		pass = pass[:min(total-from, drawPass)]
		for i := range pass {
			pass[i] = rowDraw{ordinal: -1}
		}
		ordinal := int64(0)
		for i := range c.commits {
			err := c.plan.eachRow(ctx, c.root, turnsPath(i), i, func(r *placedRow) error {
				defer func() { ordinal++ }()
				first, known := firsts[r.at.shard]
				if k := first + r.at.row - from; known && k >= 0 && k < int64(len(pass)) {
					if pass[k].ordinal >= 0 {
						return fmt.Errorf("%s: %w: row %d of %s is that of two", turnsPath(i), turnmill.ErrCorrupt, r.at.row, r.at.shard)
					}
					pass[k] = rowDraw{r.draw(c.plan.Mask.Seed), ordinal}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		for k, now := range pass {
			for len(shards) > 0 && from+int64(k) >= firsts[shards[0].Path]+shards[0].Rows {
				if len(shards) > 1 && filepath.Dir(shards[0].Path) != filepath.Dir(shards[1].Path) {
					before = rowDraw{ordinal: -1} // another split
				}
				shards = shards[1:]
			}
			if now.ordinal < 0 {
				c.fault(shards[0].Path, "row %d: no turn stands in it", from+int64(k)-firsts[shards[0].Path])
				return nil
			}
			if !before.less(now) {
				c.fault(shards[0].Path, "row %d: it does not stand where its draw puts it", from+int64(k)-firsts[shards[0].Path])
				return nil
			}
			before = now
		}
	}
	return nil
}

// rowDraw is the draw of a row, and its number in the plan; -1: no row.
type rowDraw struct {
	draw    uint64
	ordinal int64
}

func (d rowDraw) less(o rowDraw) bool {
	return d.ordinal < 0 || d.draw < o.draw || d.draw == o.draw && d.ordinal < o.ordinal
}

// takenApart proves that turns and queries of a partition are those that its commit names, but for the places of rows.
func (p *partitionCheck) takenApart(ctx context.Context, i int) error {
	again := []func(moved func(place) (place, error)) (FileSum, error){func(moved func(place) (place, error)) (FileSum, error) {
		return rewriteTurns(ctx, nullSink{}, p.root, turnsPath(i), p.plan.staged(turnsPath(i)), moved)
	}}
	if p.plan.samples() {
		again = append(again, func(moved func(place) (place, error)) (FileSum, error) {
			return rewriteQueries(ctx, nullSink{}, p.root, queriesPath(i), p.plan.staged(queriesPath(i)), moved)
		})
	}
	for _, rewrite := range again {
		u := unplacer{last: place{row: -1}}
		for _, f := range p.commit.Files {
			if of, ok := splitOf(unstaged(f.Path)); ok {
				u.left[of] = append(u.left[of], f)
			}
		}
		sum, err := rewrite(u.place)
		if err != nil {
			return err
		}
		if !slices.Contains(p.commit.Files, sum) {
			p.fault(unstaged(sum.Path), "with its rows where they were it is not the %s that the commit names", sum.Path)
		}
	}
	return nil
}

// unplacer gives the rows of a partition the places that they had before they were shuffled.
type unplacer struct {
	left      [len(splitNames)][]FileSum // shards
	row       [len(splitNames)]int64     // next of the first of them
	last, now place
}

func (u *unplacer) place(at place) (place, error) {
	if at == u.last {
		return u.now, nil
	}
	of, ok := splitOf(at.shard)
	for ok && len(u.left[of]) > 0 && u.row[of] == u.left[of][0].Rows {
		u.left[of], u.row[of] = u.left[of][1:], 0
	}
	if !ok || len(u.left[of]) == 0 {
		return place{}, fmt.Errorf("%s: %w: row %d is beyond the rows that commits name", at.shard, turnmill.ErrCorrupt, at.row)
	}
	u.last, u.now = at, place{unstaged(u.left[of][0].Path), u.row[of]}
	u.row[of]++
	return u.now, nil
}

// rowsAt reads rows of shuffled shards by their places. It holds 32 bytes a batch, and some open files.
type rowsAt struct {
	root    string
	profile arrow.Profile
	shards  map[string]bool // those that there are
	indexes map[string]*arrow.Index
	open    map[string]*os.File
	opened  []string // in the order in which they were
}

// mostOpen is how many shards are open at a time.
const mostOpen = 128

func (r *rowsAt) close() {
	if r == nil {
		return
	}
	for _, f := range r.open {
		f.Close()
	}
}

// row reads the row at a place.
func (r *rowsAt) row(at place, row *arrow.Row) error {
	f, err := r.file(at.shard)
	if err != nil {
		return err
	}
	return r.indexes[at.shard].Row(f, at.row, row)
}

// file returns a shard that there is, opened and indexed.
func (r *rowsAt) file(shard string) (*os.File, error) {
	if f := r.open[shard]; f != nil {
		return f, nil
	}
	f, err := os.Open(filepath.Join(r.root, filepath.FromSlash(shard)))
	if err != nil {
		return nil, err
	}
	if r.indexes[shard] == nil {
		info, err := f.Stat()
		if err == nil {
			r.indexes[shard], err = arrow.NewIndex(f, info.Size(), shard, r.profile)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if len(r.opened) == mostOpen {
		r.open[r.opened[0]].Close()
		delete(r.open, r.opened[0])
		r.opened = r.opened[1:]
	}
	r.open[shard], r.opened = f, append(r.opened, shard)
	return f, nil
}

// apartRows are the rows of a shard as it was before they were shuffled.
type apartRows struct {
	*rowsAt
	name   string
	left   int64
	wanted *place // that of the turn at hand
	row    *arrow.Row
}

// Next returns the row that the turn at hand stands in.
func (a *apartRows) Next() (*arrow.Row, error) {
	if a.left == 0 {
		return nil, io.EOF
	}
	if a.wanted.shard == "" {
		return nil, fmt.Errorf("%s: %w: %d of its rows belong to no turn", a.name, turnmill.ErrCorrupt, a.left)
	}
	a.left--
	return a.row, a.rowsAt.row(*a.wanted, a.row)
}
