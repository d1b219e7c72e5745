package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// walker passes a structure of Thrift's compact protocol without reading it. parquet-go makes room for what
// a list claims before it looks at its items, which a damaged byte makes gigabytes; a structure that was walked
// holds what it claims.
type walker struct {
	b  []byte
	at int
}

var (
	errThrift = errors.New("its structure is damaged")
	errShort  = errors.New("its structure is cut")
)

const thriftDepth = 32

// leastStruct is the size of the least structure in a list of a footer, a column's order.
const leastStruct = 3

// structSize returns how many bytes the structure at the start of b takes.
func structSize(b []byte) (int, error) {
	w := walker{b: b}
	err := w.structure(thriftDepth)
	return w.at, err
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.b) {
		return 0, errShort
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errThrift
	}
	w.at += n
	return v, nil
}

func (w *walker) structure(depth int) error {
	if depth == 0 {
		return errThrift
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind > 2 { // a boolean is its kind
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

// value passes a value of a kind as compact protocol numbers them.
func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3:
		return w.skip(1)
	case 4, 5, 6:
		_, err := w.varint()
		return err
	case 7:
		return w.skip(8)
	case 8:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10:
		return w.list(depth)
	case 11:
		return w.pairs(depth)
	case 12:
		return w.structure(depth - 1)
	case 13:
		return w.skip(16)
	}
	return errThrift
}

func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	least := uint64(1)
	if kind == 12 {
		least = leastStruct
	}
	return w.values(n, least, depth, kind)
}

func (w *walker) pairs(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	return w.values(n, 2, depth, kinds>>4, kinds&15)
}

// values passes n times values of the kinds, of at least so many bytes together.
func (w *walker) values(n, least uint64, depth int, kinds ...byte) error {
	if n > uint64(len(w.b)-w.at)/least {
		return errShort
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeThrift reads a structure that has been walked.
func decodeThrift(b []byte, v any) error {
	return guard(func() error {
		return thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b)).Decode(v)
	})
}
