package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/turnmill/turnmill/ingest/frame"
)

// amplest is how many bytes an input's stored byte may become at most, as far as anybody has seen. Where that
// much is free nothing has to be estimated.
const amplest = 100

const (
	sampleRanges = 8         // of the inputs
	sampleBytes  = 512 << 10 // of text, from each
	turnBytes    = 96        // of a turn in the turns table, about
)

// enoughRoom refuses a run whose output cannot fit on the disk of OUT: it takes some records of the inputs to
// rows and goes by the bytes that they give. Standard input does not tell its size.
func enoughRoom(ctx context.Context, o *Options, s *setup, todo []int) error {
	if s.stream != nil || len(todo) == 0 {
		return nil
	}
	free, err := o.free()
	if err != nil {
		o.logger().Debug("free space is not known", "output", o.Output, "error", err)
		return nil
	}
	var ranges [][]Range // those of a run together
	var stored int64
	for _, i := range todo {
		for left := s.plan.Partitions[i]; len(left) > 0; {
			n := runRanges(s.plan.Inputs, left)
			if size := sizeOf(left[:n]); size > 0 {
				ranges = append(ranges, left[:n])
				stored += size
			}
			left = left[n:]
		}
	}
	if float64(stored)*amplest <= float64(free) {
		return nil
	}
	e := estimate{s: s, worker: s.newWorker()}
	for k := range min(len(ranges), sampleRanges) {
		if err := e.sample(ctx, ranges[k*len(ranges)/min(len(ranges), sampleRanges)]); err != nil {
			return err
		}
	}
	if e.stored == 0 {
		return nil
	}
	need := float64(stored) * float64(e.written) / float64(e.stored)
	switch {
	case need*3/4 > float64(free): // no estimate is off by more than that
		return fmt.Errorf("--output %s: about %s are needed, going by %s of the inputs, and %s are free there; try to free space, another --output, or --limit",
			o.Output, gigabytes(need), gigabytes(float64(e.stored)), gigabytes(float64(free)))
	case need > float64(free):
		o.logger().Warn("OUT may not fit", "output", o.Output, "needed", gigabytes(need), "free", gigabytes(float64(free)))
	}
	return nil
}

// enoughRoomToShuffle refuses to shuffle what cannot be written once more beside what lies there. Buckets take less
// than the shards that are made of them, and go as those come.
func enoughRoomToShuffle(o *Options, commits []*Commit) error {
	free, err := o.free()
	if err != nil {
		o.logger().Debug("free space is not known", "output", o.Output, "error", err)
		return nil
	}
	var need int64
	for _, c := range commits {
		for _, f := range c.Files {
			if path := unstaged(f.Path); path != f.Path {
				need += f.Bytes
			}
		}
	}
	for _, dir := range shuffledDirs { // of a merge that was stopped: what is written takes its place
		entries, _ := os.ReadDir(filepath.Join(o.Output, dir))
		for _, e := range entries {
			if info, err := e.Info(); err == nil && own(e.Name()) {
				free += info.Size()
			}
		}
	}
	if need > free {
		return fmt.Errorf("--output %s: about %s are needed to shuffle the rows, and %s are free there; try to free space, and run the same command again",
			o.Output, gigabytes(float64(need)), gigabytes(float64(free)))
	}
	return nil
}

func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }

// free returns the free bytes of the disk that OUT is, or will be, on.
func (o *Options) free() (int64, error) {
	if o.freeBytes != nil {
		return o.freeBytes()
	}
	dir, err := filepath.Abs(o.Output)
	for err == nil {
		var st syscall.Statfs_t
		if err = syscall.Statfs(dir, &st); err == nil {
			return int64(st.Bavail) * int64(st.Bsize), nil
		}
		if parent := filepath.Dir(dir); errors.Is(err, syscall.ENOENT) && parent != dir {
			dir, err = parent, nil
		}
	}
	return 0, err
}

// estimate is what some records of the inputs gave.
type estimate struct {
	s               *setup
	worker          *worker
	stored, written int64
}

// sizeOf returns the stored bytes of ranges.
func sizeOf(ranges []Range) (n int64) {
	for _, r := range ranges {
		n += r.To - r.From
	}
	return n
}

// sample takes the first records of a range, or of a run, to rows. What cannot be read is the run's to say.
func (e *estimate) sample(ctx context.Context, ranges []Range) error {
	in := &e.s.plan.Inputs[ranges[0].Input]
	config := &e.s.plan.Config
	var read, text int64
	out := e.s.newOutcome()
	times := int64(1)
	if config.Shuffle { // rows lie there twice, until the first writing is removed
		times = 2
	}
	err := readRanges(ctx, e.s.plan.Inputs, ranges, e.s.paths, limits{record: config.MaxRecord, window: config.MaxWindow}, &read, func(from source, rec frame.Record, err error) error {
		if err == nil {
			e.worker.record(from, rec, out)
		}
		text += int64(len(rec.Data))
		for i := range out.rows.Rows {
			if e.s.plan.audits() {
				break
			}
			e.written += times * rowBytes(e.s.profile, len(out.rows.Rows[i].IDs))
		}
		e.written += times*int64(len(out.turns))*turnBytes + int64(len(out.rejects))/8
		out.reset()
		if text >= sampleBytes {
			return errEnough
		}
		return nil
	}, func(RangeSum) error { return nil })
	switch {
	case err == nil:
		e.stored += sizeOf(ranges)
	case ctx.Err() != nil:
		return err
	case !errors.Is(err, errEnough): // the run will meet it, where it costs no more than it must
	case in.Compression == frame.None.String() && !in.columns():
		e.stored += text
	default: // some of it is read ahead: the estimate is rather too small
		e.stored += read
	}
	return nil
}
