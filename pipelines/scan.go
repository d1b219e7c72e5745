package pipelines

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

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
