package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/turnmill/turnmill"
)

const (
	magic     = "PAR1"
	encrypted = "PARE" // with an encrypted footer
)

// mostFooter is the largest footer that is read: thousands of row groups of hundreds of columns.
const mostFooter = 64 << 20

// mostRows is how many rows of a row group are taken for possible.
const mostRows = 1 << 27

// Is tells whether a file that starts with head is Parquet, however it ends.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte(encrypted))
}

// Group is a row group.
type Group struct {
	From   int64 // stored offset from which on a part of the file has the group; 0 for the first
	Offset int64 // of its first page
	Bytes  int64 // stored, from Offset to the end of its last page
	Row    int64 // number of its first row in the file, from 1
	Rows   int64
}

// File is a Parquet file whose footer has been read. It serves one goroutine.
type File struct {
	Groups []Group
	// Cuttable says that the row groups lie one after another, so that a part of the file holds whole ones.
	Cuttable bool

	in     *storedFile
	size   int64
	meta   *format.FileMetaData
	root   *node
	leaves []*leaf
	unpack unpacker
}

// storedFile reads a file, tells a meter of it, and remembers an error of the file itself, which is no damage.
type storedFile struct {
	file *os.File
	read *int64
	err  error
}

func (s *storedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.file.ReadAt(p, at)
	if s.read != nil {
		*s.read += int64(n)
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// Open reads a file's footer. read, which may be nil, is told the stored bytes that are read from now on. The
// error is a *turnmill.RecordError for a file that is damaged or of a kind that is not read; any other is one
// of reading.
func Open(path string, read *int64) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; try to check its permissions", err)
	}
	f := &File{in: &storedFile{file: file, read: read}}
	if err := f.open(); err != nil {
		if f.in.err != nil {
			err = f.in.err
		}
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.in.file.Close() }

func (f *File) open() error {
	info, err := f.in.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	footer, err := f.footer()
	if err != nil {
		return err
	}
	f.meta = new(format.FileMetaData)
	if err := decodeThrift(footer, f.meta); err != nil {
		return damaged("its footer: %w", err)
	}
	if f.root, f.leaves, err = readSchema(f.meta.Schema); err != nil {
		return unread("%w", err)
	}
	return f.sound()
}

// footer returns the structure at the end of the file, which it proves to be one.
//
//	... | footer | size, 4 bytes | PAR1
func (f *File) footer() ([]byte, error) {
	const tail = 8
	var head [4]byte
	var end [tail]byte
	if f.size < int64(len(head)+tail) {
		return nil, cutFile(f.size)
	}
	if _, err := f.in.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if _, err := f.in.ReadAt(end[:], f.size-tail); err != nil && err != io.EOF {
		return nil, err
	}
	switch mark := string(end[4:]); {
	case string(head[:]) == encrypted || mark == encrypted:
		return nil, unread("it is encrypted; try to write it again without encryption")
	case mark != magic:
		return nil, cutFile(f.size)
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > f.size-int64(len(head)+tail) {
		return nil, damaged("a footer of %d bytes in a file of %d", n, f.size)
	}
	if n > mostFooter {
		return nil, unread("a footer of %d bytes, and %d are read; try to write the file with fewer row groups", n, mostFooter)
	}
	footer := make([]byte, n)
	if _, err := f.in.ReadAt(footer, f.size-tail-n); err != nil && err != io.EOF {
		return nil, err
	}
	if _, err := structSize(footer); err != nil {
		return nil, damaged("its footer: %w", err)
	}
	return footer, nil
}

// sound proves that the row groups lie in the file and can be read, and lists them.
func (f *File) sound() error {
	if f.meta.EncryptionAlgorithm.Value != nil {
		return unread("it is encrypted; try to write it again without encryption")
	}
	row, end := int64(1), int64(0)
	f.Cuttable = true
	for i := range f.meta.RowGroups {
		rows := &f.meta.RowGroups[i]
		if len(rows.Columns) != len(f.leaves) {
			return damaged("row group %d has %d columns, the schema %d", i, len(rows.Columns), len(f.leaves))
		}
		if rows.NumRows < 0 || rows.NumRows > mostRows {
			return damaged("row group %d has %d rows, which is not possible", i, rows.NumRows)
		}
		g := Group{Offset: f.size, Row: row, Rows: rows.NumRows}
		last := int64(0)
		for k := range rows.Columns {
			from, to, err := f.chunk(i, k)
			if err != nil {
				return err
			}
			g.Offset, last = min(g.Offset, from), max(last, to)
		}
		if len(rows.Columns) == 0 {
			g.Offset, last = 0, 0
		}
		g.Bytes = last - g.Offset
		f.Cuttable = f.Cuttable && g.Offset >= end && (i == 0 || g.Offset > f.Groups[i-1].From)
		if i > 0 {
			g.From = g.Offset
		}
		f.Groups = append(f.Groups, g)
		row, end = row+rows.NumRows, last
	}
	return nil
}

// chunk proves that a column chunk can be read and returns where it lies.
func (f *File) chunk(group, column int) (from, to int64, err error) {
	c := &f.meta.RowGroups[group].Columns[column]
	m := &c.MetaData
	from = chunkStart(m)
	to = from + m.TotalCompressedSize
	switch {
	case c.FilePath != "":
		return 0, 0, refuse(turnmill.ReasonNoRecords, "", "its rows lie in other files (%s): it is a summary of them", c.FilePath)
	case c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0:
		return 0, 0, unread("column %s is encrypted; try to write it again without encryption", pathOf(c))
	case from < int64(len(magic)) || m.TotalCompressedSize < 0 || to < from || to > f.size:
		return 0, 0, damaged("row group %d: column %s lies at bytes %d to %d of %d", group, pathOf(c), from, to, f.size)
	case m.NumValues < f.meta.RowGroups[group].NumRows:
		return 0, 0, damaged("row group %d: column %s has %d values for %d rows", group, pathOf(c), m.NumValues, f.meta.RowGroups[group].NumRows)
	}
	if codec := pq.LookupCompressionCodec(m.Codec); codec.String() == "UNSUPPORTED" {
		return 0, 0, unread("column %s is compressed with %s, which is not read; try to write it with zstd", pathOf(c), m.Codec)
	}
	return from, to, nil
}

// fewLost is how many rows of a file are rejected one by one whatever its size.
const fewLost = 1 << 18

// mostLost is how many rows of a group are rejected one by one: a few damaged bytes can say that there are a
// hundred million.
func (f *File) mostLost(g *Group) int64 { return max(g.Bytes, fewLost/int64(len(f.Groups))) }

// Rows returns how many rows the file has.
func (f *File) Rows() int64 {
	if len(f.Groups) == 0 {
		return 0
	}
	last := &f.Groups[len(f.Groups)-1]
	return last.Row + last.Rows - 1
}

// Need returns how much memory reading the file takes at most, a row apart: of its most demanding row group
// the largest page of each column and its dictionary, stored and decompressed.
func (f *File) Need() int64 {
	var most int64
	for i := range f.Groups {
		var all int64
		for k, l := range f.leaves {
			if !l.skipped {
				all += f.chunkNeed(i, k)
			}
		}
		most = max(most, all)
	}
	return most + int64(len(f.leaves))*leafBytes
}

// valueBytes is what a value takes besides its bytes: two levels, its place, its place in a dictionary.
// leafBytes is what a leaf takes besides its page.
const valueBytes, leafBytes = 14, 1 << 10

// chunkNeed goes by the headers of a chunk's pages. Where one is damaged reading ends too.
func (f *File) chunkNeed(group, column int) (need int64) {
	m := &f.meta.RowGroups[group].Columns[column].MetaData
	var page, dictionary int64
	for w := walkPages(m, f.in); w.left > 0; {
		h, err := w.next()
		if err != nil {
			break
		}
		size := int64(h.stored) + int64(h.plain) + valueBytes*int64(h.values)
		if h.dictionary {
			dictionary = max(dictionary, size)
		} else {
			page = max(page, size)
		}
	}
	return page + dictionary
}

func refuse(reason turnmill.Reason, hint, words string, args ...any) error {
	return &turnmill.RecordError{Step: "parquet", Reason: reason, Err: fmt.Errorf("a Parquet file, and "+words, args...), Hint: hint}
}

// damaged refuses a file for damage, unread one that is sound.
func damaged(words string, args ...any) error {
	return refuse(turnmill.ReasonBadParquet, "to fetch or write it again", words, args...)
}

func unread(words string, args ...any) error {
	return refuse(turnmill.ReasonBadParquet, "", words, args...)
}

func cutFile(size int64) error {
	return damaged("its footer is not there: the file of %d bytes is cut", size)
}
