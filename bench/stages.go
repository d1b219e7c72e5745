package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/stats"
)

// stage is one step of the path, measured alone.
type stage struct {
	Name, What string
	Rate       float64 // MB/s
}

// floorOf is the rate of all stages one after the other.
func floorOf(stages []stage) float64 {
	sum := 0.0
	for _, s := range stages {
		sum += 1 / s.Rate
	}
	return 1 / sum
}

// stageBytes is how much of the demo corpus the stages run over.
const stageBytes = 20_000_000

// stagesChild prints the stages over a whole corpus: args are a tokenizer.json, the corpus, and the number of
// runs. Rates are in MB of its lines.
func stagesChild(args []string) error {
	runs, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	tokenizer, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	stages, err := measureStages(args[1], tokenizer, math.MaxInt, runs)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(stages)
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// measureStages runs every stage over the first bytes of the corpus, on one core.
func measureStages(corpus string, tokenizer []byte, most, runs int) ([]stage, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	data, err := os.ReadFile(corpus)
	if err != nil {
		return nil, err
	}
	data = data[:min(len(data), most)]
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	b, err := newBench(data, tokenizer)
	if err != nil {
		return nil, err
	}
	b.scrap = corpus + ".scrap"
	defer os.Remove(b.scrap)
	var out []stage
	for _, s := range []struct {
		name, what string
		run        func() error
	}{
		{"frame", "split into lines", b.frame},
		{"decode", "scan JSON, make trajectories", b.decode},
		{"mask", "filters, words, statistics, draw", b.mask},
		{"encode", "render, tokenise, windows, labels", b.encode},
		{"shards", "Arrow record batches", b.shards},
		{"turns", "the turns table in Parquet", b.turns},
		{"files", "SHA-256 of input and shards, shards to disk", b.files},
	} {
		var rates []float64
		for range runs {
			runtime.GC()
			if err := os.RemoveAll(b.scrap); err != nil { // giving back its pages is no part of writing
				return nil, err
			}
			began := cpu()
			if err := s.run(); err != nil {
				return nil, err
			}
			rates = append(rates, float64(len(data))/1e6/(cpu()-began).Seconds())
		}
		slices.Sort(rates)
		out = append(out, stage{s.name, s.what, rates[len(rates)/2]})
	}
	return out, nil
}

// bench holds what each stage starts from: the output of those before it.
type bench struct {
	data    []byte
	records [][]byte
	decoded []turnmill.Trajectory
	targets [][]shard.Target
	rows    shard.Rows
	table   []stats.TurnRow
	stream  bytes.Buffer // a shard of the rows
	scrap   string       // a file to write

	verdicts []turnmill.Verdict
	decoder  formats.Decoder
	scratch  formats.Decoded
	filters  *filter.Chain
	masker   *mask.Masker
	builder  *shard.Builder
	model    *bpe.Model
}

func newBench(data, tokenizer []byte) (*bench, error) {
	b := &bench{data: data}
	f, err := formats.ByName("turnmill")
	if err != nil {
		return nil, err
	}
	b.decoder = f.New(formats.Options{})
	if b.filters, err = filter.New(nil, filter.Options{MinTurns: 1}); err != nil {
		return nil, err
	}
	if b.masker, err = mask.New(mask.Default(), "0", mask.ModeTurn); err != nil {
		return nil, err
	}
	if b.model, err = bpe.Load(tokenizer); err != nil {
		return nil, err
	}
	format, err := chat.New("chatml", b.model, chat.Options{})
	if err != nil {
		return nil, err
	}
	if b.builder, err = shard.NewBuilder(format, b.model.NewEncoder(format.Control()), shard.Options{}); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		b.records = append(b.records, bytes.TrimSuffix(line, []byte("\n")))
	}
	if b.decoded, err = decodeAll(data); err != nil {
		return nil, err
	}
	return b, b.prepare()
}

// prepare runs mask and encode once, so that the stages after them have their input.
func (b *bench) prepare() error {
	for i := range b.decoded {
		t := &b.decoded[i]
		b.targets = append(b.targets, b.decide(t, nil))
		if _, err := b.builder.Trajectory(t, b.targets[i], nil, &b.rows); err != nil {
			return err
		}
		for k := range t.Turns {
			d := &b.targets[i][k]
			b.table = append(b.table, stats.TurnRow{ID: t.ID, Turn: int32(k), Trajectory: int64(i), Domain: string(t.Domain), Source: t.Source,
				ActionWords: int32(d.ActionWords), ObservationWords: int32(d.ObservationWords), SharedWords: int32(d.SharedWords),
				Category: d.Category.String(), Status: "target", Shard: "train/data-p00000-00000.arrow", Row: int64(i),
				StateWords: stats.NotCounted, StateSharedWords: stats.NotCounted, StateNovelty: math.NaN(), UnseenWords: stats.NotCounted})
		}
	}
	return b.write(&b.stream)
}

func (b *bench) decide(t *turnmill.Trajectory, targets []shard.Target) []shard.Target {
	b.verdicts, _ = b.filters.Apply(t, b.verdicts)
	for i := range t.Turns {
		targets = append(targets, shard.Target{Verdict: b.verdicts[i], MaskDecision: b.masker.Decide(t, i)})
	}
	return targets
}

func (b *bench) frame() error {
	f := frame.New(frame.Lines, bytes.NewReader(b.data), frame.Options{})
	for {
		if _, err := f.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (b *bench) decode() error {
	for _, r := range b.records {
		if err := b.decoder.Decode(r, &b.scratch); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) mask() error {
	var targets []shard.Target
	for i := range b.decoded {
		targets = b.decide(&b.decoded[i], targets[:0])
	}
	return nil
}

func (b *bench) encode() error {
	var rows shard.Rows
	for i := range b.decoded {
		rows.Reset()
		if _, err := b.builder.Trajectory(&b.decoded[i], b.targets[i], nil, &rows); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) shards() error { return b.write(io.Discard) }

func (b *bench) write(to io.Writer) error {
	w, err := arrow.NewWriter(to, arrow.Options{Profile: arrow.ProfileHF, Vocabulary: b.model.Size()})
	if err != nil {
		return err
	}
	for i := range b.rows.Rows {
		if err := w.Append(&b.rows.Rows[i]); err != nil {
			return err
		}
	}
	return w.Close()
}

// files does with bytes what has to be done with them: all that is read is hashed, all that is written too.
func (b *bench) files() error {
	const block = 256 << 10
	in, out := sha256.New(), sha256.New()
	for rest := b.data; len(rest) > 0; rest = rest[min(block, len(rest)):] {
		in.Write(rest[:min(block, len(rest))])
	}
	f, err := os.Create(b.scrap)
	if err != nil {
		return err
	}
	defer f.Close()
	for rest := b.stream.Bytes(); len(rest) > 0; rest = rest[min(block, len(rest)):] {
		part := rest[:min(block, len(rest))]
		if _, err := f.Write(part); err != nil {
			return err
		}
		out.Write(part)
	}
	return f.Close()
}

func (b *bench) turns() error {
	w, err := stats.NewTurnWriter(io.Discard, "bench")
	if err != nil {
		return err
	}
	if err := w.Write(b.table); err != nil {
		return err
	}
	return w.Close()
}
