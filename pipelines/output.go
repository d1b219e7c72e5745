package pipelines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/turnmill/turnmill"
)

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
	if err = s.writeDecisions(to); err == nil {
		_, err = writeFile(to, "plan.json", data)
	}
	if err == nil {
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
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == journalDir }) // it outlives --restart
		if entries, err = withoutDecisions(o.Output, entries); err != nil {
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
var runParts = [...]string{"manifest.json", "dataset_dict.json", "train", "validation", "turns", "rejects", "examples", "queries", "replies", "rl", "report.html", "commits",
	"unshuffled/train", "unshuffled/validation", "unshuffled/turns", "unshuffled/queries", "unshuffled", "local.json", "run.log.jsonl", "plan", "plan.json"}

// ownNames are the patterns of what a run writes into its directories; all else there is somebody's.
var ownNames = [...]string{"data-p*.arrow", "data-s*.arrow", "state.json", "dataset_info.json", "p*.parquet", "p*.jsonl.zst", "r*.jsonl.zst", "p*.json", "p*.bin"}

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

// withoutDecisions leaves out plan/ where it holds what a scan decided and nothing else: a process that was killed before
// it wrote the plan itself leaves that much.
func withoutDecisions(root string, entries []fs.DirEntry) ([]fs.DirEntry, error) {
	at := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == "plan" })
	if at < 0 {
		return entries, nil
	}
	inside, err := os.ReadDir(filepath.Join(root, "plan"))
	if err != nil || slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return e.IsDir() || !own(e.Name()) }) {
		return entries, err
	}
	return slices.Delete(entries, at, at+1), nil
}

func onlyTemporary(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() || !isTemporary(e.Name()) })
}
