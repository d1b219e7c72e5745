package pipelines

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// RangeSum is a range of an input as it was read.
type RangeSum struct {
	Input   string `json:"input"` // path in the plan
	From    int64  `json:"from"`  // stored bytes
	To      int64  `json:"to"`
	Line    int64  `json:"line"`
	Records int64  `json:"records"` // counted by the framer, rejected ones included
	SHA256  string `json:"sha256"`

	notes turnmill.Notes
}

// Commit is one partition's proof: what it read, what it counted, what it wrote. It is written when
// everything that it names lies on disk.
type Commit struct {
	FormatVersion int           `json:"format_version"`
	Partition     int           `json:"partition"`
	Last          bool          `json:"last,omitempty"` // of standard input
	Plan          string        `json:"plan"`           // SHA-256 of plan.json
	Inputs        []RangeSum    `json:"inputs"`
	Counts        *stats.Counts `json:"counts"`
	SFT           *SFTCounts    `json:"sft,omitempty"` // of sft
	Mix           []MixRows     `json:"mix,omitempty"` // of --mix: each group, and what is of none
	Files         []FileSum     `json:"files"`
}

func commitPath(i int) string  { return fmt.Sprintf("commits/p%05d.json", i) }
func turnsPath(i int) string   { return fmt.Sprintf("turns/p%05d.parquet", i) }
func rejectsPath(i int) string { return fmt.Sprintf("rejects/p%05d.jsonl.zst", i) }
func queriesPath(i int) string { return fmt.Sprintf("queries/p%05d.jsonl.zst", i) }
func repliesPath(i int) string { return fmt.Sprintf("replies/p%05d.jsonl.zst", i) }
func shardPath(of split, i, n int) string {
	return fmt.Sprintf("%s/data-p%05d-%05d.arrow", of, i, n)
}

// names returns the paths that a commit of so many files has, in their order: its shards, split by split, its
// turns and its rejects, and of an audit its examples.
func (c *Commit) names(p *Plan) []string {
	var shards [len(splitNames)]int
	for _, f := range c.Files {
		if s, ok := splitOf(unstaged(f.Path)); ok {
			shards[s]++
		}
	}
	var names []string
	for s := range shards {
		for n := range shards[s] {
			names = append(names, shardPath(split(s), c.Partition, n))
		}
	}
	names = append(names, turnsPath(c.Partition), rejectsPath(c.Partition))
	if p.audits() {
		names = append(names, examplesPath(c.Partition), recordExamplesPath(c.Partition))
	}
	if p.samples() {
		names = append(names, queriesPath(c.Partition), repliesPath(c.Partition))
	}
	if p.prompts() {
		names = append(names, promptsPath(c.Partition))
	}
	for i := range names {
		names[i] = p.staged(names[i])
	}
	return names
}

// rowsOf returns the rows that a commit has of a file.
func (c *Commit) rowsOf(path string) int64 {
	for _, f := range c.Files {
		if f.Path == path {
			return f.Rows
		}
	}
	return 0
}

// readCommit reads the commit of partition i below root. It is fs.ErrNotExist when there is none, and
// ErrCorrupt when there is something else.
func readCommit(root string, i int) (*Commit, error) {
	path := commitPath(i)
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	c := &Commit{}
	if err := decodeJSON(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	if c.Partition != i || c.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("%s: %w: it is of partition %d, format version %d", path, turnmill.ErrCorrupt, c.Partition, c.FormatVersion)
	}
	if err := c.Counts.Balanced(); err != nil { // and nothing of them is nil
		return nil, fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	return c, nil
}

// valid tells whether a commit belongs to the plan and every file that it names is there in its size. Sums
// are the matter of check: a commit is written after its files have reached the disk.
func (c *Commit) valid(root, plan string) bool {
	if c.Plan != plan {
		return false
	}
	for _, f := range c.Files {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil || info.Size() != f.Bytes {
			return false
		}
	}
	return true
}

// ThresholdError says that a run is done, whole, and that a rate was passed: exit code 3.
type ThresholdError struct {
	What        string // "rejected" or "dropped"
	Records     int64
	Of          int64
	Things      string // "records" or "queries"
	Rate, Limit float64
	Flag        string
	See         string // where the lost records are named; "": OUT/rejects
}

func (e *ThresholdError) Error() string {
	return fmt.Sprintf("done, but %s of %s %s were %s (%.2f %%, limit %.2f %%); see %s, or raise --%s",
		stats.Thousands(e.Records), stats.Thousands(e.Of), cmp.Or(e.Things, "records"), e.What, 100*e.Rate, 100*e.Limit, cmp.Or(e.See, "OUT/rejects"), e.Flag)
}

// Thresholds returns what of the two rates was passed, as *ThresholdError, or nil. Rates are shares of the
// records that came in; an input file that nothing recognises is one record. Of an SFT set the queries are asked
// as well.
func Thresholds(c *stats.Counts, maxReject, maxDrop float64) error {
	passed := func(a *stats.Account, of string) error {
		if a == nil || a.In == 0 {
			return nil
		}
		check := func(what string, n int64, limit float64, flag string) error {
			if rate := float64(n) / float64(a.In); rate > limit {
				return &ThresholdError{What: what, Records: n, Of: a.In, Things: of, Rate: rate, Limit: limit, Flag: flag}
			}
			return nil
		}
		return errors.Join(
			check("rejected", a.AllRejected(), maxReject, "max-reject-rate"),
			check("dropped", a.AllDropped(), maxDrop, "max-drop-rate"))
	}
	return errors.Join(passed(&c.Ledger.Total.Records, "records"), passed(c.Ledger.Total.Queries, "queries"))
}
