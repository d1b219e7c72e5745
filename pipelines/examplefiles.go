package pipelines

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/turnmill/turnmill/stats/figures"
)

// chosenOnce returns every example of a reservoir once, by rank, with the numbers of its kinds.
func chosenOnce[T any](r *figures.Reservoir[*T], rank func(*T) uint64, numbers func(*T) *[]int) (all []*T) {
	seen := map[*T]bool{}
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
	slices.SortStableFunc(all, func(a, b *T) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// writeExamples writes what a reservoir holds, each example once, and returns how many there are.
func writeExamples(to io.Writer, r *figures.Reservoir[*sample]) (rows int64, err error) {
	all := chosenOnce(r, func(s *sample) uint64 { return s.line.Rank }, func(s *sample) *[]int { return &s.line.Kinds })
	err = writePacked(to, func(add func(any)) {
		add(append([]figures.Kind{}, r.Kinds()...))
		for _, s := range all {
			add(&s.line)
		}
	})
	return int64(len(all)), err
}

// readExamples reads what writeExamples wrote, and calls kinds once and then each with every example.
func readExamples(root string, i int, kinds func([]figures.Kind), each func(*exampleLine) error) error {
	r, err := openPacked(root, examplesPath(i))
	if err != nil {
		return err
	}
	defer r.close()
	r.json.DisallowUnknownFields()
	var names []figures.Kind
	if err := r.next(&names); err != nil {
		return r.first(err)
	}
	kinds(names)
	for {
		l := &exampleLine{}
		if err := r.next(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := r.numbered(l.Kinds, len(names)); err != nil {
			return err
		}
		if err := each(l); err != nil {
			return err
		}
	}
}

// collectExamples gathers the examples of a run from those of its partitions.
func collectExamples(root string, partitions int) (*figures.Reservoir[*sample], error) {
	all := figures.NewReservoir[*sample](reportKinds)
	for i := range partitions {
		var names []figures.Kind
		err := readExamples(root, i, func(k []figures.Kind) {
			names = k
			for _, name := range names {
				all.At(name)
			}
		}, func(l *exampleLine) error {
			s := &sample{line: *l}
			for _, k := range l.Kinds {
				if kept := all.At(names[k]); kept != nil && kept.Wants(l.Rank) {
					kept.Put(l.Rank, s)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
