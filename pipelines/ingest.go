package pipelines

import (
	"cmp"
	"context"
	"io"
	"math"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/secrets"
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
	Secrets     string    // scrub, report, off; "": scrub
	As          string    // what is written: "", the unified form; AsWorldBench
	MaxRecord   int64     // bytes
	MaxWindow   int64     // bytes, zstd
	Stdin       io.Reader // what the input "-" reads

	// Stats takes the figures of each format, with what these filters would refuse; nil: none.
	Stats         stats.FormatCounts
	Filters       []string // as in Options
	MinTurns      int
	TrainDialogue bool
	Patterns      *filter.Patterns

	// Rejected is called with a JSON line for each file, record and trajectory that failed; it may be nil.
	Rejected func(line []byte) error
}

// AsWorldBench writes rows of AgentWorldBench instead of the unified form: one for each turn that is to be
// predicted, with the turns before it. A person's reply has none (dialogue), nor has a turn without an action
// to answer (no_action). A trajectory without a row, and a document, are dropped: no_target.
const AsWorldBench = "agentworldbench"

// Ingest writes every trajectory and document of the inputs to out, one JSON object a line, in the order
// of the inputs. The counts hold records, trajectories, turns and notes. Nothing is dropped but what has no
// row of AgentWorldBench, so what else does not come out was rejected.
func Ingest(ctx context.Context, o IngestOptions, out io.Writer) (*stats.Counts, error) {
	opts := &Options{Inputs: o.Inputs, Format: o.Format, Secrets: o.Secrets, MaxRecord: o.MaxRecord, MaxWindow: o.MaxWindow, PartitionBytes: math.MaxInt64, Stdin: o.Stdin}
	if opts.streams() {
		return ingestStream(ctx, &o, opts, out)
	}
	inputs, paths, _, err := inventory(ctx, opts)
	if err != nil {
		return nil, err
	}
	g, err := newIngester(&o, inputs, heeding{ctx, out})
	if err != nil {
		return nil, err
	}
	var read int64
	n := 0
	return g.counts, readRanges(ctx, inputs, wholeRanges(inputs), paths, limits{record: o.MaxRecord, window: o.MaxWindow}, &read, g.visit,
		func(sum RangeSum) error {
			g.counts.Ledger.Total.Records.In += sum.Records
			g.counts.AddNotes(stats.InputNotes, &sum.notes)
			g.survey.read(inputs[n].Format, &sum)
			n++
			return nil
		})
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
	g, err := newIngester(o, []PlanInput{s.input}, heeding{ctx, out})
	if err != nil {
		return nil, err
	}
	var read int64
	sum, err := s.stretch(ctx, &read, g.visit)
	g.counts.Ledger.Total.Records.In += sum.Records
	g.counts.AddNotes(stats.InputNotes, &sum.notes)
	g.survey.read(s.input.Format, &sum)
	return g.counts, err
}

// heeding writes until the run is stopped: a record of many turns may have rows for hours.
type heeding struct {
	ctx context.Context
	out io.Writer
}

func (h heeding) Write(p []byte) (int, error) {
	if h.ctx.Err() != nil {
		return 0, context.Cause(h.ctx)
	}
	return h.out.Write(p)
}

func newIngester(o *IngestOptions, inputs []PlanInput, out io.Writer) (*ingester, error) {
	mode, err := secrets.ParseMode(cmp.Or(o.Secrets, secrets.Scrub.String()))
	if err != nil {
		return nil, &UsageError{err}
	}
	j, err := newSurvey(o)
	g := &ingester{
		unpacker: newUnpacker(inputs, formats.Options{KeepThought: o.KeepThought, Domain: domainOf(o.Domain)}, mode),
		account:  newOutcome(mask.ModeOff, false), counts: stats.NewCounts(), spliced: stats.NewCounts(), out: out, rejected: o.Rejected,
		rows: o.As == AsWorldBench, survey: j,
	}
	g.account.secrets = secrets.New(mode)
	return g, err
}

