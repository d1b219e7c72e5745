package pipelines

import (
	"fmt"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// partitionWriter writes the files of one partition from outcomes in order.
//
//	outcome --> train/data-pNNNNN-SSSSS.arrow   a new shard when the next row would pass --shard-bytes
//	        --> validation/data-...
//	        --> turns/pNNNNN.parquet            with the shard and row that were just given
//	        --> rejects/pNNNNN.jsonl.zst
//	        --> examples/pNNNNN.jsonl.zst       of an audit, which has no shards
//	        --> queries/, replies/pNNNNN.jsonl.zst   of sft
//	        --> counts
type partitionWriter struct {
	setup     *setup
	pool      *pool
	partition int
	to        sink

	shards        [len(splitNames)]shardWriter
	turns         *stats.TurnWriter
	turnsFile     sinkFile
	rejects       io.WriteCloser
	rejFile       sinkFile
	rejLines      int64
	examples      *figures.Reservoir[*sample] // of an audit, else nil
	lostAndMended recordSampler               // of an audit
	hide          *secrets.Scrubber           // of its texts
	sft           *sampleWriter               // of sft, else nil

	counts         *stats.Counts
	mix            []MixRows // of each group, and of none
	records, units int64
	places         []place // of the outcome's rows, and of the parts of it that came before
}

type place struct {
	shard string
	row   int64
}

func newPartitionWriter(p *pool, i int, to sink) (*partitionWriter, error) {
	if p.setup.plan.Config.Shuffle {
		to = stagedSink{to, p.setup.plan}
	}
	w := &partitionWriter{setup: p.setup, pool: p, partition: i, to: to, counts: stats.NewCounts(), mix: p.setup.plan.Mix.newMixRows()}
	for of := range w.shards {
		w.shards[of] = shardWriter{to: to, path: func(n int) string { return shardPath(split(of), i, n) }, limit: p.setup.plan.Config.ShardBytes,
			options: arrow.Options{Profile: p.setup.profile, Vocabulary: p.setup.plan.Tokenizer.Vocabulary, Behind: p.behind}, idle: p.shards}
	}
	if p.setup.plan.audits() {
		w.examples = figures.NewReservoir[*sample](mostKinds)
		w.lostAndMended, w.hide = newRecordSampler(p.setup.plan.Mask.Seed, mostKinds), secrets.New(p.setup.secrets)
	}
	var err error
	if w.turnsFile, err = to.create(turnsPath(i)); err != nil {
		return nil, err
	}
	if w.rejFile, err = to.create(rejectsPath(i)); err != nil {
		w.abort()
		return nil, err
	}
	if w.turns, err = stats.NewTurnWriter(w.turnsFile, Version); err == nil {
		w.rejects, err = zstdio.NewWriter(w.rejFile)
	}
	if err == nil && p.setup.plan.samples() {
		w.sft, err = newSampleWriter(i, to, p.setup.plan.prompts())
		if err == nil && i == 0 {
			err = w.rejectAnswers()
		}
	}
	if err != nil {
		w.abort()
		return nil, err
	}
	return w, nil
}

// abort leaves nothing of what is not committed.
func (w *partitionWriter) abort() {
	for i := range w.shards {
		w.shards[i].abort()
	}
	for _, f := range []sinkFile{w.turnsFile, w.rejFile} {
		if f != nil {
			f.abort()
		}
	}
	w.sft.abort()
}

// write appends one outcome.
func (w *partitionWriter) write(o *outcome) error {
	for i := range o.rows.Rows {
		w.countMix(&o.rows.Rows[i], o.groups[i])
		at, err := w.row(&o.rows.Rows[i], o.splits[i])
		if err != nil {
			return err
		}
		w.places = append(w.places, at)
	}
	if o.part { // its turns come with the last part
		return nil
	}
	for i := range o.turns {
		t := &o.turns[i]
		t.Record, t.Trajectory = t.Record+w.records, t.Trajectory+w.units
		if t.Row >= 0 && !w.setup.plan.audits() {
			at := w.places[t.Row]
			t.Shard, t.Row = at.shard, at.row
		}
	}
	if w.sft != nil {
		if err := w.sft.write(o.sft, w.places); err != nil {
			return err
		}
	}
	w.places = w.places[:0]
	if w.examples != nil {
		gather(w.examples, o.samples, &w.setup.table)
		w.lostAndMended.gather(&o.samples.records, w.hide)
	}
	w.records, w.units = w.records+o.records, w.units+o.units
	if err := w.turns.Write(o.turns); err != nil {
		return err
	}
	if _, err := w.rejects.Write(o.rejects); err != nil {
		return err
	}
	w.rejLines += o.lines
	w.counts.Add(o.counts)
	return nil
}

// row counts one row and appends it to the split's shards.
func (w *partitionWriter) row(row *turnmill.Row, to split) (place, error) {
	w.count(row)
	if w.setup.plan.audits() {
		return place{}, nil
	}
	return w.shards[to].put(row)
}

// countMix counts a row under its group.
func (w *partitionWriter) countMix(row *turnmill.Row, group int) {
	if w.mix == nil {
		return
	}
	if group < 0 {
		group = len(w.mix) - 1
	}
	m := &w.mix[group]
	m.Rows++
	m.Tokens += int64(len(row.IDs))
	for i := range row.Turns {
		m.Trained += int64(row.Turns[i].Trained)
	}
}

func (w *partitionWriter) count(row *turnmill.Row) {
	t := &w.counts.Tokens
	t.Rows++
	t.All += int64(len(row.IDs))
	for i := range row.Turns {
		t.Trained += int64(row.Turns[i].Trained)
	}
	t.Context = t.All - t.Trained
}

// finishShards ends the shards of every split and gives their writers back.
func (w *partitionWriter) finishShards() (files []FileSum, err error) {
	for i := range w.shards {
		done, err := w.shards[i].finish()
		if err != nil {
			return nil, err
		}
		files = append(files, done...)
	}
	return files, nil
}

// finish ends the files and returns the commit. The framer's counts come in here, from the reader.
func (w *partitionWriter) finish(ranges []RangeSum) (*Commit, error) {
	files, err := w.finishShards()
	if err != nil {
		return nil, err
	}
	if err := w.turns.Close(); err != nil {
		return nil, err
	}
	if err := w.rejects.Close(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		file sinkFile
		rows int64
	}{{w.turnsFile, w.turns.Rows()}, {w.rejFile, w.rejLines}} {
		sum, err := f.file.commit()
		if err != nil {
			return nil, err
		}
		sum.Rows = f.rows
		files = append(files, sum)
	}
	if w.examples != nil {
		turns, err := w.writeExamples(examplesPath(w.partition), func(f io.Writer) (int64, error) { return writeExamples(f, w.examples) })
		if err != nil {
			return nil, err
		}
		records, err := w.writeExamples(recordExamplesPath(w.partition), func(f io.Writer) (int64, error) { return writeRecordExamples(f, &w.lostAndMended) })
		if err != nil {
			return nil, err
		}
		files = append(files, turns, records)
	}
	commit := &Commit{FormatVersion: FormatVersion, Partition: w.partition, Plan: w.setup.planSum, Inputs: ranges, Counts: w.counts, Mix: w.mix}
	if w.sft != nil {
		sums, err := w.sft.finish()
		if err != nil {
			return nil, err
		}
		files, commit.SFT = append(files, sums...), w.sft.counts
	}
	for i := range ranges {
		w.counts.Ledger.Total.Records.In += ranges[i].Records
		w.counts.AddNotes(stats.InputNotes, &ranges[i].notes)
	}
	if err := w.counts.Balanced(); err != nil {
		return nil, fmt.Errorf("the accounts do not meet, which is a fault of turnmill: %w", err)
	}
	commit.Files = files
	return commit, nil
}

// writeExamples writes one file of examples of an audit's partition.
func (w *partitionWriter) writeExamples(path string, write func(io.Writer) (int64, error)) (FileSum, error) {
	f, err := w.to.create(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.abort()
	rows, err := write(f)
	if err != nil {
		return FileSum{}, err
	}
	sum, err := f.commit()
	sum.Rows = rows
	return sum, err
}
