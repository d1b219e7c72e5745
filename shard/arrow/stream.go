package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// flush writes the batch under way, or starts to, and makes room for the next one.
func (w *Writer) flush() error {
	if len(w.offsets) == 1 {
		return w.err
	}
	head, err := w.metadata()
	if err != nil {
		w.err = fmt.Errorf("arrow: batch that ends with row %d: %w", w.rows-1, err)
		return w.err
	}
	if w.size == 0 {
		head = append(bytes.Clone(w.head), head...)
	}
	if err := w.settle(); err != nil {
		return err
	}
	for len(w.ones) < onesTokens {
		w.ones = append(w.ones, 1)
	}
	b := body{head, w.columns, w.ones, w.opts.Profile.Columns()}
	w.size += b.bytes()
	out, last := w.out, w.rows-1
	write := func() error {
		if err := b.write(out); err != nil {
			return fmt.Errorf("arrow: batch that ends with row %d: %w", last, err)
		}
		return nil
	}
	if w.opts.Behind == nil {
		w.err = write()
	} else {
		w.wait = w.opts.Behind(write)
		w.columns, w.other = w.other, w.columns
	}
	w.clear()
	return w.err
}

// metadata returns the batch's message up to its body. arrow-go makes it from the sizes of columns, for which
// the labels stand everywhere.
func (w *Writer) metadata() ([]byte, error) {
	n, rows := len(w.ids), len(w.offsets)-1
	values := memory.NewBufferBytes(goarrow.Int32Traits.CastToBytes(w.labels))
	offsets := memory.NewBufferBytes(goarrow.Int32Traits.CastToBytes(w.offsets))
	fields := make([]goarrow.Array, w.schema.NumFields())
	for i, f := range w.schema.Fields() {
		elem := f.Type.(*goarrow.ListType).Elem()
		child := array.NewData(elem, n, []*memory.Buffer{nil, values}, nil, 0, 0)
		list := array.NewData(f.Type, rows, []*memory.Buffer{nil, offsets}, []goarrow.ArrayData{child}, 0, 0)
		fields[i] = array.NewListData(list)
		child.Release()
		list.Release()
		defer fields[i].Release()
	}
	batch := array.NewRecordBatch(w.schema, fields, int64(rows))
	defer batch.Release()
	payload, err := ipc.GetRecordBatchPayload(batch, ipc.WithAllocator(w.mem))
	if err != nil {
		return nil, err
	}
	defer payload.Release()
	meta := payload.Meta()
	defer meta.Release()
	size := (8 + meta.Len() + 7) &^ 7
	message := append(make([]byte, 0, size), endMarker[:4]...)
	message = binary.LittleEndian.AppendUint32(message, uint32(size-8))
	return append(message, meta.Bytes()...)[:size], nil
}

// onesTokens is how much of an attention mask lies in memory: all of it is the same.
const onesTokens = 32 << 10

// body is a batch that is ready to be written: what comes before its columns, and those.
type body struct {
	head  []byte
	batch columns
	ones  []int32
	names []string
}

// bytes is how many bytes write writes.
func (b *body) bytes() int64 {
	column := (len(b.batch.offsets)+1)&^1 + (len(b.batch.ids)+1)&^1
	return int64(len(b.head)) + 4*int64(column)*int64(len(b.names))
}

func (b *body) write(w io.Writer) error {
	out := output{w: w}
	out.put(b.head)
	for _, name := range b.names {
		out.column(goarrow.Int32Traits.CastToBytes(b.batch.offsets))
		switch name {
		case "input_ids":
			out.column(goarrow.Int32Traits.CastToBytes(b.batch.ids))
		case "attention_mask":
			n := len(b.batch.ids)
			for ; n > onesTokens; n -= onesTokens {
				out.put(goarrow.Int32Traits.CastToBytes(b.ones))
			}
			out.column(goarrow.Int32Traits.CastToBytes(b.ones[:n]))
		case "labels":
			out.column(goarrow.Int32Traits.CastToBytes(b.batch.labels))
		default:
			out.column(goarrow.Float32Traits.CastToBytes(b.batch.weights))
		}
	}
	return out.err
}

// output writes up to the first failure, which it keeps.
type output struct {
	w   io.Writer
	err error
}

func (o *output) put(p []byte) {
	if o.err != nil || len(p) == 0 {
		return
	}
	n, err := o.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	o.err = err
}

// column writes the end of a buffer of values of 4 bytes, and fills it up to a multiple of 8 bytes.
func (o *output) column(p []byte) {
	o.put(p)
	if len(p)%8 != 0 {
		o.put(make([]byte, 4))
	}
}
