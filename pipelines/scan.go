package pipelines

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/extsort"
)

// The scan reads every partition once, before the plan is signed, with the readers, decoders and workers of a run:
//
//	partitions in order --> workers: decode, print --> in order: keys, bodies, places (nameless files)
//	keys sorted         --> what shares a key: candidates
//	candidates sorted   --> by the later one: the same as an earlier one that stays? dropped
//	                    --> plan/pNNNNN.bin
//
// A trajectory or document is a unit, and has a number in the order of the plan. What is decided about one
// depends on those before it alone, so that it is the same for any number of workers.

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

// placeBytes is the size of a unit's place on disk: partition, record, unit, input, line.
const placeBytes = 4 + 8 + 4 + 4 + 8

// scan gathers what the units of all partitions gave. One goroutine uses it.
type scan struct {
	setup     *setup
	dir       string
	inputs    map[string]uint64
	partition int
	units     int64
	keys      *extsort.Sorter
	pairs     *extsort.Sorter
	places    *extsort.Spool
	mixed     *extsort.Spool // what of each unit a mix goes by
	tasks     *extsort.Spool // units that hold a task of a benchmark: number, bytes of its name, name
	bodies    *extsort.Spool
	ends      *extsort.Spool // where each unit's body ends, in words
	buf       []byte
}

// scan decides what the whole of the inputs decides, unless OUT has it already.
func (s *setup) scan(ctx context.Context, o *Options, window int64) error {
	if !s.plan.scans() || o.Output != "" && s.known(o.Output) {
		return nil
	}
	_, budget, err := memoryBudget(o, s, window)
	if err != nil {
		return err
	}
	began := time.Now()
	dir := o.scanDir()
	c := &scan{setup: s, dir: dir, inputs: s.inputNumbers(), keys: extsort.New(dir, s.scanMemory()),
		places: extsort.NewSpool(dir), tasks: extsort.NewSpool(dir), mixed: extsort.NewSpool(dir), bodies: extsort.NewSpool(dir), ends: extsort.NewSpool(dir)}
	defer c.close()
	o.logger().Info("scan", "dedup", s.plan.Config.Dedup, "inputs", len(s.plan.Inputs))
	if err := c.read(ctx, budget, o.workers()); err != nil {
		return err
	}
	keys := c.keys.DiskBytes()
	if s.plan.Scan, s.decided, err = c.decide(ctx); err != nil {
		return err
	}
	o.logger().Info("scanned", "units", c.units, "dropped", s.plan.Scan.dropped(),
		"disk_bytes", keys+c.pairs.DiskBytes()+c.places.DiskBytes()+c.bodies.DiskBytes()+c.ends.DiskBytes(), "wall_s", time.Since(began).Seconds())
	return nil
}

// inputNumbers returns the number of each input by its path.
func (s *setup) inputNumbers() map[string]uint64 {
	numbers := make(map[string]uint64, len(s.plan.Inputs))
	for i := range s.plan.Inputs {
		numbers[s.plan.Inputs[i].Path] = uint64(i)
	}
	return numbers
}

func (s *Scan) dropped() (n int64) {
	for _, k := range s.Dropped {
		n += k
	}
	return n
}

func (c *scan) close() {
	c.keys.Close()
	if c.pairs != nil {
		c.pairs.Close()
	}
	c.places.Close()
	c.tasks.Close()
	c.mixed.Close()
	c.bodies.Close()
	c.ends.Close()
}

// read reads all partitions, one after the other.
func (c *scan) read(ctx context.Context, budget int64, workers int) error {
	p := newScanPool(c.setup, budget, workers)
	defer p.close()
	for i := range c.setup.plan.Partitions {
		c.partition = i
		if _, err := p.through(ctx, i, c); err != nil {
			return fmt.Errorf("scanning partition %d: %w", i, err)
		}
	}
	return nil
}

// write takes what a job's records gave.
func (c *scan) write(out *outcome) error {
	s := out.scanned
	keys, body := 0, 0
	for i := range s.units {
		u := &s.units[i]
		for ; keys < u.keys; keys++ {
			k := s.print.Keys[keys]
			if err := c.keys.Add(extsort.Record{k[0], k[1], uint64(c.units)}); err != nil {
				return err
			}
		}
		if task, ok := s.tasks[i]; ok {
			b := binary.BigEndian.AppendUint64(nil, uint64(c.units))
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(task))), task...)
			if _, err := c.tasks.Write(b); err != nil {
				return err
			}
		}
		if err := c.keep(u, s.path, s.print.Body[body:u.body]); err != nil {
			return err
		}
		body = u.body
		c.units++
	}
	return nil
}

