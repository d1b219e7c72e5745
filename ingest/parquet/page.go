package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// pageWalk passes the pages of a chunk.
type pageWalk struct {
	in      io.ReaderAt
	at, end int64
	left    int64 // values of the chunk in pages to come
	most    int64 // no page is larger, decompressed
	head    []byte
}

// pageHead is what counts of a page's header.
type pageHead struct {
	values     int
	stored     int // bytes of the page
	plain      int // decompressed
	dictionary bool
	v1         format.DataPageHeader
	v2         *format.DataPageHeaderV2 // nil: v1 holds
	sum        uint32                   // 0: none
	at         int64                    // of the page
}

// Limits of a page that is no damage. Some writers count the decompressed bytes of a chunk wrong.
const (
	mostValues = 1 << 26
	leastPlain = 64 << 20
)

// headBytes is enough for most headers; the largest holds two long texts as bounds.
const headBytes, mostHead = 256, 64 << 20

func walkPages(m *format.ColumnMetaData, in io.ReaderAt) pageWalk {
	from := chunkStart(m)
	return pageWalk{in: in, at: from, end: from + m.TotalCompressedSize, left: m.NumValues, most: max(m.TotalUncompressedSize, leastPlain)}
}

// chunkStart returns where a chunk starts. Its dictionary, if it has one, comes first.
func chunkStart(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < m.DataPageOffset {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

// next reads the next header, and passes its page.
func (w *pageWalk) next() (*pageHead, error) {
	p, size, err := w.header()
	if err != nil {
		return nil, err
	}
	h := &pageHead{stored: int(p.CompressedPageSize), plain: int(p.UncompressedPageSize), sum: uint32(p.CRC), at: w.at + size}
	var n int32
	switch {
	case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
		h.dictionary, n = true, p.DictionaryPageHeader.V.NumValues
	case p.Type == format.DataPage && p.DataPageHeader.Valid:
		h.v1, n = p.DataPageHeader.V, p.DataPageHeader.V.NumValues
	case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
		h.v2, n = &p.DataPageHeaderV2.V, p.DataPageHeaderV2.V.NumValues
	default:
		return nil, fmt.Errorf("a page of type %s where one of values is due", p.Type)
	}
	h.values = int(n)
	if n < 0 || n > mostValues || !h.dictionary && int64(n) > w.left {
		return nil, fmt.Errorf("a page of %d values, of %d that are left", n, w.left)
	}
	if !h.dictionary {
		w.left -= int64(n)
	}
	w.at = h.at + int64(h.stored)
	return h, nil
}

// body reads a page, in memory of before, and compares its sum, if it has one.
func (w *pageWalk) body(h *pageHead, b []byte) ([]byte, error) {
	if cap(b) < h.stored {
		b = make([]byte, h.stored)
	}
	b = b[:h.stored]
	if n, err := w.in.ReadAt(b, h.at); n < len(b) {
		return b, noEnd(err)
	}
	if h.sum != 0 && crc32.ChecksumIEEE(b) != h.sum {
		return b, errors.New("its checksum differs")
	}
	return b, nil
}

func noEnd(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// header reads the header at w.at and returns its size.
func (w *pageWalk) header() (*format.PageHeader, int64, error) {
	for n := int64(headBytes); ; n *= 8 {
		n = min(n, w.end-w.at, mostHead)
		if n <= 0 {
			return nil, 0, errors.New("the column ends early")
		}
		if int64(cap(w.head)) < n {
			w.head = make([]byte, n)
		}
		b := w.head[:n]
		if got, err := w.in.ReadAt(b, w.at); got < len(b) {
			return nil, 0, noEnd(err)
		}
		size, err := structSize(b)
		if err == errShort && n < w.end-w.at && n < mostHead {
			continue
		}
		p := new(format.PageHeader)
		if err == nil {
			err = decodeThrift(b[:size], p)
		}
		switch {
		case err != nil:
			return nil, 0, err
		case p.CompressedPageSize < 0 || int64(p.CompressedPageSize) > w.end-w.at-int64(size),
			p.UncompressedPageSize < 0 || int64(p.UncompressedPageSize) > w.most:
			return nil, 0, errors.New("a size that is not possible")
		}
		if cap(w.head) > 64<<10 {
			w.head = nil
		}
		return p, int64(size), nil
	}
}
