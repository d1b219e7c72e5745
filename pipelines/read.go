package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/stats"
)

// source says where records come from, for decoders and for positions in rejects.
type source struct {
	path   string // as in the plan
	frame  int64  // -1: offsets count from the start of the file
	format string
	layout frame.Layout
	parts  []sourcePart // the files of a run that has several; its one record is their bytes
}

// sourcePart is one file of a run.
type sourcePart struct {
	path string // as in the plan
	end  int64  // in the record
}

// part returns the file that a byte of a record lies in, and where the file starts in the record.
func (s *source) part(at int64) (path string, start int64) {
	path = s.path
	for _, p := range s.parts {
		if path = p.path; at < p.end {
			break
		}
		start = p.end
	}
	return path, start
}

// fileError is a failure that costs the rest of a file: one record in the accounts.
type fileError struct {
	bytes int64 // stored size of the file; -1 when part of it was read
	err   error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// limits are what bounds the reading of any input, and what its stored bytes are read through, if anything.
type limits struct {
	record, window int64 // bytes
	stored         func(io.Reader) io.Reader
}

// visitor takes a framed record, or what was rejected in a record's place.
type visitor func(source, frame.Record, error) error

// readRanges reads ranges in their order, the files of a run together. done gets the sum of each range that was
// read, and of the one that failed.
func readRanges(ctx context.Context, inputs []PlanInput, ranges []Range, paths []string, l limits, read *int64, visit visitor, done func(RangeSum) error) error {
	for len(ranges) > 0 {
		n := runRanges(inputs, ranges)
		var sums []RangeSum
		var err error
		if n > 1 {
			sums, err = readRun(ctx, inputs, ranges[:n], paths, l, read, visit)
		} else {
			r := ranges[0]
			sums = make([]RangeSum, 1)
			sums[0], err = readRange(ctx, &inputs[r.Input], r, paths[r.Input], l, read, visit)
		}
		for i := range sums {
			if failed := done(sums[i]); err == nil {
				err = failed
			}
		}
		if err != nil {
			return err
		}
		ranges = ranges[n:]
	}
	return nil
}

// wholeRanges returns a range for each input, all of it.
func wholeRanges(inputs []PlanInput) []Range {
	ranges := make([]Range, len(inputs))
	for i := range inputs {
		ranges[i] = Range{Input: i, To: inputs[i].Bytes, Line: 1}
	}
	return ranges
}

// readRange frames one range of an input and calls visit with all that is in it. The sum is of the stored
// bytes of the whole range. read is told the stored bytes as they pass. Only a failure to read, or of visit,
// is an error: damaged data is a reject.
func readRange(ctx context.Context, in *PlanInput, rng Range, path string, l limits, read *int64, visit visitor) (RangeSum, error) {
	sum := RangeSum{Input: in.Path, From: rng.From, To: rng.To, Line: rng.Line}
	if in.Rejected != "" {
		sum.Records, sum.SHA256 = 1, hexSum(nil)
		return sum, visit(source{path: in.Path, frame: -1, format: in.Format}, frame.Record{}, rejectedInput(in))
	}
	if in.columns() {
		err := readRows(ctx, in, rng, path, l, read, visit, &sum)
		return sum, err
	}
	from, text, err := openRange(in, rng, path, l, read)
	if err != nil {
		return sum, err
	}
	defer text.Close()
	damage, err := text.records(ctx, from, rng, l, visit, &sum)
	for at := rng.From; err == nil && damage != nil; {
		if at, err = afterDamage(in, path, at+damage.Offset, rng.To); err != nil || at < 0 {
			break
		}
		damage, err = resume(ctx, in, rng, at, path, l, read, visit, &sum)
	}
	if err != nil {
		return sum, err
	}
	sum.SHA256, err = text.Sum()
	return sum, err
}

// records visits the records of a text, adds them to the sum, and returns the damage that ended it, if any did.
func (t *rangeText) records(ctx context.Context, from source, rng Range, l limits, visit visitor, sum *RangeSum) (*frame.DamageError, error) {
	f := frame.New(from.layout, t, frame.Options{MaxRecord: l.record, Offset: t.offset, Line: rng.Line})
	most := rng.Records
	if most > 0 {
		if most -= sum.Records; most == 0 {
			return nil, nil
		}
	}
	damage, err := visitAll(ctx, f, from, most, visit, sum, func() int64 { return t.offset + t.read })
	notes := f.Notes()
	for i := range notes {
		sum.notes[i] += notes[i]
	}
	return damage, err
}

// afterDamage returns where to go on in a zstd file of lines that is damaged at some stored byte: at the next
// sound frame of the range. It is negative where there is none, or where the input is of another kind.
func afterDamage(in *PlanInput, path string, at, to int64) (int64, error) {
	if in.Compression != frame.Zstd.String() || in.Layout != frame.Lines.String() {
		return -1, nil
	}
	next, found, err := ingest.NextFrame(path, at, to)
	if !found {
		next = -1
	}
	return next, err
}

// resume visits what is left of a range from a frame on. As in a range that starts there, the line that the
// frame before began is passed over.
func resume(ctx context.Context, in *PlanInput, rng Range, at int64, path string, l limits, read *int64, visit visitor, sum *RangeSum) (*frame.DamageError, error) {
	rng.From, rng.Line = at, 2
	from, text, err := openRange(in, rng, path, l, read)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return text.records(ctx, from, rng, l, visit, sum)
}

// rejectedInput is the reject of an input that the plan gave up.
func rejectedInput(in *PlanInput) error {
	return &fileError{in.Bytes, &turnmill.RecordError{Step: "detect", Reason: in.Rejected, Err: errors.New(in.Detail)}}
}

// rangeText is the decompressed text of a range.
type rangeText struct {
	io.ReadCloser
	Sum    func() (string, error) // of the range's stored bytes
	offset int64                  // of the first byte, from the start of the file or frame
	read   int64                  // bytes of it so far
}

func (t *rangeText) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.read += int64(n)
	return n, err
}

