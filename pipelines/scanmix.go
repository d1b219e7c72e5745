package pipelines

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/extsort"
)

// mixing repeats and cuts what the scan has left:
//
//	units, drops --> records that stay, by group   sizes, so targets
//	             --> by (group, draw of the id)    which of a group have one copy more than the others
//	             --> in the order of the plan      decisions: drops, cuts, copies
type mixing struct {
	*scan
	mix     *Mix
	drops   *extsort.Spool // in the order of the plan: number, reason, bytes of the detail, detail
	dropped marks
	shares  []MixShare
	more    marks // first units of records with one copy more
}

// mixBytesOf is the size of what a unit has for a mix: group + 1, bytes of the record's texts at its first unit, draw.
const mixUnitBytes = 4 + 8 + 8

// drawMix is where an id stands in its group: what comes first is repeated first and cut last.
func drawMix(seed, id string) uint64 {
	sum := sha256.Sum256([]byte("mix\x00" + seed + "\x00" + id))
	return binary.BigEndian.Uint64(sum[:])
}

// drop notes a decision about a unit; they come in order.
func (m *mixing) drop(seq uint64, reason byte, detail string) error {
	b := append(binary.BigEndian.AppendUint64(nil, seq), reason)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(detail))), detail...)
	_, err := m.drops.Write(b)
	return err
}

// mixRecord is a record of which something stays.
type mixRecord struct {
	first, end uint64 // its units
	partition  int
	record     int64
	group      int
	bytes      int64
	draw       uint64
	stays      bool
}

// eachRecord visits all records in the order of the plan.
func (m *mixing) eachRecord(ctx context.Context, visit func(*mixRecord) error) error {
	places := bufio.NewReader(io.NewSectionReader(m.places, 0, m.places.Len()))
	infos := bufio.NewReader(io.NewSectionReader(m.mixed, 0, m.mixed.Len()))
	var r *mixRecord
	var p [placeBytes]byte
	var u [mixUnitBytes]byte
	for seq := range uint64(m.units) {
		if seq%(1<<14) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := io.ReadFull(places, p[:]); err != nil {
			return err
		}
		if _, err := io.ReadFull(infos, u[:]); err != nil {
			return err
		}
		partition, record := int(binary.BigEndian.Uint32(p[:])), int64(binary.BigEndian.Uint64(p[4:]))
		if r == nil || r.partition != partition || r.record != record {
			if r != nil {
				if err := visit(r); err != nil {
					return err
				}
			}
			r = &mixRecord{first: seq, partition: partition, record: record, group: int(binary.BigEndian.Uint32(u[:])) - 1,
				bytes: int64(binary.BigEndian.Uint64(u[4:])), draw: binary.BigEndian.Uint64(u[12:])}
		}
		r.end = seq + 1
		r.stays = r.stays || !m.dropped.has(seq)
	}
	if r == nil {
		return nil
	}
	return visit(r)
}

// run makes the decisions.
func (m *mixing) run(ctx context.Context, result *Scan, out *decisionWriter) error {
	for i := range m.mix.Groups {
		m.shares = append(m.shares, MixShare{Name: m.mix.Groups[i].Name, Weight: m.mix.Groups[i].Weight})
	}
	m.more = newMarks(m.units)
	err := m.eachRecord(ctx, func(r *mixRecord) error {
		if r.group >= 0 && r.stays {
			m.shares[r.group].Records++
			m.shares[r.group].Bytes += r.bytes
		}
		return nil
	})
	if err == nil {
		err = m.mix.shares(m.shares)
	}
	if err == nil {
		err = m.draw(ctx)
	}
	if err == nil {
		err = m.write(ctx, result, out)
	}
	result.Mix = m.shares
	return err
}

// draw finds the records that have one copy more, by the draw of their ids.
func (m *mixing) draw(ctx context.Context) error {
	order := extsort.New(m.dir, m.setup.scanMemory())
	defer order.Close()
	err := m.eachRecord(ctx, func(r *mixRecord) error {
		if r.group < 0 || !r.stays {
			return nil
		}
		return order.Add(extsort.Record{uint64(r.group), r.draw, r.first})
	})
	if err != nil {
		return err
	}
	return order.Each(func(r extsort.Record) error {
		s := &m.shares[r[0]]
		if s.left <= 0 {
			return nil
		}
		size := int64(1)
		if m.mix.By == mixBytes {
			var b [8]byte
			if _, err := m.mixed.ReadAt(b[:], int64(r[2])*mixUnitBytes+4); err != nil {
				return err
			}
			size = int64(binary.BigEndian.Uint64(b[:]))
			if size > 2*s.left { // nearer without it
				return nil
			}
		}
		s.left -= size
		m.more.set(r[2])
		return nil
	})
}

// write writes the decisions in the order of the plan.
func (m *mixing) write(ctx context.Context, result *Scan, out *decisionWriter) error {
	drops := bufio.NewReader(io.NewSectionReader(m.drops, 0, m.drops.Len()))
	return m.eachRecord(ctx, func(r *mixRecord) error {
		times := int64(1)
		if r.group >= 0 && r.stays {
			s := &m.shares[r.group]
			if times = s.base; m.more.has(r.first) {
				times++
			}
			s.Mixed += times
			s.MixBytes += times * r.bytes
		}
		if times > 1 {
			if err := out.add(r.partition, &decision{record: r.record, unit: wholeRecord, detail: strconv.FormatInt(times, 10)}); err != nil {
				return err
			}
		}
		for seq := r.first; seq < r.end; seq++ {
			d := decision{record: r.record, unit: int64(seq - r.first), reason: turnmill.ReasonMixedOut}
			switch {
			case m.dropped.has(seq):
				if err := readDrop(drops, &d); err != nil {
					return err
				}
			case times > 0:
				continue
			default:
				result.Dropped[d.reason]++
			}
			if err := out.add(r.partition, &d); err != nil {
				return err
			}
		}
		return nil
	})
}

// readDrop reads what drop has written.
func readDrop(in *bufio.Reader, d *decision) error {
	var head [13]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	detail := make([]byte, binary.BigEndian.Uint32(head[9:]))
	if _, err := io.ReadFull(in, detail); err != nil {
		return err
	}
	d.reason, d.detail = scanReasons[head[8]], string(detail)
	return nil
}
