package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// shuffler writes the rows of a run in the order of the draw, and the tables that say where they are. It holds a
// bucket, a record batch and a stretch of places, however many rows there are. What it writes depends on plan and
// commits alone; a kill at any moment leaves what partitions wrote as it is.
type shuffler struct {
	plan     *Plan
	to       dirSink
	commits  []*Commit
	profile  arrow.Profile
	sizes    bucketSizes
	rows     [len(splitNames)]*buckets
	places   *newPlaces
	firsts   []int64 // row of the plan with which each partition begins
	shards   [len(splitNames)][]FileSum
	weighted bool
}

// shuffle orders the rows of a run whose partitions are all committed, and returns the files that it has written.
func shuffle(ctx context.Context, o *Options, p *Plan, commits []*Commit) ([]FileSum, error) {
	if err := enoughRoomToShuffle(o, commits); err != nil {
		return nil, err
	}
	profile, ok := arrow.ParseProfile(p.Config.Profile)
	if !ok {
		return nil, fmt.Errorf("plan.json: %w: profile %q", turnmill.ErrCorrupt, p.Config.Profile)
	}
	s := &shuffler{plan: p, to: o.sink(), commits: commits, profile: profile, sizes: o.buckets.orDefault(), weighted: profile == arrow.ProfileWeighted}
	var rows int64
	var bytes [len(splitNames)]int64
	for _, c := range commits {
		for _, f := range c.Files {
			if of, ok := splitOf(unstaged(f.Path)); ok {
				rows += f.Rows
				bytes[of] += f.Bytes / 2 // a record has no attention mask, and a bit for a label
			}
		}
	}
	o.logger().Info("shuffle", "rows", rows, "bytes", bytes[train]*2+bytes[validation]*2)
	for of := range s.rows {
		s.rows[of] = newBuckets(s.to, fmt.Sprintf("%s/rows-%s", unshuffledDir, split(of)), 0, bytes[of], s.sizes)
	}
	s.places = placesOf(s.to, rows)
	files, err := s.run(ctx)
	return files, errors.Join(err, removeTemporary(filepath.Join(o.Output, unshuffledDir)))
}

func (s *shuffler) run(ctx context.Context) ([]FileSum, error) {
	runtime.GC() // of what partitions leave behind
	if err := s.deal(ctx); err != nil {
		return nil, err
	}
	var files []FileSum
	for of := range s.rows {
		if err := s.order(ctx, split(of)); err != nil {
			return nil, err
		}
		files = append(files, s.shards[of]...)
	}
	if err := s.places.end(); err != nil {
		return nil, err
	}
	for _, rewrite := range s.rewriters() {
		for i := range s.commits {
			sum, err := rewrite(ctx, i)
			if err != nil {
				return nil, err
			}
			files = append(files, sum)
		}
	}
	return files, nil
}

