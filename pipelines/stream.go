package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/ingest/parquet"
)

// streamPath names standard input in plans and rejects.
const streamPath = "0/-"

// stream is standard input, which has no second reading: it is cut into partitions while it is read, and what
// a partition is stands in its commit, not in the plan. Every record passes the one framer; the bytes are
// hashed up to where a partition ends.
//
//	stdin --decompress--> tee --> framer --> records
//	                       |                   |  the first one that starts PartitionBytes after
//	                    pending --hash--> SHA-256 of partition i      the partition's start begins the next
//
// To resume, the same bytes are fed again: stretches that are committed are framed, hashed and compared.
// Offsets count decompressed bytes.
type stream struct {
	input  PlanInput
	from   source
	file   io.Closer // that stands for standard input, else nil
	stop   func()    // ends reading ahead, and closes the decompression
	tee    *tee
	framer *frame.Framer // nil: the plan has rejected the input
	size   int64         // least bytes of a partition that another follows
	left   int64         // records that may still be read
	window int64         // bytes that its decompression holds

	held  bool // a record is read that belongs to the partition to come
	rec   frame.Record
	err   error
	at    int64 // where that partition starts
	line  int64
	notes turnmill.Notes // of the framer, up to at
	ended bool
}

// errNotAlone refuses inputs beside standard input.
var errNotAlone = errors.New(`input "-": standard input is read alone; try to join the inputs before, as in cat a.jsonl b.jsonl | turnmill`)

// streams tells whether the options name standard input.
func (o *Options) streams() bool { return slices.Contains(o.Inputs, "-") }

// openStream looks at the start of standard input.
func openStream(ctx context.Context, o *Options) (*stream, error) {
	if o.Stdin == nil {
		return nil, &UsageError{errors.New(`input "-": standard input is not open; try to name files`)}
	}
	ctx, cancel := context.WithCancel(ctx)
	var text io.ReadCloser
	stop := func() {
		cancel()
		if text != nil {
			text.Close()
		}
	}
	var head ingest.Head
	var damage error
	head, text, damage = ingest.Peek(readAhead(ctx, o.Stdin), o.MaxWindow)
	if ctx.Err() != nil {
		stop()
		return nil, context.Cause(ctx)
	}
	if damage != nil && frame.Reason(damage) == turnmill.ReasonUnreadable {
		stop()
		return nil, fmt.Errorf("standard input: %w", damage)
	}
	if parquet.Is(head.Data) {
		stop()
		return nil, &UsageError{errors.New(`input "-": standard input holds a Parquet file, whose footer comes last and is read first; try to write it to a file and to name that`)}
	}
	s := &stream{stop: stop, size: o.PartitionBytes, left: o.Limit, line: 1}
	if s.left == 0 {
		s.left = math.MaxInt64
	}
	s.input = PlanInput{Path: streamPath, SHA256: hexSum(head.Data)}
	if err := recognise(&s.input, head, damage, o); err != nil {
		stop()
		return nil, err
	}
	s.input.Detail = o.hidden(s.input.Detail)
	s.from = source{path: streamPath, frame: -1, format: s.input.Format}
	if s.input.Rejected != "" {
		return s, nil
	}
	var err error
	if s.from.layout, err = frame.ParseLayout(s.input.Layout); err != nil {
		stop()
		return nil, err
	}
	s.tee = &tee{in: text, hash: sha256.New()}
	s.framer = frame.New(s.from.layout, s.tee, frame.Options{MaxRecord: o.MaxRecord})
	s.window = int64(head.Window)
	return s, nil
}

// close ends the decompression; standard input itself is the caller's.
func (s *stream) close() {
	s.stop()
	if s.file != nil {
		s.file.Close()
	}
}

