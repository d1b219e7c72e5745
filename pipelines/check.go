package pipelines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/shard/hub"
	"github.com/turnmill/turnmill/stats"
)

// CheckOptions say what to check.
type CheckOptions struct {
	Path       string
	Inputs     []string // where the input arguments are now; nil: check the run's own files only
	Rollouts   []string // of sft, with Inputs: where its answers are now; nil: where local.json says
	Judgements []string
	Verifiers  string // so
	Tokenizer  string // "": the one that local.json names; needed with Inputs
	Workers    int
	Hub        hub.Options // as in Options
	Memory     int64
	Stdin      io.Reader // what the input "-" reads
}

// CheckReport is what a check without a fault has read.
type CheckReport struct {
	Files, Rows, Turns, Tokens, Trained int64
	Audit                               bool // there are no rows, but examples
	Examples                            int64
	Inputs                              string   // what was compared with the inputs; "" when nothing was
	Notes                               []string // what is no fault and worth knowing
}

// mostFaults is how many faults are named before a check gives up.
const mostFaults = 20

// checker collects faults. Each names a file.
type checker struct {
	root    string
	faults  []error
	lost    []string // files of the run that are not there
	plan    *Plan
	planSum string
	commits []*Commit
	report  CheckReport
	table   mask.Table
	mode    mask.Mode
	copied  turnmill.Ratio // of lines, in mode changed
	profile arrow.Profile
	ordered []FileSum // of shuffled rows, as the manifest has them
	rows    *rowsAt   // so; nil where rows are not shuffled
	ends    [2]int32  // the tokens that end actions and observations, as the first turn that was seen has them; -1 before
}

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("%s: %w: %s", path, turnmill.ErrCorrupt, fmt.Sprintf(format, args...)))
}

// lose says of a file that it is not there. What else is wrong for that reason is not said.
func (c *checker) lose(path string) {
	c.lost = append(c.lost, path)
	c.faults = append(c.faults, lostFile(path))
}

// lostFile is a file of a run that is not there, which is ErrCorrupt and does not say so.
type lostFile string

func (f lostFile) Error() string { return string(f) + ": missing" }

// Is makes it ErrCorrupt.
func (f lostFile) Is(target error) bool { return target == turnmill.ErrCorrupt }

// once takes away what is said of a file after it was said that it is missing.
func (c *checker) once() {
	c.faults = slices.DeleteFunc(c.faults, func(err error) bool {
		path, _, _ := strings.Cut(err.Error(), ": ")
		_, first := err.(lostFile)
		return !first && slices.Contains(c.lost, path)
	})
}

func (c *checker) full() bool { return len(c.faults) >= mostFaults }

