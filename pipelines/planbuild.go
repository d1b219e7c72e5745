package pipelines

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/ingest/parquet"
)

// inventory lists the inputs and what each is. window is what the most demanding of them takes to be decoded:
// the window of a zstd file, or the pages of a Parquet file.
func inventory(ctx context.Context, o *Options) (inputs []PlanInput, paths []string, window int64, err error) {
	if _, err := formatNamed(o.Format); err != nil {
		return nil, nil, 0, &UsageError{fmt.Errorf("--format: %w", err)}
	}
	found, err := ingest.Discover(o.Inputs)
	if err != nil {
		return nil, nil, 0, &UsageError{err}
	}
	var pieces []*piece
	for i, f := range found {
		if ctx.Err() != nil {
			return nil, nil, 0, context.Cause(ctx)
		}
		if !utf8.ValidString(f.Path) {
			return nil, nil, 0, &UsageError{fmt.Errorf("input %q: its name is not UTF-8, which the files of a run are; rename it", f.Path)}
		}
		in, part, need, err := examine(f, o)
		if err != nil {
			return nil, nil, 0, err
		}
		if part != nil {
			part.input = i
			pieces = append(pieces, part)
		}
		inputs, paths, window = append(inputs, in), append(paths, f.Path), max(window, need)
	}
	inputs, paths = joinRuns(inputs, paths, pieces, o.MaxRecord)
	for i := range inputs {
		inputs[i].Detail = o.hidden(inputs[i].Detail)
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

// examine looks at one file's ends and head, and at all of one that may be a part of a run. What cannot be
// opened ends the plan; what can be read and makes no sense is rejected, and the rest goes on.
func examine(f ingest.Input, o *Options) (PlanInput, *piece, int64, error) {
	in := PlanInput{Path: f.Name}
	var err error
	if in.SHA256, in.Bytes, err = ingest.HeadTail(f.Path); err != nil {
		return in, nil, 0, err
	}
	head, damage := ingest.ReadHead(f.Path, o.MaxWindow)
	if damage != nil && frame.Reason(damage) == turnmill.ReasonUnreadable {
		return in, nil, 0, damage
	}
	if parquet.Is(head.Data) {
		need, err := examineParquet(&in, head, f.Path, o)
		return in, nil, need, err
	}
	if err := recognise(&in, head, damage, o); err != nil {
		return in, nil, 0, err
	}
	part, err := look(&in, f.Path, head, o)
	if err != nil || in.Rejected != "" { // it is not read
		return in, part, 0, err
	}
	return in, part, int64(head.Window), nil
}

// recognise tells an input's compression, format and layout from its head, or why it is rejected.
func recognise(in *PlanInput, head ingest.Head, damage error, o *Options) error {
	in.Compression = head.Compression.String()
	if damage != nil && len(head.Data) == 0 { // nothing to go by: damaged from its first byte on
		in.Rejected, in.Detail = frame.Reason(damage), detail(damage)
		return nil
	}
	complete := head.Complete && damage == nil
	var d formats.Detection
	var err error
	if o.Format == "auto" {
		d, err = formats.Detect(head.Data, complete)
	} else {
		d, err = formats.DetectAs(o.Format, head.Data, complete)
	}
	if err != nil {
		var reject *turnmill.RecordError
		if !errors.As(err, &reject) {
			return fmt.Errorf("%s: %w", in.Path, err)
		}
		if damage != nil { // too little could be read for a format to be told
			in.Rejected, in.Detail = frame.Reason(damage), detail(damage)
			return nil
		}
		return in.reject(err)
	}
	in.Format, in.Layout = d.Format.Name, d.Layout.String()
	return nil
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
