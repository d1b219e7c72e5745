package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	goarrow "github.com/apache/arrow-go/v18/arrow"

	"github.com/turnmill/turnmill"
)

// Index says where the rows of a shard are, so that they can be read in any order. It holds 32 bytes a batch and
// no row.
type Index struct {
	name    string
	profile Profile
	batches []indexed
	rows    int64
}

// indexed is where one batch's body lies.
type indexed struct {
	first        int64 // number of its first row
	rows, tokens int64
	body         int64 // offset in the file
}

// NewIndex reads the heads of a shard's batches, and none of their rows. Errors are as those of NewReader.
func NewIndex(r io.ReaderAt, size int64, name string, p Profile) (*Index, error) {
	section := io.NewSectionReader(r, 0, size)
	rd, err := NewReader(section, size, name, p)
	if err != nil {
		return nil, err
	}
	x := &Index{name: name, profile: p}
	for {
		shape, more, err := rd.head()
		if err != nil || !more {
			return x, err
		}
		x.batches = append(x.batches, indexed{x.rows, shape.rows, shape.tokens, rd.facts.Bytes})
		x.rows += shape.rows
		rd.facts.Bytes += shape.body
		if _, err := section.Seek(rd.facts.Bytes, io.SeekStart); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

// Rows returns the number of rows of the shard.
func (x *Index) Rows() int64 { return x.rows }

// Row reads the row of a number from the file that the index was made of: its ids, labels and weights, into the
// memory that row has. The attention mask is not read.
func (x *Index) Row(r io.ReaderAt, number int64, row *Row) error {
	i := sort.Search(len(x.batches), func(i int) bool { return x.batches[i].first > number }) - 1
	if i < 0 || number >= x.rows {
		return fmt.Errorf("%s: %w: no row %d", x.name, turnmill.ErrCorrupt, number)
	}
	b := x.batches[i]
	var ends [8]byte
	if err := x.read(r, ends[:], b.body+4*(number-b.first)); err != nil {
		return err
	}
	from, to := int64(int32(binary.LittleEndian.Uint32(ends[:]))), int64(int32(binary.LittleEndian.Uint32(ends[4:])))
	if from < 0 || to < from || to > b.tokens {
		return fmt.Errorf("%s: %w: row %d from token %d to %d of %d", x.name, turnmill.ErrCorrupt, number, from, to, b.tokens)
	}
	n := int(to - from)
	row.Number, row.AttentionMask = number, nil
	row.IDs, row.Labels = fit(row.IDs, n), fit(row.Labels, n)
	err := x.read(r, goarrow.Int32Traits.CastToBytes(row.IDs), b.values(0)+4*from)
	if err == nil {
		err = x.read(r, goarrow.Int32Traits.CastToBytes(row.Labels), b.values(2)+4*from)
	}
	if err == nil && x.profile == ProfileWeighted {
		row.Weights = fit(row.Weights, n)
		err = x.read(r, goarrow.Float32Traits.CastToBytes(row.Weights), b.values(3)+4*from)
	}
	return err
}

// values returns the offset of a column's values in the file.
func (b *indexed) values(column int64) int64 {
	offsets, values := (4*(b.rows+1)+7)&^7, (4*b.tokens+7)&^7
	return b.body + column*(offsets+values) + offsets
}

func (x *Index) read(r io.ReaderAt, p []byte, at int64) error {
	if n, err := r.ReadAt(p, at); n < len(p) {
		return fmt.Errorf("%s: %d bytes at offset %d of %d: %w", x.name, n, at, len(p), err)
	}
	return nil
}

// fit returns a slice of n elements, in b's memory where that is enough and not far too much.
func fit[T any](b []T, n int) []T {
	if cap(b) < n || cap(b) > 1<<20 && cap(b)/8 > n {
		return make([]T, n)
	}
	return b[:n]
}
