package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/replies"
)

// AnswerFile is one file of recorded answers, as the plan saw it.
type AnswerFile struct {
	Path    string `json:"path"`   // "rollouts/" or "judgements/" and a name as inputs have
	Bytes   int64  `json:"bytes"`  // stored
	SHA256  string `json:"sha256"` // of all stored bytes
	Rows    int64  `json:"rows"`
	Replies int64  `json:"replies"`
}

// Answers are the recorded answers of a run. Nil where there are none.
type Answers struct {
	Rollouts   []AnswerFile              `json:"rollouts"`
	Judgements []AnswerFile              `json:"judgements"`
	Rejected   map[turnmill.Reason]int64 `json:"rejected"` // rows that could not be read
}

// recorded finds the answers of the files of a plan.
type recorded struct {
	rollouts, judgements *replies.Index
	places               answerPlaces
}

// answerPlaces are where files of answers are on this machine, in the order of the plan.
type answerPlaces struct {
	Rollouts   []string `json:"rollouts,omitempty"`
	Judgements []string `json:"judgements,omitempty"`
}

// openAnswers lists files of answers and reads them.
func openAnswers(ctx context.Context, o *Options) (*recorded, error) {
	r := &recorded{}
	for _, kind := range []struct {
		flag, name string
		args       []string
		index      **replies.Index
		places     *[]string
	}{
		{"rollouts", "rollouts/", o.SFT.Rollouts, &r.rollouts, &r.places.Rollouts},
		{"judgements", "judgements/", o.SFT.Judgements, &r.judgements, &r.places.Judgements},
	} {
		var files []replies.File
		if len(kind.args) > 0 {
			found, err := ingest.Discover(kind.args)
			if err != nil {
				return nil, errors.Join(&UsageError{fmt.Errorf("--%s: %w", kind.flag, err)}, r.close())
			}
			for _, f := range found {
				if f.Path == "-" {
					return nil, errors.Join(&UsageError{fmt.Errorf("--%s -: answers are read more than once; name a file", kind.flag)}, r.close())
				}
				files = append(files, replies.File{Name: kind.name + f.Name, Path: f.Path})
				*kind.places = append(*kind.places, f.Path)
			}
		}
		var err error
		if *kind.index, err = indexAnswers(ctx, files, o.MaxRecord, o.MaxWindow); err != nil {
			return nil, errors.Join(fmt.Errorf("--%s: %w", kind.flag, err), r.close())
		}
	}
	return r, nil
}

func indexAnswers(ctx context.Context, files []replies.File, record, window int64) (*replies.Index, error) {
	x, err := replies.Build(files, replies.Limits{MaxRecord: record, MaxWindow: window}, judgeNames, func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
	return x, err
}

// judgeNames gives recorded judgements the ids of the questions that they answer.
var judgeNames = replies.Naming{
	Score: func(query string, rollout int) string {
		return judge.ID{Kind: judge.KindScores, Query: query, First: rollout}.String()
	},
	Pair: func(query string, first, second int) string {
		return judge.ID{Kind: judge.KindPair, Query: query, First: first, Second: second}.String()
	},
}

func (r *recorded) close() error {
	if r == nil {
		return nil
	}
	var errs []error
	for _, x := range []*replies.Index{r.rollouts, r.judgements} {
		if x != nil {
			errs = append(errs, x.Close())
		}
	}
	return errors.Join(errs...)
}

// plan returns what of the files stands in a plan.
func (r *recorded) plan() *Answers {
	a := &Answers{Rollouts: answerFiles(r.rollouts), Judgements: answerFiles(r.judgements), Rejected: map[turnmill.Reason]int64{}}
	maps.Copy(a.Rejected, r.rollouts.Bad)
	for reason, n := range r.judgements.Bad {
		a.Rejected[reason] += n
	}
	return a
}

func answerFiles(x *replies.Index) []AnswerFile {
	files := []AnswerFile{}
	for _, f := range x.Files {
		files = append(files, AnswerFile{f.Path, f.Bytes, f.SHA256, f.Rows, f.Replies})
	}
	return files
}

// reopen reads the files of a plan again, from where they are now, and refuses what is no longer what was planned.
func (p *Plan) reopen(ctx context.Context, places answerPlaces) (*recorded, error) {
	r := &recorded{places: places}
	for _, kind := range []struct {
		files []AnswerFile
		paths []string
		index **replies.Index
	}{{p.Answers.Rollouts, places.Rollouts, &r.rollouts}, {p.Answers.Judgements, places.Judgements, &r.judgements}} {
		if len(kind.paths) != len(kind.files) {
			return nil, errors.Join(&UsageError{fmt.Errorf("%d files of answers are known here, the plan has %d; name them with --rollouts and --judgements", len(kind.paths), len(kind.files))}, r.close())
		}
		var files []replies.File
		for i, f := range kind.files {
			files = append(files, replies.File{Name: f.Path, Path: kind.paths[i]})
		}
		var err error
		if *kind.index, err = indexAnswers(ctx, files, p.Config.MaxRecord, p.Config.MaxWindow); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = &UsageError{fmt.Errorf("%w; name where the answers of the plan are now with --rollouts and --judgements", err)}
			}
			return nil, errors.Join(err, r.close())
		}
		for i, now := range answerFiles(*kind.index) {
			if now != kind.files[i] {
				return nil, errors.Join(fmt.Errorf("%s: %w: it is not the file that was planned as %s; try to put that back, or to plan anew with --restart",
					filepath.ToSlash(kind.paths[i]), ingest.ErrChanged, now.Path), r.close())
			}
		}
	}
	return r, nil
}
