package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/bpe"
)

// generator makes any number of trajectories of recorded shape: the domains in turn, and of a domain one
// recorded trajectory, drawn. Its turns stay, so that observations answer their actions; of a text longer
// than longest a stretch is taken, from a place drawn anew, and digits are exchanged for others throughout
// the trajectory. The same n gives the same trajectory.
type generator struct {
	longest int
	base    [][]turnmill.Trajectory // by domain, as turnmill.Domains has them
	text    []byte
}

// newGenerator takes recorded trajectories. A domain without one takes those of all.
func newGenerator(base []turnmill.Trajectory, longest int) *generator {
	g := &generator{longest: longest}
	for _, d := range turnmill.Domains() {
		own := slices.DeleteFunc(slices.Clone(base), func(t turnmill.Trajectory) bool { return t.Domain != d })
		if len(own) == 0 {
			own = base
		}
		g.base = append(g.base, own)
	}
	return g
}

// draws is a sequence of numbers.
type draws uint64

func (d *draws) below(n int) int {
	*d = draws(next(uint64(*d)))
	return int(*d >> 33 % draws(n))
}

// make sets t to trajectory n.
func (g *generator) make(n uint64, t *turnmill.Trajectory) {
	d := draws(mix(n + 1))
	of := g.base[n%uint64(len(g.base))]
	from := &of[d.below(len(of))]
	digits := [9]byte{'1', '2', '3', '4', '5', '6', '7', '8', '9'}
	for i := len(digits) - 1; i > 0; i-- {
		k := d.below(i + 1)
		digits[i], digits[k] = digits[k], digits[i]
	}
	cut := func(s string) string { return g.cut(s, &d, &digits) }
	*t = turnmill.Trajectory{ID: "g" + strconv.FormatUint(n, 10), Domain: turnmill.Domains()[n%uint64(len(g.base))], Source: from.Source, Turns: t.Turns[:0]}
	t.System.TaskDescription, t.System.InitialState = cut(from.System.TaskDescription), cut(from.System.InitialState)
	for i := range from.Turns {
		turn := from.Turns[i]
		turn.State, turn.Action, turn.Observation, turn.Tool = cut(turn.State), cut(turn.Action), cut(turn.Observation), ""
		t.Turns = append(t.Turns, turn)
	}
}

// cut returns a text of the generator's length, cut at characters, with other digits.
func (g *generator) cut(s string, d *draws, digits *[9]byte) string {
	if n := g.longest; len(s) > n {
		from := d.below(len(s) - n)
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for from+n < len(s) && !utf8.RuneStart(s[from+n]) {
			n++
		}
		s = s[from : from+n]
	}
	g.text = append(g.text[:0], s...)
	for i, c := range g.text {
		if digit(c) && c != '0' {
			g.text[i] = digits[c-'1']
		}
	}
	return string(g.text)
}

// writeTrajectories writes n trajectories as lines of the unified form.
func writeTrajectories(o *options, n int64, to io.Writer) error {
	g, err := o.generator()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(to, 1<<20)
	if _, err := g.write(w, n, func(int64) {}); err != nil {
		return err
	}
	return w.Flush()
}

// write writes n trajectories, calls done after each, and returns the number of bytes of their texts.
func (g *generator) write(w io.Writer, n int64, done func(int64)) (texts int64, err error) {
	var t turnmill.Trajectory
	var line []byte
	for i := range n {
		g.make(uint64(i), &t)
		for _, m := range messagesOf(&t) {
			texts += int64(len(m.content))
		}
		line = append(formats.AppendUnified(line[:0], &t), '\n')
		if _, err := w.Write(line); err != nil {
			return texts, err
		}
		done(i + 1)
	}
	return texts, nil
}

// generator returns the generator for these settings.
func (o *options) generator() (*generator, error) {
	data := demo.Tokenizer()
	if o.tokenizer != "" {
		var err error
		if data, err = os.ReadFile(o.tokenizer); err != nil {
			return nil, err
		}
	}
	model, err := bpe.Load(data)
	if err != nil {
		return nil, err
	}
	base, _, err := recorded(o, model)
	if err != nil {
		return nil, fmt.Errorf("shapes of trajectories: %w", err)
	}
	return newGenerator(base, o.longest), nil
}
