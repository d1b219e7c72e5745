package pipelines

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/stats/figures"
)

// chosenOnce returns every example of a reservoir once, by rank, with the numbers of its kinds.
func chosenOnce(r *figures.Reservoir[*recordLine], numbers func(*recordLine) *[]int) (all []*recordLine) {
	seen := map[*recordLine]bool{}
	for i, k := range r.Kinds() {
		for _, e := range r.Of(k) {
			n := numbers(e.Value)
			if !seen[e.Value] {
				seen[e.Value], *n = true, nil
				all = append(all, e.Value)
			}
			*n = append(*n, i)
		}
	}
	slices.SortStableFunc(all, func(a, b *recordLine) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

// writeRecordExamples writes what a sampler holds, and returns how many examples there are.
func writeRecordExamples(to io.Writer, s *recordSampler) (rows int64, err error) {
	z, err := zstdio.NewWriter(to)
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriter(z)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for _, r := range []*figures.Reservoir[*recordLine]{s.lost, s.mended} {
		err = cmp.Or(err, e.Encode(append([]figures.Kind{}, r.Kinds()...)))
	}
	for _, l := range s.lines() {
		err = cmp.Or(err, e.Encode(l))
		rows++
	}
	return rows, errors.Join(err, b.Flush(), z.Close())
}

// readRecordExamples reads what writeRecordExamples wrote into a sampler, and calls each with every line.
func readRecordExamples(root string, i int, into *recordSampler, each func(*recordLine)) error {
	path := recordExamplesPath(i)
	file, err := openBelow(root, path)
	if err != nil {
		return err
	}
	defer file.Close()
	bad := func(err error) error { return fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err) }
	z, err := zstdio.NewReader(file)
	if err != nil {
		return bad(err)
	}
	defer z.Close()
	d := json.NewDecoder(bufio.NewReader(z))
	d.DisallowUnknownFields()
	var names [2][]figures.Kind
	for k, r := range []*figures.Reservoir[*recordLine]{into.lost, into.mended} {
		if err := d.Decode(&names[k]); err != nil {
			return bad(err)
		}
		for _, name := range names[k] {
			r.At(name)
		}
	}
	for n := 3; ; n++ {
		l := &recordLine{}
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return bad(fmt.Errorf("line %d: %w", n, err))
		}
		if each != nil {
			each(l)
		}
		for k, r := range []*figures.Reservoir[*recordLine]{into.lost, into.mended} {
			for _, number := range [][]int{l.Lost, l.Mended}[k] {
				if number < 0 || number >= len(names[k]) {
					return bad(fmt.Errorf("line %d: kind %d of %d", n, number, len(names[k])))
				}
				if kept := r.At(names[k][number]); kept != nil && kept.Wants(l.Rank) {
					kept.Put(l.Rank, l)
				}
			}
		}
	}
}

// eachReject reads a partition's rejects.
func eachReject(root string, i int, f func(*rejectLine)) error {
	path := rejectsPath(i)
	file, err := openBelow(root, path)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := zstdio.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	defer z.Close()
	d := json.NewDecoder(bufio.NewReader(z))
	for n := 1; ; n++ {
		l := &rejectLine{}
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w: line %d: %w", path, turnmill.ErrCorrupt, n, err)
		}
		f(l)
	}
}
