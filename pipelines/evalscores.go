package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill/ingest/replies"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// answersLost writes a line for each row of answers that could not be read.
func (e *evaluation) answersLost(s *EvalSummary, out *scoreFiles) error {
	for _, x := range []*replies.Index{e.predictions, e.judgements} {
		for reason, n := range x.Bad {
			s.Answers.Rejected[reason] += n
		}
		for _, r := range x.Rejects {
			l := rejectLine{Kind: "reply", Status: "rejected", Reason: r.Reason, Detail: r.Err.Error()}
			if err := out.lose(l.append(nil, r.Pos)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scoreFiles are scores.jsonl.zst and rejects.jsonl.zst on their way, or nowhere.
type scoreFiles struct {
	root     string // "": nothing is written
	rejected func([]byte) error
	to       sink
	files    [2]sinkFile
	packed   [2]io.WriteCloser
	text     [2]*bufio.Writer
	lines    [2]*json.Encoder
}

func (e *evaluation) openScores() (*scoreFiles, error) {
	f := &scoreFiles{root: e.o.Output, rejected: e.o.Rejected, to: dirSink{e.o.Output, machine{}}}
	if f.root == "" {
		f.to = nullSink{}
	} else if err := ignoreMissing(os.Remove(filepath.Join(f.root, evalSummary))); err != nil { // it speaks of the scores beside it
		return nil, err
	}
	for i, name := range []string{evalScores, evalRejects} {
		var err error
		if f.files[i], err = f.to.create(name); err == nil {
			f.packed[i], err = zstdio.NewWriter(f.files[i])
		}
		if err != nil {
			f.abort()
			return nil, err
		}
		f.text[i] = bufio.NewWriter(f.packed[i])
		f.lines[i] = json.NewEncoder(f.text[i])
		f.lines[i].SetEscapeHTML(false)
	}
	return f, nil
}

// lose names a row, or an answer, that could not be read.
func (f *scoreFiles) lose(line []byte) error {
	if f.root == "" && f.rejected != nil {
		return f.rejected(line)
	}
	_, err := f.text[1].Write(line)
	return err
}

// commit makes the files visible, the summary last.
func (f *scoreFiles) commit(s *EvalSummary) error {
	for i := range f.files {
		if err := errors.Join(f.text[i].Flush(), f.packed[i].Close()); err != nil {
			return err
		}
		if _, err := f.files[i].commit(); err != nil {
			return err
		}
	}
	_, err := writeFile(f.to, evalSummary, encodeJSON(s))
	return err
}

func (f *scoreFiles) abort() {
	for _, file := range f.files {
		if file != nil {
			file.abort()
		}
	}
}
