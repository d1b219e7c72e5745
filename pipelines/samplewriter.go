package pipelines

import (
	"encoding/json"
	"io"

	"github.com/turnmill/turnmill/ingest/replies"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// sampleWriter writes what of a partition sft alone has.
//
//	queries/pNNNNN.jsonl.zst   one line a query
//	replies/pNNNNN.jsonl.zst   the answers that were used, in the order of the queries
//	rl/pNNNNN.parquet          of the pool rl: prompts
type sampleWriter struct {
	queries, replies linesFile
	prompts          *promptsFile // of the pool rl, else nil
	counts           *SFTCounts
}

// linesFile is a compressed file of JSON lines.
type linesFile struct {
	file  sinkFile
	text  io.WriteCloser
	lines int64
}

func newLinesFile(to sink, path string) (f linesFile, err error) {
	if f.file, err = to.create(path); err != nil {
		return f, err
	}
	f.text, err = zstdio.NewWriter(f.file)
	return f, err
}

func (f *linesFile) finish() (FileSum, error) {
	if err := f.text.Close(); err != nil {
		return FileSum{}, err
	}
	sum, err := f.file.commit()
	sum.Rows = f.lines
	return sum, err
}

func newSampleWriter(i int, to sink, prompts bool) (*sampleWriter, error) {
	w := &sampleWriter{counts: newSFTCounts()}
	var err error
	if w.queries, err = newLinesFile(to, queriesPath(i)); err == nil {
		w.replies, err = newLinesFile(to, repliesPath(i))
	}
	if err == nil && prompts {
		w.prompts, err = newPromptsFile(to, i)
	}
	if err != nil {
		w.abort()
		return nil, err
	}
	return w, nil
}

func (w *sampleWriter) abort() {
	if w == nil {
		return
	}
	if w.prompts != nil && w.prompts.file != nil {
		w.prompts.file.abort()
	}
	for _, f := range []sinkFile{w.queries.file, w.replies.file} {
		if f != nil {
			f.abort()
		}
	}
}

// write appends what an outcome holds of queries; places are those of its rows.
func (w *sampleWriter) write(s *sampleOutcome, places []place) error {
	for _, q := range s.queries {
		if q.Row != nil {
			at := places[q.Row.local]
			q.Row.Shard, q.Row.Row = at.shard, at.row
		}
		if q.Prompt != nil {
			q.Prompt.File, q.Prompt.Row = w.prompts.path, q.Prompt.Row+w.prompts.rows.Rows()
		}
		if _, err := w.queries.text.Write(q.encode()); err != nil {
			return err
		}
		w.queries.lines++
	}
	if _, err := w.replies.text.Write(s.replies); err != nil {
		return err
	}
	w.replies.lines += s.lines
	if w.prompts != nil {
		if err := w.prompts.rows.Write(s.prompts); err != nil {
			return err
		}
	}
	w.counts.Add(s.counts)
	return nil
}

// encode returns the line.
func (q *QueryLine) encode() []byte {
	data, err := json.Marshal(q)
	if err != nil {
		panic("pipelines: a line of ours cannot be encoded: " + err.Error())
	}
	return append(data, '\n')
}

func (w *sampleWriter) finish() ([]FileSum, error) {
	queries, err := w.queries.finish()
	if err != nil {
		return nil, err
	}
	answers, err := w.replies.finish()
	files := []FileSum{queries, answers}
	if err == nil && w.prompts != nil {
		prompts, err := w.prompts.finish()
		return append(files, prompts), err
	}
	return files, err
}

// rejectAnswers names the rows of recorded answers that could not be read. They are of no partition, and stand in the
// rejects of the first.
func (w *partitionWriter) rejectAnswers() error {
	var lines []byte
	for _, x := range []*replies.Index{w.setup.answers.rollouts, w.setup.answers.judgements} {
		for _, r := range x.Rejects {
			l := rejectLine{Kind: "reply", Status: "rejected", Reason: r.Reason, Detail: r.Err.Error()}
			lines = l.append(lines, r.Pos)
			w.rejLines++
		}
	}
	_, err := w.rejects.Write(lines)
	return err
}
