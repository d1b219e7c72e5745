package stats

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/turnmill/turnmill"
)

// PromptRow is one row of rl/pNNNNN.parquet: a question for a model that is trained by reinforcement, and what its answers
// are held against. The columns are those that TRL's GRPO trainer, verl and SkyRL look for, and turnmill's own. A null is
// written for an empty Source, Verifier or VerifierClass.
type PromptRow struct {
	ID            string          `parquet:"id"`          // of the query: the trajectory's, @ and the turn's index
	Prompt        []PromptMessage `parquet:"prompt,list"` // ends with the user's message
	Reference     string          `parquet:"reference"`   // the observation that was recorded
	Domain        string          `parquet:"domain,dict"`
	Source        string          `parquet:"source,optional,dict"`
	Template      string          `parquet:"template,dict"`     // v0
	Verifier      string          `parquet:"verifier,optional"` // its definition, JSON
	VerifierClass string          `parquet:"verifier_class,optional,dict"`
	PromptTokens  int32           `parquet:"prompt_tokens"` // with what opens the answer

	DataSource  string      `parquet:"data_source,dict"` // verl: the domain, by which it reports
	RewardModel RewardModel `parquet:"reward_model"`     // verl
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string `parquet:"role,dict"`
	Content string `parquet:"content"`
}

// RewardModel is what verl hands to a reward function.
type RewardModel struct {
	Style       string `parquet:"style,dict"` // model: a judge; rule where there is a verifier as well
	GroundTruth string `parquet:"ground_truth"`
}

// promptGroup is how many bytes of text close a row group.
const promptGroup = 16 << 20

// PromptWriter writes a table of prompts: Parquet, zstd, sealed as turns tables are. The same rows and version give the same
// bytes. It holds a row group, and serves one goroutine.
type PromptWriter struct {
	w     *parquet.GenericWriter[PromptRow]
	out   *sealWriter
	bytes int64
	rows  int64
}

// NewPromptWriter returns a writer to w. version stands in the file as its creator's.
func NewPromptWriter(w io.Writer, version string) (*PromptWriter, error) {
	config, err := parquet.NewWriterConfig(
		parquet.SchemaOf(PromptRow{}),
		parquet.CreatedBy("turnmill", version, ""),
		parquet.KeyValueMetadata(sealKey, sealBlank),
		parquet.Compression(&parquet.Zstd),
		parquet.DataPageStatistics(false),
		parquet.SkipPageBounds("prompt.list.element.content"), parquet.SkipPageBounds("reference"),
	)
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	out := &sealWriter{w: w}
	return &PromptWriter{w: parquet.NewGenericWriter[PromptRow](out, config), out: out}, nil
}

// Write adds rows.
func (w *PromptWriter) Write(rows []PromptRow) error {
	for i := range rows {
		if _, err := w.w.Write(rows[i : i+1]); err != nil {
			return fmt.Errorf("prompts: row %d: %w", w.rows, err)
		}
		w.rows++
		w.bytes += int64(len(rows[i].Reference))*2 + int64(len(rows[i].Verifier))
		for _, m := range rows[i].Prompt {
			w.bytes += int64(len(m.Content))
		}
		if w.bytes >= promptGroup {
			if err := w.w.Flush(); err != nil {
				return fmt.Errorf("prompts: %w", err)
			}
			w.bytes = 0
		}
	}
	return nil
}

// Rows returns the number of rows written.
func (w *PromptWriter) Rows() int64 { return w.rows }

// Close writes the footer and the seal. It closes nothing else.
func (w *PromptWriter) Close() error {
	err := w.w.Flush()
	if err == nil {
		w.out.hold = true
		err = w.w.Close()
	}
	if err == nil {
		err = w.out.seal()
	}
	if err != nil {
		return fmt.Errorf("prompts: %w", err)
	}
	return nil
}

// PromptReader reads a table of prompts row by row.
type PromptReader struct {
	name string
	r    *parquet.GenericReader[PromptRow]
	row  [1]PromptRow
}

// NewPromptReader opens the table of size bytes in r, which it first compares with its seal. name stands in errors, which wrap
// turnmill.ErrCorrupt where they blame the file.
func NewPromptReader(r io.ReaderAt, size int64, name string) (p *PromptReader, err error) {
	defer func() {
		if recover() != nil {
			p, err = nil, fmt.Errorf("%s: %w: it is no table of prompts", name, turnmill.ErrCorrupt)
		}
	}()
	if err := checkSeal(r, size); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, turnmill.ErrCorrupt, err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, turnmill.ErrCorrupt, err)
	}
	if got, want := file.Schema().String(), parquet.SchemaOf(PromptRow{}).String(); got != want {
		return nil, fmt.Errorf("%s: %w: its columns are not those of prompts, but %s", name, turnmill.ErrCorrupt, got)
	}
	return &PromptReader{name: name, r: parquet.NewGenericReader[PromptRow](file)}, nil
}

// Next returns the next row, nil at the end. It is good until the next call.
func (p *PromptReader) Next() (row *PromptRow, err error) {
	defer func() {
		if recover() != nil {
			row, err = nil, fmt.Errorf("%s: %w: its pages are damaged", p.name, turnmill.ErrCorrupt)
		}
	}()
	p.row[0] = PromptRow{}
	n, err := p.r.Read(p.row[:])
	switch {
	case n == 1:
		return &p.row[0], nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, nil
	}
	return nil, fmt.Errorf("%s: %w: %w", p.name, turnmill.ErrCorrupt, err)
}

// Close ends the reading. It does not close the file.
func (p *PromptReader) Close() error { return p.r.Close() }
