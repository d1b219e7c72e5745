package pipelines

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// newPlaces says where rows of the plan have come to stand. It is filled in the new order and read in that of the
// plan, so it lies in files by stretches of the plan, of which one at a time is in memory.
//
//	row of the plan 8 | shard 4 | row in it 8      little-endian, split aside
type newPlaces struct {
	to     dirSink
	span   int64 // rows of a stretch
	files  []*scratch
	loaded int // the stretch in memory; -1: none
	shards []uint32
	rows   []int64
}

const (
	newPlaceBytes = 20
	leastSpan     = 1 << 20 // 12 MiB in memory
	mostSpans     = 128
)

// placesOf returns places for so many rows.
func placesOf(to dirSink, rows int64) *newPlaces {
	span := max(leastSpan, rows/mostSpans+1)
	return &newPlaces{to: to, span: span, files: make([]*scratch, rows/span+1), loaded: -1}
}

// put notes the new place of a row of the plan.
func (p *newPlaces) put(ordinal int64, shard int, row int64) error {
	k := ordinal / p.span
	if p.files[k] == nil {
		var err error
		if p.files[k], err = p.to.scratch(fmt.Sprintf("%s/places-%d", unshuffledDir, k)); err != nil {
			return err
		}
	}
	var record [newPlaceBytes]byte
	binary.LittleEndian.PutUint64(record[:], uint64(ordinal))
	binary.LittleEndian.PutUint32(record[8:], uint32(shard))
	binary.LittleEndian.PutUint64(record[12:], uint64(row))
	return p.files[k].write(record[:])
}

// end is called between the last put and the first at.
func (p *newPlaces) end() error {
	for _, f := range p.files {
		if f == nil {
			continue
		}
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

// at returns the new place of a row of the plan.
func (p *newPlaces) at(ordinal int64) (shard int, row int64, err error) {
	if k := int(ordinal / p.span); k != p.loaded {
		if err := p.load(k); err != nil {
			return 0, 0, err
		}
	}
	i := ordinal % p.span
	return int(p.shards[i]), p.rows[i], nil
}

// load takes a stretch into memory.
func (p *newPlaces) load(k int) error {
	if k >= len(p.files) || p.files[k] == nil {
		return fmt.Errorf("turns: rows beyond those of the shards: %w", io.ErrUnexpectedEOF)
	}
	if p.shards == nil {
		p.shards, p.rows = make([]uint32, p.span), make([]int64, p.span)
	}
	file, err := os.Open(p.files[k].name)
	if err != nil {
		return err
	}
	defer file.Close()
	block := make([]byte, 4096*newPlaceBytes)
	for left := p.files[k].size; left > 0; {
		block = block[:min(int64(len(block)), left)]
		if _, err := io.ReadFull(file, block); err != nil {
			return fmt.Errorf("%s: %w", p.files[k].path, err)
		}
		left -= int64(len(block))
		for r := block; len(r) > 0; r = r[newPlaceBytes:] {
			i := int64(binary.LittleEndian.Uint64(r)) % p.span
			p.shards[i], p.rows[i] = binary.LittleEndian.Uint32(r[8:]), int64(binary.LittleEndian.Uint64(r[12:]))
		}
	}
	p.loaded = k
	return nil
}