// stretch visits the records of the next partition. The sum is of its decompressed bytes.
func (s *stream) stretch(ctx context.Context, read *int64, visit visitor) (RangeSum, error) {
	sum := RangeSum{Input: streamPath, From: s.at, To: s.at, Line: s.line}
	if s.framer == nil {
		s.ended = true
		sum.Records, sum.SHA256 = 1, hexSum(nil)
		return sum, visit(s.from, frame.Record{}, rejectedInput(&s.input))
	}
	for ctx.Err() == nil {
		if !s.held {
			before := s.tee.read
			s.rec, s.err = s.framer.Next()
			*read += s.tee.read - before
			if ctx.Err() != nil { // which the framer may take for damage
				break
			}
		}
		var reject *turnmill.RecordError
		switch isReject := errors.As(s.err, &reject); {
		case s.err == nil || isReject:
			start := startOf(s.rec, s.err)
			if s.left == 0 {
				s.ended = true
				return s.cut(sum, start, 0), nil
			}
			if s.held = start-sum.From >= s.size && sum.Records > 0; s.held {
				line := s.rec.Line
				if isReject {
					line = reject.Pos.Line
				}
				return s.cut(sum, start, line), nil
			}
			sum.Records++
			s.left--
			if err := visit(s.from, s.rec, s.err); err != nil {
				return sum, err
			}
			s.tee.pass(start)
		case s.err == io.EOF:
			s.ended = true
			return s.cut(sum, s.tee.read, 0), nil
		case frame.Reason(s.err) == turnmill.ReasonUnreadable:
			return sum, fmt.Errorf("standard input, byte %d: %w", s.tee.read, s.err)
		default:
			s.ended = true
			sum.Records++
			lost := &fileError{-1, &turnmill.RecordError{Step: "decompress", Reason: frame.Reason(s.err), Err: s.err}}
			return s.cut(sum, s.tee.read, 0), visit(s.from, frame.Record{Offset: s.tee.read}, lost)
		}
	}
	return sum, context.Cause(ctx)
}

// cut ends a stretch at a place in the text.
func (s *stream) cut(sum RangeSum, at, line int64) RangeSum {
	sum.To, sum.SHA256 = at, s.tee.sum(at)
	now := s.framer.Notes()
	for i := range now {
		sum.notes[i] = now[i] - s.notes[i]
	}
	s.at, s.line, s.notes = at, line, now
	return sum
}

// tee hashes what is read through it, up to where it is told to.
type tee struct {
	in      io.Reader
	hash    hash.Hash
	pending []byte // read, not hashed
	read    int64
	hashed  int64
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.pending = append(t.pending, p[:n]...)
	t.read += int64(n)
	return n, err
}

// passBytes is how much may be pending before it is worth hashing.
const passBytes = 1 << 20

// pass hashes what lies before a place that no cut can come before.
func (t *tee) pass(to int64) {
	if to-t.hashed >= passBytes {
		t.take(to)
	}
}

func (t *tee) take(to int64) {
	n := int(to - t.hashed)
	t.hash.Write(t.pending[:n])
	t.pending = append(t.pending[:0], t.pending[n:]...)
	t.hashed = to
}

// sum returns the SHA-256 of what lies between the last sum and a place, in hex.
func (t *tee) sum(to int64) string {
	t.take(to)
	sum := hex.EncodeToString(t.hash.Sum(nil))
	t.hash.Reset()
	return sum
}

// runStream runs what of standard input is not committed, and compares what is.
func runStream(ctx context.Context, o *Options, s *setup, window int64) error {
	_, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return err
	}
	run, err := startRun(o, s, budget, nil)
	if err != nil {
		return err
	}
	defer run.close()
	done := s.plan.done(o.Output, s.planSum)
	for i := 0; !s.stream.ended; i++ {
		if i == mostPartitions {
			return errors.New("standard input: more than 99,999 partitions; try a larger --partition-bytes, with --restart")
		}
		if c := done.commit(i); c != nil {
			if err := s.stream.again(ctx, i, c); err != nil {
				return err
			}
			continue
		}
		if err := run.partitions(ctx, []int{i}, 1); err != nil {
			return err
		}
	}
	return nil
}

// again reads a stretch that is committed, and refuses another one than was read then.
func (s *stream) again(ctx context.Context, i int, c *Commit) error {
	var read int64
	sum, err := s.stretch(ctx, &read, func(source, frame.Record, error) error { return nil })
	if err != nil {
		return err
	}
	sum.notes = turnmill.Notes{}
	if len(c.Inputs) != 1 || sum != c.Inputs[0] || s.ended != c.Last {
		return fmt.Errorf("standard input: %w: bytes %d to %d are not those that partition %d has committed; feed the same bytes again, or start anew with --restart",
			ingest.ErrChanged, sum.From, sum.To, i)
	}
	return nil
}
