package pipelines

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
	"github.com/turnmill/turnmill/stats/report"
)

// Examples of what is no turn: records and trajectories that were lost, and records that were mended, or of which a
// rule of reading decided something. They are chosen as turns are, by hash and whoever works on what:
//
//	worker     of each job the least ranks of each kind, with the record's first and last bytes
//	consumer   of the partition the same              -> examples/rNNNNN.jsonl.zst
//	report     of the run the same
//
// The first line of a file holds the kinds of what was lost, the second those of what was mended, each in the order of
// first sight; each other line is a recordLine. A run of cpt keeps none; its rejects give the same choice, without texts.

func recordExamplesPath(i int) string { return fmt.Sprintf("examples/r%05d.jsonl.zst", i) }

// recordLine is one example: the line of a reject, or a record with a note.
type recordLine struct {
	Rank   uint64          `json:"rank"`
	Lost   []int           `json:"lost,omitempty"`   // kinds, in the file's first line
	Mended []int           `json:"mended,omitempty"` // in its second
	Kind   string          `json:"kind"`             // file, record, trajectory
	Status string          `json:"status,omitempty"` // dropped, rejected; "" for what was mended
	Reason turnmill.Reason `json:"reason,omitempty"`
	Detail string          `json:"detail,omitempty"`
	Path   string          `json:"path"`
	Frame  *int64          `json:"frame,omitempty"`
	Line   int64           `json:"line,omitempty"`
	Offset int64           `json:"offset"`
	Bytes  int64           `json:"bytes"`
	ID     string          `json:"id,omitempty"`
	Domain turnmill.Domain `json:"domain,omitempty"`
	Text   recordText      `json:"text"`

	of *recordBytes // what Text is to be made of, nil when it is made
}

// settle makes the text, when it is known that the line stays: most do not.
func (l *recordLine) settle(hide *secrets.Scrubber) {
	if l.of != nil {
		l.Text, l.of = l.of.text(hide), nil
	}
}

// What the kinds of records are of, and called.
const (
	ofRecords      = "record"
	ofTrajectories = "trajectory"
	ofNotes        = "note"
)

// noteKinds are what the notes are called, by note.
var noteKinds = func() (names [turnmill.NumNotes]string) {
	for i := range names {
		names[i] = noteKind(turnmill.Note(i).String())
	}
	return names
}()

func noteKind(name string) string { return "note: " + name }

// lostKinds returns the kinds of a reject's line: of the account that it stands in, and a record that held one
// trajectory in that of trajectories too. Turns have examples of their own.
func lostKinds(l *rejectLine) (kinds []figures.Kind) {
	what := l.Status + ": " + string(l.Reason)
	if l.Kind == "file" || l.Kind == "record" {
		kinds = append(kinds, figures.Kind{Of: ofRecords, Name: figures.Name(string(l.Domain)), What: what})
	}
	if l.Kind == "trajectory" || l.Kind == "record" && l.Trajectories == 1 {
		kinds = append(kinds, figures.Kind{Of: ofTrajectories, Name: figures.Name(string(l.Domain)), What: what})
	}
	return kinds
}

// recordSampler chooses examples of records.
type recordSampler struct {
	seed         string
	lost, mended *figures.Reservoir[*recordLine]
}

func newRecordSampler(seed string, limit int) recordSampler {
	return recordSampler{seed, figures.NewReservoir[*recordLine](limit), figures.NewReservoir[*recordLine](limit)}
}

func newPassingRecords(seed string) recordSampler {
	return recordSampler{seed, figures.NewPassing[*recordLine](), figures.NewPassing[*recordLine]()}
}

func (s *recordSampler) reset() {
	s.lost.Reset()
	s.mended.Reset()
}

// lose looks at a reject's line, whose place is in it. Texts of kinds and line are borrowed; what is kept is copied, but for
// the bytes, which are nil where the record could not be read.
func (s *recordSampler) lose(l *rejectLine, of *recordBytes) {
	var one *recordLine
	rank := figures.RankRecord(s.seed, l.Path, frameOf(l.Frame), l.Offset, l.ID)
	for _, k := range lostKinds(l) {
		kept := s.lost.At(ownKind(k))
		if kept == nil || !kept.Wants(rank) {
			continue
		}
		if one == nil {
			one = &recordLine{Rank: rank, Kind: l.Kind, Status: l.Status, Reason: l.Reason, Detail: strings.Clone(l.Detail), Path: l.Path, Frame: l.Frame,
				Line: l.Line, Offset: l.Offset, Bytes: l.Bytes, ID: strings.Clone(l.ID), Domain: turnmill.Domain(strings.Clone(string(l.Domain))), of: of}
		}
		kept.Put(rank, one)
	}
}