// keep writes a unit's place and body.
func (c *scan) keep(u *scannedUnit, path string, body []uint64) error {
	b := binary.BigEndian.AppendUint32(c.buf[:0], uint32(c.partition))
	b = binary.BigEndian.AppendUint64(b, uint64(u.record))
	b = binary.BigEndian.AppendUint32(b, uint32(u.unit))
	b = binary.BigEndian.AppendUint32(b, uint32(c.inputs[path]))
	b = binary.BigEndian.AppendUint64(b, uint64(u.line))
	if _, err := c.places.Write(b); err != nil {
		return err
	}
	if c.setup.plan.Mix != nil {
		b = binary.BigEndian.AppendUint32(b[:0], uint32(u.mix.group))
		b = binary.BigEndian.AppendUint64(b, uint64(u.mix.bytes))
		if _, err := c.mixed.Write(binary.BigEndian.AppendUint64(b, u.mix.draw)); err != nil {
			return err
		}
	}
	b = b[:0]
	for _, word := range body {
		b = binary.BigEndian.AppendUint64(b, word)
	}
	c.buf = b
	if _, err := c.bodies.Write(b); err != nil {
		return err
	}
	_, err := c.ends.Write(binary.BigEndian.AppendUint64(nil, uint64(c.bodies.Len())))
	return err
}

// unitPlace is where a unit lies.
type unitPlace struct {
	partition          int
	record, unit, line int64
	input              int
}

func (c *scan) place(seq uint64) (unitPlace, error) {
	var b [placeBytes]byte
	if _, err := c.places.ReadAt(b[:], int64(seq)*placeBytes); err != nil {
		return unitPlace{}, err
	}
	return unitPlace{
		partition: int(binary.BigEndian.Uint32(b[:])), record: int64(binary.BigEndian.Uint64(b[4:])), unit: int64(binary.BigEndian.Uint32(b[12:])),
		input: int(binary.BigEndian.Uint32(b[16:])), line: int64(binary.BigEndian.Uint64(b[20:])),
	}, nil
}

// body returns the body of a unit in words.
func (c *scan) body(seq uint64, words []uint64) ([]uint64, error) {
	var b [16]byte // the end of the one before, and its own; the first one starts at 0
	skip := min(seq, 1) * 8
	if _, err := c.ends.ReadAt(b[8-skip:], int64(seq*8-skip)); err != nil {
		return nil, err
	}
	start, end := int64(binary.BigEndian.Uint64(b[:8])), int64(binary.BigEndian.Uint64(b[8:]))
	raw := make([]byte, end-start)
	if _, err := c.bodies.ReadAt(raw, start); err != nil {
		return nil, err
	}
	words = words[:0]
	for ; len(raw) > 0; raw = raw[8:] {
		words = append(words, binary.BigEndian.Uint64(raw))
	}
	return words, nil
}

// candidates pairs what shares a key, the later one first.
func (c *scan) candidates(ctx context.Context) error {
	c.pairs = extsort.New(c.dir, c.setup.scanMemory())
	g := group{exact: c.setup.plan.Config.Dedup == dedupExact}
	var last [2]uint64
	n := 0
	return c.keys.Each(func(r extsort.Record) error {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if key := [2]uint64{r[0], r[1]}; key != last {
			g.reset()
			last = key
		}
		return g.add(r[2], func(earlier uint64) error { return c.pairs.Add(extsort.Record{r[2], earlier}) })
	})
}

