package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Options say which rows are read, and how.
type Options struct {
	From, To  int64 // stored bytes: the row groups whose From lies there
	MaxRecord int64 // bytes of JSON; 0 means frame.DefaultMaxRecord
	// Whole makes one record of all rows, a line each, for formats whose records are files.
	Whole bool
}

// Reader hands out rows as records. It serves one goroutine, and one Reader a File at a time.
//
// Line is the number of the row in the file, from 1; Offset and Bytes are those of its row group, since a row
// lies in no one place. Damage costs the rest of its row group: each of its rows is rejected, or, where a damaged
// footer says more than there can be, all of them as one record.
type Reader struct {
	file  *File
	o     Options
	todo  []int // row groups to come
	group Group
	row   int64 // rows of group so far
	lost  error // the damage that ended the group
	rows  assembler
	last  int // size of late rows, decaying
	whole wholeRows
	count int64
}

// wholeRows are the rows so far.
type wholeRows struct {
	data []byte
	size int64 // larger than data where they are too large for a record
	done bool
}

// NewReader returns a reader of a part of the file.
func (f *File) NewReader(o Options) *Reader {
	r := &Reader{file: f, o: o}
	if r.o.MaxRecord <= 0 {
		r.o.MaxRecord = frame.DefaultMaxRecord
	}
	r.o.MaxRecord = min(r.o.MaxRecord, jsonscan.MaxBytes)
	r.rows.max = r.o.MaxRecord
	for i := range f.Groups {
		if f.Groups[i].From >= o.From && f.Groups[i].From < o.To {
			r.todo = append(r.todo, i)
		}
	}
	return r
}

// Count returns the number of records so far, rejected ones included.
func (r *Reader) Count() int64 { return r.count }

// Notes returns what was left out or opened so far.
func (r *Reader) Notes() turnmill.Notes { return r.rows.notes }

// Next returns one record, valid until the next call. A *turnmill.RecordError costs that record only; io.EOF
// ends the part; any other error is one of reading, and final.
func (r *Reader) Next() (frame.Record, error) {
	rec, err := r.next()
	if r.o.Whole {
		rec, err = r.nextWhole(rec, err)
	}
	var reject *turnmill.RecordError
	if err == nil || errors.As(err, &reject) {
		r.count++
	}
	return rec, err
}

// next returns the next row.
func (r *Reader) next() (frame.Record, error) {
	for r.row == r.group.Rows {
		if err := r.nextGroup(); err != nil {
			return frame.Record{}, err
		}
	}
	r.relax()
	line := r.group.Row + r.row
	r.row++
	if r.lost == nil {
		data, err := r.rows.row(r.file.root)
		switch {
		case err == nil:
			r.last = max(len(data), r.last-r.last/8)
			return frame.Record{Data: data, Line: line, Offset: r.group.Offset, Bytes: r.group.Bytes}, nil
		case err == errLarge:
			return frame.Record{}, r.reject(line, turnmill.ReasonTooLarge,
				fmt.Errorf("a row of more than %d bytes as JSON, which is the limit", r.o.MaxRecord), "a larger --max-record")
		case r.file.in.err != nil:
			return frame.Record{}, r.file.in.err
		}
		r.lost = fmt.Errorf("from row %d on the row group at byte %d cannot be read: %w", line, r.group.Offset, err)
		if rest := r.group.Rows - r.row + 1; rest > r.file.mostLost(&r.group) {
			r.lost = fmt.Errorf("%w; this stands for all %d rows that the group says are left, more than it has bytes", r.lost, rest)
			r.row = r.group.Rows
		}
	}
	return frame.Record{}, r.reject(line, turnmill.ReasonBadParquet, r.lost, "to fetch or write the file again")
}

func (r *Reader) reject(line int64, reason turnmill.Reason, err error, hint string) error {
	pos := turnmill.Pos{Frame: -1, Line: line, Offset: r.group.Offset, Bytes: r.group.Bytes}
	return &turnmill.RecordError{Pos: pos, Step: "parquet", Reason: reason, Err: err, Hint: hint}
}

// nextGroup opens the columns of the next row group.
func (r *Reader) nextGroup() error {
	if len(r.todo) == 0 {
		r.group, r.row = Group{}, 0
		return io.EOF
	}
	i := r.todo[0]
	r.todo = r.todo[1:]
	r.group, r.row, r.lost = r.file.Groups[i], 0, nil
	for k, l := range r.file.leaves {
		if !l.skipped {
			l.open(&r.file.meta.RowGroups[i].Columns[k].MetaData, r.file.in, &r.file.unpack)
		}
	}
	return nil
}

// keepRow is the size of row up to which the buffer is never given back.
const keepRow = 1 << 20

// relax gives a large buffer back when late rows need much less.
func (r *Reader) relax() {
	if size := cap(r.rows.buf); size > keepRow && r.last < size/4 {
		r.rows.buf = nil
	}
}

// nextWhole gathers rows, of which rec is one, until there are no more. Lost ones go through.
func (r *Reader) nextWhole(rec frame.Record, err error) (frame.Record, error) {
	w := &r.whole
	for ; err == nil; rec, err = r.next() {
		w.size += int64(len(rec.Data)) + 1
		if w.size > r.o.MaxRecord {
			w.data = nil
			continue
		}
		from := len(w.data)
		w.data = append(append(w.data, rec.Data...), '\n')
		for i, c := range w.data[from : len(w.data)-1] {
			if c == '\n' { // a blank of a value that was JSON text: strings hold none
				w.data[from+i] = ' '
			}
		}
	}
	if err != io.EOF || w.done || w.size == 0 {
		return frame.Record{}, err
	}
	w.done = true
	if w.size > r.o.MaxRecord {
		return frame.Record{}, &turnmill.RecordError{Pos: turnmill.Pos{Frame: -1, Bytes: r.file.size}, Step: "parquet", Reason: turnmill.ReasonTooLarge,
			Err: fmt.Errorf("rows of %d bytes as JSON, which are one record, above the limit of %d", w.size, r.o.MaxRecord), Hint: "a larger --max-record"}
	}
	return frame.Record{Data: w.data, Bytes: r.file.size}, nil
}

// Samples returns the first rows that can be read, up to most of them or so many bytes, whether they are all,
// and, where there is none, why.
func (f *File) Samples(most, size int, maxRecord int64) (rows [][]byte, all bool, err error) {
	r := f.NewReader(Options{To: f.size, MaxRecord: maxRecord})
	for len(rows) < most && size > 0 {
		rec, rerr := r.Next()
		var reject *turnmill.RecordError
		switch {
		case rerr == io.EOF:
			return rows, true, f.none(rows, err)
		case errors.As(rerr, &reject):
			if err == nil {
				err = rerr
			}
			if r.lost != nil { // the other rows of the group are lost too
				r.row = r.group.Rows
			}
			continue
		case rerr != nil:
			return nil, false, rerr
		}
		rows = append(rows, append([]byte(nil), rec.Data...))
		size -= len(rec.Data)
	}
	return rows, false, nil
}

// none is why no row could be read.
func (f *File) none(rows [][]byte, err error) error {
	if len(rows) > 0 {
		return nil
	}
	if f.Rows() == 0 {
		return refuse(turnmill.ReasonNoRecords, "", "it holds no rows")
	}
	return err
}
