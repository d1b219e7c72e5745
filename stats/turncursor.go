package stats

import (
	"errors"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// cursor walks over one column of a row group.
type cursor struct {
	column
	index  int
	values parquet.ColumnChunkValueReader
	buf    [128]parquet.Value
	next   int
	filled int
	last   string // text: most columns repeat it
}

func (c *cursor) open(chunk parquet.ColumnChunk) {
	c.values = parquet.NewColumnChunkValueReader(chunk)
	c.next, c.filled = 0, 0
}

func (c *cursor) close() {
	if c.values != nil {
		// Closing only gives memory back: nothing was written.
		_ = c.values.Close()
		c.values = nil
	}
}

// peek returns the next value, valid until the next peek, or io.EOF.
func (c *cursor) peek() (*parquet.Value, error) {
	if c.next == c.filled {
		n, err := c.values.ReadValues(c.buf[:])
		if n == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return nil, err
		}
		c.next, c.filled = 0, n
	}
	return &c.buf[c.next], nil
}

// read sets the column's field of a row.
func (c *cursor) read(r *TurnRow) error {
	v, err := c.peek()
	if errors.Is(err, io.EOF) {
		return errors.New("fewer values than rows")
	}
	if err != nil {
		return err
	}
	if v.RepetitionLevel() != 0 {
		return errors.New("a row starts inside a list")
	}
	if c.spans != nil {
		return c.readSpans(c.spans(r))
	}
	c.next++
	c.set(r, v)
	return nil
}

func (c *cursor) set(r *TurnRow, v *parquet.Value) {
	switch {
	case v.IsNull():
		switch {
		case c.f64 != nil:
			*c.f64(r) = math.NaN()
		case c.count:
			*c.i32(r) = NotCounted
		}
	case c.text != nil:
		if b := v.ByteArray(); string(b) != c.last {
			c.last = string(b)
		}
		*c.text(r) = c.last
	case c.i32 != nil:
		*c.i32(r) = v.Int32()
	case c.i64 != nil:
		*c.i64(r) = v.Int64()
	case c.f64 != nil:
		*c.f64(r) = v.Double()
	case c.maybe != nil:
		*c.maybe(r) = Bool(v.Boolean())
	default:
		*c.flag(r) = v.Boolean()
	}
}

// readSpans reads one row's list: see appendSpans for the levels.
func (c *cursor) readSpans(spans *[]int32) error {
	for first := true; ; first = false {
		v, err := c.peek()
		if !first && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !first && v.RepetitionLevel() == 0 {
			return nil
		}
		c.next++
		switch v.DefinitionLevel() {
		case 0:
		case 1:
			*spans = []int32{}
		default:
			*spans = append(*spans, v.Int32())
		}
	}
}