// mend looks at the notes of a record.
func (s *recordSampler) mend(d turnmill.Domain, id string, notes *turnmill.Notes, pos turnmill.Pos, of *recordBytes) {
	var one *recordLine
	rank := figures.RankRecord(s.seed, pos.Path, pos.Frame, pos.Offset, id)
	for i, n := range notes {
		if n == 0 {
			continue
		}
		kept := s.mended.At(ownKind(figures.Kind{Of: ofNotes, Name: figures.Name(string(d)), What: noteKinds[i]}))
		if kept == nil || !kept.Wants(rank) {
			continue
		}
		if one == nil {
			one = &recordLine{Rank: rank, Kind: "record", Path: pos.Path, Line: pos.Line, Offset: pos.Offset, Bytes: pos.Bytes,
				ID: strings.Clone(id), Domain: turnmill.Domain(strings.Clone(string(d))), of: of}
			if pos.Frame >= 0 {
				one.Frame = &pos.Frame
			}
		}
		kept.Put(rank, one)
	}
}

func frameOf(frame *int64) int64 {
	if frame == nil {
		return -1
	}
	return *frame
}

// ownKind returns a kind whose name is not the record's, which is gone before the outcome is.
func ownKind(k figures.Kind) figures.Kind {
	k.Name = strings.Clone(k.Name)
	return k
}

// gather takes the examples of an outcome, or of a partition, into s, and makes the texts that are not made yet, without
// what hide finds.
func (s *recordSampler) gather(from *recordSampler, hide *secrets.Scrubber) {
	gatherRecords(s.lost, from.lost, hide)
	gatherRecords(s.mended, from.mended, hide)
}

func gatherRecords(into, from *figures.Reservoir[*recordLine], hide *secrets.Scrubber) {
	for _, k := range from.Kinds() {
		kept := into.At(k)
		if kept == nil {
			continue
		}
		for _, e := range from.Of(k) {
			if kept.Wants(e.Rank) {
				e.Value.settle(hide)
				kept.Put(e.Rank, e.Value)
			}
		}
	}
}

// lines returns every example once: what was lost by rank, then what was mended, with its kinds as their numbers.
func (s *recordSampler) lines() []*recordLine {
	return append(chosenRecords(s.lost, lostNumbers), chosenRecords(s.mended, mendedNumbers)...)
}

// collectRecords gathers the examples of records of a run: an audit's own, or those that the rejects of a run of cpt
// give.
func collectRecords(root string, p *Plan, partitions int) (*recordSampler, error) {
	all := newRecordSampler(p.Mask.Seed, reportKinds)
	for i := range partitions {
		one := newRecordSampler(p.Mask.Seed, mostKinds)
		var err error
		if p.audits() {
			err = readRecordExamples(root, i, &one, nil)
		} else {
			err = eachReject(root, i, func(l *rejectLine) { one.lose(l, nil) })
		}
		if err != nil {
			return nil, err
		}
		all.gather(&one, nil)
	}
	return &all, nil
}

// openBelow opens a file of a run by its path in it.
func openBelow(root, path string) (*os.File, error) {
	return os.Open(filepath.Join(root, filepath.FromSlash(path)))
}

// reportRecords numbers the examples of records.
func reportRecords(s *recordSampler) ([]report.RecordExample, map[figures.Kind][]int) {
	number := map[*recordLine]int{}
	var all []report.RecordExample
	kinds := map[figures.Kind][]int{}
	for _, r := range []*figures.Reservoir[*recordLine]{s.lost, s.mended} {
		for _, k := range r.Kinds() {
			for _, e := range r.Of(k) {
				l := e.Value
				i, known := number[l]
				if !known {
					i = len(all)
					number[l] = i
					all = append(all, recordExampleOf(l))
				}
				if k.Of == ofNotes {
					all[i].Notes = append(all[i].Notes, strings.TrimPrefix(k.What, noteKind("")))
				}
				kinds[k] = append(kinds[k], i)
			}
		}
	}
	return all, kinds
}

func recordExampleOf(l *recordLine) report.RecordExample {
	where := l.Path
	switch {
	case l.Line > 0:
		where += ":" + strconv.FormatInt(l.Line, 10)
	case l.Kind != "file":
		where += ", byte " + stats.Thousands(l.Offset)
	}
	if l.Frame != nil {
		where += ", in the frame at byte " + stats.Thousands(*l.Frame)
	}
	e := report.RecordExample{Where: where, Bytes: l.Bytes, Kind: l.Kind, Detail: l.Detail, ID: figures.Name(l.ID), Domain: figures.Name(string(l.Domain)),
		Head: l.Text.Head, Skipped: l.Text.Skipped, Tail: l.Text.Tail}
	if l.Status != "" {
		e.What = l.Status + ": " + string(l.Reason)
	}
	return e
}
