package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// leaf is a column, and the place in it while a row group is read.
type leaf struct {
	typed
	def, rep int
	opens    jsonKind // the JSON that a text may stand for
	skipped  bool     // it is not read

	walk    pageWalk
	unpack  *unpacker // of the file
	codec   format.CompressionCodec
	reps    []byte // the levels of the page; empty where they can only be 0
	defs    []byte
	count   int // values of the page, null ones included
	at      int // the next of them
	there   int // the next that is not null
	direct  values
	index   []uint32 // into dictionary, in place of direct
	words   values   // the dictionary
	indexed bool

	stored, page, dictionary []byte // memory of the page's bytes, and of the dictionary's
}

func newLeaf(e *format.SchemaElement, def, rep int) *leaf {
	return &leaf{typed: typeOf(e), def: def, rep: rep}
}

// keepPage is the memory that a leaf keeps from one row group to the next.
const keepPage = 1 << 20

// open begins a column chunk.
func (l *leaf) open(meta *format.ColumnMetaData, in io.ReaderAt, unpack *unpacker) {
	l.count, l.at, l.there = 0, 0, 0
	l.direct.reset()
	l.words.reset()
	for _, b := range []*[]byte{&l.stored, &l.page, &l.dictionary} {
		if cap(*b) > keepPage {
			*b = nil
		}
	}
	l.walk, l.codec, l.unpack = walkPages(meta, in), meta.Codec, unpack
}

// peek tells whether there is another value.
func (l *leaf) peek() (bool, error) {
	for l.at == l.count {
		if more, err := l.nextPage(); !more {
			return false, err
		}
	}
	return true, nil
}

// due is peek where a row wants a value.
func (l *leaf) due() error {
	more, err := l.peek()
	if err == nil && !more {
		err = errCutColumn
	}
	return err
}

// repetition and definition are the levels of the next value.
func (l *leaf) repetition() int {
	if l.rep == 0 {
		return 0
	}
	return int(l.reps[l.at])
}

func (l *leaf) definition() int {
	if l.def == 0 {
		return 0
	}
	return int(l.defs[l.at])
}

var errCutColumn = errors.New("a column ends before its rows do")

// take passes the next value, which a row wants at a repetition level, and returns its definition level.
func (l *leaf) take(rep int) (def int, err error) {
	if err := l.due(); err != nil {
		return 0, err
	}
	if l.repetition() != rep {
		return 0, errLevels
	}
	if def = l.definition(); def == l.def {
		l.there++
	}
	l.at++
	return def, nil
}

// place returns where the value that was taken last stands, which is not null.
func (l *leaf) place() (*values, int) {
	if l.indexed {
		return &l.words, int(l.index[l.there-1])
	}
	return &l.direct, l.there - 1
}

// number returns the bits of the value that was taken last.
func (l *leaf) number() uint64 {
	v, i := l.place()
	return v.numbers[i]
}

// bytes returns the bytes of the value that was taken last, valid until the next page.
func (l *leaf) bytes() []byte {
	v, i := l.place()
	s := v.spans[i]
	return v.data[s.from:s.to]
}

// nextPage reads the next page of values, and a dictionary before it.
func (l *leaf) nextPage() (bool, error) {
	if l.walk.left == 0 {
		return false, nil
	}
	for {
		at := l.walk.at
		h, err := l.walk.next()
		if err == nil {
			l.stored, err = l.walk.body(h, l.stored)
		}
		if err == nil && h.dictionary {
			if err = l.readDictionary(h); err == nil {
				continue
			}
		} else if err == nil {
			err = l.readPage(h)
		}
		if err != nil {
			return false, fmt.Errorf("the page at byte %d: %w", at, err)
		}
		return true, nil
	}
}

func (l *leaf) readDictionary(h *pageHead) error {
	b, err := l.unpack.decompress(l.dictionary, l.stored, l.codec, h.plain)
	if err != nil {
		return err
	}
	if l.codec == format.Uncompressed { // the next page takes the memory
		b = append(l.dictionary[:0], b...)
	}
	l.dictionary = b
	return l.words.plain(l.storage, b, h.values)
}

// readPage decodes a page: its levels, then its values.
//
//	old    compressed: | size, repetition levels | size, definition levels | values |
//	new    | repetition levels | definition levels |  compressed: | values |
func (l *leaf) readPage(h *pageHead) error {
	b := l.stored
	var err error
	l.count, l.at, l.there = h.values, 0, 0
	l.reps, l.defs = l.reps[:0], l.defs[:0]
	if h.v2 == nil {
		if b, err = l.decompressed(b, h.plain); err != nil {
			return err
		}
		if l.rep > 0 {
			if l.reps, b, err = levels(l.reps, b, l.rep, h.values, h.v1.RepetitionLevelEncoding, true); err != nil {
				return err
			}
		}
		if l.def > 0 {
			if l.defs, b, err = levels(l.defs, b, l.def, h.values, h.v1.DefinitionLevelEncoding, true); err != nil {
				return err
			}
		}
		return l.readValues(b, h.v1.Encoding)
	}
	reps, defs := int64(h.v2.RepetitionLevelsByteLength), int64(h.v2.DefinitionLevelsByteLength)
	if reps < 0 || defs < 0 || reps+defs > int64(len(b)) || reps+defs > int64(h.plain) {
		return errValues
	}
	if l.rep > 0 {
		if l.reps, _, err = levels(l.reps, b[:reps], l.rep, h.values, format.RLE, false); err != nil {
			return err
		}
	}
	if l.def > 0 {
		if l.defs, _, err = levels(l.defs, b[reps:reps+defs], l.def, h.values, format.RLE, false); err != nil {
			return err
		}
	}
	b = b[reps+defs:]
	if packed := h.v2.IsCompressed; (!packed.Valid || packed.V) && len(b) > 0 {
		if b, err = l.decompressed(b, h.plain-int(reps+defs)); err != nil {
			return err
		}
	}
	return l.readValues(b, h.v2.Encoding)
}

func (l *leaf) decompressed(b []byte, size int) ([]byte, error) {
	if l.codec == format.Uncompressed {
		return l.unpack.decompress(nil, b, l.codec, size)
	}
	out, err := l.unpack.decompress(l.page, b, l.codec, size)
	if err == nil {
		l.page = out
	}
	return out, err
}

// plainDictionary is the number that old files have for format.RLEDictionary.
const plainDictionary format.Encoding = 2

// readValues decodes the values that are not null.
func (l *leaf) readValues(b []byte, encoding format.Encoding) (err error) {
	n := l.count
	if l.def > 0 {
		n = 0
		for _, d := range l.defs {
			if int(d) == l.def {
				n++
			}
		}
	}
	if l.indexed = false; n == 0 {
		return nil
	}
	switch encoding {
	case format.Plain:
		return l.direct.plain(l.storage, b, n)
	case plainDictionary, format.RLEDictionary:
		l.indexed = true
		if len(b) == 0 {
			return errValues
		}
		if l.index, _, err = hybrid(l.index[:0], b[1:], int(b[0]), n); err != nil {
			return err
		}
		for most := uint32(l.words.len()); n > 0; n-- {
			if l.index[n-1] >= most {
				return errors.New("a value that the dictionary has not")
			}
		}
		return nil
	}
	return l.direct.encoded(l.storage, encoding, b, n)
}
