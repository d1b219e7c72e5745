package frame

import (
	"errors"
	"fmt"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// DefaultMaxRecord is the size in bytes above which a record is rejected, unless Options say otherwise.
const DefaultMaxRecord = 256 << 20

// Record is one framed record. Data is the input's bytes from Offset on; it is valid, and may be written
// to, until the next call of Next.
type Record struct {
	Data   []byte
	Line   int64 // from 1, where the record starts; 0 for Whole
	Offset int64 // of Data[0], in decompressed bytes
	Bytes  int64 // Parquet: of the row group at Offset, which holds the record among others; else 0
}

// Options say where a stretch of input lies and how large a record may be. The zero value fits a whole
// file.
type Options struct {
	MaxRecord int64 // bytes; 0 means DefaultMaxRecord, more than jsonscan.MaxBytes means that
	Offset    int64 // of the reader's first byte
	Line      int64 // of the reader's first byte; 0 means 1
}

// Framer hands out the records of one stretch of input. It serves one goroutine.
type Framer struct {
	src    source
	layout Layout
	max    int64
	next   func() (Record, error)
	count  int64
	notes  turnmill.Notes
	last   int // bytes of the last record

	place place   // Array: what is due
	key   []byte  // Array: the first key of a good element, with quotes
	walk  machine // Array, Values: the scan of the current value
	probe machine // Values: the scan of a record that another may have taken in
	solid int64   // Array, Values: where in the input the damage passed so far ends
}

// New returns a framer over r, which starts at a place where a record may start: for Lines the start of
// the file or just after an LF, for the other layouts the start of the file.
func New(layout Layout, r io.Reader, o Options) *Framer {
	f := &Framer{layout: layout, max: o.MaxRecord}
	if f.max <= 0 {
		f.max = DefaultMaxRecord
	}
	f.max = min(f.max, jsonscan.MaxBytes)
	f.src = source{in: r, offset: o.Offset, line: max(o.Line, 1), limit: int(f.max), grain: grain}
	switch layout {
	case Array:
		f.next = f.nextElement
	case Values:
		f.next = f.nextValue
	case Whole:
		f.next = f.whole
	default:
		f.next = f.nextLine
	}
	return f
}

// Next returns one record. A *turnmill.RecordError costs that record only (its Pos has no Path: the caller
// knows it) and the caller goes on; io.EOF ends the input; any other error is final: the input could not
// be read on, and what came before it stays good. Reason names such an error's place in the ledger.
func (f *Framer) Next() (Record, error) {
	f.src.relax(f.last)
	f.last = 0
	rec, err := f.next()
	if err == nil {
		f.last = len(rec.Data)
		f.count++
		return rec, nil
	}
	if reject := (*turnmill.RecordError)(nil); errors.As(err, &reject) {
		f.count++
	}
	return Record{}, err
}

// Count returns the number of records so far: those handed out and those rejected.
func (f *Framer) Count() int64 { return f.count }

// Notes returns what was passed over so far: byte order marks, and runs of NUL bytes beside records.
func (f *Framer) Notes() turnmill.Notes { return f.notes }

// position names the place of a record of size bytes that starts at the window's front.
func (f *Framer) position(size int64) turnmill.Pos {
	pos := turnmill.Pos{Frame: -1, Line: f.src.line, Offset: f.src.offset, Bytes: size}
	if f.layout == Whole {
		pos.Line = 0
	}
	return pos
}

func reject(pos turnmill.Pos, reason turnmill.Reason, err error, hint string) error {
	return &turnmill.RecordError{Pos: pos, Step: "frame", Reason: reason, Err: err, Hint: hint}
}

func (f *Framer) tooLarge(pos turnmill.Pos) error {
	return reject(pos, turnmill.ReasonTooLarge,
		fmt.Errorf("record of %d bytes, above the limit of %d", pos.Bytes, f.max), "a larger --max-record")
}

// cut rejects the record that was being read when the input failed. The failure itself is the next error.
func (f *Framer) cut(pos turnmill.Pos) error {
	return reject(pos, turnmill.ReasonTruncated,
		fmt.Errorf("the input ends inside the record: %w", f.src.err), "to fetch or write the file again")
}
