package pipelines

import (
	"errors"
	"io"

	"github.com/turnmill/turnmill/stats/figures"
)

// chosenRecords returns every example of records once, with the numbers of its kinds in the list that numbers names.
func chosenRecords(r *figures.Reservoir[*recordLine], numbers func(*recordLine) *[]int) []*recordLine {
	return chosenOnce(r, func(l *recordLine) uint64 { return l.Rank }, numbers)
}

func lostNumbers(l *recordLine) *[]int   { return &l.Lost }
func mendedNumbers(l *recordLine) *[]int { return &l.Mended }

// writeRecordExamples writes what a sampler holds, and returns how many examples there are.
func writeRecordExamples(to io.Writer, s *recordSampler) (rows int64, err error) {
	all := s.lines()
	err = writePacked(to, func(add func(any)) {
		for _, r := range []*figures.Reservoir[*recordLine]{s.lost, s.mended} {
			add(append([]figures.Kind{}, r.Kinds()...))
		}
		for _, l := range all {
			add(l)
		}
	})
	return int64(len(all)), err
}

// readRecordExamples reads what writeRecordExamples wrote into a sampler, and calls each with every line.
func readRecordExamples(root string, i int, into *recordSampler, each func(*recordLine)) error {
	r, err := openPacked(root, recordExamplesPath(i))
	if err != nil {
		return err
	}
	defer r.close()
	r.json.DisallowUnknownFields()
	all := [2]*figures.Reservoir[*recordLine]{into.lost, into.mended}
	var names [2][]figures.Kind
	for k := range all {
		if err := r.next(&names[k]); err != nil {
			return r.first(err)
		}
		for _, name := range names[k] {
			all[k].At(name)
		}
	}
	for {
		l := &recordLine{}
		if err := r.next(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if each != nil {
			each(l)
		}
		for k, numbers := range [2][]int{l.Lost, l.Mended} {
			if err := r.numbered(numbers, len(names[k])); err != nil {
				return err
			}
			for _, number := range numbers {
				if kept := all[k].At(names[k][number]); kept != nil && kept.Wants(l.Rank) {
					kept.Put(l.Rank, l)
				}
			}
		}
	}
}

// eachReject reads a partition's rejects.
func eachReject(root string, i int, f func(*rejectLine)) error {
	r, err := openPacked(root, rejectsPath(i))
	if err != nil {
		return err
	}
	defer r.close()
	for {
		l := &rejectLine{}
		if err := r.next(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		f(l)
	}
}
