package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	goarrow "github.com/apache/arrow-go/v18/arrow"

	"github.com/turnmill/turnmill"
)

// maxMetadata bounds the metadata of one message in bytes. Ours take some 500.
const maxMetadata = 1 << 16

// Row is one row of a shard. It belongs to the reader, as do its slices: they are valid until the next call
// of Next and must not be changed. All have one length.
type Row struct {
	Number        int64 // from 0, within the file
	IDs           []int32
	AttentionMask []int32 // all ones
	Labels        []int32
	Weights       []float32 // profile weighted only
}

// Batch says how large one record batch is.
type Batch struct {
	Rows  int
	Bytes int64 // of its body: offsets, values and padding
}

// Facts is what a Reader has seen so far.
type Facts struct {
	Batches  []Batch
	Rows     int64
	Tokens   int64
	Bytes    int64 // read from the file
	Complete bool  // the end marker was there, and nothing behind it
}

// Reader reads a shard row by row and proves on the way that it has the form that Writer gives: schema,
// layout, no nulls, no compression, an attention mask of ones, the end marker and nothing behind it.
// What labels and ids mean is CheckRow's matter. A Reader serves one goroutine and holds one batch.
type Reader struct {
	r       io.Reader
	size    int64
	name    string
	profile Profile
	facts   Facts
	err     error

	meta  []byte
	body  []int64 // words, so that the columns in it are aligned
	batch batchColumns
	next  int // row within the batch
	row   Row
}

type batchColumns struct {
	offsets []int32 // one more than rows
	values  [3][]int32
	weights []float32
}

// NewReader reads the schema of the shard in r, which holds size bytes, and compares it with the
// profile's. name stands in errors. Every error that blames the file wraps turnmill.ErrCorrupt; a failure
// to read does not.
func NewReader(r io.Reader, size int64, name string, p Profile) (*Reader, error) {
	rd := &Reader{r: r, size: size, name: name, profile: p, batch: batchColumns{offsets: []int32{0}}}
	want, err := p.schemaMessage()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	got := make([]byte, len(want))
	if err := rd.fill(got, "the schema"); err != nil {
		return nil, err
	}
	if !bytes.Equal(got, want) {
		return nil, rd.corrupt("its schema is not that of profile %s", p)
	}
	return rd, nil
}

// Next returns the next row. io.EOF says that all rows were read and the file ends as it should; after any
// error Next returns that error again.
func (r *Reader) Next() (*Row, error) {
	if r.err == nil && r.next+1 >= len(r.batch.offsets) {
		r.err = r.load()
	}
	if r.err != nil {
		return nil, r.err
	}
	b := &r.batch
	from, to := b.offsets[r.next], b.offsets[r.next+1]
	r.row = Row{
		Number:        r.facts.Rows - int64(len(b.offsets)-1-r.next),
		IDs:           b.values[0][from:to:to],
		AttentionMask: b.values[1][from:to:to],
		Labels:        b.values[2][from:to:to],
	}
	if r.profile == ProfileWeighted {
		r.row.Weights = b.weights[from:to:to]
	}
	r.next++
	return &r.row, nil
}

// Facts returns what was seen up to and with the batch of the last row.
func (r *Reader) Facts() Facts { return r.facts }

// load reads the next batch, or the end of the file.
func (r *Reader) load() error {
	shape, more, err := r.head()
	if err != nil {
		return err
	}
	if !more {
		return io.EOF
	}
	r.body = grow(r.body, int(shape.body/8))
	if err := r.fill(goarrow.Int64Traits.CastToBytes(r.body), "a batch's body"); err != nil {
		return err
	}
	return r.open(shape)
}

// head reads what stands before the body of the next batch; there is no more where the file ends as it should.
func (r *Reader) head() (shape batchShape, more bool, err error) {
	var prefix [8]byte
	if err := r.fill(prefix[:], "a message's length or the end marker"); err != nil {
		return shape, false, err
	}
	if string(prefix[:]) == endMarker {
		return shape, false, r.end()
	}
	n := binary.LittleEndian.Uint32(prefix[4:])
	if string(prefix[:4]) != endMarker[:4] || n > maxMetadata {
		return shape, false, r.corrupt("bytes that start no message: % x", prefix)
	}
	r.meta = grow(r.meta, int(n))
	if err := r.fill(r.meta, "a batch's metadata"); err != nil {
		return shape, false, err
	}
	if shape, err = readBatchShape(r.meta, len(r.profile.Columns())); err != nil {
		return shape, false, r.corrupt("%v", err)
	}
	// A file that states more than it holds must not make us allocate it.
	if shape.body > r.size-r.facts.Bytes {
		return shape, false, r.corrupt("a body of %d bytes, and the file has %d left", shape.body, r.size-r.facts.Bytes)
	}
	return shape, true, nil
}

