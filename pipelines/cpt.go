package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/turnmill/turnmill"
)

// CPT prepares a corpus: plan, then every partition that has no valid commit, then merge. It returns the
// manifest of what was done, with a *ThresholdError when a rate was passed; with any other error it
// returns none, and the same call goes on where it stopped.
//
// A dry run reads and decides as any run does and writes nothing: its manifest names no files.
func CPT(ctx context.Context, o Options) (*Manifest, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, window, err := plan(ctx, &o)
	if err != nil {
		return nil, err
	}
	if s.stream != nil {
		defer s.stream.close()
	}
	if o.DryRun {
		return dryRun(ctx, &o, s, window)
	}
	unlock, err := openOutput(&o, s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := runAll(ctx, &o, s, window); err != nil {
		return nil, err
	}
	return finish(ctx, &o, s.plan, s.planSum)
}

// finish merges, and returns the manifest with what of the thresholds was passed.
func finish(ctx context.Context, o *Options, p *Plan, planSum string) (*Manifest, error) {
	m, err := merge(ctx, o.Output, o.sink(), p, planSum)
	if err != nil {
		return nil, err
	}
	o.logger().Info("done", "records", m.Counts.Ledger.Total.Records.In, "rows", m.Counts.Tokens.Rows, "trained_tokens", m.Counts.Tokens.Trained)
	return m, o.thresholds(m, filepath.Join(o.Output, "rejects")+" (zstdcat)")
}

// thresholds returns what of the rates was passed, with where the lost records are named.
func (o *Options) thresholds(m *Manifest, see string) error {
	err := Thresholds(m.Counts, o.MaxRejectRate, o.MaxDropRate)
	var passed *ThresholdError
	if errors.As(err, &passed) {
		passed.See = see
	}
	return err
}

// dryRun runs every partition, and keeps nothing but the counts.
func dryRun(ctx context.Context, o *Options, s *setup, window int64) (*Manifest, error) {
	active, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return nil, err
	}
	all := everyPartition(s)
	pool := newPool(s, budget, o.workers(), newProgress(o, s, all))
	defer pool.close()
	m := manifestOf(s.plan, s.planSum)
	count := func(c *Commit) error {
		m.Counts.Add(c.Counts)
		return nil
	}
	if err := pool.partitions(ctx, all, active, nullSink{}, count); err != nil {
		return nil, err
	}
	for i := 0; s.stream != nil && !s.stream.ended; i++ {
		if err := pool.partitions(ctx, []int{i}, 1, nullSink{}, count); err != nil {
			return nil, err
		}
	}
	return m, o.thresholds(m, "what turnmill ingest says of the same inputs")
}

// plan makes the whole plan.
func plan(ctx context.Context, o *Options) (*setup, int64, error) {
	s, err := resolve(ctx, o)
	if err != nil {
		return nil, 0, err
	}
	s.stored = o.stored
	p := s.plan
	var window int64
	if o.streams() {
		return planStream(ctx, o, s)
	}
	if p.Inputs, s.paths, window, err = inventory(ctx, o); err != nil {
		return nil, 0, err
	}
	if p.Partitions, err = deal(ctx, o, p.Inputs, s.paths); err != nil {
		return nil, 0, err
	}
	p.Config.Partitions = len(p.Partitions)
	s.sign()
	return s, window, nil
}

// planStream makes the plan of standard input, whose partitions come to light while it is read.
func planStream(ctx context.Context, o *Options, s *setup) (*setup, int64, error) {
	var err error
	if s.stream, err = openStream(ctx, o); err != nil {
		return nil, 0, err
	}
	p := s.plan
	p.Inputs, p.Partitions, p.Config.PartitionBytes, s.paths = []PlanInput{s.stream.input}, [][]Range{}, o.PartitionBytes, []string{"-"}
	s.sign()
	return s, s.stream.window, nil
}

// sign completes a plan with its sums.
func (s *setup) sign() {
	s.plan.ConfigSHA256 = hexSum(encodeJSON(s.plan.Config))
	_, s.planSum = s.plan.Encode()
}

