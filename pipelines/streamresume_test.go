package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/turnmill/turnmill/ingest"
)

// longStream is a text whose end lies beyond what its format is told from.
func longStream() []byte {
	g := demoRecords()
	var all []byte
	for i := 0; len(all) < 6<<18; i++ {
		r := g[i%len(g)]
		r.ID = fmt.Sprintf("%s~%d", r.ID, i)
		all = append(all, lines([]testRecord{r})...)
	}
	return all
}

// failsAfter is standard input that cannot be read on after n bytes.
func failsAfter(stored []byte, n int) io.Reader {
	return io.MultiReader(bytes.NewReader(stored[:n]), iotest.ErrReader(&os.PathError{Op: "read", Path: "/dev/stdin", Err: syscall.EIO}))
}

// breakStream runs o with standard input that fails after n bytes.
func breakStream(t *testing.T, o Options, stored []byte, n int) {
	t.Helper()
	o.Stdin = failsAfter(stored, n)
	m, err := CPT(context.Background(), o)
	var usage *UsageError
	if m != nil || !errors.Is(err, syscall.EIO) || errors.As(err, &usage) {
		t.Fatalf("standard input that fails after byte %d: manifest %v, %v", n, m != nil, err)
	}
	wantError(t, err, "standard input")
	if treeInfo(t, o.Output) != nil { // else the plan has failed
		noTemporary(t, o.Output)
	}
	if _, err := os.Stat(filepath.Join(o.Output, "manifest.json")); err == nil {
		t.Error("a run that was not read to its end has a manifest")
	}
}

// TestStreamResume: a stream that breaks off wherever it likes, twice, ends in the bytes of one that does not;
// what is committed is not made again.
func TestStreamResume(t *testing.T) {
	text := longStream()
	base := streamOf(t, options(t), text)
	base.PartitionBytes = 150_000
	mustRun(t, base)
	want := digest(t, base.Output)
	n := len(text)
	for i, breaks := range [][2]int{{10, n - 1}, {n * 3 / 4, n * 7 / 8}, {n * 9 / 10, n / 5}, {n, n}} {
		for name, stored := range map[string][]byte{"plain": text, "gzip": gzipped(text)} {
			o := streamOf(t, base, stored)
			o.Workers = 1 + i
			if name == "gzip" && i != 2 {
				continue
			}
			breakStream(t, o, stored, breaks[0]*len(stored)/n)
			before := map[string]os.FileInfo{}
			if breaks[0] > 5<<18 {
				before = committedFiles(t, o.Output)
			}
			breakStream(t, o, stored, breaks[1]*len(stored)/n)
			if len(before) == 0 && breaks[0] > 5<<18 {
				t.Errorf("nothing was committed after %d bytes", breaks[0])
			}
			o.Stdin = bytes.NewReader(stored)
			mustRun(t, o)
			sameInodes(t, before)
			if name == "plain" {
				sameFiles(t, fmt.Sprint("breaks at ", breaks), want, digest(t, o.Output))
			} else {
				sameFiles(t, "gzip", parts(want), parts(digest(t, o.Output)))
			}
		}
	}
}

