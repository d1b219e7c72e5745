package endpoint

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// File is where a journal lies; *os.File is one, opened for reading and writing, not for appending. pipelines names, opens, locks and
// closes it.
type File interface {
	io.ReaderAt
	io.WriterAt
	Durable
}

// Durable is what makes bytes last, and takes them back.
type Durable interface {
	Sync() error
	Truncate(size int64) error
}

// Journal holds what endpoints answered, one entry a line, in the order in which the answers came:
//
//	{"key":"…64 hex…","kind":"rollout","id":"q1","sample":0,"state":"complete","text":"…","reasoning":"…","finish":"stop",
//	 "model":"m","usage":{"prompt_tokens":9,"completion_tokens":7,"reasoning_tokens":3},"error":"","attempts":1,"crc32c":"89abcdef"}
//
// Lines are added and never changed. Of several with one key the first with an answer (complete, truncated, refused)
// counts, and before there is one the last failure. No time stands in it. In memory an entry is half its key and its
// offset, 24 bytes and the map's room, 60 at most; replies are read back from the file. It is safe for concurrent use.
type Journal struct {
	in   io.ReaderAt
	out  File // nil where it is only read
	name string

	mu      sync.Mutex
	turn    *sync.Cond
	index   map[short]place
	end     int64
	lines   int64
	spent   Spent
	next    *batch // what gathers while another is written
	writing bool
	err     error // nothing is written: it is only read, or a write or sync failed
	stats   JournalStats
}

// short is the half of a key that the index holds. Two keys with one half do not come up by chance, and reading back
// compares the whole.
type short [16]byte

func shorten(k Key) short { return short(k[:16]) }

// place is an entry's offset, doubled, and 1 more for an answer.
type place int64

func at(offset int64, answer bool) place {
	if answer {
		return place(offset<<1 | 1)
	}
	return place(offset << 1)
}

func (p place) offset() int64 { return int64(p >> 1) }
func (p place) answer() bool  { return p&1 == 1 }

// JournalStats counts the lines of a journal.
type JournalStats struct {
	Entries    int64 // keys with an entry that counts
	Failed     int64 // of those: failed or timeout
	Superseded int64 // lines that no longer count: failures that were asked again
	Duplicates int64 // lines that never counted, because their key had an answer
	CutBytes   int64 // of a half last line, cut off by OpenJournal
}

// OpenJournal reads a journal's keys, for one process that adds to it: the caller keeps others away. A last line without
// its line feed was never synced and is cut off. Any other fault is a *CorruptError.
func OpenJournal(f File, name string) (*Journal, error) {
	j, err := ReadJournal(f, name)
	if err != nil {
		return nil, err
	}
	j.out, j.err = f, nil
	if j.stats.CutBytes > 0 {
		if err := errors.Join(f.Truncate(j.end), f.Sync()); err != nil {
			return nil, fmt.Errorf("%s: cut off a half last line: %w", name, err)
		}
	}
	return j, nil
}

// ReadJournal is OpenJournal for those who only read, perhaps while another process adds: a half last line is passed
// over and stays, and the journal takes no entry.
func ReadJournal(r io.ReaderAt, name string) (*Journal, error) {
	j := &Journal{in: r, name: name, index: map[short]place{}, next: &batch{}, err: fmt.Errorf("%s: opened for reading", name)}
	j.turn = sync.NewCond(&j.mu)
	var doc jsonscan.Doc
	l := newLines(r)
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		e, err := parseEntry(&doc, line)
		if err != nil {
			return nil, &CorruptError{Name: name, Line: j.lines + 1, Offset: j.end, Err: err}
		}
		j.note(e.Key, at(j.end, answers(e.Reply.State)))
		j.spent.add(Spent{Sent: int64(e.Attempts), Usage: e.Reply.Usage})
		j.end, j.lines = l.offset, j.lines+1
	}
	j.stats.CutBytes = l.rest
	return j, nil
}

// CorruptError names the line of a journal that is none.
type CorruptError struct {
	Name   string
	Line   int64 // from 1
	Offset int64
	Err    error
}

// Error says what to try, too.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s:%d: at offset %d: %v; the lines before are sound: cut the file there, and what came after is asked again", e.Name, e.Line, e.Offset, e.Err)
}

// Unwrap returns the cause and turnmill.ErrCorrupt.
func (e *CorruptError) Unwrap() []error { return []error{e.Err, turnmill.ErrCorrupt} }

// note makes a line count, or not.
func (j *Journal) note(k Key, p place) {
	old, known := j.index[shorten(k)]
	switch {
	case !known:
		j.stats.Entries++
	case old.answer():
		j.stats.Duplicates++
		return
	default:
		j.stats.Superseded++
		j.stats.Failed--
	}
	if !p.answer() {
		j.stats.Failed++
	}
	j.index[shorten(k)] = p
}

// Lookup returns the reply to a request, and whether there is an entry. One of state failed or timeout is one.
func (j *Journal) Lookup(kind string, r *turnmill.Request) (turnmill.Reply, bool, error) {
	e, at, err := j.find(KeyOf(kind, r))
	return e.Reply, at >= 0 && err == nil, err
}

// find reads the entry of a key back; the offset is -1 where there is none.
func (j *Journal) find(k Key) (Entry, int64, error) {
	j.mu.Lock()
	p, known := j.index[shorten(k)]
	j.mu.Unlock()
	if !known {
		return Entry{}, -1, nil
	}
	line, err := readLine(j.in, p.offset())
	if err != nil {
		return Entry{}, -1, fmt.Errorf("%s: at offset %d: %w", j.name, p.offset(), err)
	}
	var doc jsonscan.Doc
	e, err := parseEntry(&doc, line)
	if err == nil && e.Key != k {
		err = errors.New("it has another key than when the journal was opened")
	}
	if err != nil {
		return Entry{}, -1, &CorruptError{Name: j.name, Offset: p.offset(), Err: err}
	}
	return e, p.offset(), nil
}

// Stats counts what the journal holds.
func (j *Journal) Stats() JournalStats {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stats
}

// Spent returns attempts and reported tokens of all entries, for Client.Charge on resuming.
func (j *Journal) Spent() Spent {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spent
}

func (j *Journal) size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end
}