// ingester takes records to unified lines. account is an outcome without rows: it keeps the accounts as
// those of a run are kept.
type ingester struct {
	unpacker
	account  *outcome
	counts   *stats.Counts
	spliced  *stats.Counts // what a line of several records adds to those that the framer counted
	out      io.Writer
	rows     bool // of AgentWorldBench
	rejected func([]byte) error
	survey   *survey // nil: no figures
	line     []byte
	scratch  []byte
}

func (g *ingester) visit(from source, raw frame.Record, err error) error {
	g.account.reset()
	if err != nil {
		g.account.rejectRecord(from, raw, err)
		g.survey.unread(from, raw, err)
	} else {
		g.spliced.Reset()
		for part, err := range g.unpack(from, raw, g.spliced) {
			if err != nil {
				g.account.rejectRecord(from, part, err)
				g.survey.unread(from, part, err)
			} else if err := g.record(from, part); err != nil {
				return err
			}
		}
		g.counts.Add(g.spliced)
		g.survey.add(from.format, g.spliced)
	}
	g.counts.Add(g.account.counts)
	g.survey.visited(from.format)
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
		if err := g.trajectory(t); err != nil {
			return err
		}
	}
	for i := range d.Documents {
		doc := &d.Documents[i]
		if g.rows {
			g.account.lose("dropped", turnmill.ReasonNoTarget, doc.ID, doc.Domain, nil)
			continue
		}
		if doc.ID == "" {
			doc.ID, g.scratch = formats.DocumentContentID(doc, g.scratch)
		}
		g.line = append(formats.AppendDocument(g.line, doc), '\n')
		g.account.rec.kept = true
	}
	g.account.end()
	g.survey.record(from, raw, d)
	_, err := g.out.Write(g.line)
	return err
}

// trajectory writes a trajectory, or the rows of it.
func (g *ingester) trajectory(t *turnmill.Trajectory) error {
	kept, turns := true, int64(len(t.Turns))
	var without rowless
	if g.rows {
		var err error
		if without, err = g.targets(t); err != nil {
			return err
		}
		kept = turns > without.actions+without.dialogue
	} else {
		g.line = append(formats.AppendUnified(g.line, t), '\n')
	}
	g.account.rec.kept = g.account.rec.kept || kept
	g.account.counts.Each(t.Domain, func(l *stats.Ledger) {
		l.Trajectories.In, l.Turns.In = l.Trajectories.In+1, l.Turns.In+turns
		if kept {
			l.Trajectories.Out, l.Turns.Out = l.Trajectories.Out+1, l.Turns.Out+turns-without.actions-without.dialogue
			l.Turns.Drop(turnmill.ReasonNoAction, without.actions)
			l.Turns.Drop(turnmill.ReasonDialogue, without.dialogue)
		} else {
			l.Trajectories.Drop(turnmill.ReasonNoTarget, 1)
			l.Turns.Drop(turnmill.ReasonNoTarget, turns)
		}
	})
	if !kept {
		g.account.lose("dropped", turnmill.ReasonNoTarget, t.ID, t.Domain, nil)
	}
	return nil
}

// rowless counts the turns of a trajectory that have no row of their own: those without an action, and replies.
type rowless struct{ actions, dialogue int64 }

// targets writes a row for each turn of a trajectory that is to be predicted. Each repeats the turns before
// it, so that they are written one by one.
func (g *ingester) targets(t *turnmill.Trajectory) (without rowless, err error) {
	for i := range t.Turns {
		switch turn := &t.Turns[i]; {
		case !turn.HasAction:
			without.actions++
			continue
		case turn.Dialogue:
			without.dialogue++
			continue
		}
		g.line = append(formats.AppendWorldBench(g.line[:0], t, i), '\n')
		if _, err := g.out.Write(g.line); err != nil {
			return without, err
		}
	}
	g.line = g.line[:0]
	return without, nil
}