// openRange opens a range of an input that is as large as planned.
func openRange(in *PlanInput, rng Range, path string, l limits, read *int64) (source, *rangeText, error) {
	from := source{path: in.Path, frame: -1, format: in.Format}
	kind, err := frame.ParseCompression(in.Compression)
	if err != nil {
		return from, nil, err
	}
	if from.layout, err = frame.ParseLayout(in.Layout); err != nil {
		return from, nil, err
	}
	meter := func(r io.Reader) io.Reader {
		if l.stored != nil {
			r = l.stored(r)
		}
		return &metered{r, read}
	}
	if kind == frame.Zstd && (rng.From > 0 || rng.To < in.Bytes) {
		f, err := ingest.OpenFrames(path, rng.From, rng.To, in.Bytes, l.window, meter)
		if err != nil {
			return from, nil, err
		}
		if rng.From > 0 {
			from.frame = rng.From
		}
		return from, &rangeText{ReadCloser: f, Sum: f.Sum, offset: f.Skipped}, closing(f, sameSize(path, in.Bytes))
	}
	file, err := ingest.OpenRange(path, rng.From, rng.To)
	if err != nil {
		return from, nil, err
	}
	plain, err := frame.Decompress(meter(file), kind, l.window)
	if err != nil {
		return from, nil, closing(file, err)
	}
	text := &rangeText{ReadCloser: closer{plain, file}, Sum: file.Sum, offset: rng.From}
	return from, text, closing(text, sameSize(path, in.Bytes))
}

// closing closes c when there is an error, which it returns.
func closing(c io.Closer, err error) error {
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

// closer closes a file after what reads it.
type closer struct {
	io.ReadCloser
	file io.Closer
}

func (c closer) Close() error { return errors.Join(c.ReadCloser.Close(), c.file.Close()) }

// sameSize refuses an input that has grown: its records would be half of what a new plan reads, and neither
// resume nor check would take the run. OpenRange sees what has shrunk.
func sameSize(path string, planned int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() != planned {
		return fmt.Errorf("%s: %w: it has %s bytes, %s were planned; try to put the file back, or to plan anew with --restart",
			path, ingest.ErrChanged, stats.Thousands(info.Size()), stats.Thousands(planned))
	}
	return nil
}

// framer hands out records as frame.Framer does.
type framer interface {
	Next() (frame.Record, error)
	Count() int64
}

// visitAll calls visit with all that a framer gives, or with the first most records when most is not 0, and
// counts it. end tells how far the text was read: there a damaged one ends, and the damage is returned.
func visitAll(ctx context.Context, f framer, from source, most int64, visit visitor, sum *RangeSum, end func() int64) (*frame.DamageError, error) {
	for ctx.Err() == nil {
		if most > 0 && f.Count() == most {
			sum.Records += most
			return nil, nil
		}
		rec, err := f.Next()
		var reject *turnmill.RecordError
		switch {
		case err == nil || errors.As(err, &reject):
			if err := visit(from, rec, err); err != nil {
				return nil, err
			}
		case err == io.EOF:
			sum.Records += f.Count()
			return nil, nil
		case frame.Reason(err) == turnmill.ReasonUnreadable:
			return nil, fmt.Errorf("%s: %w", from.path, err)
		default:
			sum.Records += f.Count() + 1
			var damage *frame.DamageError
			errors.As(err, &damage)
			return damage, visit(from, frame.Record{Offset: end()}, &fileError{-1, &turnmill.RecordError{Step: "decompress", Reason: frame.Reason(err), Err: err}})
		}
	}
	return nil, context.Cause(ctx)
}

// metered counts the stored bytes that are read.
type metered struct {
	in io.Reader
	n  *int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	*m.n += int64(n)
	return n, err
}