// TestStreamOtherBytes: other bytes than those that are committed are refused, with the place, and nothing
// changes; the same bytes still go on after that.
func TestStreamOtherBytes(t *testing.T) {
	text := longStream()
	n := len(text)
	base := streamOf(t, options(t), text)
	base.PartitionBytes = 150_000
	whole := with(t, base, nil)
	mustRun(t, whole)
	want := digest(t, whole.Output)
	breakStream(t, base, text, n-1) // the last partition is missing
	done := partitionsOf(t, base.Output)
	if done < 5 {
		t.Fatalf("%d partitions are committed", done)
	}
	last, err := readCommit(base.Output, done-1)
	if err != nil {
		t.Fatal(err)
	}
	from, to := last.Inputs[0].From, last.Inputs[0].To
	place := fmt.Sprintf("partition %d", done-1)
	if from < 1<<20 {
		t.Fatalf("partition %d starts at byte %d, within what the plan knows", done-1, from)
	}
	change := func(at int64, with string) []byte {
		other := bytes.Clone(text)
		copy(other[at:], with)
		return other
	}
	for _, c := range []struct {
		name  string
		out   Options
		bytes []byte
		want  []string
	}{
		{"another byte", base, change((from+to)/2, "Q"), []string{fmt.Sprintf("bytes %d to %d", from, to), place}},
		{"another last byte", base, change(to-2, "]"), []string{fmt.Sprintf("bytes %d to %d", from, to), place}},
		{"a byte more", base, append(append(bytes.Clone(text[:from+5]), ' '), text[from+5:]...), []string{fmt.Sprintf("bytes %d to %d", from, to+1), place}},
		{"fewer", base, text[:from+500], []string{fmt.Sprintf("bytes %d to %d", from, from+500), place}},
		{"fewer, to the border", base, text[:from], []string{fmt.Sprintf("to %d", from), fmt.Sprintf("partition %d", done-2)}},
		{"none", base, nil, []string{"input 0/- has changed", "--restart"}},
		{"another start", base, change(0, " "), []string{"input 0/- has changed", "--restart"}},
		{"a record more, of a run that is done", whole, append(bytes.Clone(text), lines(demoRecords()[:1])...), []string{fmt.Sprintf("to %d", n+len(lines(demoRecords()[:1]))), fmt.Sprintf("partition %d", done)}},
		{"a blank more, of a run that is done", whole, append(bytes.Clone(text), '\n'), []string{fmt.Sprintf("to %d", n+1)}},
		{"fewer, of a run that is done", whole, text[:n-10], []string{fmt.Sprintf("to %d", n-10)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.out
			before := digest(t, o.Output)
			o.Stdin = bytes.NewReader(c.bytes)
			_, err := CPT(context.Background(), o)
			wantError(t, err, append(c.want, "--restart")...)
			if c.want[0] != "input 0/- has changed" && !errors.Is(err, ingest.ErrChanged) {
				t.Errorf("%v: not ErrChanged", err)
			}
			sameFiles(t, "refused bytes", before, digest(t, o.Output))
		})
	}
	for _, o := range []Options{base, whole} {
		o.Stdin = bytes.NewReader(text)
		mustRun(t, o)
		sameFiles(t, "the same bytes", want, digest(t, o.Output))
	}
}

// TestStreamRepairs: a lost commit or file in the middle is made again, and nothing else.
func TestStreamRepairs(t *testing.T) {
	text := lines(demoRecords())
	base := streamOf(t, options(t), text)
	base.PartitionBytes = 9000
	mustRun(t, base)
	want := digest(t, base.Output)
	n := partitionsOf(t, base.Output)
	for _, lost := range []string{commitPath(0), commitPath(n - 1), shardPath(train, 1, 0), turnsPath(n / 2)} {
		if err := os.Remove(filepath.Join(base.Output, lost)); err != nil {
			t.Fatal(err)
		}
		_, err := Check(context.Background(), checkOptions(&base, false))
		foundIn(t, err, lost)
		base.Stdin = bytes.NewReader(text)
		mustRun(t, base)
		sameFiles(t, lost+" was lost", want, digest(t, base.Output))
	}
}

// TestStreamUnfinishedMerge: merge says that standard input was not read to its end.
func TestStreamUnfinishedMerge(t *testing.T) {
	text := longStream()
	o := streamOf(t, options(t), text)
	o.PartitionBytes = 300_000
	breakStream(t, o, text, len(text)-100)
	_, err := Merge(context.Background(), Options{Output: o.Output, MaxRejectRate: 1, MaxDropRate: 1})
	wantError(t, err, o.Output, "standard input", "feed the same bytes to turnmill cpt")
}
