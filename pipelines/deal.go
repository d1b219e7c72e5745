package pipelines

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/frame"
)

// dealer deals the inputs out to n partitions: stretches of equal stored bytes, each border moved on to the
// next place where its file can be cut. Plain files of lines are cut after a line, zstd files of lines before
// a frame, Parquet files of records before a row group; others belong whole to the partition in which they start,
// and the files of a run to that of the first.
//
//	inputs       | a.jsonl            | b.json | c.jsonl.zst              |
//	wished       |            |            |            |
//	partitions   | 0            | 1          | 2          | 3             |
//	                after a line   b is whole   before a frame
type dealer struct {
	inputs  []PlanInput
	paths   []string
	n       uint64
	total   uint64 // stored bytes that are dealt out
	last    int64  // where the last input ends
	records int64  // of the last input, from which no more are read; 0: all
}

// deal makes the partitions of a plan.
func deal(ctx context.Context, o *Options, inputs []PlanInput, paths []string) ([][]Range, error) {
	d := &dealer{inputs: inputs, paths: paths}
	if len(inputs) > 0 {
		d.last = inputs[len(inputs)-1].Bytes
	}
	if o.Limit > 0 {
		if err := d.limit(ctx, o); err != nil {
			return nil, err
		}
	}
	for i := range d.inputs {
		d.total += uint64(d.end(i))
	}
	d.n = uint64(o.Partitions)
	if size := uint64(o.PartitionBytes); d.n == 0 {
		d.n = min(max(1, (d.total+size-1)/size), mostPartitions)
	}
	return d.deal()
}

// mostPartitions is what file names have room for.
const mostPartitions = 99_999

// end is where input i ends.
func (d *dealer) end(i int) int64 {
	if i == len(d.inputs)-1 {
		return d.last
	}
	return d.inputs[i].Bytes
}

// border is where partition k starts, in all bytes.
func (d *dealer) border(k int) int64 {
	hi, lo := bits.Mul64(d.total, uint64(k))
	at, _ := bits.Div64(hi, lo, d.n) // k < n, so that it fits
	return int64(at)
}

func (d *dealer) deal() ([][]Range, error) {
	n := int(d.n)
	parts := make([][]Range, n)
	part, start := 0, int64(0) // the partition at hand, and where the file starts in all bytes
	for i := range d.inputs {
		end := d.end(i)
		for !d.goesOn(i) && part+1 < n && d.border(part+1) <= start {
			part++
		}
		if d.inputs[i].Rejected != "" {
			parts[part] = append(parts[part], Range{Input: i, Line: 1})
			start += end
			continue
		}
		cuts, err := d.cuts(i, start, part)
		if err != nil {
			return nil, err
		}
		from, line := int64(0), int64(1)
		for k, c := range cuts {
			if at := min(c.Offset, end); at > from {
				parts[part+k] = append(parts[part+k], Range{Input: i, From: from, To: at, Line: line})
				from, line = at, c.Line
			}
		}
		if from < end || end == 0 {
			last := part + len(cuts)
			parts[last] = append(parts[last], Range{Input: i, From: from, To: end, Line: line, Records: d.recordsOf(i)})
		}
		start += end
	}
	return parts, nil
}

// goesOn tells whether input i is of the same run as the one before, so that they stay together.
func (d *dealer) goesOn(i int) bool {
	return i > 0 && d.inputs[i].Unit > 0 && d.inputs[i].Unit == d.inputs[i-1].Unit
}

func (d *dealer) recordsOf(i int) int64 {
	if i == len(d.inputs)-1 {
		return d.records
	}
	return 0
}

// cuts returns where input i, which starts at start of all bytes, is cut: cut k ends partition part+k.
func (d *dealer) cuts(i int, start int64, part int) ([]ingest.Cut, error) {
	in := &d.inputs[i]
	cuttable := in.Layout == frame.Lines.String() || in.columns() && !in.wholeFile()
	if !cuttable || d.recordsOf(i) > 0 {
		return nil, nil
	}
	var wished []int64
	for k := part + 1; k < int(d.n) && d.border(k) < start+d.end(i); k++ {
		wished = append(wished, d.border(k)-start)
	}
	switch {
	case len(wished) == 0:
		return nil, nil
	case in.columns():
		return cutGroups(d.paths[i], in.Bytes, wished)
	case in.Compression == frame.None.String():
		return ingest.CutLines(d.paths[i], wished)
	case in.Compression == frame.Zstd.String():
		return cutFrames(d.paths[i], in.Bytes, wished)
	}
	return nil, nil
}

// cutFrames returns for each wished offset the first frame at or after it, or the file's end. The first line
// of a frame belongs to the partition before, even where the frame before ends a line: line 2 comes first.
func cutFrames(path string, size int64, wished []int64) ([]ingest.Cut, error) {
	frames, err := ingest.Frames(path)
	if err != nil {
		return nil, err
	}
	cuts := make([]ingest.Cut, len(wished))
	for k, at := range wished {
		cuts[k] = ingest.Cut{Offset: size, Line: 2}
		if i, _ := slices.BinarySearch(frames, at); i < len(frames) {
			cuts[k].Offset = frames[i]
		}
	}
	return cuts, nil
}

// limit finds where the first o.Limit records end, by framing them, and leaves out what comes after. A plain
// file of lines is cut there; from any other file, no more than its share of records is read.
func (d *dealer) limit(ctx context.Context, o *Options) error {
	left := o.Limit
	ranges := wholeRanges(d.inputs)
	for len(ranges) > 0 {
		n := runRanges(d.inputs, ranges)
		in := &d.inputs[ranges[n-1].Input]
		plain := in.Compression == frame.None.String() && in.Layout == frame.Lines.String()
		seen, end, read := int64(0), in.Bytes, int64(0)
		err := readRanges(ctx, d.inputs, ranges[:n], d.paths, limits{record: o.MaxRecord, window: o.MaxWindow, stored: o.stored}, &read,
			func(_ source, rec frame.Record, err error) error {
				if seen == left {
					end = startOf(rec, err)
					return errEnough
				}
				seen++
				return nil
			}, func(RangeSum) error { return nil })
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		ranges = ranges[n:]
		if left -= seen; left > 0 {
			continue
		}
		d.inputs, d.last = d.inputs[:len(d.inputs)-len(ranges)], in.Bytes
		switch {
		case err == nil: // the file ends with the last of them
		case plain:
			d.last = end
		default:
			d.records = seen
		}
		return nil
	}
	return nil
}

// errEnough ends a reading that has seen what it was for.
var errEnough = errors.New("enough")

// startOf is where a record starts, or what was rejected in its place.
func startOf(rec frame.Record, err error) int64 {
	var reject *turnmill.RecordError
	if errors.As(err, &reject) {
		return reject.Pos.Offset
	}
	return rec.Offset
}
