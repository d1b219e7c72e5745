package pipelines

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
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
	Mask          MaskInfo      `json:"mask"`
	DuplicateIDs  int64         `json:"duplicate_ids"` // trajectories and documents whose id another one has had before

	*stats.Counts

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

// merge makes the files that speak of the whole run. It is a pure function of plan and commits, but for
// the count of duplicate ids, which comes from the turns tables.
func merge(root string, p *Plan, planSum string) (*Manifest, error) {
	commits := make([]*Commit, len(p.Partitions))
	for i := range commits {
		c, err := readCommit(root, i)
		if err != nil {
			return nil, err
		}
		commits[i] = c
	}
	duplicates, err := duplicateIDs(root, commits)
	if err != nil {
		return nil, err
	}
	m, files, err := merged(p, planSum, commits, duplicates.count)
	if err != nil {
		return nil, err
	}
	to := dirSink{root}
	for _, f := range files {
		if _, err := writeFile(to, f.path, f.data); err != nil {
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

// merged returns the manifest and the files that merge writes, the manifest last.
func merged(p *Plan, planSum string, commits []*Commit, duplicates int64) (*Manifest, []file, error) {
	profile, ok := arrow.ParseProfile(p.Config.Profile)
	if !ok {
		return nil, nil, fmt.Errorf("plan.json: %w: profile %q", turnmill.ErrCorrupt, p.Config.Profile)
	}
	m := &Manifest{
		FormatVersion: FormatVersion, Turnmill: Version, Pipeline: p.Pipeline, Config: p.Config, ConfigSHA256: p.ConfigSHA256,
		Plan: planSum, Tokenizer: p.Tokenizer, Chat: p.Chat, Mask: p.Mask, DuplicateIDs: duplicates, Counts: stats.NewCounts(),
	}
	for i := range p.Inputs {
		m.Inputs = append(m.Inputs, InputSum{Path: p.Inputs[i].Path, Bytes: p.Inputs[i].Bytes, Format: p.Inputs[i].Format})
	}
	var shards []string
	for i, c := range commits {
		m.Counts.Add(c.Counts)
		if err := addInputs(m, p, i, c); err != nil {
			return nil, nil, err
		}
		for _, f := range c.Files {
			m.Files = append(m.Files, f)
			if name, ok := strings.CutPrefix(f.Path, "train/"); ok {
				shards = append(shards, name)
			}
		}
	}
	var files []file
	if len(shards) == 0 { // datasets wants one shard even where there is no row
		shards = []string{strings.TrimPrefix(shardPath(0, 0), "train/")}
		empty, err := emptyShard(profile, p.Tokenizer.Vocabulary)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file{shardPath(0, 0), empty})
	}
	files = append(files,
		file{"train/dataset_info.json", arrow.DatasetInfo(profile)},
		file{"train/state.json", arrow.State(shards, fingerprint(m), "train")},
		file{"dataset_dict.json", arrow.DatasetDict([]string{"train"})})
	for _, f := range files {
		m.Files = append(m.Files, FileSum{Path: f.path, Bytes: int64(len(f.data)), SHA256: hexSum(f.data)})
	}
	return m, append(files, file{"manifest.json", encodeJSON(m)}), nil
}

// addInputs adds a commit's ranges to the inputs; they must be those of the plan.
func addInputs(m *Manifest, p *Plan, i int, c *Commit) error {
	ranges := p.Partitions[i]
	if len(c.Inputs) != len(ranges) {
		return fmt.Errorf("%s: %w: %d ranges, the plan has %d", commitPath(i), turnmill.ErrCorrupt, len(c.Inputs), len(ranges))
	}
	for k, r := range ranges {
		sum, in := c.Inputs[k], &m.Inputs[r.Input]
		if sum.Input != in.Path || sum.From != r.From || sum.To != r.To || sum.Line != r.Line {
			return fmt.Errorf("%s: %w: range %d is not that of the plan", commitPath(i), turnmill.ErrCorrupt, k)
		}
		in.Records += sum.Records
		in.Ranges = append(in.Ranges, InputRange{r.From, r.To, sum.SHA256})
	}
	return nil
}

// fingerprint seeds the keys of users' caches: a hash of the content of the shards.
func fingerprint(m *Manifest) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", m.Config.Profile)
	for _, f := range m.Files {
		if strings.HasPrefix(f.Path, "train/") {
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

// duplicatePass is how many ids are held at a time, 16 bytes each.
const duplicatePass = 4 << 20

// duplicateIDs reads the ids of every turns table and counts those that repeat, in as many passes as keep
// the memory bounded.
func duplicateIDs(root string, commits []*Commit) (duplicates, error) {
	var ids int64
	for _, c := range commits {
		l := c.Counts.Ledger.Total
		ids += l.Trajectories.In + l.Records.In
	}
	passes := ids/duplicatePass + 1
	var d duplicates
	for pass := range passes {
		seen := map[[16]byte]struct{}{}
		for i := range commits {
			err := eachID(root, i, func(id string) {
				sum := sha256.Sum256([]byte(id))
				key := [16]byte(sum[:16])
				if int64(sum[16])%passes != pass && passes <= 256 || passes > 256 && (int64(sum[16])<<8|int64(sum[17]))%passes != pass {
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
func eachID(root string, i int, f func(id string)) error {
	last := int64(-1)
	return eachTurn(root, i, func(rows []stats.TurnRow) error {
		for k := range rows {
			if rows[k].Trajectory != last {
				last = rows[k].Trajectory
				f(rows[k].ID)
			}
		}
		return nil
	}, "id", "trajectory")
}

// eachTurn reads a partition's turns table in batches.
func eachTurn(root string, i int, f func([]stats.TurnRow) error, columns ...string) (err error) {
	path := turnsPath(i)
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