// open finds the columns in the body and checks what they share.
func (r *Reader) open(s batchShape) error {
	words := goarrow.Int32Traits.CastFromBytes(goarrow.Int64Traits.CastToBytes(r.body))
	take := func(n int64) []int32 {
		column := words[:n:n]
		words = words[(n+1)&^1:]
		return column
	}
	for c, name := range r.profile.Columns() {
		offsets, values := take(s.rows+1), take(s.tokens)
		if c == 0 {
			if err := r.checkOffsets(offsets, s.tokens); err != nil {
				return err
			}
			r.batch.offsets = offsets
		} else if row, ok := firstDifference(offsets, r.batch.offsets); ok {
			return r.corruptRow(max(row-1, 0), "%s and %s differ in length", r.profile.Columns()[0], name)
		}
		if c < len(r.batch.values) {
			r.batch.values[c] = values
		} else {
			r.batch.weights = goarrow.Float32Traits.CastFromBytes(goarrow.Int32Traits.CastToBytes(values))
		}
	}
	for i, one := range r.batch.values[1] {
		if one != 1 {
			row := 0
			for int(r.batch.offsets[row+1]) <= i {
				row++
			}
			return r.corruptRow(row, "attention_mask holds %d at token %d", one, i-int(r.batch.offsets[row]))
		}
	}
	r.next = 0
	r.facts.Batches = append(r.facts.Batches, Batch{Rows: int(s.rows), Bytes: s.body})
	r.facts.Rows += s.rows
	r.facts.Tokens += s.tokens
	return nil
}

// checkOffsets makes sure that the rows tile the values.
func (r *Reader) checkOffsets(offsets []int32, tokens int64) error {
	for row, at := range offsets[1:] {
		if at < offsets[row] {
			return r.corruptRow(row, "input_ids ends before it starts")
		}
	}
	if offsets[0] != 0 || int64(offsets[len(offsets)-1]) != tokens {
		return r.corrupt("rows from %d to %d do not tile %d tokens", offsets[0], offsets[len(offsets)-1], tokens)
	}
	return nil
}

// end makes sure that the marker ends the file.
func (r *Reader) end() error {
	var one [1]byte
	switch n, err := io.ReadFull(r.r, one[:]); {
	case n != 0:
		return r.corrupt("bytes behind the end marker, from offset %d on", r.facts.Bytes)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%s: %w", r.name, err)
	case r.facts.Bytes != r.size:
		return r.corrupt("the end marker at offset %d, in a file of %d bytes", r.facts.Bytes-8, r.size)
	}
	r.facts.Complete = true
	return nil
}

// fill reads len(p) bytes.
func (r *Reader) fill(p []byte, what string) error {
	n, err := io.ReadFull(r.r, p)
	r.facts.Bytes += int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.corrupt("the file ends after %d bytes, inside or before %s", r.facts.Bytes, what)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// corrupt blames the batch that is being read.
func (r *Reader) corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: batch %d, from row %d on: %s: %w",
		r.name, len(r.facts.Batches), r.facts.Rows, fmt.Sprintf(format, args...), turnmill.ErrCorrupt)
}

func (r *Reader) corruptRow(row int, format string, args ...any) error {
	return fmt.Errorf("%s: batch %d, row %d: %s: %w",
		r.name, len(r.facts.Batches), r.facts.Rows+int64(row), fmt.Sprintf(format, args...), turnmill.ErrCorrupt)
}

// grow returns a slice of n elements, in b's memory if it is large enough. The elements are not cleared.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// firstDifference returns the first index at which two slices of one length differ.
func firstDifference(a, b []int32) (int, bool) {
	for i := range a {
		if a[i] != b[i] {
			return i, true
		}
	}
	return 0, false
}
