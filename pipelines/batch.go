package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/stats"
)

// PendingError says that requests were written for a batch API, and that the set can be made when they are answered: exit
// code 75, try again.
type PendingError struct {
	Dir      string
	Requests map[string]int64 // by kind: rollouts, scores, pairs
	Files    []string
}

func (e *PendingError) Error() string {
	flag := "--judgements"
	if e.Requests["rollouts"] > 0 {
		flag = "--rollouts"
		if e.Requests["scores"]+e.Requests["pairs"] > 0 {
			flag = "--rollouts or --judgements"
		}
	}
	return fmt.Sprintf("%s rollouts, %s scores and %s pairs are missing; they stand as requests in %s; have a batch API answer each file, and run the same command with its output and error files added to %s",
		stats.Thousands(e.Requests["rollouts"]), stats.Thousands(e.Requests["scores"]), stats.Thousands(e.Requests["pairs"]), e.Dir, flag)
}

// writeRequests writes what no file of answers holds as requests for a batch API, and returns a *PendingError, or nil
// where nothing is missing. Judges are asked about what is there already.
//
//	DIR/rollouts-NNNNN.jsonl    custom_id TRAJECTORY@TURN#SAMPLE
//	DIR/scores-NNNNN.jsonl      custom_id TRAJECTORY@TURN/scores/SAMPLE#ATTEMPT
//	DIR/pairs-NNNNN.jsonl       custom_id TRAJECTORY@TURN/pair/FIRST-SECOND#ATTEMPT
//
// A custom_id stands there once: of trajectories that share an id, the first is asked about. Requests of earlier calls,
// which have been answered since, are gone from DIR afterwards.
func writeRequests(ctx context.Context, o *Options, s *setup) error {
	ask := s.plan.Config.SFT.Ask
	pending := &PendingError{Dir: o.Ask.BatchRequests, Requests: map[string]int64{}}
	old, err := oldRequests(pending.Dir)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name, kind, model string
		missing           func(ctx context.Context, partition int) iter.Seq2[turnmill.Request, error]
	}{
		{"rollouts", kindRollout, ask.RolloutModel, func(ctx context.Context, i int) iter.Seq2[turnmill.Request, error] {
			return s.missingRollouts(ctx, i, true)
		}},
		{"scores", kindScore, ask.JudgeModel, func(ctx context.Context, i int) iter.Seq2[turnmill.Request, error] {
			return s.missingScores(ctx, i, anyAttempt, true)
		}},
		{"pairs", kindPair, ask.JudgeModel, func(ctx context.Context, i int) iter.Seq2[turnmill.Request, error] {
			return s.missingPairs(ctx, i, anyAttempt, true)
		}},
	} {
		if kind.model == "" {
			continue
		}
		w := &batchWriter{to: dirSink{pending.Dir, machine{}}, name: kind.name}
		n, err := w.write(kind.kind, func(yield func(turnmill.Request, error) bool) {
			for i := range s.plan.Partitions {
				for r, err := range kind.missing(ctx, i) {
					if !yield(r, err) || err != nil {
						return
					}
				}
			}
		})
		if err != nil {
			return err
		}
		pending.Requests[kind.name], pending.Files = n, append(pending.Files, w.files...)
	}
	for _, name := range old {
		if !slices.Contains(pending.Files, name) {
			if err := os.Remove(filepath.Join(pending.Dir, name)); err != nil {
				return err
			}
		}
	}
	if len(pending.Files) == 0 {
		return nil
	}
	return pending
}

// requestFile is the name of a file of requests.
var requestFile = regexp.MustCompile(`^(rollouts|scores|pairs)-[0-9]{5,}\.jsonl$`)

// oldRequests returns the names of the files of requests in a directory. One that holds anything else, such as answers
// under the same name, is refused: new requests might take its place.
func oldRequests(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	for _, e := range entries {
		if !requestFile.MatchString(e.Name()) {
			continue
		}
		ours, err := holdsRequests(filepath.Join(dir, e.Name()))
		switch {
		case err != nil:
			return nil, err
		case !ours:
			return nil, &UsageError{fmt.Errorf("--batch-requests %s: %s there holds no requests, and they would take its place; move it, or name another directory", dir, e.Name())}
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// holdsRequests tells whether a file begins as a file of requests does.
func holdsRequests(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return bytes.HasPrefix(head, []byte(`{"custom_id":"`)) && bytes.Contains(head, []byte(`,"method":"POST","url":`)), err
}

// batchWriter writes the files of one kind.
type batchWriter struct {
	to    sink
	name  string
	file  sinkFile
	files []string
}

func (w *batchWriter) write(kind string, requests iter.Seq2[turnmill.Request, error]) (n int64, err error) {
	defer func() {
		if w.file != nil {
			w.file.abort()
		}
	}()
	empty, err := temporaryJournal()
	if err != nil {
		return 0, err
	}
	defer empty.close()
	at, named := -1, map[string]bool{}
	job := endpoint.Job{Kind: kind, Journal: empty.rollouts, RetryFailed: true}
	name := func(_ endpoint.Key, r *turnmill.Request) string { return r.ID + "#" + strconv.Itoa(r.Sample) }
	once := func(yield func(turnmill.Request, error) bool) {
		for r, err := range requests {
			id := name(endpoint.Key{}, &r)
			if err == nil && named[id] {
				continue
			}
			if named[id] = true; !yield(r, err) {
				return
			}
		}
	}
	for line, err := range endpoint.WriteBatch(job, endpoint.BatchOptions{Name: name}, once) {
		if err != nil {
			return n, err
		}
		if line.File != at {
			at = line.File
			if err := w.next(at); err != nil {
				return n, err
			}
		}
		if _, err := w.file.Write(line.Line); err != nil {
			return n, err
		}
		n++
	}
	return n, w.end()
}

// next ends the open file and begins another.
func (w *batchWriter) next(i int) (err error) {
	if err := w.end(); err != nil {
		return err
	}
	path := fmt.Sprintf("%s-%05d.jsonl", w.name, i)
	w.file, err = w.to.create(path)
	w.files = append(w.files, path)
	return err
}

func (w *batchWriter) end() error {
	if w.file == nil {
		return nil
	}
	_, err := w.file.commit()
	w.file = nil
	return err
}
