package pipelines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/internal/fsync"
)

// journals are what endpoints have answered about one partition:
//
//	OUT/journal/pNNNNN.rollouts.jsonl  pNNNNN.scores.jsonl  pNNNNN.pairs.jsonl
//
// They are inputs of the choice, cost money, and stay when a run is thrown away with --restart: what is asked in the
// same words again need not be asked again.
type journals struct {
	rollouts, scores, pairs *endpoint.Journal
	files                   []*os.File
}

// journalDir is where they lie below OUT.
const journalDir = "journal"

func journalPath(partition int, kind string) string {
	return fmt.Sprintf(journalDir+"/p%05d.%s.jsonl", partition, kind)
}

// openJournals opens the journals of a partition, for this process alone where it writes. Without write they are nil
// where there are none.
func openJournals(root string, partition int, write bool) (_ *journals, err error) {
	j := &journals{}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	for _, f := range []struct {
		kind string
		to   **endpoint.Journal
	}{{"rollouts", &j.rollouts}, {"scores", &j.scores}, {"pairs", &j.pairs}} {
		path := journalPath(partition, f.kind)
		name := filepath.Join(root, filepath.FromSlash(path))
		file, err := openJournal(name, write)
		if !write && errors.Is(err, fs.ErrNotExist) {
			return nil, j.close()
		}
		if err != nil {
			return nil, err
		}
		j.files = append(j.files, file)
		if write {
			*f.to, err = endpoint.OpenJournal(file, path)
		} else {
			*f.to, err = endpoint.ReadJournal(file, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return j, nil
}

// openJournal opens one file, creating it where it is to be written.
func openJournal(name string, write bool) (*os.File, error) {
	if !write {
		return os.Open(name)
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		file.Close()
		return nil, fmt.Errorf("%s: another turnmill asks the questions of this partition; wait for it to end", name)
	}
	return file, fsync.Dir(dir)
}

// temporaryJournal returns a journal that nothing of outlives the process: of requests that are only written.
func temporaryJournal() (_ *journals, err error) {
	file, err := os.CreateTemp("", "turnmill-journal-*")
	if err != nil {
		return nil, err
	}
	j := &journals{files: []*os.File{file}}
	if err = os.Remove(file.Name()); err == nil {
		j.rollouts, err = endpoint.OpenJournal(file, "journal")
	}
	if err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

func (j *journals) close() error {
	if j == nil {
		return nil
	}
	var errs []error
	for _, f := range j.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
