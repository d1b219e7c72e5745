package extsort

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Record is what is sorted: three words, the first one first.
type Record [3]uint64

// RecordBytes is the size of a record in memory and on disk.
const RecordBytes = 24

// Compare orders records.
func Compare(a, b Record) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

// mostRuns is how many sorted runs lie on disk at once; each has a read buffer while they are merged.
const mostRuns = 64

// readBytes is the read buffer of a run.
const readBytes = 64 << 10

// leastRecords is the least number of records that are worth a run.
const leastRecords = 1 << 10

// Sorter sorts what is added to it. It serves one goroutine.
type Sorter struct {
	dir   string
	most  int // records in memory
	held  []Record
	runs  []*os.File
	bytes int64 // written to disk
	added int64
	ended bool
}

// New returns a sorter that holds so many bytes of records in memory, and more in nameless files of dir.
func New(dir string, memory int64) *Sorter {
	return &Sorter{dir: dir, most: int(max(memory/RecordBytes, leastRecords))}
}

// Len returns how many records were added.
func (s *Sorter) Len() int64 { return s.added }

// DiskBytes returns how many bytes were written to disk.
func (s *Sorter) DiskBytes() int64 { return s.bytes }

// Add adds a record.
func (s *Sorter) Add(r Record) error {
	if len(s.held) == s.most {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.held == nil {
		s.held = make([]Record, 0, min(s.most, leastRecords))
	}
	if len(s.held) == cap(s.held) { // twice the room, and never more than the bound
		s.held = slices.Grow(s.held, min(cap(s.held), s.most-len(s.held)))[:len(s.held):min(2*cap(s.held), s.most)]
	}
	s.held = append(s.held, r)
	s.added++
	return nil
}

// spill writes the records in memory as a run.
func (s *Sorter) spill() error {
	if len(s.runs) == mostRuns {
		if err := s.join(); err != nil {
			return err
		}
	}
	slices.SortFunc(s.held, Compare)
	held := s.held
	s.held = s.held[:0]
	return s.write(func(put func(Record) error) error {
		for _, r := range held {
			if err := put(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// join merges all runs to one.
func (s *Sorter) join() error {
	old := s.runs
	s.runs = nil
	err := s.write(func(put func(Record) error) error { return merge(old, nil, put) })
	for _, f := range old {
		err = errors.Join(err, f.Close())
	}
	return err
}

// write makes a run of what each puts.
func (s *Sorter) write(each func(put func(Record) error) error) error {
	f, err := Nameless(s.dir)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, readBytes)
	var b [RecordBytes]byte
	err = each(func(r Record) error {
		for i, word := range r {
			binary.BigEndian.PutUint64(b[8*i:], word)
		}
		s.bytes += RecordBytes
		_, err := w.Write(b[:])
		return err
	})
	if err = errors.Join(err, w.Flush()); err != nil {
		return errors.Join(fmt.Errorf("sorting in %s: %w", s.dir, err), f.Close())
	}
	s.runs = append(s.runs, f)
	return nil
}

// Each calls visit with every record in order and gives the sorter's memory and disk back. It is called once.
func (s *Sorter) Each(visit func(Record) error) error {
	if s.ended {
		panic("extsort: Each is called twice")
	}
	s.ended = true
	slices.SortFunc(s.held, Compare)
	err := merge(s.runs, s.held, visit)
	return errors.Join(err, s.Close())
}

// Close gives memory and disk back. A sorter that is closed may be closed again.
func (s *Sorter) Close() error {
	var err error
	for _, f := range s.runs {
		err = errors.Join(err, f.Close())
	}
	s.runs, s.held, s.ended = nil, nil, true
	return err
}

// Nameless creates a file in dir that no name leads to.
func Nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".scan-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// source is a run that is read, or the records in memory.
type source struct {
	now  Record
	in   *bufio.Reader // nil: left
	left []Record
}

// next reads on; false at the end.
func (s *source) next() (bool, error) {
	if s.in == nil {
		if len(s.left) == 0 {
			return false, nil
		}
		s.now, s.left = s.left[0], s.left[1:]
		return true, nil
	}
	var b [RecordBytes]byte
	if _, err := io.ReadFull(s.in, b[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	for i := range s.now {
		s.now[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return true, nil
}

// sources is a heap by the record at hand.
type sources []*source

func (h sources) Len() int           { return len(h) }
func (h sources) Less(i, j int) bool { return Compare(h[i].now, h[j].now) < 0 }
func (h sources) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push is of heap.Interface.
func (h *sources) Push(x any) { *h = append(*h, x.(*source)) }

// Pop is of heap.Interface.
func (h *sources) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merge visits the records of sorted runs and of sorted memory in order.
func merge(runs []*os.File, held []Record, visit func(Record) error) error {
	all := []*source{{left: held}}
	for _, f := range runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		all = append(all, &source{in: bufio.NewReaderSize(f, readBytes)})
	}
	var h sources
	for _, s := range all {
		if more, err := s.next(); err != nil {
			return err
		} else if more {
			h = append(h, s)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if err := visit(h[0].now); err != nil {
			return err
		}
		more, err := h[0].next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return nil
}
