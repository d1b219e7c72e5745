package arrow

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/turnmill/turnmill"
)

// FuzzReader damages what follows the schema, which is compared as bytes.
func FuzzReader(f *testing.F) {
	for p := range Profile(numProfiles) {
		schema, err := p.schemaMessage()
		if err != nil {
			f.Fatal(err)
		}
		for _, lengths := range [][]int{nil, {2}, {3, 4, 5}} {
			file := stream(f, options(p, Limits{Rows: 2}), testRows(p, lengths...))
			f.Add(file[len(schema):], uint8(p))
		}
	}
	f.Fuzz(func(t *testing.T, rest []byte, profile uint8) {
		p := Profile(int(profile) % numProfiles)
		file, err := p.schemaMessage()
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, rest...)
		rows, facts, err := readAll(file, p)
		if err != nil {
			if !errors.Is(err, turnmill.ErrCorrupt) {
				t.Fatalf("%v does not wrap ErrCorrupt", err)
			}
			return
		}
		if facts.Bytes != int64(len(file)) || facts.Rows != int64(len(rows)) {
			t.Fatalf("%d rows of %d bytes, facts %+v", len(rows), len(file), facts)
		}
	})
}

// FuzzBatchShape damages the metadata alone: what passes states sizes that fit one another.
func FuzzBatchShape(f *testing.F) {
	for p := range Profile(numProfiles) {
		schema, err := p.schemaMessage()
		if err != nil {
			f.Fatal(err)
		}
		batch := stream(f, options(p, Limits{}), testRows(p, 3, 4))[len(schema):]
		f.Add(batch[8:8+binary.LittleEndian.Uint32(batch[4:])], uint8(p))
	}
	f.Fuzz(func(t *testing.T, meta []byte, profile uint8) {
		p := Profile(int(profile) % numProfiles)
		s, err := readBatchShape(meta, len(p.Columns()))
		if err == nil && (s.rows < 1 || s.tokens < 0 || s.body%8 != 0 || s.body < p.bodyBytes(s.rows, s.tokens)) {
			t.Fatalf("passed with %+v", s)
		}
	})
}
