package pipelines

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// scanWork makes prints of a record's units. It is the worker of a scan.
type scanWork struct {
	unpacker
	method    dedup.Method      // nil: no duplicates are looked for
	matcher   *dedup.Matcher    // nil: no benchmark is named
	inputs    map[string]uint64 // each input's number
	mix       *Mix              // nil: none is asked for
	seed      string
	canonical []byte
}

// scanned is what the records of a job gave a scan.
type scanned struct {
	path  string // of the input
	units []scannedUnit
	print dedup.Print    // of all units, one after the other
	tasks map[int]string // what of a benchmark is in a unit, by its place in units
}

// scannedUnit is a trajectory or document.
type scannedUnit struct {
	record, unit, line int64
	keys, body         int // where its own end in print
	mix                scannedMix
}

// scannedMix is what of a record, at its first unit, a mix goes by.
type scannedMix struct {
	group int // from 1; 0: none takes it
	bytes int64
	draw  uint64
}

func (s *scanned) reset() {
	s.units = s.units[:0]
	s.print.Reset()
	clear(s.tasks)
}

// work prints one record.
func (w *scanWork) work(j *job, it *item, rec frame.Record, out *outcome) {
	s := out.scanned
	s.path = j.from.path
	s.print.Input = w.inputs[s.path]
	unit, line := int64(0), rec.Line
	if j.from.frame > 0 {
		line = 0 // it counts from the frame
	}
	first := len(s.units)
	add := func() {
		s.units = append(s.units, scannedUnit{record: it.record, unit: unit, line: line, keys: len(s.print.Keys), body: len(s.print.Body)})
		unit++
	}
	var mix scannedMix
	var bytes int64
	defer func() {
		if mix.bytes = bytes; len(s.units) > first {
			s.units[first].mix = mix
		}
	}()
	for _, err := range w.unpack(j.from, rec, out.counts) {
		if err != nil {
			continue // which the run will say
		}
		for i := range w.decoded.Documents {
			if w.mix != nil {
				bytes += w.weighDocument(&w.decoded.Documents[i], s.path, unit == 0, &mix)
			}
			if w.method != nil {
				w.method.Document(&w.decoded.Documents[i], &s.print)
			}
			if w.matcher != nil {
				s.hold(w.matcher.Document(&w.decoded.Documents[i]))
			}
			add()
		}
		for i := range w.decoded.Trajectories {
			if w.mix != nil {
				bytes += w.weigh(&w.decoded.Trajectories[i], s.path, unit == 0, &mix)
			}
			if w.method != nil {
				w.method.Trajectory(&w.decoded.Trajectories[i], &s.print)
			}
			if w.matcher != nil {
				s.hold(w.matcher.Trajectory(&w.decoded.Trajectories[i]))
			}
			add()
		}
	}
}

// hold notes the task of a benchmark that the unit to be added holds, if any.
func (s *scanned) hold(task string) {
	if task == "" {
		return
	}
	if s.tasks == nil {
		s.tasks = map[int]string{}
	}
	s.tasks[len(s.units)] = task
}

// weigh adds what a mix goes by: of the record's first unit group and draw, of each the bytes of its texts.
func (w *scanWork) weigh(t *turnmill.Trajectory, path string, first bool, mix *scannedMix) (bytes int64) {
	if first {
		id := t.ID
		if id == "" {
			id, w.canonical = formats.ContentID(t, w.canonical)
		}
		*mix = scannedMix{group: w.mix.groupOf(path, t.Source, kindTrajectory) + 1, draw: drawMix(w.seed, id)}
	}
	for _, part := range t.System.Parts() {
		bytes += int64(len(part))
	}
	for i := range t.Turns {
		bytes += int64(len(t.Turns[i].State) + len(t.Turns[i].Action) + len(t.Turns[i].Observation))
	}
	return bytes
}

func (w *scanWork) weighDocument(d *turnmill.Document, path string, first bool, mix *scannedMix) int64 {
	if first {
		id := d.ID
		if id == "" {
			id, w.canonical = formats.DocumentContentID(d, w.canonical)
		}
		*mix = scannedMix{group: w.mix.groupOf(path, d.Source, kindDocument) + 1, draw: drawMix(w.seed, id)}
	}
	return int64(len(d.Text))
}
