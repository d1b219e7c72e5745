package arrow

import (
	"encoding/binary"
	"fmt"
	"math"
)

// endMarker ends each stream. Without it a shorter file loads as if nothing were missing.
const endMarker = "\xff\xff\xff\xff\x00\x00\x00\x00"

// Numbers of the Arrow format's flatbuffers: MetadataVersion and the union MessageHeader (Message.fbs).
const (
	metadataV5        = 4
	headerRecordBatch = 3
)

// batchShape is what the metadata of a record batch says.
type batchShape struct {
	rows, tokens int64
	body         int64 // bytes
}

// readBatchShape reads the metadata of a record batch as this package's Writer makes it:
//
//	Message{0 version, 1 header type, 2 header, 3 body length, 4 custom metadata}
//	RecordBatch{0 rows, 1 nodes {length, nulls}, 2 buffers {offset, length}, 3 compression, 4 variadic counts}
//
// Nodes are a list and its child for each column, buffers a validity bitmap (absent), the offsets, a bitmap
// and the values, one after the other. rows and tokens determine every number; each is compared.
func readBatchShape(meta []byte, columns int) (batchShape, error) {
	f := flat{b: meta}
	message := int(f.uint(0, 4))
	version, kind := f.scalar(message, 0, 2), f.scalar(message, 1, 1)
	batch := f.table(f.field(message, 2))
	nodes, buffers := f.vector(batch, 1), f.vector(batch, 2)
	s := batchShape{rows: f.scalar(batch, 0, 8), tokens: f.int64(nodes + 16), body: f.scalar(message, 3, 8)}
	switch {
	case f.bad:
		return s, fmt.Errorf("its metadata is no flatbuffer of a record batch")
	case version != metadataV5 || kind != headerRecordBatch:
		return s, fmt.Errorf("a message of version %d and type %d where a record batch belongs", version, kind)
	case f.field(batch, 3) != 0:
		return s, fmt.Errorf("its buffers are compressed")
	case f.field(message, 4) != 0 || f.field(batch, 4) != 0:
		return s, fmt.Errorf("its metadata holds more than a record batch needs")
	case s.rows < 1 || s.rows > math.MaxInt32-1 || s.tokens < 0 || s.tokens > math.MaxInt32:
		return s, fmt.Errorf("it states %d rows and %d tokens", s.rows, s.tokens)
	case f.length(nodes) != 2*columns || f.length(buffers) != 4*columns:
		return s, fmt.Errorf("it has %d nodes and %d buffers, and %d columns need %d and %d",
			f.length(nodes), f.length(buffers), columns, 2*columns, 4*columns)
	}
	return s, s.compare(&f, nodes, buffers, columns)
}

// compare compares each node and buffer with what rows and tokens ask for.
func (s *batchShape) compare(f *flat, nodes, buffers, columns int) error {
	var at int64
	buffer := func(bytes int64) bool {
		ok := f.int64(buffers) == at && f.int64(buffers+8) == bytes
		buffers += 16
		at += (bytes + 7) &^ 7
		return ok
	}
	for c := range columns {
		for _, want := range [2]int64{s.rows, s.tokens} {
			if got, nulls := f.int64(nodes), f.int64(nodes+8); got != want || nulls != 0 {
				return fmt.Errorf("column %d: %d values and %d nulls, want %d and none", c, got, nulls, want)
			}
			nodes += 16
		}
		if !buffer(0) || !buffer(4*(s.rows+1)) || !buffer(0) || !buffer(4*s.tokens) {
			return fmt.Errorf("column %d: its buffers are not where %d rows of %d tokens put them", c, s.rows, s.tokens)
		}
	}
	if f.bad || s.body != at {
		return fmt.Errorf("a body of %d bytes, and %d rows of %d tokens take %d", s.body, s.rows, s.tokens, at)
	}
	return nil
}

// flat reads a flatbuffer. A position outside it sets bad and reads zeros, so callers look once, at the
// end. Positions are absolute; 0, where the root's offset stands, means that a field is left out.
type flat struct {
	b   []byte
	bad bool
}

func (f *flat) uint(at, bytes int) uint64 {
	if at < 0 || at > len(f.b)-bytes {
		f.bad = true
		return 0
	}
	var word [8]byte
	copy(word[:], f.b[at:at+bytes])
	return binary.LittleEndian.Uint64(word[:])
}

func (f *flat) int64(at int) int64 { return int64(f.uint(at, 8)) }

// table follows the offset at a position to a table or vector, which must be there.
func (f *flat) table(at int) int {
	f.bad = f.bad || at == 0
	return at + int(f.uint(at, 4))
}

// field returns the position of a table's field by its number, or 0 where the table leaves it out.
func (f *flat) field(table, number int) int {
	vtable := table - int(int32(f.uint(table, 4)))
	entry := 4 + 2*number
	if entry+2 > int(f.uint(vtable, 2)) {
		return 0
	}
	offset := int(f.uint(vtable+entry, 2))
	if offset == 0 {
		return 0
	}
	return table + offset
}

// scalar returns an integer field of 1, 2 or 8 bytes, none of which is negative here; left out is 0.
func (f *flat) scalar(table, number, bytes int) int64 {
	at := f.field(table, number)
	if at == 0 {
		return 0
	}
	return int64(f.uint(at, bytes))
}

// vector returns the position of a vector's first element.
func (f *flat) vector(table, number int) int {
	return f.table(f.field(table, number)) + 4
}

// length returns the number of elements of the vector whose first element stands at a position.
func (f *flat) length(vector int) int { return int(f.uint(vector-4, 4)) }
