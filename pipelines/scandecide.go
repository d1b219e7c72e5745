package pipelines

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/internal/extsort"
)

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

// marks is a set of numbers from 0 to below some bound, a bit each.
type marks []uint64

func newMarks(n int64) marks { return make(marks, (n+63)/64) }

func (b marks) has(i uint64) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b marks) set(i uint64)      { b[i/64] |= 1 << (i % 64) }
