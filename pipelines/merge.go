package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// Manifest is what was done. It is written last: a run without one is not whole.
type Manifest struct {
	FormatVersion int           `json:"format_version"`
	Turnmill      string        `json:"turnmill"`
	Pipeline      string        `json:"pipeline"`
	Config        Config        `json:"config"`
	ConfigSHA256  string        `json:"config_sha256"`
	Plan          string        `json:"plan"` // SHA-256 of plan.json
	Tokenizer     TokenizerInfo `json:"tokenizer"`
	Chat          ChatInfo      `json:"chat"`
	// Template is the plan's.
	Template     *turnmill.Template `json:"template"`
	Mask         MaskInfo           `json:"mask"`
	DuplicateIDs int64              `json:"duplicate_ids"` // trajectories and documents whose id another one has had before

	*stats.Counts
	SFT  *SFTSum   `json:"sft,omitempty"`  // of sft
	Scan *Scan     `json:"scan,omitempty"` // the plan's
	Mix  []MixRows `json:"mix,omitempty"`  // of --mix: each group, and what is of none

	Inputs []InputSum `json:"inputs"`
	Files  []FileSum  `json:"files"`
}

// InputSum is one input file as it was read.
type InputSum struct {
	Path    string       `json:"path"`
	Bytes   int64        `json:"bytes"`
	Format  string       `json:"format,omitempty"`
	Records int64        `json:"records"`
	Ranges  []InputRange `json:"ranges"`
}

// InputRange is a range of an input's stored bytes.
type InputRange struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	SHA256 string `json:"sha256"`
}

// merge shuffles the rows where the plan says so, and makes the files that speak of the whole run. Those are a pure
// function of plan and commits, but for the sums of shuffled files, the count of duplicate ids and an audit's report,
// which come from the turns tables and the examples.
func merge(ctx context.Context, o *Options, p *Plan, planSum string) (*Manifest, error) {
	root, to := o.Output, o.sink()
	if old, err := readPlan(root); err != nil {
		return nil, fmt.Errorf("%s: the plan of this run is gone: %w; run the same command with --restart", root, err)
	} else if _, sum := old.Encode(); sum != planSum {
		return nil, fmt.Errorf("%s: plan.json is no longer the plan of this run; run the same command again", root)
	}
	commits, err := commitsOf(root, p)
	if err != nil {
		return nil, err
	}
	done := p.done(root, planSum)
	for i, c := range commits {
		if !done.valid(c) {
			return nil, fmt.Errorf("%s: a file of partition %d was removed or cut while the run went on; run the same command again", root, i)
		}
	}
	if p.Config.Shuffle && done.ordered == nil {
		if done.ordered, err = shuffle(ctx, o, p, commits); err != nil {
			return nil, err
		}
	}
	duplicates, err := duplicateIDs(ctx, root, commits, p.Mix != nil)
	if err != nil {
		return nil, err
	}
	m, files, err := merged(ctx, root, p, planSum, commits, done.ordered, duplicates.count)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := writeFile(to, f.path, f.data); err != nil {
			return nil, err
		}
	}
	if p.Config.Shuffle {
		if err := removeUnshuffled(root); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// file is a small file of the run.
type file struct {
	path string
	data []byte
}

// merged returns the manifest and the files that merge writes, the manifest last. ordered are the files of shuffled
// rows.
func merged(ctx context.Context, root string, p *Plan, planSum string, commits []*Commit, ordered []FileSum, duplicates int64) (*Manifest, []file, error) {
	profile, ok := arrow.ParseProfile(p.Config.Profile)
	if !ok {
		return nil, nil, fmt.Errorf("plan.json: %w: profile %q", turnmill.ErrCorrupt, p.Config.Profile)
	}
	m := manifestOf(p, planSum)
	m.DuplicateIDs = duplicates
	for i := range p.Inputs {
		m.Inputs = append(m.Inputs, InputSum{Path: p.Inputs[i].Path, Bytes: p.Inputs[i].Bytes, Format: p.Inputs[i].Format, Ranges: []InputRange{}})
	}
	for i, c := range commits {
		m.Counts.Add(c.Counts)
		if m.SFT != nil && c.SFT != nil {
			m.SFT.Add(c.SFT)
		}
		if err := addInputs(m, p, i, c); err != nil {
			return nil, nil, err
		}
		if err := m.addMix(c); err != nil {
			return nil, nil, err
		}
		m.Files = append(m.Files, withoutStaged(c.Files)...)
	}
	m.Files = append(m.Files, ordered...)
	var files []file
	for _, s := range p.splits() {
		more, err := splitFiles(m, s, profile)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, more...)
	}
	if p.audits() {
		page, err := auditReport(ctx, root, m, p, len(commits))
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file{reportPath, page})
	} else {
		files = append(files, file{"dataset_dict.json", arrow.DatasetDict(p.splits())})
	}
	for _, f := range files {
		m.Files = append(m.Files, FileSum{Path: f.path, Bytes: int64(len(f.data)), SHA256: hexSum(f.data)})
	}
	m.SFT.close(p)
	return m, append(files, file{"manifest.json", encodeJSON(m)}), nil
}

