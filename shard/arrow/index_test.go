package arrow

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// TestIndexReadsAnyRow: rows in any order are those that Next gives.
func TestIndexReadsAnyRow(t *testing.T) {
	for p := range Profile(numProfiles) {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				lengths := rapid.SliceOfN(rapid.SampledFrom([]int{2, 3, 4, 63, 64, 65, 1023}), 0, 20).Draw(t, "lengths")
				rows := testRows(p, lengths...)
				file, err := write(options(p, Limits{Rows: rapid.IntRange(1, 7).Draw(t, "batch rows"), Bytes: 1 << rapid.IntRange(5, 16).Draw(t, "bytes")}), rows, nil)
				if err != nil {
					t.Fatal(err)
				}
				in := bytes.NewReader(file)
				x, err := NewIndex(in, int64(len(file)), "data.arrow", p)
				if err != nil || x.Rows() != int64(len(rows)) {
					t.Fatalf("%v, %v; want %d rows", x, err, len(rows))
				}
				var row Row
				for _, n := range rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(len(rows)) {
					if err := x.Row(in, int64(n), &row); err != nil {
						t.Fatal(err)
					}
					got := &turnmill.Row{IDs: row.IDs, Labels: row.Labels, Weights: row.Weights}
					if diff := cmp.Diff(rows[n], got); diff != "" || row.Number != int64(n) {
						t.Fatalf("row %d, number %d (-written +read):\n%s", n, row.Number, diff)
					}
				}
				for _, n := range []int64{-1, int64(len(rows)), 1 << 40} {
					if err := x.Row(in, n, &row); !errors.Is(err, turnmill.ErrCorrupt) {
						t.Fatalf("row %d: %v", n, err)
					}
				}
			})
		})
	}
}

// TestIndexOfDamage: a shard that is cut anywhere has no index, and one whose offsets are damaged no such row; nothing
// is allocated by what they state.
func TestIndexOfDamage(t *testing.T) {
	file, err := write(options(ProfileHF, Limits{Rows: 2}), testRows(ProfileHF, 5, 9, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, err := NewIndex(bytes.NewReader(file[:n]), int64(n), "cut.arrow", ProfileHF); !errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("cut at %d of %d: %v", n, len(file), err)
		}
	}
	x, err := NewIndex(bytes.NewReader(file), int64(len(file)), "data.arrow", ProfileHF)
	if err != nil {
		t.Fatal(err)
	}
	at := x.batches[0].body
	for _, forged := range [][]byte{{0xff, 0xff, 0xff, 0x7f}, {0xff, 0xff, 0xff, 0xff}, {15, 0, 0, 0}} {
		bad := bytes.Clone(file)
		copy(bad[at+4:], forged)
		var row Row
		if err := x.Row(bytes.NewReader(bad), 0, &row); !errors.Is(err, turnmill.ErrCorrupt) {
			t.Errorf("an offset of % x: %v, %d tokens", forged, err, len(row.IDs))
		}
	}
}
