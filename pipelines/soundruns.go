package pipelines

import (
	"errors"
	"fmt"

	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// unsoundRuns tells what of the runs of several files no turnmill writes.
func (p *Plan) unsoundRuns() error {
	last := 0
	for i := range p.Inputs {
		in := &p.Inputs[i]
		switch {
		case in.Unit == 0 || i > 0 && in.Unit == last && p.Inputs[i-1].Unit == last:
			continue
		case in.Unit != last+1:
			return fmt.Errorf("input %s belongs to run %d, after run %d", in.Path, in.Unit, last)
		case i+1 == len(p.Inputs) || p.Inputs[i+1].Unit != in.Unit:
			return fmt.Errorf("input %s is all of run %d", in.Path, in.Unit)
		}
		last = in.Unit
	}
	return errors.Join(p.unsoundParts()...)
}

// unsoundParts looks at the inputs of runs of several files.
func (p *Plan) unsoundParts() []error {
	var errs []error
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if in.Unit == 0 {
			continue
		}
		if f, err := formats.ByName(in.Format); in.Rejected != "" || err != nil || f.Join == nil || in.Layout != frame.Whole.String() ||
			i > 0 && p.Inputs[i-1].Unit == in.Unit && p.Inputs[i-1].Format != in.Format {
			errs = append(errs, fmt.Errorf("input %s, format %q, layout %q, is no part of a run", in.Path, in.Format, in.Layout))
		}
	}
	for i, ranges := range p.Partitions {
		for len(ranges) > 0 {
			n := runRanges(p.Inputs, ranges)
			if first := ranges[0].Input; p.Inputs[first].Unit > 0 &&
				(first > 0 && p.Inputs[first-1].Unit == p.Inputs[first].Unit || !p.wholeRun(ranges[:n])) {
				errs = append(errs, fmt.Errorf("partition %d reads a part of run %d", i, p.Inputs[first].Unit))
			}
			ranges = ranges[n:]
		}
	}
	return errs
}

// wholeRun tells whether ranges are all files of a run, each of them whole and in order.
func (p *Plan) wholeRun(ranges []Range) bool {
	next := ranges[0].Input
	for _, r := range ranges {
		if r.Input != next || r.From != 0 || r.To != p.Inputs[r.Input].Bytes || r.Records != 0 {
			return false
		}
		next++
	}
	return next == len(p.Inputs) || p.Inputs[next].Unit != p.Inputs[next-1].Unit
}