// addMix adds the rows of each group of a mix.
func (m *Manifest) addMix(c *Commit) error {
	if len(c.Mix) != len(m.Mix) {
		return fmt.Errorf("%s: %w: rows of %d groups, the mix has %d", commitPath(c.Partition), turnmill.ErrCorrupt, len(c.Mix), len(m.Mix))
	}
	for i := range m.Mix {
		if c.Mix[i].Name != m.Mix[i].Name {
			return fmt.Errorf("%s: %w: rows of a group %q, the mix has %q", commitPath(c.Partition), turnmill.ErrCorrupt, c.Mix[i].Name, m.Mix[i].Name)
		}
		m.Mix[i].Rows += c.Mix[i].Rows
		m.Mix[i].Tokens += c.Mix[i].Tokens
		m.Mix[i].Trained += c.Mix[i].Trained
	}
	return nil
}

// splits returns the names of the splits that a run has, with rows or without; an audit has none.
func (p *Plan) splits() []string {
	if p.audits() {
		return nil
	}
	if p.Config.Validation != "0" {
		return splitNames[:]
	}
	return splitNames[:1]
}

// splitFiles returns what makes a split's shards a directory of datasets.
func splitFiles(m *Manifest, name string, profile arrow.Profile) (files []file, err error) {
	var shards []string
	for _, f := range m.Files {
		if shard, ok := strings.CutPrefix(f.Path, name+"/"); ok {
			shards = append(shards, shard)
		}
	}
	if len(shards) == 0 { // datasets wants one shard even where there is no row
		empty, err := emptyShard(profile, m.Tokenizer.Vocabulary)
		if err != nil {
			return nil, err
		}
		path := m.Config.emptyPath(name)
		files = append(files, file{path, empty})
		shards = []string{strings.TrimPrefix(path, name+"/")}
	}
	return append(files,
		file{name + "/dataset_info.json", arrow.DatasetInfo(profile)},
		file{name + "/state.json", arrow.State(shards, fingerprint(m, name), name)}), nil
}

// emptyPath is the shard of a split without rows.
func (c *Config) emptyPath(name string) string {
	if c.Shuffle {
		return name + "/data-s00000.arrow"
	}
	return name + "/data-p00000-00000.arrow"
}

// manifestOf returns a manifest without counts.
func manifestOf(p *Plan, planSum string) *Manifest {
	m := &Manifest{
		FormatVersion: FormatVersion, Turnmill: Version, Pipeline: p.Pipeline, Config: p.Config, ConfigSHA256: p.ConfigSHA256,
		Plan: planSum, Tokenizer: p.Tokenizer, Chat: p.Chat, Template: p.Template, Mask: p.Mask, Counts: stats.NewCounts(),
	}
	m.Scan, m.Mix = p.Scan, p.Mix.newMixRows()
	if p.samples() {
		m.SFT = &SFTSum{SFTCounts: newSFTCounts()}
	}
	return m
}

// commitsOf reads every commit of a run; of standard input, up to the last one.
func commitsOf(root string, p *Plan) ([]*Commit, error) {
	var commits []*Commit
	for i := 0; p.streams() || i < len(p.Partitions); i++ {
		c, err := readCommit(root, i)
		if err != nil {
			return nil, err
		}
		if commits = append(commits, c); p.streams() && c.Last {
			break
		}
	}
	return commits, nil
}

// addInputs adds a commit's ranges to the inputs; they must be those of the plan, or go on where standard
// input was cut.
func addInputs(m *Manifest, p *Plan, i int, c *Commit) error {
	ranges := rangesOf(p, c)
	if len(c.Inputs) != len(ranges) || p.streams() && len(ranges) != 1 {
		return fmt.Errorf("%s: %w: %d ranges, the plan has %d", commitPath(i), turnmill.ErrCorrupt, len(c.Inputs), len(ranges))
	}
	for k, r := range ranges {
		sum, in := c.Inputs[k], &m.Inputs[r.Input]
		if sum.Input != in.Path || sum.From != r.From || sum.To != r.To || sum.Line != r.Line || p.streams() && r.From != in.Bytes {
			return fmt.Errorf("%s: %w: range %d is not that of the plan", commitPath(i), turnmill.ErrCorrupt, k)
		}
		if p.streams() {
			in.Bytes = r.To
		}
		in.Records += sum.Records
		in.Ranges = append(in.Ranges, InputRange{r.From, r.To, sum.SHA256})
	}
	return nil
}