// deal deals the rows of all partitions out to buckets.
func (s *shuffler) deal(ctx context.Context) error {
	var ordinal int64
	var record []byte
	for i, c := range s.commits {
		s.firsts = append(s.firsts, ordinal)
		var from [len(splitNames)]stagedShards
		for _, f := range c.Files {
			if of, ok := splitOf(unstaged(f.Path)); ok {
				from[of].left = append(from[of].left, f)
			}
		}
		for of := range from {
			from[of].root, from[of].profile = s.to.root, s.profile
		}
		err := s.plan.eachRow(ctx, s.to.root, s.plan.staged(turnsPath(i)), i, func(r *placedRow) error {
			of, ok := splitOf(r.at.shard)
			if !ok {
				return fmt.Errorf("%s: %w: a turn stands in %q, which is no shard", s.plan.staged(turnsPath(i)), turnmill.ErrCorrupt, r.at.shard)
			}
			row, err := from[of].next(r.at)
			if err != nil {
				return err
			}
			record = appendRecord(record[:0], r.draw(s.plan.Mask.Seed), ordinal, row.IDs, row.Labels, row.Weights)
			ordinal++
			return s.rows[of].put(record)
		})
		for of := range from {
			if err == nil {
				err = from[of].end()
			}
			from[of].close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// order writes the shards of a split.
func (s *shuffler) order(ctx context.Context, of split) error {
	w := shardWriter{to: s.to, path: func(n int) string { return shuffledPath(of, n) }, limit: s.plan.Config.ShardBytes,
		options: arrow.Options{Profile: s.profile, Vocabulary: s.plan.Tokenizer.Vocabulary}}
	defer w.abort()
	var row turnmill.Row
	err := s.rows[of].drain(s.sizes, s.weighted, func(record []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		readRecord(record, s.weighted, &row)
		at, err := w.put(&row)
		if err != nil {
			return err
		}
		return s.places.put(recordOrdinal(record), len(w.done), at.row)
	})
	if err != nil {
		return err
	}
	if s.shards[of], err = w.finish(); err != nil {
		return err
	}
	for n := len(s.shards[of]); ; n++ { // of an order that came before, with other answers
		err := os.Remove(filepath.Join(s.to.root, filepath.FromSlash(shuffledPath(of, n))))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// placer gives the rows of a partition their new places, in the order of the plan.
type placer struct {
	*shuffler
	ordinal int64 // of the next row
	last    place // before
	now     place
}

// place returns the new place of what stood at one that names the same row as the last, or the next row.
func (p *placer) place(was place) (place, error) {
	if was == p.last {
		return p.now, nil
	}
	of, _ := splitOf(was.shard)
	shard, row, err := p.places.at(p.ordinal)
	if err != nil {
		return place{}, err
	}
	p.ordinal++
	p.last, p.now = was, place{p.shards[of][shard].Path, row}
	return p.now, nil
}

// rewriters return what writes the tables of partition i with the new places.
func (s *shuffler) rewriters() []func(ctx context.Context, i int) (FileSum, error) {
	all := []func(ctx context.Context, i int) (FileSum, error){func(ctx context.Context, i int) (FileSum, error) {
		p := placer{shuffler: s, ordinal: s.firsts[i], last: place{row: -1}}
		return rewriteTurns(ctx, s.to, s.to.root, s.plan.staged(turnsPath(i)), turnsPath(i), p.place)
	}}
	if s.plan.samples() {
		all = append(all, func(ctx context.Context, i int) (FileSum, error) {
			p := placer{shuffler: s, ordinal: s.firsts[i], last: place{row: -1}}
			return rewriteQueries(ctx, s.to, s.to.root, s.plan.staged(queriesPath(i)), queriesPath(i), p.place)
		})
	}
	return all
}

// rewriteTurns writes a turns table with other places of its rows and nothing else changed.
func rewriteTurns(ctx context.Context, to sink, root, from, path string, moved func(place) (place, error)) (FileSum, error) {
	f, err := to.create(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.abort()
	w, err := stats.NewTurnWriter(f, Version)
	if err != nil {
		return FileSum{}, err
	}
	err = eachTurnAt(root, from, func(rows []stats.TurnRow) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := range rows {
			t := &rows[i]
			if t.Shard == "" {
				continue
			}
			at, err := moved(place{t.Shard, t.Row})
			if err != nil {
				return err
			}
			t.Shard, t.Row = at.shard, at.row
		}
		return w.Write(rows)
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return FileSum{}, err
	}
	sum, err := f.commit()
	sum.Rows = w.Rows()
	return sum, err
}

// rewriteQueries is rewriteTurns for the queries of sft.
func rewriteQueries(ctx context.Context, to sink, root, from, path string, moved func(place) (place, error)) (FileSum, error) {
	in, err := openLines(root, from)
	defer in.close()
	if err != nil {
		return FileSum{}, err
	}
	out, err := newLinesFile(to, path)
	if out.file != nil {
		defer out.file.abort()
	}
	if err != nil {
		return FileSum{}, err
	}
	for {
		line, err := in.line()
		if err != nil {
			return FileSum{}, err
		}
		if line == nil {
			return out.finish()
		}
		if ctx.Err() != nil {
			return FileSum{}, context.Cause(ctx)
		}
		q := &QueryLine{}
		if err := decodeJSON(line, q); err != nil {
			return FileSum{}, fmt.Errorf("%s: %w: line %d: %w", in.path, turnmill.ErrCorrupt, in.n, err)
		}
		if q.Row != nil {
			at, err := moved(place{q.Row.Shard, q.Row.Row})
			if err != nil {
				return FileSum{}, err
			}
			q.Row.Shard, q.Row.Row = at.shard, at.row
		}
		if _, err := out.text.Write(q.encode()); err != nil {
			return FileSum{}, err
		}
		out.lines++
	}
}
