package extsort

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSorted: whatever fits into memory, what comes out is what went in, in order, and the directory stays empty.
func TestSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.SampledFrom([]int{0, 1, leastRecords - 1, leastRecords, leastRecords + 1, 5*leastRecords + 7}).Draw(t, "n")
		dir, err := os.MkdirTemp("", "extsort")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := New(dir, 1)
		want := make([]Record, n)
		for i := range want {
			want[i] = Record{rng.Uint64N(9), rng.Uint64N(5), rng.Uint64()}
			if err := s.Add(want[i]); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, Compare)
		if got := all(t, s); !slices.Equal(got, want) {
			t.Fatalf("%d records: they come out otherwise", n)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%v is left, %v", left, err)
		}
	})
}

// TestManyRuns: more runs than are open at once are merged in between.
func TestManyRuns(t *testing.T) {
	s := New(t.TempDir(), 1)
	n := leastRecords*(2*mostRuns+3) + 5
	for i := range n {
		if err := s.Add(Record{uint64(i*7919) % uint64(n), 1, uint64(i)}); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) > mostRuns || cap(s.held) > leastRecords {
			t.Fatalf("%d runs, %d records in memory", len(s.runs), cap(s.held))
		}
	}
	if s.Len() != int64(n) || s.DiskBytes() < int64(n-leastRecords)*RecordBytes {
		t.Errorf("%d records, %d bytes on disk", s.Len(), s.DiskBytes())
	}
	got := all(t, s)
	if len(got) != n || !slices.IsSortedFunc(got, Compare) {
		t.Errorf("%d of %d records, sorted %v", len(got), n, slices.IsSortedFunc(got, Compare))
	}
}

func all(t interface{ Fatal(...any) }, s *Sorter) (got []Record) {
	if err := s.Each(func(r Record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestNowhere: a directory that is not there is an error of the first run, and of no record before it.
func TestNowhere(t *testing.T) {
	s := New(t.TempDir()+"/absent", 1)
	var err error
	n := 0
	for ; err == nil && n < 2*leastRecords; n++ {
		err = s.Add(Record{})
	}
	if err == nil || n != leastRecords+1 {
		t.Errorf("after %d records: %v", n, err)
	}
}

// TestSpool: what was appended is read at any place.
func TestSpool(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := NewSpool(t.TempDir())
	defer s.Close()
	var want []byte
	for len(want) < 3*spoolBytes {
		p := make([]byte, rng.IntN(100_000))
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		if n, err := s.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
		want = append(want, p...)
	}
	if s.Len() != int64(len(want)) || s.DiskBytes() == 0 {
		t.Fatalf("%d bytes, %d on disk", s.Len(), s.DiskBytes())
	}
	for range 200 {
		at := rng.IntN(len(want))
		p := make([]byte, rng.IntN(200_000))
		n, err := s.ReadAt(p, int64(at))
		if end := min(at+len(p), len(want)); !bytes.Equal(p[:n], want[at:end]) || (err == io.EOF) != (at+len(p) > len(want)) {
			t.Fatalf("%d bytes at %d: %d, %v", len(p), at, n, err)
		}
	}
}