// rangesOf returns what a partition reads: as the plan has it, or as it turned out to be.
func rangesOf(p *Plan, c *Commit) []Range {
	if !p.streams() {
		return p.Partitions[c.Partition]
	}
	var ranges []Range
	for _, r := range c.Inputs {
		ranges = append(ranges, Range{From: r.From, To: r.To, Line: r.Line})
	}
	return ranges
}

// fingerprint seeds the keys of users' caches: a hash of the content of a split's shards.
func fingerprint(m *Manifest, name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", m.Config.Profile)
	for _, f := range m.Files {
		if strings.HasPrefix(f.Path, name+"/") {
			fmt.Fprintf(h, "%s %s\n", f.Path, f.SHA256)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func emptyShard(profile arrow.Profile, vocabulary int) ([]byte, error) {
	var b strings.Builder
	w, err := arrow.NewWriter(&b, arrow.Options{Profile: profile, Vocabulary: vocabulary})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// duplicates are ids that more than one trajectory or document has.
type duplicates struct {
	count int64  // trajectories and documents beyond the first of each id
	first string // one of the ids
}

// duplicatePass is how many ids are held at a time, some 40 bytes each.
const duplicatePass = 1 << 20

// duplicateIDs reads the ids of every turns table and counts those that repeat, in as many passes as keep
// the memory bounded.
func duplicateIDs(ctx context.Context, root string, commits []*Commit, mixed bool) (duplicates, error) {
	var ids int64
	for _, c := range commits {
		l := c.Counts.Ledger.Total
		ids += l.Trajectories.In + l.Records.In
	}
	passes := ids/duplicatePass + 1
	var d duplicates
	for pass := range passes {
		var copies copyIDs
		seen := map[[16]byte]struct{}{}
		for i := range commits {
			if ctx.Err() != nil {
				return d, context.Cause(ctx)
			}
			err := eachID(root, i, func(id string, record int64) {
				if mixed && copies.has(i, record, id) {
					return
				}
				sum := sha256.Sum256([]byte(id))
				key := [16]byte(sum[:16])
				if int64(binary.BigEndian.Uint64(sum[16:])>>1)%passes != pass {
					return
				}
				if _, again := seen[key]; again {
					if d.count == 0 {
						d.first = id
					}
					d.count++
				}
				seen[key] = struct{}{}
			})
			if err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// eachID calls f once for every trajectory and document of a partition that has a turn.
func eachID(root string, i int, f func(id string, record int64)) error {
	last := int64(-1)
	return eachTurn(root, i, func(rows []stats.TurnRow) error {
		for k := range rows {
			if rows[k].Trajectory != last {
				last = rows[k].Trajectory
				f(rows[k].ID, rows[k].Record)
			}
		}
		return nil
	}, "id", "record", "trajectory")
}

// copyIDs tells the copies of a record that a mix repeats: they follow it, with its ids.
type copyIDs struct {
	partition   int
	record      int64
	before, now []string // ids of the record before, and of the one at hand
}

func (c *copyIDs) has(partition int, record int64, id string) bool {
	switch {
	case partition != c.partition || record > c.record+1 || record < c.record:
		c.before, c.now = c.before[:0], c.now[:0]
	case record != c.record:
		c.before, c.now = c.now, c.before[:0]
	}
	c.partition, c.record = partition, record
	c.now = append(c.now, strings.Clone(id))
	return slices.Contains(c.before, id)
}

// eachTurn reads a partition's turns table in batches.
func eachTurn(root string, i int, f func([]stats.TurnRow) error, columns ...string) error {
	return eachTurnAt(root, turnsPath(i), f, columns...)
}

// eachTurnAt reads a turns table in batches.
func eachTurnAt(root, path string, f func([]stats.TurnRow) error, columns ...string) (err error) {
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, err := stats.NewTurnReader(file, info.Size(), path, columns...)
	if err != nil {
		return err
	}
	defer r.Close()
	rows := make([]stats.TurnRow, 1024)
	for {
		n, err := r.Read(rows)
		if n > 0 {
			if err := f(rows[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return eof(err)
		}
	}
}
