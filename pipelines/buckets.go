package pipelines

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnmill/turnmill"
)

// bucketSizes say how rows are ordered on disk: in files that are sorted in memory, divided by the next bits of the
// draw while they are larger than that.
type bucketSizes struct {
	bytes int64 // of a bucket that is sorted in memory; 0: 32 MiB
	bits  int   // of the draw, at most, that one division looks at; 0: 7, and so 128 files
}

func (b bucketSizes) orDefault() bucketSizes {
	if b.bytes == 0 {
		b.bytes = 32 << 20
	}
	if b.bits == 0 {
		b.bits = 7
	}
	return b
}

// bucketBuffer is what an open bucket holds in memory.
const bucketBuffer = 64 << 10

// scratch is an unfinished file that this process alone writes, reads and removes.
type scratch struct {
	path string // below root, for errors
	name string
	file diskFile
	out  *bufio.Writer
	size int64
	rows int64
}

func (s dirSink) scratch(path string) (*scratch, error) {
	name := filepath.Join(s.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("%w; try another --output, or make room", err)
	}
	f, err := createTemp(name, s.disk.scratch)
	if err != nil {
		return nil, unwritten(path, err)
	}
	return &scratch{path: path, name: f.Name(), file: f, out: bufio.NewWriterSize(f, bucketBuffer)}, nil
}

func (f *scratch) write(record []byte) error {
	f.size += int64(len(record))
	f.rows++
	if _, err := f.out.Write(record); err != nil {
		return unwritten(f.path, err)
	}
	return nil
}

// end writes what is left and closes the file, which can then be read.
func (f *scratch) end() error {
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.out.Flush(), f.file.Close())
	f.file, f.out = nil, nil
	if err != nil {
		return unwritten(f.path, err)
	}
	return nil
}

// remove closes and removes the file.
func (f *scratch) remove() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
	os.Remove(f.name)
}

// A record of a bucket is a row with what orders it, in little-endian bytes:
//
//	draw 8 | row of the plan 8 | tokens 4 | ids, 4 each | a bit a token that carries loss | weights, 4 each
const rowHead = 20

// appendRecord appends a row as a record.
func appendRecord(dst []byte, draw uint64, ordinal int64, ids, labels []int32, weights []float32) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, draw)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(ordinal))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ids)))
	for _, id := range ids {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(id))
	}
	for i := 0; i < len(labels); i += 8 {
		var bits byte
		for k, label := range labels[i:min(i+8, len(labels))] {
			if label != turnmill.IgnoreIndex {
				bits |= 1 << k
			}
		}
		dst = append(dst, bits)
	}
	for _, w := range weights {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(w))
	}
	return dst
}

// recordSize is the size of a record whose head is given.
func recordSize(head []byte, weighted bool) int64 {
	n := int64(binary.LittleEndian.Uint32(head[16:]))
	size := rowHead + 4*n + (n+7)/8
	if weighted {
		size += 4 * n
	}
	return size
}

func recordDraw(record []byte) uint64   { return binary.LittleEndian.Uint64(record) }
func recordOrdinal(record []byte) int64 { return int64(binary.LittleEndian.Uint64(record[8:])) }

// readRecord makes a row of a record, in the memory that the row has.
func readRecord(record []byte, weighted bool, row *turnmill.Row) {
	n := int(binary.LittleEndian.Uint32(record[16:]))
	ids := record[rowHead:]
	bits := ids[4*n:]
	weights := bits[(n+7)/8:]
	row.IDs, row.Labels, row.Weights = row.IDs[:0], row.Labels[:0], row.Weights[:0]
	for i := range n {
		id, label := int32(binary.LittleEndian.Uint32(ids[4*i:])), turnmill.IgnoreIndex
		if bits[i/8]>>(i%8)&1 != 0 {
			label = id
		}
		row.IDs, row.Labels = append(row.IDs, id), append(row.Labels, label)
	}
	for i := 0; weighted && i < n; i++ {
		row.Weights = append(row.Weights, math.Float32frombits(binary.LittleEndian.Uint32(weights[4*i:])))
	}
}

// buckets are files of records, by some bits of the draw.
type buckets struct {
	to    dirSink
	name  string // what their names begin with
	above int    // bits of the draw that all of them share
	bits  int    // by which they differ
	files []*scratch
}

// newBuckets returns buckets for so many bytes of records: as few as sizes ask for.
func newBuckets(to dirSink, name string, above int, bytes int64, sizes bucketSizes) *buckets {
	bits := 0
	for bits < min(sizes.bits, 64-above) && bytes>>bits > sizes.bytes/2 {
		bits++
	}
	return &buckets{to: to, name: name, above: above, bits: bits, files: make([]*scratch, 1<<bits)}
}

func (b *buckets) put(record []byte) error {
	k := recordDraw(record) << b.above >> (64 - b.bits)
	if b.files[k] == nil {
		var err error
		if b.files[k], err = b.to.scratch(fmt.Sprintf("%s-%d", b.name, k)); err != nil {
			return err
		}
	}
	return b.files[k].write(record)
}

func (b *buckets) end() error {
	for _, f := range b.files {
		if f == nil {
			continue
		}
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

// drain visits the records in the order of draw and plan, and removes the files on the way.
func (b *buckets) drain(sizes bucketSizes, weighted bool, visit func(record []byte) error) error {
	if err := b.end(); err != nil {
		return err
	}
	for _, f := range b.files {
		if f == nil {
			continue
		}
		var err error
		switch shared := b.above + b.bits; {
		case f.size <= sizes.bytes:
			err = f.sorted(weighted, visit)
		case f.rows == 1 || shared == 64: // in order as they lie there
			err = f.each(weighted, visit)
		default:
			smaller := newBuckets(b.to, f.path, shared, f.size, sizes)
			if err = f.each(weighted, smaller.put); err == nil {
				f.remove()
				err = smaller.drain(sizes, weighted, visit)
			}
		}
		f.remove()
		if err != nil {
			return err
		}
	}
	return nil
}

// each visits the records in the order in which they were written.
func (f *scratch) each(weighted bool, visit func(record []byte) error) error {
	file, err := os.Open(f.name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	var record []byte
	for range f.rows {
		head, err := in.Peek(rowHead)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		size := recordSize(head, weighted)
		record = slices.Grow(record[:0], int(size))[:size]
		if _, err := io.ReadFull(in, record); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := visit(record); err != nil {
			return err
		}
	}
	return nil
}

// sorted visits the records in order, from memory.
func (f *scratch) sorted(weighted bool, visit func(record []byte) error) error {
	data, err := os.ReadFile(f.name)
	if err != nil {
		return err
	}
	type entry struct {
		draw uint64
		at   int64
	}
	entries := make([]entry, 0, f.rows)
	for at := int64(0); at < int64(len(data)); at += recordSize(data[at:], weighted) {
		entries = append(entries, entry{recordDraw(data[at:]), at})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.at, b.at)) })
	for _, e := range entries {
		if err := visit(data[e.at : e.at+recordSize(data[e.at:], weighted)]); err != nil {
			return err
		}
	}
	return nil
}
