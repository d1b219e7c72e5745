package pipelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/ingest/parquet"
)

// What the head of a Parquet file is: its format is told from so many rows, or so many bytes of them.
const (
	headRows  = 32
	headBytes = formats.HeadBytes
)

// columns tells whether an input is read by its columns.
func (in *PlanInput) columns() bool { return in.Layout == frame.Parquet.String() }

// examineParquet tells a Parquet file's format from its first rows, or why it is rejected, and what memory
// reading it takes.
func examineParquet(in *PlanInput, head ingest.Head, path string, o *Options) (need int64, err error) {
	in.Compression = head.Compression.String()
	if head.Compression != frame.None {
		in.Rejected = turnmill.ReasonBadParquet
		in.Detail = fmt.Sprintf("a Parquet file inside %s: its footer comes last and is read first; try to decompress the file, its pages are compressed themselves", in.Compression)
		return 0, nil
	}
	f, err := parquet.Open(path, nil)
	if err != nil {
		return 0, in.reject(err)
	}
	defer f.Close()
	rows, all, err := f.Samples(headRows, headBytes, o.MaxRecord)
	if err != nil {
		return 0, in.reject(err)
	}
	d, err := formats.DetectRows(o.Format, rows, all)
	if err != nil {
		return 0, in.reject(err)
	}
	in.Format, in.Layout = d.Format.Name, d.Layout.String()
	return f.Need(), nil
}

// reject gives an input up for what its examination found, unless it could not be read.
func (in *PlanInput) reject(err error) error {
	var reject *turnmill.RecordError
	if !errors.As(err, &reject) {
		return fmt.Errorf("%s: %w", in.Path, err)
	}
	plain := *reject
	plain.Step, plain.Pos = "", turnmill.Pos{}
	in.Rejected, in.Detail = reject.Reason, plain.Error()
	return nil
}

// readRows is readRange for a Parquet file: the row groups that start in the range. Its bytes are read once
// for the rows and once for the sum.
func readRows(ctx context.Context, in *PlanInput, rng Range, path string, l limits, read *int64, visit visitor, sum *RangeSum) error {
	stored, err := ingest.OpenRange(path, rng.From, rng.To)
	if err != nil {
		return err
	}
	defer stored.Close()
	if err := sameSize(path, in.Bytes); err != nil {
		return err
	}
	var got int64 // bytes read, the footer and some pages more than once
	f, err := parquet.Open(path, &got)
	if err != nil {
		return changedFooter(path, err)
	}
	defer f.Close()
	told := int64(0)
	tell := func(n int64) { *read, told = *read+n-told, n }
	r := f.NewReader(parquet.Options{From: rng.From, To: rng.To, MaxRecord: l.record, Whole: in.wholeFile()})
	from := source{path: in.Path, frame: -1, format: in.Format, layout: frame.Parquet}
	metered := func(from source, rec frame.Record, err error) error {
		tell(max(told, min(got, rng.To-rng.From)))
		return visit(from, rec, err)
	}
	if _, err := visitAll(ctx, r, from, rng.Records, metered, sum, nil); err != nil {
		return err
	}
	tell(rng.To - rng.From)
	sum.notes = r.Notes()
	sum.SHA256, err = stored.Sum()
	return err
}

// changedFooter is the error for a footer that was sound when the plan was made.
func changedFooter(path string, err error) error {
	var reject *turnmill.RecordError
	if !errors.As(err, &reject) {
		return err
	}
	return fmt.Errorf("%s: %w: %w; try to put the file back, or to plan anew with --restart", path, ingest.ErrChanged, reject.Err)
}

// wholeFile tells whether all rows of an input are one record.
func (in *PlanInput) wholeFile() bool {
	f, err := formats.ByName(in.Format)
	return err == nil && !f.Rows()
}

// cutGroups returns for each wished offset the first row group at or after it, or the file's end.
func cutGroups(path string, size int64, wished []int64) ([]ingest.Cut, error) {
	f, err := parquet.Open(path, nil)
	if err != nil {
		return nil, changedFooter(path, err)
	}
	defer f.Close()
	if !f.Cuttable {
		return nil, nil
	}
	cuts := make([]ingest.Cut, len(wished))
	for k, at := range wished {
		cuts[k] = ingest.Cut{Offset: size, Line: f.Rows() + 1}
		i, _ := slices.BinarySearchFunc(f.Groups, at, func(g parquet.Group, at int64) int { return int(max(-1, min(1, g.From-at))) })
		if i < len(f.Groups) {
			cuts[k] = ingest.Cut{Offset: f.Groups[i].From, Line: f.Groups[i].Row}
		}
	}
	return cuts, nil
}

// parquetNeed returns what memory reading an input takes.
func parquetNeed(path string) (int64, error) {
	f, err := parquet.Open(path, nil)
	if err != nil {
		return 0, changedFooter(path, err)
	}
	defer f.Close()
	return f.Need(), nil
}
