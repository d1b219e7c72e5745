package pipelines

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// survey counts what each format gives, and what a run's filters would refuse of it. Its account is an
// outcome of which the counts alone are of use.
type survey struct {
	filters  *filter.Chain
	account  *outcome
	into     stats.FormatCounts
	verdicts []turnmill.Verdict
}

// newSurvey returns nil where no figures are asked for.
func newSurvey(o *IngestOptions) (*survey, error) {
	if o.Stats == nil {
		return nil, nil
	}
	chain, err := filter.New(o.Filters, filter.Options{MinTurns: o.MinTurns, TrainDialogue: o.TrainDialogue, Patterns: o.Patterns})
	if err != nil {
		return nil, &UsageError{err}
	}
	j := &survey{filters: chain, account: newOutcome(mask.ModeOff, false), into: o.Stats}
	j.account.counts.Sources = stats.NewSources()
	return j, nil
}

// unread counts a record that was not decoded.
func (j *survey) unread(from source, raw frame.Record, err error) {
	if j != nil {
		j.account.rejectRecord(from, raw, err)
	}
}

// record counts what a record holds. It comes last: a filter may set a state.
func (j *survey) record(from source, raw frame.Record, d *formats.Decoded) {
	if j == nil {
		return
	}
	a := j.account
	a.begin(from, raw, d)
	for i := range d.Trajectories {
		j.trajectory(&d.Trajectories[i], j.into.Of(from.format))
	}
	for i := range d.Documents {
		if doc := &d.Documents[i]; doc.Text == "" {
			a.dropDocument(doc, turnmill.ReasonEmptyText, nil)
		} else {
			a.rec.kept = true
		}
	}
	a.end()
}

func (j *survey) trajectory(t *turnmill.Trajectory, to *stats.FormatCount) {
	var states int64
	for i := range t.Turns {
		if t.Turns[i].State != "" {
			states++
		}
	}
	to.AddState(t.Domain, states)
	var reason turnmill.Reason
	j.verdicts, reason = j.filters.Apply(t, j.verdicts)
	a := j.account
	a.counts.AddNotes(t.Domain, j.filters.Notes())
	if reason == "" {
		a.rec.kept = true
	} else {
		a.lose("dropped", reason, t.ID, t.Domain, nil)
		a.counts.Sources.Lose(t.Source, t.Domain, reason, 1, 0)
	}
	a.counts.Each(t.Domain, func(l *stats.Ledger) {
		l.Trajectories.In++
		if reason == "" {
			l.Trajectories.Out++
		} else {
			l.Trajectories.Drop(reason, 1)
		}
		l.Turns.In += int64(len(t.Turns))
		for i := range j.verdicts {
			if why := lostBy(j.verdicts[i], reason); why == "" {
				l.Turns.Out++
			} else {
				l.Turns.Drop(why, 1)
			}
		}
	})
	for i := range j.verdicts {
		if why := lostBy(j.verdicts[i], reason); why != "" {
			a.counts.Sources.Lose(t.Source, t.Domain, why, 0, 1)
		}
	}
}

// lostBy returns why a turn is lost: its own reason, else that of its whole trajectory, or "".
func lostBy(v turnmill.Verdict, whole turnmill.Reason) turnmill.Reason {
	if v.Status == turnmill.StatusDropped {
		return v.Reason
	}
	return whole
}

// add adds counts to a format.
func (j *survey) add(format string, c *stats.Counts) {
	if j != nil {
		j.into.Of(format).Counts.Add(c)
	}
}

// visited adds what was counted since the last time to the format that it came from.
func (j *survey) visited(format string) {
	if j != nil {
		j.add(format, j.account.counts)
		j.account.reset()
	}
}

// read counts the records that the framer found in an input.
func (j *survey) read(format string, sum *RangeSum) {
	if j != nil {
		c := j.into.Of(format).Counts
		c.Ledger.Total.Records.In += sum.Records
		c.AddNotes(stats.InputNotes, &sum.notes)
	}
}
