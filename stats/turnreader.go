package stats

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/turnmill/turnmill"
)

// TurnReader reads a turns table in batches. It serves one goroutine and holds a page a column.
type TurnReader struct {
	name   string
	src    *source
	groups []parquet.RowGroup
	rows   int64 // of the whole file

	cursors []*cursor
	left    int64 // rows of the group under way
	err     error
}

// NewTurnReader opens the table of size bytes in r, which it reads once as a whole to compare it with its
// seal. name stands in errors. With columns, only those are decoded, and all other fields of the rows stay
// zero: id, turn and trajectory alone cost a fraction of all. Every error that blames the file wraps
// turnmill.ErrCorrupt; a failure to read does not.
func NewTurnReader(r io.ReaderAt, size int64, name string, columns ...string) (_ *TurnReader, err error) {
	t := &TurnReader{name: name, src: &source{r: r}}
	defer t.guard(&err)
	if err := checkSeal(t.src, size); err != nil {
		return nil, t.corrupt(err)
	}
	file, err := parquet.OpenFile(t.src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(pageBytes))
	if err != nil {
		return nil, t.corrupt(err)
	}
	if got, want := file.Schema().String(), turnSchema().String(); got != want {
		return nil, t.corrupt(fmt.Errorf("its columns are not those of the turns table, but %s", got))
	}
	t.groups, t.rows = file.RowGroups(), file.NumRows()
	return t, t.choose(columns)
}

// choose makes a cursor for each column that is wanted.
func (t *TurnReader) choose(columns []string) error {
	unknown := slices.Clone(columns)
	for i, c := range turnColumns() {
		if len(columns) == 0 || slices.Contains(columns, c.name) {
			t.cursors = append(t.cursors, &cursor{column: c, index: i})
			unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == c.name })
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("%s: the turns table has no column %q", t.name, unknown[0])
	}
	return nil
}

// Rows returns the number of rows of the table.
func (t *TurnReader) Rows() int64 { return t.rows }

// Read reads up to len(rows) rows and returns how many; none only with an error. io.EOF says that all rows
// were read. What the rows refer to is theirs to keep.
func (t *TurnReader) Read(rows []TurnRow) (n int, err error) {
	if t.err != nil {
		return 0, t.err
	}
	defer func() {
		if err != nil {
			t.err = err
			t.release()
		}
	}()
	defer t.guard(&err)
	for t.left == 0 {
		if err := t.nextGroup(); err != nil {
			return 0, err
		}
	}
	n = int(min(int64(len(rows)), t.left))
	clear(rows[:n])
	for _, c := range t.cursors {
		for i := range rows[:n] {
			if err := c.read(&rows[i]); err != nil {
				return 0, t.corrupt(fmt.Errorf("column %s: %w", c.name, err))
			}
		}
	}
	t.left -= int64(n)
	return n, nil
}

// Close gives the reader's buffers back.
func (t *TurnReader) Close() error {
	t.release()
	t.err = errTurnsClosed
	return nil
}

// nextGroup makes sure that the columns end with their row group and opens the next one.
func (t *TurnReader) nextGroup() error {
	for _, c := range t.cursors {
		if c.values != nil {
			if _, err := c.peek(); err == nil {
				return t.corrupt(fmt.Errorf("column %s has values behind its last row", c.name))
			} else if !errors.Is(err, io.EOF) {
				return t.corrupt(fmt.Errorf("column %s: %w", c.name, err))
			}
		}
	}
	t.release()
	if len(t.groups) == 0 {
		return io.EOF
	}
	for _, c := range t.cursors {
		c.open(t.groups[0].ColumnChunks()[c.index])
	}
	t.left = t.groups[0].NumRows()
	t.groups = t.groups[1:]
	return nil
}

func (t *TurnReader) release() {
	for _, c := range t.cursors {
		c.close()
	}
}

// corrupt blames the file, unless reading it failed.
func (t *TurnReader) corrupt(err error) error {
	if t.src.err != nil {
		return fmt.Errorf("%s: %w", t.name, t.src.err)
	}
	// The cause is quoted, not wrapped: it may be an io.EOF, and callers take that for the end of the rows.
	return fmt.Errorf("%s: turns table: %v: %w", t.name, err, turnmill.ErrCorrupt)
}

// guard turns parquet-go's panics into errors: a forged file may bear a right seal.
func (t *TurnReader) guard(err *error) {
	if p := recover(); p != nil {
		*err = t.corrupt(fmt.Errorf("%v", p))
	}
}

// source remembers that reading failed, which parquet-go's errors do not always tell.
type source struct {
	r   io.ReaderAt
	err error
}

func (s *source) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.r.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
