package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/stats"
)

// source says where records come from, for decoders and for positions in rejects.
type source struct {
	path   string // as in the plan
	frame  int64  // -1: offsets count from the start of the file
	format string
	layout frame.Layout
}

// fileError is a failure that costs the rest of a file: one record in the accounts.
type fileError struct {
	bytes int64 // stored size of the file; -1 when part of it was read
	err   error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// limits are what bounds the reading of any input.
type limits struct {
	record, window int64 // bytes
}

// readRange frames one range of an input and calls visit with every record, or with what was rejected in a
// record's place. The sum is of what was read. read is told the stored bytes as they pass. Only a failure
// to read, or of visit, is an error: damaged data is a reject.
func readRange(ctx context.Context, in *PlanInput, rng Range, path string, l limits, read *int64,
	visit func(source, frame.Record, error) error) (RangeSum, error) {
	sum := RangeSum{Input: in.Path, From: rng.From, To: rng.To, Line: rng.Line}
	from := source{path: in.Path, frame: -1, format: in.Format}
	if in.Rejected != "" {
		sum.Records, sum.SHA256 = 1, hexSum(nil)
		err := &turnmill.RecordError{Step: "detect", Reason: in.Rejected, Err: errors.New(in.Detail)}
		return sum, visit(from, frame.Record{}, &fileError{in.Bytes, err})
	}
	file, err := ingest.OpenRange(path, rng.From, rng.To)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	if err := sameSize(path, in.Bytes); err != nil {
		return sum, err
	}
	kind, err := frame.ParseCompression(in.Compression)
	if err != nil {
		return sum, err
	}
	if from.layout, err = frame.ParseLayout(in.Layout); err != nil {
		return sum, err
	}
	plain, err := frame.Decompress(&metered{file, read}, kind, l.window)
	if err != nil {
		return sum, err
	}
	defer plain.Close()
	f := frame.New(from.layout, plain, frame.Options{MaxRecord: l.record, Offset: rng.From, Line: rng.Line})
	if err := visitAll(ctx, f, from, visit, &sum); err != nil {
		return sum, err
	}
	sum.notes = f.Notes()
	sum.SHA256, err = file.Sum()
	return sum, err
}

// sameSize refuses an input that has grown: its records would be half of what a new plan reads, and neither
// resume nor check would take the run. OpenRange sees what has shrunk.
func sameSize(path string, planned int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() != planned {
		return fmt.Errorf("%s: %w: it has %d bytes, %d were planned; try to put the file back, or to plan anew with --restart",
			path, ingest.ErrChanged, info.Size(), planned)
	}
	return nil
}

// visitAll calls visit with all that a framer gives, and counts it.
func visitAll(ctx context.Context, f *frame.Framer, from source, visit func(source, frame.Record, error) error, sum *RangeSum) error {
	for ctx.Err() == nil {
		rec, err := f.Next()
		var reject *turnmill.RecordError
		switch {
		case err == nil || errors.As(err, &reject):
			if err := visit(from, rec, err); err != nil {
				return err
			}
		case err == io.EOF:
			sum.Records = f.Count()
			return nil
		case frame.Reason(err) == turnmill.ReasonUnreadable:
			return fmt.Errorf("%s: %w", from.path, err)
		default:
			sum.Records = f.Count() + 1
			return visit(from, frame.Record{}, &fileError{-1, &turnmill.RecordError{Step: "decompress", Reason: frame.Reason(err), Err: err}})
		}
	}
	return context.Cause(ctx)
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

// unpacker decodes framed records. It serves one goroutine.
type unpacker struct {
	decoders map[string]formats.Decoder // one a format that the plan names
	decoded  formats.Decoded
	split    jsonscan.Doc
	parts    []frame.Part
}

func newUnpacker(inputs []PlanInput, o formats.Options) unpacker {
	u := unpacker{decoders: map[string]formats.Decoder{}}
	for i := range inputs {
		name := inputs[i].Format
		if _, made := u.decoders[name]; name == "" || made {
			continue
		}
		f, err := formats.ByName(name)
		if err != nil {
			panic("pipelines: a validated plan names a format that is gone: " + err.Error())
		}
		u.decoders[name] = f.New(o)
	}
	return u
}

// unpack decodes a framed record and yields it with the error that rejects it, or with nil while u.decoded
// holds what was in it. Nearly always that is one record; a physical line that holds several, or a cut one
// and the next, yields each whole one and each stretch that is none.
func (u *unpacker) unpack(from source, raw frame.Record, counts *stats.Counts) iter.Seq2[frame.Record, error] {
	return func(yield func(frame.Record, error) bool) {
		decoder := u.decoders[from.format]
		err := decoder.Decode(raw.Data, &u.decoded)
		if err == nil || !u.spliced(from, raw, err, counts) {
			yield(raw, err)
			return
		}
		counts.Ledger.Total.Records.In += int64(len(u.parts) - 1) // the framer counted the line as one
		for _, p := range u.parts {
			part := frame.Record{Data: raw.Data[p.From:p.To], Line: raw.Line, Offset: raw.Offset + int64(p.From)}
			if p.Err != nil {
				err = &turnmill.RecordError{Step: "frame", Reason: turnmill.ReasonBadJSON,
					Err: fmt.Errorf("part of a line that holds more or less than one record: %w", p.Err)}
			} else {
				err = decoder.Decode(part.Data, &u.decoded)
			}
			if !yield(part, err) {
				return
			}
		}
	}
}

// spliced cuts a line that is not one JSON value into u.parts. It tells whether one of them is whole.
func (u *unpacker) spliced(from source, raw frame.Record, err error, counts *stats.Counts) bool {
	var e *turnmill.RecordError
	if from.layout != frame.Lines || !errors.As(err, &e) || e.Reason != turnmill.ReasonBadJSON {
		return false
	}
	var notes turnmill.Notes
	u.parts = frame.Split(u.parts[:0], raw.Data, &u.split, &notes)
	if !slices.ContainsFunc(u.parts, func(p frame.Part) bool { return p.Err == nil }) {
		return false
	}
	counts.AddNotes(stats.InputNotes, &notes)
	return true
}
