package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

var errFound = errors.New("found")

// foundRow is the row that was asked for.
type foundRow struct {
	turns     []stats.TurnRow // of its trajectory
	at        place
	number    int64 // as --row counts
	partition int
	asked     *int32 // the turn, where one was asked for
}

// findRow returns the row that the options ask for.
func findRow(ctx context.Context, o *ShowOptions, p *Plan) (*foundRow, error) {
	var found foundRow
	wanted, err := o.wantedTurn(p)
	if err != nil {
		return nil, err
	}
	commits, err := commitsOf(o.Path, p)
	_, sum := p.Encode()
	ordered := p.done(o.Path, sum).ordered
	if errors.Is(err, fs.ErrNotExist) || err == nil && p.Config.Shuffle && ordered == nil {
		return nil, &UsageError{unfinished(o.Path, p)}
	}
	if err != nil {
		return nil, err
	}
	if o.Surprising {
		if found.asked, err = o.surprise(commits, p.tokens(), newRowNumbers(ordered)); err != nil {
			return nil, err
		}
	}
	numbers, matches := newRowNumbers(ordered), int64(0)
	for i := range commits {
		var group []stats.TurnRow
		search := func() error { // looks at one trajectory, whole
			counted := false // of a row, or with an id of a trajectory, one turn counts
			for k := range group {
				t := &group[k]
				if t.Shard == "" {
					continue
				}
				number, another := numbers.next(place{t.Shard, t.Row})
				if another {
					counted = counted && o.ID != ""
				}
				if counted || !wanted(t, number) {
					continue
				}
				counted = true
				if matches++; matches >= o.Nth {
					found.turns, found.at, found.number, found.partition = append([]stats.TurnRow(nil), group...), numbers.last, number, i
					if o.Category != "" || o.NearBorder {
						found.asked = &t.Turn
					}
					return errFound
				}
			}
			return nil
		}
		err := eachTurn(o.Path, i, func(batch []stats.TurnRow) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for _, t := range batch {
				if len(group) > 0 && group[0].Trajectory != t.Trajectory {
					if err := search(); err != nil {
						return err
					}
					group = group[:0]
				}
				group = append(group, t)
			}
			return nil
		})
		if err == nil {
			err = search()
		}
		if errors.Is(err, errFound) {
			return &found, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if numbers.rows == 0 {
		return nil, noRows(o.Path, commits)
	}
	return nil, o.missing("row", numbers.rows, matches)
}

// countID returns how many trajectories and documents of a run have the ID and a row.
func countID(ctx context.Context, o *ShowOptions, p *Plan) (n int64, err error) {
	commits, err := commitsOf(o.Path, p)
	if err != nil {
		return 0, err
	}
	for i := range commits {
		last := int64(-1)
		err := eachTurn(o.Path, i, func(batch []stats.TurnRow) error {
			for k := range batch {
				if t := &batch[k]; t.ID == o.ID && t.Shard != "" && t.Trajectory != last {
					last = t.Trajectory
					n++
				}
			}
			return context.Cause(ctx)
		}, "id", "trajectory", "shard")
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// from says which record of which partition the row was made of, and of which file where that follows.
func (r *foundRow) from(p *Plan) *ShownFrom {
	i, record := r.partition, r.turns[0].Record
	f := &ShownFrom{Partition: &i, Record: &record}
	if p.streams() {
		f.Path = streamPath
	} else if i < len(p.Partitions) && len(p.Partitions[i]) > 0 {
		ranges := p.Partitions[i]
		first, last := p.Inputs[ranges[0].Input].Path, p.Inputs[ranges[len(ranges)-1].Input].Path
		if f.Path = first; first != last {
			f.Path, f.Files = "", []string{first, last}
		}
	}
	return f
}

// noRows says why a run has no row: what its turns and trajectories were lost to.
func noRows(root string, commits []*Commit) error {
	if len(commits) > 0 && commits[0].SFT != nil && slices.ContainsFunc(commits, func(c *Commit) bool { return c.SFT.Prompts != nil }) {
		return &UsageError{fmt.Errorf("%s: it is a set of prompts, which are text: any reader of Parquet shows %s", root, promptsPath(0))}
	}
	all := stats.NewCounts()
	for _, c := range commits {
		all.Add(c.Counts)
	}
	l := all.Ledger.Total
	var why []string
	for _, a := range []struct {
		what    string
		account stats.Account
	}{{"records", l.Records}, {"trajectories", l.Trajectories}, {"turns", l.Turns}} {
		if lost := lostTo(&a.account); lost != "" {
			why = append(why, a.what+" "+lost)
		}
	}
	if len(why) == 0 {
		why = append(why, "nothing, its inputs hold no record")
	}
	return &UsageError{fmt.Errorf("%s: the run has no rows. What was lost: %s. Try turnmill show INPUT, which shows what is dropped", root, strings.Join(why, "; "))}
}

// wantedTurn returns what tells whether a turn, in the row of a number, is what the options ask for.
func (o *ShowOptions) wantedTurn(p *Plan) (func(t *stats.TurnRow, row int64) bool, error) {
	table, err := mask.FromSpec(p.Mask.Table)
	if err != nil {
		return nil, fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	borders := table.Borders()
	return func(t *stats.TurnRow, row int64) bool {
		switch {
		case o.ID != "":
			return t.ID == o.ID
		case o.Category != "":
			return t.Category == o.Category && t.TargetTokens > 0
		case o.NearBorder:
			return decided(t, p.tokens()) && nearBorders(&table, borders, countsOf(t)) != nil
		}
		return row == o.Row
	}, nil
}

// surprise makes Row the row with the turn that has most new words of all that are not sure to be kept, and returns
// that turn.
func (o *ShowOptions) surprise(commits []*Commit, tokens bool, numbers *rowNumbers) (*int32, error) {
	most, turn := int32(-1), int32(0)
	for i := range commits {
		err := eachTurn(o.Path, i, func(batch []stats.TurnRow) error {
			for k := range batch {
				t := &batch[k]
				if t.Shard == "" {
					continue
				}
				row, _ := numbers.next(place{t.Shard, t.Row})
				if fresh := t.ObservationWords - t.SharedWords; decided(t, tokens) && t.Keep < 1 && fresh > most {
					most, turn, o.Row = fresh, t.Turn, row
				}
			}
			return nil
		}, "turn", "shard", "row", "category", "keep", "status", "reason", "observation_words", "shared_words", "target_tokens")
		if err != nil {
			return nil, err
		}
	}
	switch {
	case numbers.rows == 0:
		return nil, noRows(o.Path, commits)
	case most < 0:
		return nil, o.missing("row", numbers.rows, 0)
	}
	return &turn, nil
}

// missing says that nothing is what the options ask for, among n rows or trajectories; or fewer matches than Nth.
func (o *ShowOptions) missing(what string, n, matches int64) error {
	switch {
	case matches > 0:
		return &UsageError{fmt.Errorf("--nth %d: what is asked for is there %s, in %s", o.Nth, stats.Counted(matches, "time", "times"), o.Path)}
	case o.ID != "":
		return &UsageError{fmt.Errorf("--id %q: no %s of %s has it; there are %s", o.ID, what, o.Path, stats.Thousands(n))}
	case o.Category != "":
		return &UsageError{fmt.Errorf("--category %s: no %s of %s has such a turn; there are %s", o.Category, what, o.Path, stats.Thousands(n))}
	case o.NearBorder:
		return &UsageError{fmt.Errorf("--near-border: no %s of %s has a turn near a bound of the table; there are %s", what, o.Path, stats.Thousands(n))}
	case o.Surprising:
		return &UsageError{fmt.Errorf("--surprising: no %s of %s has a turn that is not sure to be kept; there are %s", what, o.Path, stats.Thousands(n))}
	}
	return &UsageError{fmt.Errorf("--row %d: no such %s of %s; there are %s, counted from 0", o.Row, what, o.Path, stats.Thousands(n))}
}

// readRow reads one row of a shard.
func readRow(root string, p *Plan, shard string, n int64) (*arrow.Row, error) {
	profile, ok := arrow.ParseProfile(p.Config.Profile)
	if !ok {
		return nil, fmt.Errorf("plan.json: profile %q is not known", p.Config.Profile)
	}
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(shard)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := arrow.NewReader(f, info.Size(), shard, profile)
	if err != nil {
		return nil, err
	}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("%s: %w: no row %d", shard, turnmill.ErrCorrupt, n)
		}
		if err != nil || row.Number == n {
			return row, err
		}
	}
}