// openOutput locks OUT and makes sure that it is empty or of the same plan.
func openOutput(o *Options, s *setup) (unlock func(), err error) {
	if err := outsideOutput(o.Output, s.paths); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Output, 0o777); err != nil {
		return nil, &UsageError{fmt.Errorf("--output: %w; name a directory, or one that can be made", err)}
	}
	if unlock, err = o.lock(true); err != nil {
		return nil, err
	}
	if err := samePlan(o, s); err != nil {
		unlock()
		return nil, err
	}
	if err := removeTemporary(o.Output); err != nil {
		unlock()
		return nil, err
	}
	data, _ := s.plan.Encode()
	to := o.sink()
	if _, err = writeFile(to, "plan.json", data); err == nil {
		_, err = writeFile(to, "local.json", encodeJSON(localOf(o, s)))
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// samePlan refuses an output directory that holds something else, or clears it when told to.
func samePlan(o *Options, s *setup) error {
	old, err := readPlan(o.Output)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(o.Output)
		if err != nil {
			return err
		}
		if len(entries) > 0 && !onlyTemporary(entries) {
			return &UsageError{fmt.Errorf("--output %s: it holds files that are not of a run (%s, ...); name an empty or absent directory", o.Output, entries[0].Name())}
		}
		return nil
	}
	if err == nil {
		if _, sum := old.Encode(); sum == s.planSum {
			return nil
		}
	}
	if err != nil && !errors.Is(err, turnmill.ErrCorrupt) && !errors.Is(err, errVersion) {
		return fmt.Errorf("--output %s: plan.json cannot be read, so what lies there is not known: %w", o.Output, err)
	}
	if o.Restart {
		return clearRun(o.Output)
	}
	if err != nil {
		return fmt.Errorf("--output %s: %w; try --restart to throw that run away, or another --output", o.Output, err)
	}
	return &UsageError{fmt.Errorf("--output %s holds a run of another plan; try --restart to throw it away, or another --output. What changed:\n  %s",
		o.Output, strings.Join(differences(old, s.plan), "\n  "))}
}

// runParts are the names that a run writes below OUT; clearRun removes them and nothing else.
var runParts = [...]string{"manifest.json", "dataset_dict.json", "train", "validation", "turns", "rejects", "commits", "local.json", "run.log.jsonl", "plan.json"}

// ownNames are the patterns of what a run writes into its directories; all else there is somebody's.
var ownNames = [...]string{"data-p*.arrow", "state.json", "dataset_info.json", "p*.parquet", "p*.jsonl.zst", "p*.json"}

// clearRun removes a run: the manifest first and the plan last, so that a kill in between leaves nothing
// that looks whole, and nothing that is not known for a run. What a run has not written stays.
func clearRun(root string) error {
	for _, name := range runParts {
		path := filepath.Join(root, name)
		entries, err := os.ReadDir(path)
		for _, e := range entries {
			if own(e.Name()) {
				err = errors.Join(err, os.Remove(filepath.Join(path, e.Name())))
			}
		}
		if len(entries) > 0 && err == nil {
			err = notEmpty(os.Remove(path))
		} else if len(entries) == 0 { // a file, an empty directory, or nothing
			err = ignoreMissing(os.Remove(path))
		}
		if err != nil {
			return fmt.Errorf("--restart: %w", err)
		}
	}
	return nil
}

// notEmpty passes over the error of removing a directory that holds more than a run's files.
func notEmpty(err error) error {
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return err
}

func own(name string) bool {
	return isTemporary(name) || slices.ContainsFunc(ownNames[:], func(pattern string) bool {
		matched, _ := filepath.Match(pattern, name) // the patterns are good
		return matched
	})
}

// outsideOutput refuses inputs that lie in OUT, which --restart would remove and a later run read.
func outsideOutput(root string, paths []string) error {
	out, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // reading it will say why
		}
		if below, err := filepath.Rel(out, real); err == nil && filepath.IsLocal(below) {
			return &UsageError{fmt.Errorf("--output %s: the input %s lies in it; name another --output", root, path)}
		}
	}
	return nil
}

func onlyTemporary(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() || !isTemporary(e.Name()) })
}

// runAll runs what has no valid commit.
func runAll(ctx context.Context, o *Options, s *setup, window int64) error {
	if s.stream != nil {
		return runStream(ctx, o, s, window)
	}
	var todo []int
	for i := range s.plan.Partitions {
		if committed(o.Output, s.planSum, i) == nil {
			todo = append(todo, i)
		}
	}
	if err := enoughRoom(ctx, o, s, todo); err != nil {
		return err
	}
	return runSome(ctx, o, s, window, todo)
}

// runSome runs the given partitions and commits each.
func runSome(ctx context.Context, o *Options, s *setup, window int64, todo []int) error {
	if len(todo) == 0 {
		return nil
	}
	active, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return err
	}
	run, err := startRun(o, s, budget, todo)
	if err != nil {
		return err
	}
	defer run.close()
	return run.partitions(ctx, todo, active)
}

// running is a pool that commits what it has done.
type running struct {
	pool  *pool
	log   *runLog
	to    sink
	began time.Time
}