// decide goes through the candidates in the order of the later one.
func (c *scan) decide(ctx context.Context) (*Scan, *found, error) {
	if err := c.candidates(ctx); err != nil {
		return nil, nil, err
	}
	result := &Scan{Units: c.units, Dropped: map[turnmill.Reason]int64{}}
	out := newDecisionWriter(c.dir)
	d := decider{scan: c, method: newMethod(&c.setup.plan.Config), reason: duplicateReason(&c.setup.plan.Config),
		tasks: bufio.NewReader(io.NewSectionReader(c.tasks, 0, c.tasks.Len())), dropped: newMarks(c.units), firsts: newMarks(c.units), result: result, out: out}
	if c.setup.plan.Mix != nil {
		d.mixing = &mixing{scan: c, mix: c.setup.plan.Mix, drops: extsort.NewSpool(c.dir), dropped: d.dropped}
		defer d.mixing.drops.Close()
	}
	n := 0
	err := c.pairs.Each(func(r extsort.Record) error {
		if n++; n%(1<<12) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.tasksBefore(r[0] + 1); err != nil {
			return err
		}
		return d.pair(r[0], r[1])
	})
	if err == nil {
		err = d.tasksBefore(uint64(c.units))
	}
	if err == nil && d.mixing != nil {
		err = d.mixing.run(ctx, result, out)
	}
	if err != nil {
		out.close()
		return nil, nil, err
	}
	files, err := out.finish(len(c.setup.plan.Partitions))
	if err != nil {
		out.close()
		return nil, nil, err
	}
	result.Files = files.sums
	return result, files, nil
}

// decider drops what is the same as an earlier unit that stays.
type decider struct {
	scan            *scan
	method          dedup.Method
	reason          turnmill.Reason
	dropped, firsts marks
	result          *Scan
	out             *decisionWriter
	tasks           *bufio.Reader
	mixing          *mixing // nil: what is dropped is written at once
	a, b            []uint64
}

// tasksBefore drops the units before a number that hold a task of a benchmark: none of them is what another one is a
// duplicate of.
func (d *decider) tasksBefore(end uint64) error {
	for {
		head, err := d.tasks.Peek(12)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		seq := binary.BigEndian.Uint64(head)
		if seq >= end {
			return nil
		}
		task := make([]byte, binary.BigEndian.Uint32(head[8:]))
		d.tasks.Discard(12)
		if _, err := io.ReadFull(d.tasks, task); err != nil {
			return err
		}
		at, err := d.scan.place(seq)
		if err != nil {
			return err
		}
		if err := d.drop(seq, &at, turnmill.ReasonContaminated, string(task)); err != nil {
			return err
		}
	}
}

// pair takes a candidate; those of one later unit come together, the earliest first.
func (d *decider) pair(later, earlier uint64) error {
	if d.dropped.has(later) || d.dropped.has(earlier) {
		return nil
	}
	if same, err := d.same(later, earlier); err != nil || !same {
		return err
	}
	at, err := d.scan.place(later)
	if err != nil {
		return err
	}
	first, err := d.scan.place(earlier)
	if err != nil {
		return err
	}
	d.dropped.set(later)
	if !d.firsts.has(earlier) {
		d.firsts.set(earlier)
		d.result.Groups++
	}
	return d.drop(later, &at, d.reason, "as "+d.scan.name(first))
}

// drop decides that a unit is dropped.
func (d *decider) drop(seq uint64, at *unitPlace, reason turnmill.Reason, detail string) error {
	d.dropped.set(seq)
	d.result.Dropped[reason]++
	if d.mixing != nil {
		return d.mixing.drop(seq, byte(slices.Index(scanReasons[:], reason)), detail)
	}
	return d.out.add(at.partition, &decision{at.record, at.unit, reason, detail})
}

func (d *decider) same(later, earlier uint64) (bool, error) {
	if d.reason == turnmill.ReasonDuplicate {
		return true, nil
	}
	var err error
	if d.a, err = d.scan.body(later, d.a); err != nil {
		return false, err
	}
	if d.b, err = d.scan.body(earlier, d.b); err != nil {
		return false, err
	}
	return d.method.Same(d.a, d.b), nil
}

// name says where a unit lies, as a person would look for it.
func (c *scan) name(p unitPlace) string {
	name := c.setup.plan.Inputs[p.input].Path
	if p.line > 0 {
		name = fmt.Sprintf("%s:%d", name, p.line)
	} else {
		name = fmt.Sprintf("%s, record %d of partition %d", name, p.record, p.partition)
	}
	if p.unit > 0 {
		name += fmt.Sprintf(", number %d of the record", p.unit+1)
	}
	return name
}

// marks is a set of numbers from 0 to below some bound, a bit each.
type marks []uint64

func newMarks(n int64) marks { return make(marks, (n+63)/64) }

func (b marks) has(i uint64) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b marks) set(i uint64)      { b[i/64] |= 1 << (i % 64) }