// Check reads every file of a run again and proves that they agree with each other: sums, accounts, labels
// against turns, the mask from its integers, and that merge gives the files that lie there. With inputs it
// runs every partition again and compares bytes. The error joins what is wrong, the first fault first.
func Check(ctx context.Context, o CheckOptions) (*CheckReport, error) {
	c := &checker{root: o.Path, ends: [2]int32{-1, -1}}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.limit()
	defer func() { c.rows.close() }()
	if err := c.sums(ctx); err != nil {
		return nil, err
	}
	if c.rows != nil && !c.lacksOrdered() {
		c.shuffledShards(ctx)
	}
	for i := range c.commits {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c.commits[i] != nil && !c.full() && !c.lacks(c.commits[i]) {
			c.partition(ctx, i)
		}
	}
	if c.rows != nil && len(c.faults) == 0 && ctx.Err() == nil {
		if err := c.draws(ctx); err != nil {
			c.faults = append(c.faults, err)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.merge(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	planned := !slices.ContainsFunc(c.faults, func(err error) bool { return strings.HasPrefix(err.Error(), "plan.json") })
	if o.Inputs != nil && !c.full() && planned {
		if err := c.inputs(ctx, &o); err != nil && (len(c.faults) == 0 || ctx.Err() != nil) {
			return nil, err
		} else if err != nil {
			c.faults = append(c.faults, err)
		}
	}
	if c.once(); len(c.faults) > 0 {
		remedy := c.remedy()
		if len(c.faults) > mostFaults {
			c.faults = append(c.faults[:mostFaults], errors.New("and more"))
		}
		if remedy != "" {
			c.faults = append(c.faults, errors.New(remedy))
		}
		return nil, errors.Join(c.faults...)
	}
	return &c.report, nil
}

// ofPartition finds the number of the partition whose file a fault names.
var ofPartition = regexp.MustCompile(`^(?:commits|turns|rejects|examples|queries|replies|train|validation)/(?:data-)?p([0-9]{5,})[-.]`)

// remedy says what to do about the faults; "" where each says it itself.
func (c *checker) remedy() string {
	again := "give the same turnmill " + c.plan.Pipeline + " command again"
	var commits []string
	plan, others, stray, ordered := false, false, false, false
	for _, err := range c.faults {
		text := err.Error()
		_, inputs := err.(otherInputs)
		at := ofPartition.FindStringSubmatch(text)
		switch {
		case inputs:
		case strings.HasPrefix(text, "plan.json"), strings.HasPrefix(text, "commits/") && strings.Contains(text, "another plan"):
			plan = true
		case strings.HasSuffix(text, noCommit):
			stray = true
		case c.plan.Config.Shuffle && !c.isLost(err):
			ordered = true
		case at == nil, c.plan.Config.Shuffle, strings.HasPrefix(text, "commits/") && slices.Contains(c.lost, "commits/p"+at[1]+".json"):
			others = true
		case !slices.Contains(commits, "commits/p"+at[1]+".json"):
			commits = append(commits, "commits/p"+at[1]+".json")
		}
	}
	switch {
	case plan:
		return "to mend it: " + again + " with --restart, which does all of it anew"
	case ordered:
		return fmt.Sprintf("to mend it: delete manifest.json in %s and %s, which does its partitions anew and shuffles their rows again", c.root, again)
	case len(commits) > 0:
		slices.Sort(commits)
		return fmt.Sprintf("to mend it: delete %s in %s and %s, which does those partitions anew; with --restart, all of them", strings.Join(commits, ", "), c.root, again)
	case others:
		return "to mend it: " + again + ", which does anew what is not there and the files of the whole run"
	case stray:
		return "to mend it: delete what no commit names"
	}
	return ""
}

func (c *checker) isLost(err error) bool {
	_, lost := err.(lostFile)
	return lost
}

// noCommit ends the fault of a file that is nobody's.
const noCommit = "no commit names it"

// lacks tells whether a file of a commit is missing.
func (c *checker) lacks(commit *Commit) bool {
	return c.lacksOrdered() || slices.ContainsFunc(commit.Files, func(f FileSum) bool { return slices.Contains(c.lost, f.Path) })
}

// open reads plan, manifest and commits.
func (c *checker) open() error {
	data, err := os.ReadFile(filepath.Join(c.root, "plan.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return &UsageError{fmt.Errorf("%s: it holds no plan.json, so it is no run of turnmill", c.root)}
	}
	if err != nil {
		return err
	}
	if c.plan, err = decodePlan(data); err != nil {
		return err
	}
	if again, sum := c.plan.Encode(); bytes.Equal(again, data) {
		c.planSum = sum
	} else {
		c.planSum = hexSum(data)
		c.fault("plan.json", "not written as turnmill writes it")
	}
	if _, err := os.Stat(filepath.Join(c.root, "manifest.json")); errors.Is(err, fs.ErrNotExist) {
		return unfinished(c.root, c.plan)
	}
	if c.plan.Turnmill != Version {
		return fmt.Errorf("plan.json: %w: made by turnmill %s, and this is %s; check it with the one that made it", turnmill.ErrCorrupt, c.plan.Turnmill, Version)
	}
	if share, err := parseShare(c.plan.Config.Validation); err != nil || share.text != c.plan.Config.Validation {
		return fmt.Errorf("plan.json: %w: validation %q is not written as turnmill writes it", turnmill.ErrCorrupt, c.plan.Config.Validation)
	}
	if c.table, err = mask.FromSpec(c.plan.Mask.Table); err != nil {
		return fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	if c.mode, err = mask.ParseMode(c.plan.Mask.Mode); err != nil {
		return fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	c.copied, _ = c.plan.Mask.copied() // decodePlan has read it
	var known bool
	if c.profile, known = arrow.ParseProfile(c.plan.Config.Profile); !known {
		return fmt.Errorf("plan.json: %w: profile %q is not known", turnmill.ErrCorrupt, c.plan.Config.Profile)
	}
	if (c.mode == mask.ModeWeight) != (c.profile == arrow.ProfileWeighted) {
		return fmt.Errorf("plan.json: %w: mask %s and profile %s do not go together", turnmill.ErrCorrupt, c.mode, c.profile)
	}
	c.planItself()
	for i := 0; c.plan.streams() || i < len(c.plan.Partitions); i++ {
		commit := c.openCommit(i)
		c.commits = append(c.commits, commit)
		if c.plan.streams() && (commit == nil || commit.Last) {
			break
		}
	}
	if c.plan.Config.Shuffle {
		return c.openOrdered()
	}
	return nil
}

// openCommit reads a commit and proves what it says of itself; it is nil when its files cannot be told.
func (c *checker) openCommit(i int) *Commit {
	commit, err := readCommit(c.root, i)
	switch {
	case errors.Is(err, turnmill.ErrCorrupt):
		c.faults = append(c.faults, err)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		c.lose(commitPath(i))
		return nil
	case err != nil:
		c.fault(commitPath(i), "%v", err)
		return nil
	}
	if commit.Plan != c.planSum {
		c.fault(commitPath(i), "made for another plan")
	} else if !c.same(commitPath(i), encodeJSON(commit)) {
		c.fault(commitPath(i), "not written as turnmill writes it")
	} else if names := paths(commit.Files); !slices.Equal(names, commit.names(c.plan)) {
		c.fault(commitPath(i), "it names the files %s", strings.Join(names, ", "))
		return nil // its files may be anywhere
	}
	if commit.Last && !c.plan.streams() {
		c.fault(commitPath(i), "it says that it is the last, and the plan has %d", len(c.plan.Partitions))
	}
	return commit
}

func paths(files []FileSum) []string {
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Path
	}
	return names
}

func (c *checker) same(path string, want []byte) bool {
	got, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(path)))
	return err == nil && bytes.Equal(got, want)
}

// sums compares size and SHA-256 of every file that a commit names, or the manifest of shuffled rows, and finds files
// that none names.
func (c *checker) sums(ctx context.Context) error {
	known := map[string]bool{}
	files := slices.Clone(c.ordered)
	if c.plan.Scan != nil {
		files = append(files, c.plan.Scan.Files...)
	}
	for _, commit := range c.commits {
		if commit != nil {
			known[commitPath(commit.Partition)] = true
			files = append(files, c.filesOf(commit)...)
		}
	}
	if err := c.compareSums(ctx, files, known); err != nil {
		return err
	}
	if !slices.Contains(c.commits, nil) {
		c.strays(known)
	}
	return nil
}

// compareSums compares files with their sums, and notes that they are known.
func (c *checker) compareSums(ctx context.Context, files []FileSum, known map[string]bool) error {
	for _, f := range files {
		known[f.Path] = true
		c.report.Files++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		got, err := sumFile(filepath.Join(c.root, filepath.FromSlash(f.Path)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.lose(f.Path)
		case err != nil:
			c.fault(f.Path, "%v", err)
		case got.Bytes != f.Bytes:
			c.fault(f.Path, "%s bytes, %s were written", stats.Thousands(got.Bytes), stats.Thousands(f.Bytes))
		case got.SHA256 != f.SHA256:
			c.fault(f.Path, "its SHA-256 is not the one that was written")
		}
	}
	return nil
}

func sumFile(path string) (FileSum, error) {
	f, err := os.Open(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return FileSum{Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// strays finds files of the run's own kinds that no commit names. Caches of datasets are the users' own.
func (c *checker) strays(known map[string]bool) {
	for _, dir := range []string{"train", "validation", "turns", "rejects", "examples", "queries", "replies", "commits", "plan"} {
		entries, err := os.ReadDir(filepath.Join(c.root, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.fault(dir, "%v", err)
		}
		_, isSplit := splitOf(dir + "/")
		hasSplit := isSplit && slices.Contains(c.plan.splits(), dir)
		for _, e := range entries {
			path := dir + "/" + e.Name()
			switch {
			case known[path], strings.HasPrefix(e.Name(), "."):
			case isSplit && (strings.HasPrefix(e.Name(), "cache-") || strings.HasPrefix(e.Name(), "tmp")):
			case hasSplit && (e.Name() == "state.json" || e.Name() == "dataset_info.json" || path == c.plan.Config.emptyPath(dir) && c.noShards(dir)):
			default:
				c.fault(path, noCommit)
			}
		}
	}
}

func (c *checker) noShards(name string) bool {
	if c.plan.Config.Shuffle {
		return !slices.ContainsFunc(c.ordered, func(f FileSum) bool { return strings.HasPrefix(f.Path, name+"/") })
	}
	for _, commit := range c.commits {
		if commit == nil {
			return false
		}
		for _, f := range commit.Files {
			if strings.HasPrefix(f.Path, name+"/") {
				return false
			}
		}
	}
	return true
}

// merge makes the files of the whole run again and compares them.
func (c *checker) merge(ctx context.Context) {
	for _, commit := range c.commits {
		if commit == nil || c.lacks(commit) {
			return // named already
		}
	}
	duplicates, err := duplicateIDs(ctx, c.root, c.commits, c.plan.Mix != nil)
	if err != nil {
		c.fault("turns", "%v", err)
		return
	}
	if duplicates.count > 0 {
		c.report.Notes = append(c.report.Notes, fmt.Sprintf("note: %d trajectories or documents have an id that came before; the first is %q", duplicates.count, duplicates.first))
	}
	_, files, err := merged(ctx, c.root, c.plan, c.planSum, c.commits, c.ordered, duplicates.count)
	if err != nil {
		c.faults = append(c.faults, err)
		return
	}
	for _, f := range files {
		c.report.Files++
		if _, err := os.Lstat(filepath.Join(c.root, filepath.FromSlash(f.path))); errors.Is(err, fs.ErrNotExist) {
			c.lose(f.path)
		} else if !c.same(f.path, f.data) {
			c.fault(f.path, "not what the commits give")
		}
	}
}
