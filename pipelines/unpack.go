package pipelines

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/stats"
)

// unpacker decodes framed records. It serves one goroutine.
type unpacker struct {
	decoders map[string]formats.Decoder // one a format that the plan names
	decoded  formats.Decoded
	split    jsonscan.Doc
	parts    []frame.Part
	files    []formats.Part // of a run
	secrets  *secrets.Scrubber
}

// partsOf cuts a record into the files that it came from.
func (u *unpacker) partsOf(from source, data []byte) []formats.Part {
	u.files = u.files[:0]
	start := int64(0)
	for _, p := range from.parts {
		u.files = append(u.files, formats.Part{Name: p.path, Data: data[start:p.end:p.end]})
		start = p.end
	}
	return u.files
}

func newUnpacker(inputs []PlanInput, o formats.Options, mode secrets.Mode) unpacker {
	u := unpacker{decoders: map[string]formats.Decoder{}, secrets: secrets.New(mode)}
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
		if from.parts != nil {
			err := decoder.(formats.PartsDecoder).DecodeParts(u.partsOf(from, raw.Data), &u.decoded)
			u.decoded.NoteTexts()
			if err == nil {
				u.scrub(counts)
			}
			yield(raw, err)
			return
		}
		err := decoder.Decode(raw.Data, &u.decoded)
		if err == nil || !u.spliced(from, raw, err, counts) {
			u.decoded.NoteTexts()
			if err == nil {
				u.scrub(counts)
			}
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
				u.decoded.NoteTexts()
				if err == nil {
					u.scrub(counts)
				}
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