// startRun opens the log of a run and starts its workers.
func startRun(o *Options, s *setup, budget int64, todo []int) (*running, error) {
	log, err := openRunLog(o)
	if err != nil {
		return nil, err
	}
	o.logger().Info("start", "tokenizer", s.plan.Tokenizer.Name, "engine", s.plan.Tokenizer.Engine, "chat", s.plan.Chat.Name, "inputs", len(s.plan.Inputs), "workers", o.workers())
	return &running{newPool(s, budget, o.workers(), newProgress(o, s, todo)), log, o.sink(), time.Now()}, nil
}

func (r *running) close() {
	r.pool.close()
	r.log.Close()
}

// partitions runs partitions, active of them at a time, and commits each.
func (r *running) partitions(ctx context.Context, which []int, active int) error {
	return r.pool.partitions(ctx, which, active, r.to, func(c *Commit) error {
		if _, err := writeFile(r.to, commitPath(c.Partition), encodeJSON(c)); err != nil {
			return err
		}
		r.log.partition(c, time.Since(r.began))
		return nil
	})
}

// writerBytes is what the files of one partition hold in memory: two record batches of 64 MiB without their
// attention masks, a row group of the turns table, the encoders' windows.
const writerBytes = 104 << 20

// splitBytes is what the files of one more split hold.
const splitBytes = 64 << 20

// writers returns what the files of one partition hold.
func (s *setup) writers() int64 { return writerBytes + int64(len(s.plan.splits())-1)*splitBytes }

// memoryBudget returns how many partitions may be open at once and how many bytes may be in flight. Where not
// every worker's cache has room, o.Workers becomes what has.
func memoryBudget(o *Options, s *setup, window int64) (active int, budget int64, err error) {
	writers := s.writers()
	rest := o.Memory - s.tokenizer.bytes - writers - window - leastFlight
	if rest < s.tokenizer.each {
		return 0, 0, &UsageError{fmt.Errorf("--memory %d: too little for one worker; try --memory %dMiB", o.Memory, (o.Memory-rest+s.tokenizer.each)>>20+1)}
	}
	if fit := int(rest / max(1, s.tokenizer.each)); fit < o.workers() {
		o.logger().Warn("fewer workers, for what --memory holds", "workers", fit, "asked", o.workers(), "memory_bytes", o.Memory)
		o.Workers = fit
	}
	fixed := s.tokenizer.bytes + int64(o.workers())*s.tokenizer.each
	active = 1
	if len(s.plan.Partitions) > 1 && o.Memory >= fixed+2*(writers+window)+4*leastFlight {
		active = mostActive
	}
	return active, (o.Memory - fixed - int64(active)*(writers+window)) / 2, nil
}

// leastFlight is the least number of bytes in flight that is worth running with.
const leastFlight = 16 << 20

// localOf is what of a run belongs to this machine.
func localOf(o *Options, s *setup) *local {
	l := &local{Tokenizer: s.tokenizer.place, MaskTable: o.MaskTablePath, Inputs: s.paths}
	if o.MaskTablePath != "" {
		l.MaskTable = absolute(o.MaskTablePath)
	}
	return l
}

// local is local.json: real paths, which commands that come later start from.
type local struct {
	Inputs    []string `json:"inputs"` // where each input of the plan was
	Tokenizer string   `json:"tokenizer"`
	MaskTable string   `json:"mask_table,omitempty"`
}

func absolute(path string) string {
	if path == "demo" {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// readPlan reads OUT/plan.json.
func readPlan(root string) (*Plan, error) {
	data, err := os.ReadFile(filepath.Join(root, "plan.json"))
	if err != nil {
		return nil, err
	}
	return decodePlan(data)
}

// runLog is run.log.jsonl: times and rates, which are nobody's promise.
type runLog struct {
	f      *os.File
	json   *slog.Logger
	logger *slog.Logger
}

func openRunLog(o *Options) (*runLog, error) {
	f, err := os.OpenFile(filepath.Join(o.Output, "run.log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	l := &runLog{f: f, json: slog.New(slog.NewJSONHandler(f, nil)), logger: o.logger()}
	l.json.Info("start", "turnmill", Version, "host", host, "workers", o.workers(), "memory_bytes", o.Memory)
	return l, nil
}

func (l *runLog) partition(c *Commit, since time.Duration) {
	var stored int64
	for _, r := range c.Inputs {
		stored += r.To - r.From
	}
	args := []any{"partition", c.Partition, "stored_bytes", stored, "records", c.Counts.Ledger.Total.Records.In,
		"rows", c.Counts.Tokens.Rows, "trained_tokens", c.Counts.Tokens.Trained, "since_start_s", since.Seconds()}
	l.json.Info("partition", args...)
	l.logger.Info("partition done", args...)
}

// Close closes the file.
func (l *runLog) Close() error { return l.f.Close() }
