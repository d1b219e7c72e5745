package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/frame"
)

// runRanges returns how many of the ranges, from the first on, are one run's: 1 for a file of its own.
func runRanges(inputs []PlanInput, ranges []Range) int {
	unit, n := inputs[ranges[0].Input].Unit, 1
	for unit > 0 && n < len(ranges) && inputs[ranges[n].Input].Unit == unit {
		n++
	}
	return n
}

// changedRun is the error for a file of a run that is no longer as it was planned.
func changedRun(path, what string) error {
	return fmt.Errorf("%s: %w: %s; try to put the file back, or to plan anew with --restart", path, ingest.ErrChanged, what)
}

// readRun reads the files of a run and calls visit with the one record that they are, counted with the first.
// They were all read when they were planned, so that what fails now has changed.
func readRun(ctx context.Context, inputs []PlanInput, ranges []Range, paths []string, l limits, read *int64, visit visitor) ([]RangeSum, error) {
	first := &inputs[ranges[0].Input]
	from := source{path: first.Path, frame: -1, format: first.Format, layout: frame.Whole}
	sums := make([]RangeSum, 0, len(ranges))
	var data []byte
	for _, r := range ranges {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		in := &inputs[r.Input]
		sum := RangeSum{Input: in.Path, From: r.From, To: r.To, Line: r.Line}
		var err error
		if data, sum.SHA256, err = appendFile(data, in, r, paths[r.Input], l, read); err != nil {
			return nil, err
		}
		sums = append(sums, sum)
		from.parts = append(from.parts, sourcePart{in.Path, int64(len(data))})
	}
	sums[0].Records = 1
	return sums, visit(from, frame.Record{Data: data}, nil)
}

// appendFile appends the text of a file of a run, and returns the sum of its stored bytes.
func appendFile(data []byte, in *PlanInput, r Range, path string, l limits, read *int64) (_ []byte, sum string, err error) {
	_, text, err := openRange(in, r, path, l, read)
	if err != nil {
		return nil, "", err
	}
	defer text.Close()
	before := len(data)
	data = slices.Grow(data, int(min(in.Bytes, l.record)))
	for {
		if int64(len(data)) > l.record {
			return nil, "", changedRun(path, fmt.Sprintf("with it the run has more than %d bytes", l.record))
		}
		n, err := text.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			sum, err = text.Sum()
			return data, sum, err
		case err == nil:
		case errors.Is(err, ingest.ErrChanged) || frame.Reason(err) == turnmill.ReasonUnreadable:
			return nil, "", fmt.Errorf("%s: %w", in.Path, err)
		default:
			return nil, "", changedRun(path, fmt.Sprintf("after %d bytes: %v", len(data)-before, err))
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, growth)
		}
	}
}

// growth is by how much at least a run's bytes are given more room.
const growth = 64 << 10
