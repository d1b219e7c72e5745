package replies

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// Reject is a row that was not read.
type Reject struct {
	Pos    turnmill.Pos
	Reason turnmill.Reason
	Err    error
}

// Index finds the replies of an id. It holds 32 bytes a reply, of which at most spillEntries in memory; the others lie
// sorted in a temporary file that ends with the process.
//
//	entry   | hash 8 | offset 8 | bytes 4 | item 4 | file 4 | - 4 |      little endian, sorted by hash, then in plan order
//
// It is read-only after Build; each goroutine takes a Reader of its own.
type Index struct {
	Files   []FileSum
	Rejects []Reject // at most MostRejects, in the order of the files
	Bad     map[turnmill.Reason]int64

	names  []string
	files  []*os.File
	naming Naming
	last   []entry // the run in memory
	spill  *os.File
	runs   []stretch // of spill
	many   int       // entries of a run
}

// entry says where one reply lies.
type entry struct {
	hash   uint64
	offset int64
	bytes  uint32
	item   uint32 // of several in one row
	file   uint32
}

const entryBytes = 32

// spillEntries is how many entries a run holds.
const spillEntries = 1 << 20

// SpillBytes is what the entries of an Index take in memory at most, while they are written away.
const SpillBytes = 2 * spillEntries * entryBytes

// MostRejects bounds the rejected rows that are named. All are counted.
const MostRejects = 10_000

type stretch struct{ from, entries int64 }

// Build reads the files once. A row that cannot be read is a reject; what cannot be opened, or is damaged, is an error.
// stop is asked between rows and may be nil.
func Build(files []File, l Limits, n Naming, stop func() error) (*Index, error) {
	return build(files, l, n, stop, spillEntries)
}

func build(files []File, l Limits, n Naming, stop func() error, many int) (_ *Index, err error) {
	x := &Index{naming: n, many: many, Bad: map[turnmill.Reason]int64{}}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	d := newDecoder(n)
	for i, f := range files {
		var found int64
		file, sum, err := scan(f, l, func(rec frame.Record, bad error) error {
			if stop != nil {
				if err := stop(); err != nil {
					return err
				}
			}
			k, err := x.row(d, i, f.Name, rec, bad)
			found += int64(k)
			return err
		})
		if err != nil {
			return nil, err
		}
		sum.Replies = found
		x.Files, x.files, x.names = append(x.Files, sum), append(x.files, file), append(x.names, f.Name)
	}
	sortEntries(x.last)
	return x, nil
}

// row enters the replies of one row.
func (x *Index) row(d *decoder, file int, name string, rec frame.Record, bad error) (int, error) {
	var all []turnmill.Reply
	if bad == nil {
		all, bad = d.decode(rec.Data)
	}
	if bad != nil {
		x.reject(name, rec, bad)
		return 0, nil
	}
	for i := range all {
		x.last = append(x.last, entry{hash: hash(all[i].ID), offset: rec.Offset, bytes: uint32(len(rec.Data)), item: uint32(i), file: uint32(file)})
	}
	if len(x.last) >= x.many {
		return len(all), x.flush()
	}
	return len(all), nil
}

func (x *Index) reject(name string, rec frame.Record, err error) {
	var e *turnmill.RecordError
	if !errors.As(err, &e) {
		e = &turnmill.RecordError{Step: "replies", Reason: turnmill.ReasonBadField, Err: err}
	}
	x.Bad[e.Reason]++
	if len(x.Rejects) == MostRejects {
		return
	}
	pos := turnmill.Pos{Path: name, Frame: -1, Line: rec.Line, Offset: rec.Offset, Bytes: int64(len(rec.Data))}
	if e.Pos.Bytes > 0 { // the framer's own: there is no record
		pos.Line, pos.Offset, pos.Bytes = e.Pos.Line, e.Pos.Offset, e.Pos.Bytes
	}
	x.Rejects = append(x.Rejects, Reject{pos, e.Reason, e.Err})
}

// hash is the first eight bytes of the SHA-256 of an id.
func hash(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// sortEntries sorts a run by hash, and within it in the order of the files.
func sortEntries(run []entry) {
	slices.SortFunc(run, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset), cmp.Compare(a.item, b.item))
	})
}

// flush sorts the run in memory and writes it away.
func (x *Index) flush() error {
	if x.spill == nil {
		var err error
		if x.spill, err = temporary(); err != nil {
			return err
		}
	}
	sortEntries(x.last)
	s := stretch{entries: int64(len(x.last))}
	for _, r := range x.runs {
		s.from += r.entries * entryBytes
	}
	data := make([]byte, 0, len(x.last)*entryBytes)
	for _, e := range x.last {
		data = e.append(data)
	}
	if _, err := x.spill.WriteAt(data, s.from); err != nil {
		return fmt.Errorf("%w; try TMPDIR on a disk with room", err)
	}
	x.runs, x.last = append(x.runs, s), x.last[:0]
	return nil
}

