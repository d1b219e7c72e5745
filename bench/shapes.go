package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
)

// shape is an input of one odd shape, and what it costs.
type shape struct {
	what    string
	workers int
	memory  string
	write   func(w *bufio.Writer) error
	base    int     // number of the shape that this one is compared with, or -1
	cpu     float64 // seconds, start-up taken off
	start   float64
	peak    float64 // MiB
	against string
}

// shapes are inputs whose cost must grow no faster than their size.
func shapes() []shape {
	long := func(turns int) func(*bufio.Writer) error {
		return func(w *bufio.Writer) error {
			for i := range 200 {
				if err := put(w, turnsOf(i, turns, 600)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	huge := func(mb int, among int) func(*bufio.Writer) error {
		return func(w *bufio.Writer) error {
			for i := range among {
				if i == among/2 {
					t := turnsOf(0, 2, 600)
					t.ID, t.Turns[1].Observation = "huge", string(prose(nil, mb*1_000_000, 7))
					if err := put(w, t); err != nil {
						return err
					}
				}
				if err := put(w, turnsOf(i, 20, 600)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []shape{
		{what: "200 trajectories of 200 turns", workers: 1, memory: "1GiB", write: long(200), base: -1},
		{what: "200 trajectories of 400 turns", workers: 1, memory: "1GiB", write: long(400), base: 0},
		{what: "an observation of 25 MB", workers: 1, memory: "2GiB", write: huge(25, 1), base: -1},
		{what: "an observation of 50 MB", workers: 1, memory: "2GiB", write: huge(50, 1), base: 2},
		{what: "an observation of 100 MB", workers: 1, memory: "2GiB", write: huge(100, 1), base: 2},
		{what: "one of 200 MB among 5,000 of 20 turns", workers: 16, memory: "2GiB", write: huge(200, 5000), base: -1},
	}
}

// turnsOf makes a trajectory whose observations have about size bytes.
func turnsOf(number, turns, size int) *turnmill.Trajectory {
	t := &turnmill.Trajectory{ID: fmt.Sprintf("t%d", number), Domain: turnmill.DomainTerminal, Source: "bench"}
	t.System.TaskDescription = "Look through the logs."
	for i := range turns {
		seed := uint64(number)<<20 | uint64(i)
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, HasAction: true, Action: fmt.Sprintf("tail -n %d run.%d.log", 10+i, number),
			Observation: string(prose(nil, size, seed))})
	}
	return t
}

// prose appends about size bytes of lines of words and numbers.
func prose(dst []byte, size int, seed uint64) []byte {
	words := [...]string{"worker", "started", "queue", "of", "length", "retry", "in", "seconds", "closed", "by", "peer", "wrote", "bytes", "to", "shard", "done"}
	state := mix(seed + 1)
	for from := len(dst); len(dst)-from < size; {
		state = next(state)
		switch k := state >> 33; {
		case k%12 == 0:
			dst = append(dst, '\n')
		case k%5 == 0:
			dst = append(strconv.AppendUint(dst, k%100_000, 10), ' ')
		default:
			dst = append(append(dst, words[k>>8%uint64(len(words))]...), ' ')
		}
	}
	return dst
}

func put(w *bufio.Writer, t *turnmill.Trajectory) error {
	_, err := w.Write(append(formats.AppendUnified(nil, t), '\n'))
	return err
}

func writeShape(path string, s *shape) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := s.write(w); err != nil {
		return err
	}
	return w.Flush()
}

// measureShapes runs the binary over each shape. What is compared are seconds without those of starting.
func measureShapes(o *options, r *runner) ([]shape, error) {
	all := shapes()
	path, out := filepath.Join(o.work, "shape.jsonl"), filepath.Join(o.work, "out")
	defer os.Remove(path)
	cost := func(s *shape) (seconds, peak float64, err error) {
		if err := writeShape(path, s); err != nil {
			return 0, 0, err
		}
		var times, peaks []float64
		for range o.slow {
			if err := os.RemoveAll(out); err != nil {
				return 0, 0, err
			}
			core := o.core
			if s.workers > 1 {
				core = -1
			}
			_, m, err := r.run(core, cptCommand(o, path, out, "--workers", strconv.Itoa(s.workers), "--memory", s.memory, "--max-record", "512MiB", "--min-turns", "1")...)
			if err != nil {
				return 0, 0, err
			}
			times, peaks = append(times, m.Start), append(peaks, m.Peak)
		}
		return spreadOf(times).median, slices.Max(peaks), os.RemoveAll(out)
	}
	empty := shape{workers: 1, memory: "1GiB", write: func(w *bufio.Writer) error { return put(w, turnsOf(0, 2, 100)) }}
	start, _, err := cost(&empty)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		seconds, peak, err := cost(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.what, err)
		}
		s.cpu, s.peak, s.start, s.against = seconds-start, peak, start, "-"
		if s.base >= 0 {
			s.against = fmt.Sprintf("%.2f times %s", s.cpu/all[s.base].cpu, all[s.base].what)
		}
	}
	return all, nil
}
