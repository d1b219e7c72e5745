package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// decoded is what one format's decoder makes.
type decoded struct {
	format formats.Format
	of     string // what was read
	bytes  int
	rate   float64 // MB/s
	unit   float64 // MB of unified lines for each MB read
}

// floors are the rates in MB/s below which a decoder is told to be slow.
const (
	floorLines = 250 // chats in lines of JSON
	floorJSON  = 60  // other JSON
)

// chats are the formats whose files are chats, a record a line.
var chats = []string{"turnmill", "openai-chat", "anthropic", "openai-responses", "gemini", "hf-rows", "llama-factory-v1", "react-chat", "sharegpt",
	"tau-bench", "claude-code"}

// floor returns the least that a decoder should make, or 0 where nothing is asked: texts, recordings that an
// emulator plays, forms that are refused.
func floor(f formats.Format) float64 {
	switch {
	case f.Text || f.Refuses || f.Name == "asciicast":
		return 0
	case slices.Contains(chats, f.Name):
		return floorLines
	}
	return floorJSON
}

// measureDecoders takes every format's files through framing, decoding and writing of unified lines, on one core.
func measureDecoders(data string, runs int) ([]decoded, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	files, err := filesByFormat(data)
	if err != nil {
		return nil, err
	}
	runsRead, err := trajectoriesOf(files)
	if err != nil {
		return nil, err
	}
	if len(runsRead) == 0 {
		if runsRead, err = demoTrajectories(); err != nil {
			return nil, err
		}
	}
	var out []decoded
	for _, f := range formats.All() {
		d := decoded{format: f}
		texts := d.texts(files[f.Name], runsRead)
		if err := d.measure(texts, runs); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// texts chooses what the decoder reads: published files, where they are few trajectories that were rewritten, and
// where nothing else is the format's sample.
func (d *decoded) texts(published []text, all []turnmill.Trajectory) []text {
	size := func(texts []text) (n int) {
		for _, t := range texts {
			n += len(t.data)
		}
		return n
	}
	if d.format.Join != nil { // their runs lie in several files, of which one is no run; a sample is a run in one
		published = nil
	}
	texts := published
	if d.of = fmt.Sprintf("%d files", len(published)); len(published) == 1 {
		d.of = "1 file"
	}
	if rows, ok := rowsOf(d.format.Name, all); ok && size(published) < few {
		texts, d.of = []text{rows}, "rewritten"
	} else if len(texts) == 0 {
		sample := text{frame.Lines, []byte(strings.Repeat(d.format.Doc.Sample+"\n", 100))}
		if !slices.Contains(d.format.Layouts, frame.Lines) {
			sample = text{frame.Whole, []byte(d.format.Doc.Sample)}
		}
		texts, d.of = []text{sample}, "sample"
	}
	d.bytes = size(texts)
	return texts
}

// demoTrajectories are those of the embedded corpus.
func demoTrajectories() ([]turnmill.Trajectory, error) {
	lines, err := demoLines()
	if err != nil {
		return nil, err
	}
	return trajectoriesOf(map[string][]text{"turnmill": {{frame.Lines, bytes.Join(lines, []byte("\n"))}}})
}

// text is a file in memory.
type text struct {
	layout frame.Layout
	data   []byte
}

// filesByFormat reads the files below a folder, those that a format recognises.
func filesByFormat(data string) (map[string][]text, error) {
	files := map[string][]text{}
	if data == "" {
		return files, nil
	}
	return files, filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if found, err := formats.Detect(b[:min(len(b), formats.HeadBytes)], len(b) <= formats.HeadBytes); err == nil {
			files[found.Format.Name] = append(files[found.Format.Name], text{found.Layout, b})
		}
		return nil
	})
}

// measured is how long the CPU is busy with one measurement, at least.
const measured = 300 * time.Millisecond

func (d *decoded) measure(texts []text, runs int) error {
	p := path{decoder: d.format.New(formats.Options{})}
	var rates []float64
	for range runs + 1 {
		p.lines = 0
		n, began := 0, cpu()
		for spent := time.Duration(0); spent < measured; spent = cpu() - began {
			for _, t := range texts {
				if err := p.run(t); err != nil {
					return err
				}
			}
			n += d.bytes
		}
		rates = append(rates, float64(n)/1e6/(cpu()-began).Seconds())
		d.unit = float64(p.lines) / float64(n)
	}
	rates = rates[1:] // the first filled the buffers
	slices.Sort(rates)
	d.rate = rates[len(rates)/2]
	return nil
}

// path is the way from bytes to unified lines, with its buffers.
type path struct {
	decoder formats.Decoder
	scratch formats.Decoded
	line    []byte
	lines   int    // bytes written
	whole   []byte // a file that is one record
}

// run takes one file all the way.
func (p *path) run(t text) error {
	return p.each(t, func() {
		p.line = p.line[:0]
		for i := range p.scratch.Trajectories {
			p.line = append(formats.AppendUnified(p.line, &p.scratch.Trajectories[i]), '\n')
		}
		for i := range p.scratch.Documents {
			p.line = append(formats.AppendDocument(p.line, &p.scratch.Documents[i]), '\n')
		}
		p.lines += len(p.line)
	})
}

// each decodes the records of a file. Those that are rejected cost what they cost.
func (p *path) each(t text, do func()) error {
	if t.layout == frame.Whole { // a framer's buffers would cost more than a small file
		p.whole = append(p.whole[:0], t.data...)
		if p.decoder.Decode(p.whole, &p.scratch) == nil {
			do()
		}
		return nil
	}
	f := frame.New(t.layout, bytes.NewReader(t.data), frame.Options{})
	for {
		rec, err := f.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if p.decoder.Decode(rec.Data, &p.scratch) == nil {
			do()
		}
	}
}

// decodersTitle is the heading of the section that decoders are told in.
const decodersTitle = "## Decoders"

func reportDecoders(w io.Writer, all []decoded, runs int) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	p("%s\n\nEach format's decoder alone: framing, decoding and writing unified lines, on one core, of published files where `TURNMILL_DATA`\n"+
		"has some, again and again; where it has few, of their trajectories rewritten in the format, else of its sample. MB/s are\n"+
		"10^6 bytes of input per CPU second. Medians of %d runs. Asked for are %d MB/s of chats in lines and %d of other JSON;\n"+
		"of texts, recordings and forms that are refused nothing.\n\n",
		decodersTitle, runs, floorLines, floorJSON)
	p("| format | read | MB | MB/s | asked for | unified MB for each MB |\n|---|---|---|---|---|---|\n")
	for _, d := range all {
		least := "-"
		if n := floor(d.format); n > 0 {
			least = fmt.Sprintf("%.0f", n)
		}
		p("| `%s` | %s | %.2f | %.0f | %s | %.2f |\n", d.format.Name, d.of, float64(d.bytes)/1e6, d.rate, least, d.unit)
	}
	p("\n")
}

// decoders measures the decoders and writes their section.
func decoders(o *options) error {
	all, err := measureDecoders(o.data, o.runs)
	if err != nil {
		return err
	}
	var b strings.Builder
	reportDecoders(&b, all, o.runs)
	return publish(o, b.String())
}