func (e *entry) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, e.hash)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.offset))
	dst = binary.LittleEndian.AppendUint32(dst, e.bytes)
	dst = binary.LittleEndian.AppendUint32(dst, e.item)
	dst = binary.LittleEndian.AppendUint32(dst, e.file)
	return binary.LittleEndian.AppendUint32(dst, 0)
}

func (e *entry) read(src []byte) {
	e.hash, e.offset = binary.LittleEndian.Uint64(src), int64(binary.LittleEndian.Uint64(src[8:]))
	e.bytes, e.item, e.file = binary.LittleEndian.Uint32(src[16:]), binary.LittleEndian.Uint32(src[20:]), binary.LittleEndian.Uint32(src[24:])
}

// find appends the entries of a hash, in the order of the files.
func (x *Index) find(h uint64, dst []entry) ([]entry, error) {
	var buf [entryBytes]byte
	for _, r := range x.runs {
		var failed error
		at := func(i int64) (e entry) {
			if _, err := x.spill.ReadAt(buf[:], r.from+i*entryBytes); err != nil && failed == nil {
				failed = err
			}
			e.read(buf[:])
			return e
		}
		first := int64(sort.Search(int(r.entries), func(i int) bool { return at(int64(i)).hash >= h }))
		for i := first; i < r.entries && failed == nil; i++ {
			e := at(i)
			if e.hash != h {
				break
			}
			dst = append(dst, e)
		}
		if failed != nil {
			return nil, failed
		}
	}
	first := sort.Search(len(x.last), func(i int) bool { return x.last[i].hash >= h })
	for _, e := range x.last[first:] {
		if e.hash != h {
			break
		}
		dst = append(dst, e)
	}
	return dst, nil
}

// Replies returns how many replies the files hold.
func (x *Index) Replies() (n int64) {
	for _, f := range x.Files {
		n += f.Replies
	}
	return n
}

// Close closes the files.
func (x *Index) Close() error {
	var errs []error
	for _, f := range x.files {
		errs = append(errs, f.Close())
	}
	if x.spill != nil {
		errs = append(errs, x.spill.Close())
	}
	return errors.Join(errs...)
}

// Reader reads replies back. It serves one goroutine.
type Reader struct {
	x       *Index
	d       *decoder
	entries []entry
	buf     []byte
}

// Reader returns a reader.
func (x *Index) Reader() *Reader { return &Reader{x: x, d: newDecoder(x.naming)} }

// Get returns the replies of an id in the order of their samples, one each, and how many there were in all. They own
// their memory.
func (r *Reader) Get(id string) (all []turnmill.Reply, found int, err error) {
	if r.entries, err = r.x.find(hash(id), r.entries[:0]); err != nil {
		return nil, 0, err
	}
	for i := 0; i < len(r.entries); {
		e := r.entries[i]
		row, err := r.row(e)
		if err != nil {
			return nil, 0, err
		}
		for ; i < len(r.entries) && r.entries[i].file == e.file && r.entries[i].offset == e.offset; i++ {
			k := int(r.entries[i].item)
			if k >= len(row) {
				return nil, 0, r.changed(e, errors.New("it holds fewer answers than before"))
			}
			if row[k].ID != id { // another id of the same hash
				continue
			}
			found++
			all = choose(all, row[k])
		}
	}
	slices.SortFunc(all, func(a, b turnmill.Reply) int { return cmp.Compare(a.Sample, b.Sample) })
	return all, found, nil
}

// choose lets one reply stand for a sample: the first answer, else the first that is none.
func choose(all []turnmill.Reply, r turnmill.Reply) []turnmill.Reply {
	i := slices.IndexFunc(all, func(a turnmill.Reply) bool { return a.Sample == r.Sample })
	switch {
	case i < 0:
		return append(all, r)
	case !answers(all[i].State) && answers(r.State):
		all[i] = r
	}
	return all
}

// answers tells whether a model has said something.
func answers(s turnmill.ReplyState) bool {
	return s != turnmill.ReplyFailed && s != turnmill.ReplyTimeout
}

// row reads one row back.
func (r *Reader) row(e entry) ([]turnmill.Reply, error) {
	r.buf = slices.Grow(r.buf[:0], int(e.bytes))[:e.bytes]
	if _, err := r.x.files[e.file].ReadAt(r.buf, e.offset); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, r.changed(e, err)
	}
	all, err := r.d.decode(r.buf)
	if err != nil {
		return nil, r.changed(e, err)
	}
	for i := range all {
		all[i].Pos = turnmill.Pos{Path: r.x.names[e.file], Frame: -1, Offset: e.offset, Bytes: int64(e.bytes)}
	}
	return all, nil
}

func (r *Reader) changed(e entry, err error) error {
	return fmt.Errorf("%s@%d: the answers there are no longer what was read: %w; put the file back, or run again", r.x.names[e.file], e.offset, err)
}
