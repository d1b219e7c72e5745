package pipelines

import (
	"context"
	"io"
	"math"

	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// IngestOptions are the settings of an ingest: any format to unified JSON lines, no filters run.
type IngestOptions struct {
	Inputs      []string
	Format      string // auto: by content
	Domain      string // auto: the format's own rule
	KeepThought bool
	MaxRecord   int64     // bytes
	MaxWindow   int64     // bytes, zstd
	Stdin       io.Reader // what the input "-" reads

	// Rejected is called with a JSON line for each file, record and trajectory that failed; it may be nil.
	Rejected func(line []byte) error
}

// Ingest writes every trajectory and document of the inputs to out, one JSON object a line, in the order
// of the inputs. The counts hold records, trajectories, turns and notes; nothing is dropped here, so what
// does not come out was rejected.
func Ingest(ctx context.Context, o IngestOptions, out io.Writer) (*stats.Counts, error) {
	opts := &Options{Inputs: o.Inputs, Format: o.Format, MaxRecord: o.MaxRecord, MaxWindow: o.MaxWindow, PartitionBytes: math.MaxInt64, Stdin: o.Stdin}
	if opts.streams() {
		return ingestStream(ctx, &o, opts, out)
	}
	inputs, paths, _, err := inventory(ctx, opts)
	if err != nil {
		return nil, err
	}
	g := newIngester(&o, inputs, out)
	var read int64
	for i := range inputs {
		rng := Range{Input: i, To: inputs[i].Bytes, Line: 1}
		sum, err := readRange(ctx, &inputs[i], rng, paths[i], limits{record: o.MaxRecord, window: o.MaxWindow}, &read, g.visit)
		g.counts.Ledger.Total.Records.In += sum.Records
		g.counts.AddNotes(stats.InputNotes, &sum.notes)
		if err != nil {
			return g.counts, err
		}
	}
	return g.counts, nil
}

// ingestStream is Ingest from standard input.
func ingestStream(ctx context.Context, o *IngestOptions, opts *Options, out io.Writer) (*stats.Counts, error) {
	if len(o.Inputs) > 1 {
		return nil, &UsageError{errNotAlone}
	}
	s, err := openStream(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer s.close()
	g := newIngester(o, []PlanInput{s.input}, out)
	var read int64
	sum, err := s.stretch(ctx, &read, g.visit)
	g.counts.Ledger.Total.Records.In += sum.Records
	g.counts.AddNotes(stats.InputNotes, &sum.notes)
	return g.counts, err
}

func newIngester(o *IngestOptions, inputs []PlanInput, out io.Writer) *ingester {
	return &ingester{
		unpacker: newUnpacker(inputs, formats.Options{KeepThought: o.KeepThought, Domain: domainOf(o.Domain)}),
		account:  newOutcome(mask.ModeOff, false), counts: stats.NewCounts(), out: out, rejected: o.Rejected,
	}
}

// ingester takes records to unified lines. account is an outcome without rows: it keeps the accounts as
// those of a run are kept.
type ingester struct {
	unpacker
	account  *outcome
	counts   *stats.Counts
	out      io.Writer
	rejected func([]byte) error
	line     []byte
	scratch  []byte
}

func (g *ingester) visit(from source, raw frame.Record, err error) error {
	g.account.reset()
	if err != nil {
		g.account.rejectRecord(from, raw, err)
	} else {
		for part, err := range g.unpack(from, raw, g.account.counts) {
			if err != nil {
				g.account.rejectRecord(from, part, err)
			} else if err := g.record(from, part); err != nil {
				return err
			}
		}
	}
	g.counts.Add(g.account.counts)
	if g.rejected == nil || len(g.account.rejects) == 0 {
		return nil
	}
	return g.rejected(g.account.rejects)
}

// record writes what one record holds.
func (g *ingester) record(from source, raw frame.Record) error {
	d := &g.decoded
	g.account.begin(from, raw, d)
	g.line = g.line[:0]
	for i := range d.Trajectories {
		t := &d.Trajectories[i]
		if t.ID == "" {
			t.ID, g.scratch = formats.ContentID(t, g.scratch)
		}
		g.line = append(formats.AppendUnified(g.line, t), '\n')
		g.account.rec.kept = true
		turns := int64(len(t.Turns))
		g.account.counts.Each(t.Domain, func(l *stats.Ledger) {
			l.Trajectories.In, l.Trajectories.Out = l.Trajectories.In+1, l.Trajectories.Out+1
			l.Turns.In, l.Turns.Out = l.Turns.In+turns, l.Turns.Out+turns
		})
	}
	for i := range d.Documents {
		doc := &d.Documents[i]
		if doc.ID == "" {
			doc.ID, g.scratch = formats.DocumentContentID(doc, g.scratch)
		}
		g.line = append(formats.AppendDocument(g.line, doc), '\n')
		g.account.rec.kept = true
	}
	g.account.end()
	_, err := g.out.Write(g.line)
	return err
}
