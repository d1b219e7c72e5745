package pipelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// partitionBytes is how many stored bytes make a partition unless --partitions says otherwise.
const partitionBytes = 256 << 20

// inventory lists the inputs and what each is. window is the largest zstd window that one of them needs.
func inventory(ctx context.Context, o *Options) (inputs []PlanInput, paths []string, window int64, err error) {
	if _, err := formatNamed(o.Format); err != nil {
		return nil, nil, 0, &UsageError{fmt.Errorf("--format: %w", err)}
	}
	found, err := ingest.Discover(o.Inputs)
	if err != nil {
		return nil, nil, 0, &UsageError{err}
	}
	for _, f := range found {
		if ctx.Err() != nil {
			return nil, nil, 0, context.Cause(ctx)
		}
		in, need, err := examine(f, o)
		if err != nil {
			return nil, nil, 0, err
		}
		inputs, paths, window = append(inputs, in), append(paths, f.Path), max(window, need)
	}
	return inputs, paths, window, nil
}

func formatNamed(name string) (string, error) {
	if name == "auto" {
		return name, nil
	}
	f, err := formats.ByName(name)
	return f.Name, err
}

// examine looks at one file's ends and head. What cannot be opened ends the plan; what can be read and
// makes no sense is rejected, and the rest goes on.
func examine(f ingest.Input, o *Options) (PlanInput, int64, error) {
	in := PlanInput{Path: f.Name}
	var err error
	if in.SHA256, in.Bytes, err = ingest.HeadTail(f.Path); err != nil {
		return in, 0, err
	}
	head, damage := ingest.ReadHead(f.Path, o.MaxWindow)
	in.Compression = head.Compression.String()
	if damage != nil && frame.Reason(damage) == turnmill.ReasonUnreadable {
		return in, 0, damage
	}
	if damage != nil && len(head.Data) == 0 { // nothing to go by: damaged from its first byte on
		in.Rejected, in.Detail = frame.Reason(damage), detail(damage)
		return in, 0, nil
	}
	complete := head.Complete && damage == nil
	var d formats.Detection
	if o.Format == "auto" {
		d, err = formats.Detect(head.Data, complete)
	} else {
		d, err = formats.DetectAs(o.Format, head.Data, complete)
	}
	if err != nil {
		var reject *turnmill.RecordError
		if !errors.As(err, &reject) {
			return in, 0, fmt.Errorf("%s: %w", f.Name, err)
		}
		if damage != nil { // too little could be read for a format to be told
			in.Rejected, in.Detail = frame.Reason(damage), detail(damage)
			return in, 0, nil
		}
		plain := *reject
		plain.Step, plain.Pos = "", turnmill.Pos{}
		in.Rejected, in.Detail = reject.Reason, plain.Error()
		return in, 0, nil
	}
	in.Format, in.Layout = d.Format.Name, d.Layout.String()
	return in, int64(head.Window), nil
}

// detail returns an error's words without the path of this machine.
func detail(err error) string {
	var damage *frame.DamageError
	var window *frame.WindowError
	switch {
	case errors.As(err, &damage):
		return damage.Error()
	case errors.As(err, &window):
		return window.Error()
	}
	return err.Error()
}

// partition deals the inputs out: n stretches of equal stored bytes, each border moved on to the next
// place where its file can be cut. Only plain files of lines are cut; others belong whole to the partition
// in which they start.
func partition(inputs []PlanInput, paths []string, n int) ([][]Range, error) {
	var total int64
	for i := range inputs {
		total += inputs[i].Bytes
	}
	if n == 0 {
		n = int(max(1, (total+partitionBytes-1)/partitionBytes))
	}
	border := func(k int) int64 { return int64(float64(total) / float64(n) * float64(k)) }
	if total <= 1<<53/int64(n) {
		border = func(k int) int64 { return total * int64(k) / int64(n) }
	}
	parts := make([][]Range, n)
	part, start := 0, int64(0) // the partition at hand, and where the file starts in all bytes
	for i := range inputs {
		in := &inputs[i]
		for part+1 < n && border(part+1) <= start {
			part++
		}
		if in.Rejected != "" {
			parts[part] = append(parts[part], Range{Input: i, Line: 1})
			start += in.Bytes
			continue
		}
		cuts, err := cutsOf(in, paths[i], start, part, n, border)
		if err != nil {
			return nil, err
		}
		from, line := int64(0), int64(1)
		for k, c := range cuts {
			if c.Offset > from {
				parts[part+k] = append(parts[part+k], Range{i, from, c.Offset, line})
			}
			from, line = c.Offset, c.Line
		}
		last := part + len(cuts)
		if from < in.Bytes || in.Bytes == 0 {
			parts[last] = append(parts[last], Range{i, from, in.Bytes, line})
		}
		start += in.Bytes
	}
	return parts, nil
}

// cutsOf returns where a file that starts at start of all bytes is cut: cut k ends partition part+k.
func cutsOf(in *PlanInput, path string, start int64, part, n int, border func(int) int64) ([]ingest.Cut, error) {
	if in.Compression != frame.None.String() || in.Layout != frame.Lines.String() {
		return nil, nil
	}
	var wished []int64
	for k := part + 1; k < n && border(k) < start+in.Bytes; k++ {
		wished = append(wished, border(k)-start)
	}
	if len(wished) == 0 {
		return nil, nil
	}
	return ingest.CutLines(path, wished)
}
