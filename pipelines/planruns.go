package pipelines

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// piece is a file of a format whose runs lie in several.
type piece struct {
	formats.Parts
	format formats.Format
	input  int
	folder string // where it really lies, with a slash at its end
	bytes  int64  // decompressed
}

// look reads an input whole and tells what it holds of a run; nil where nothing. What cannot be read is rejected.
func look(in *PlanInput, path string, head ingest.Head, o *Options) (*piece, error) {
	folder := filepath.ToSlash(filepath.Dir(path)) + "/"
	if in.Rejected != "" {
		if in.Bytes == 0 {
			return &piece{folder: folder}, nil
		}
		return nil, nil
	}
	format, err := formats.ByName(in.Format)
	if err != nil || format.Join == nil {
		return nil, err
	}
	data := head.Data
	if !head.Complete {
		if data, err = readWhole(in, path, o); err != nil {
			return nil, err
		}
		if in.Rejected != "" {
			return nil, nil
		}
	}
	p := &piece{Parts: format.Look(data), format: format, folder: folder, bytes: int64(len(data))}
	if p.Kinds == 0 {
		in.refuse(turnmill.ReasonBadJSON, "no part of a run in it is whole; try to fetch or write the file again")
		return nil, nil
	}
	return p, nil
}

// refuse rejects a part of a run.
func (in *PlanInput) refuse(reason turnmill.Reason, format string, args ...any) {
	in.Rejected, in.Detail = reason, fmt.Sprintf(format, args...)
	in.Format, in.Layout, in.Unit = "", "", 0
}

// readWhole reads an input up to --max-record.
func readWhole(in *PlanInput, path string, o *Options) ([]byte, error) {
	var read int64
	_, text, err := openRange(in, Range{To: in.Bytes, Line: 1}, path, limits{window: o.MaxWindow}, &read)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	data, err := io.ReadAll(io.LimitReader(text, o.MaxRecord+1))
	switch {
	case err != nil && frame.Reason(err) == turnmill.ReasonUnreadable:
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		in.refuse(frame.Reason(err), "%s", detail(err))
	case int64(len(data)) > o.MaxRecord:
		in.refuse(turnmill.ReasonTooLarge, "a part of a run of more than %d bytes; try a larger --max-record", o.MaxRecord)
	}
	return data, nil
}

// joinRuns finds the files that form one run together, numbers the runs and puts the files of each one after
// another, at the place of the first. What a run lacks rejects its files.
//
//	inputs    e1.json  s1.json  chat.jsonl  e2.json  s2.json  s9.json
//	runs      1        1                    1        1        missing_companion
//	after     e1.json  e2.json  s1.json  s2.json  chat.jsonl  s9.json
func joinRuns(inputs []PlanInput, paths []string, pieces []*piece, maxRecord int64) ([]PlanInput, []string) {
	if len(pieces) == 0 {
		return inputs, paths
	}
	j := &joiner{maxRecord: maxRecord}
	for _, p := range pieces {
		if p.bytes == 0 {
			j.empty = append(j.empty, p)
			continue
		}
		j.pieces, j.up, j.sizes = append(j.pieces, p), append(j.up, len(j.up)), append(j.sizes, p.bytes)
	}
	j.byKeys()
	j.byFolders(inputs)
	runs := j.runs()
	of := map[int]int{} // run of an input
	units := 0
	for k, run := range runs {
		var kinds uint16
		var size int64
		for _, p := range run {
			kinds |= p.Kinds
			size += p.bytes
		}
		lacks := run[0].format.Join.Lacks(kinds)
		for _, p := range run {
			switch in := &inputs[p.input]; {
			case in.Rejected != "":
			case lacks != "":
				in.refuse(turnmill.ReasonMissingPart, "%s; try to name the files of the whole run as inputs", lacks)
			case size > maxRecord:
				in.refuse(turnmill.ReasonTooLarge, "part of a run of %d files and %d bytes, above the limit of %d; try a larger --max-record", len(run), size, maxRecord)
			case len(run) > 1:
				of[p.input] = k + 1
			}
		}
	}
	var newInputs []PlanInput
	var newPaths []string
	for i := range inputs {
		k := of[i]
		if k == 0 {
			newInputs, newPaths = append(newInputs, inputs[i]), append(newPaths, paths[i])
			continue
		}
		if runs[k-1] == nil { // it stands with the first file of its run
			continue
		}
		units++
		for _, p := range runs[k-1] {
			inputs[p.input].Unit = units
			newInputs, newPaths = append(newInputs, inputs[p.input]), append(newPaths, paths[p.input])
		}
		runs[k-1] = nil
	}
	return newInputs, newPaths
}
