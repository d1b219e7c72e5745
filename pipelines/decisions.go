package pipelines

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill"
)

// decision is what the plan has decided about one trajectory or document.
type decision struct {
	record int64 // of the partition as its framer counts, from 0
	unit   int64 // of the record as its decoder yields them, from 0; wholeRecord
	reason turnmill.Reason
	detail string // of wholeRecord, how many times it is to be there
}

// wholeRecord is the unit of a decision that repeats a record.
const wholeRecord = -1

// Decisions are written as plan/pNNNNN.bin, one file a partition, in the order of its records:
//
//	"turnmill plan 1\n"
//	{ records since the one before, unit + 1, reason, bytes of the detail: unsigned varints; the detail }...
//
// reason is a place in scanReasons. A unit of 0 says how many times the record is to be there, in the detail. What is not named stays as it is.
const decisionsMagic = "turnmill plan 1\n"

// scanReasons are the reasons for which the plan drops, by their number in its files.
var scanReasons = [...]turnmill.Reason{turnmill.ReasonDuplicate, turnmill.ReasonDuplicateTurns, turnmill.ReasonNearDuplicate, turnmill.ReasonContaminated, turnmill.ReasonMixedOut}

func decisionsPath(i int) string { return fmt.Sprintf("plan/p%05d.bin", i) }

// append appends d, which follows a decision about record last.
func (d *decision) append(dst []byte, last int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(d.record-last))
	dst = binary.AppendUvarint(dst, uint64(d.unit+1))
	dst = binary.AppendUvarint(dst, uint64(max(slices.Index(scanReasons[:], d.reason), 0)))
	dst = binary.AppendUvarint(dst, uint64(len(d.detail)))
	return append(dst, d.detail...)
}

// decisionReader reads the decisions of one partition.
type decisionReader struct {
	in   *bufio.Reader
	now  decision
	more bool // now holds one
	err  error
}

// mostDetail bounds what a damaged file can ask for.
const mostDetail = 1 << 20

func newDecisionReader(in io.Reader) *decisionReader {
	r := &decisionReader{in: bufio.NewReader(in)}
	magic := make([]byte, len(decisionsMagic))
	if _, err := io.ReadFull(r.in, magic); err != nil || string(magic) != decisionsMagic {
		r.fail(errors.New("it does not begin as a file of decisions"))
		return r
	}
	r.next()
	return r
}

func (r *decisionReader) fail(err error) {
	r.more, r.err = false, fmt.Errorf("%w: %w", turnmill.ErrCorrupt, err)
}

// next reads on; at the end more is false.
func (r *decisionReader) next() {
	first := !r.more
	r.more = false
	if _, err := r.in.Peek(1); err == io.EOF {
		return
	}
	var fields [4]uint64
	for i := range fields {
		var err error
		if fields[i], err = binary.ReadUvarint(r.in); err != nil {
			r.fail(fmt.Errorf("a decision is cut: %w", err))
			return
		}
	}
	record, unit := r.now.record+int64(fields[0]), int64(fields[1])-1
	switch {
	case record < r.now.record || unit < wholeRecord, !first && record == r.now.record && unit <= r.now.unit:
		r.fail(errors.New("decisions out of order"))
		return
	case fields[2] >= uint64(len(scanReasons)) || fields[3] > mostDetail:
		r.fail(errors.New("a decision for no reason"))
		return
	}
	detail := make([]byte, fields[3])
	if _, err := io.ReadFull(r.in, detail); err != nil {
		r.fail(fmt.Errorf("a decision is cut: %w", err))
		return
	}
	r.now, r.more = decision{record, unit, scanReasons[fields[2]], string(detail)}, true
	if unit == wholeRecord {
		r.now.reason = ""
		if n, err := strconv.ParseInt(string(detail), 10, 32); err != nil || n < 2 || strconv.FormatInt(n, 10) != string(detail) {
			r.fail(errors.New("a record that is there no number of times"))
		}
	}
}

// times takes how often the record of some decisions is to be there.
func times(decided []decision) (int, []decision) {
	if len(decided) == 0 || decided[0].unit != wholeRecord {
		return 1, decided
	}
	n, _ := strconv.Atoi(decided[0].detail) // the reader has read it
	return n, decided[1:]
}

// of takes the decisions about a record, which is not before the one asked for last.
func (r *decisionReader) of(record int64) (found []decision) {
	for r != nil && r.more && r.now.record <= record {
		if r.now.record == record {
			found = append(found, r.now)
		}
		r.next()
	}
	return found
}

// decisionsOf opens the decisions about partition i: as the scan made them, or as they lie in OUT. It is nil where the
// plan has none.
func (s *setup) decisionsOf(i int) (*decisionReader, io.Closer, error) {
	if s.plan.Scan == nil {
		return nil, io.NopCloser(nil), nil
	}
	if s.decided != nil {
		return newDecisionReader(s.decided.section(i)), io.NopCloser(nil), nil
	}
	sum := &s.plan.Scan.Files[i]
	f, err := os.Open(filepath.Join(s.root, filepath.FromSlash(sum.Path)))
	if err != nil {
		return nil, nil, fmt.Errorf("what the plan decided: %w; plan anew with --restart", err)
	}
	if got, err := sumFile(f.Name()); err != nil || got.SHA256 != sum.SHA256 {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w: it is not the file that the plan names; plan anew with --restart", sum.Path, turnmill.ErrCorrupt), err, f.Close())
	}
	return newDecisionReader(f), f, nil
}
