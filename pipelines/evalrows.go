package pipelines

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// EvalFile is one file of rows.
type EvalFile struct {
	Path    string `json:"path"` // as inputs have
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Records int64  `json:"records"` // rejected ones included
}

// benchRows reads the rows of an evaluation, as often as it takes.
type benchRows struct {
	inputs []PlanInput
	paths  []string
	limits limits
	files  []EvalFile
	names  map[benchName]benchCount

	unpacker // for lines that hold several rows
	reader   formats.BenchReader
	account  *outcome // writes the lines of what is lost
	counts   *stats.Counts
}

// benchName is half the SHA-256 of a row's name.
type benchName [16]byte

func nameOf(name string) benchName {
	sum := sha256.Sum256([]byte(name))
	return benchName(sum[:16])
}

// benchCount says how many rows have a name, and whether all of them are the same bytes.
type benchCount struct {
	rows    int32
	bytes   benchName
	differs bool
}

// openBenchRows lists the files of rows and reads them once, for their sums and names.
func openBenchRows(ctx context.Context, o *EvalOptions) (*benchRows, error) {
	opts := &Options{Inputs: o.Rows, Format: "auto", MaxRecord: o.MaxRecord, MaxWindow: o.MaxWindow, PartitionBytes: math.MaxInt64}
	inputs, paths, _, err := inventory(ctx, opts)
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		if in := &inputs[i]; in.Rejected == "" && in.Format != AsWorldBench {
			return nil, &UsageError{fmt.Errorf("%s: it is of the format %s; make rows of it with turnmill ingest --as %s", paths[i], in.Format, AsWorldBench)}
		}
	}
	b := &benchRows{inputs: inputs, paths: paths, limits: limits{record: o.MaxRecord, window: o.MaxWindow}, names: map[benchName]benchCount{},
		unpacker: newUnpacker(inputs, formats.Options{}, secrets.Off), account: newOutcome(mask.ModeOff, false), counts: stats.NewCounts()}
	err = b.read(ctx, func(_ source, part frame.Record, row *formats.BenchRow, err error) error {
		if err != nil {
			return nil
		}
		sum := sha256.Sum256(part.Data)
		for _, task := range []string{"", row.Task} {
			key := nameOf(formats.BenchID(task, row.ID, row.Turn))
			c := b.names[key]
			if c.differs = c.differs || c.rows > 0 && c.bytes != benchName(sum[:16]); c.rows == 0 {
				c.bytes = benchName(sum[:16])
			}
			c.rows++
			b.names[key] = c
			if row.Task == "" {
				break
			}
		}
		return nil
	}, func(sum RangeSum) error {
		b.files = append(b.files, EvalFile{Path: sum.Input, Bytes: sum.To - sum.From, SHA256: sum.SHA256, Records: sum.Records})
		return nil
	})
	return b, err
}

// read visits every row in the order of the files, and what is rejected in a row's place. Rows are valid until the
// next one.
func (b *benchRows) read(ctx context.Context, visit func(source, frame.Record, *formats.BenchRow, error) error, done func(RangeSum) error) error {
	var read int64
	return readRanges(ctx, b.inputs, wholeRanges(b.inputs), b.paths, b.limits, &read, func(from source, raw frame.Record, err error) error {
		if err != nil {
			return visit(from, raw, nil, err)
		}
		row, err := b.reader.Read(raw.Data)
		if err == nil || !b.spliced(from, raw, err, b.counts) {
			return visit(from, raw, &row, err)
		}
		for _, p := range b.parts {
			part := frame.Record{Data: raw.Data[p.From:p.To], Line: raw.Line, Offset: raw.Offset + int64(p.From)}
			if err = p.Err; err != nil {
				err = &turnmill.RecordError{Step: "frame", Reason: turnmill.ReasonBadJSON,
					Err: fmt.Errorf("part of a line that holds more or less than one row: %w", err)}
			} else {
				row, err = b.reader.Read(part.Data)
			}
			if err := visit(from, part, &row, err); err != nil {
				return err
			}
		}
		return nil
	}, done)
}

// each visits every row that is evaluated, under its name, and hands lost a reject line for each that is not.
func (b *benchRows) each(ctx context.Context, visit func(name string, row *formats.BenchRow) error, lost func(line []byte) error) error {
	seen := map[benchName]bool{}
	return b.read(ctx, func(from source, part frame.Record, row *formats.BenchRow, err error) error {
		name := ""
		if err == nil {
			name, err = b.name(row, seen)
		}
		if err == nil {
			return visit(name, row)
		}
		b.account.reset()
		b.account.rejectRecord(from, part, err)
		return lost(b.account.rejects)
	}, func(RangeSum) error { return nil })
}

// name returns what answers to a row are joined by: ID/TURN, or TASK/ID/TURN where rows of other tasks have that as
// well. Of rows that are the same bytes the first one stands; of those that differ and still share a name none does,
// because no answer can tell them apart.
func (b *benchRows) name(row *formats.BenchRow, seen map[benchName]bool) (string, error) {
	name := formats.BenchID("", row.ID, row.Turn)
	if b.names[nameOf(name)].differs {
		name = formats.BenchID(row.Task, row.ID, row.Turn)
	}
	key := nameOf(name)
	twice := func(why string) error {
		return &turnmill.RecordError{Step: "rows", Reason: turnmill.ReasonDuplicateID, Err: fmt.Errorf("%s: %s", name, why)}
	}
	switch {
	case b.names[key].differs:
		return "", twice("another row has its task, id and turn_idx, so that no prediction can name either; give one of them another id")
	case seen[key]:
		return "", twice("it is the same row again")
	}
	seen[key] = true
	return name, nil
}
