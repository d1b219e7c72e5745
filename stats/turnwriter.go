package stats

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Sizes of the turns table. Rows reach parquet-go in blocks that depend on the rows alone, so that the file
// does not depend on how Write was called. A row group is closed by what its rows take before encoding: a
// group costs some 10 KB of metadata, and an open one memory.
const (
	blockRows  = 64
	blockText  = 1 << 20   // bytes of text that close a block early
	groupBytes = 12 << 20  // before encoding: some 40,000 rows
	pageBytes  = 64 << 10  // of one column, before compression; each column keeps a page
	dictBytes  = 256 << 10 // of one column; what comes after a larger dictionary is written plain
)

var errTurnsClosed = errors.New("turns: the table is closed")

// TurnWriter writes the turns table: Parquet, zstd, row groups by bytes. The same rows and version give the
// same bytes. It holds at most some 16 MiB and serves one goroutine.
type TurnWriter struct {
	w       *parquet.GenericWriter[TurnRow]
	out     *sealWriter
	columns []column
	limit   int64 // of a row group: groupBytes
	group   int64 // bytes of the row group before encoding
	rows    int64
	err     error

	// The block under way.
	waiting int
	text    []byte            // the rows' strings, copied: the caller's are borrowed
	values  [][]parquet.Value // of each column
}

// NewTurnWriter returns a writer to w. version is turnmill's; it stands in the file as its creator.
func NewTurnWriter(w io.Writer, version string) (*TurnWriter, error) {
	config, err := parquet.NewWriterConfig(
		turnSchema(),
		parquet.CreatedBy("turnmill", version, ""),
		parquet.KeyValueMetadata(sealKey, sealBlank),
		parquet.Compression(&parquet.Zstd),
		parquet.PageBufferSize(pageBytes),
		parquet.DictionaryMaxBytes(dictBytes),
		parquet.DataPageStatistics(false), // the column index holds the same
		parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(pageBytes)),
	)
	if err != nil {
		return nil, fmt.Errorf("turns: %w", err)
	}
	columns, out := turnColumns(), &sealWriter{w: w}
	return &TurnWriter{
		w:       parquet.NewGenericWriter[TurnRow](out, config),
		out:     out,
		columns: columns,
		limit:   groupBytes,
		values:  make([][]parquet.Value, len(columns)),
	}, nil
}

// Write adds rows. Their strings and spans are needed only during the call. A failure of the output is
// final.
func (w *TurnWriter) Write(rows []TurnRow) error {
	for len(rows) > 0 && w.err == nil {
		n := w.take(rows)
		for i := range w.columns {
			w.add(i, rows[:n])
		}
		rows = rows[n:]
		if w.waiting == blockRows || len(w.text) >= blockText {
			w.flush()
		}
	}
	return w.err
}

// take returns how many of the rows end the block, or join it, and counts them.
func (w *TurnWriter) take(rows []TurnRow) int {
	text := len(w.text)
	for i := range rows {
		r := &rows[i]
		row := len(r.ID) + len(r.Domain) + len(r.Source) + len(r.TaskID) + len(r.Agent) + len(r.Tool) +
			len(r.Category) + len(r.Status) + len(r.Reason) + len(r.Shard)
		text += row
		w.group += int64(row + 8*(len(w.columns)+len(r.KeptSpans)))
		w.rows++
		w.waiting++
		if w.waiting == blockRows || text >= blockText {
			return i + 1
		}
	}
	return len(rows)
}

// Rows returns the number of rows written.
func (w *TurnWriter) Rows() int64 { return w.rows }

// Close writes what waits, the footer and the seal. It closes nothing else. After a failure it writes
// nothing.
func (w *TurnWriter) Close() error {
	if errors.Is(w.err, errTurnsClosed) {
		return nil
	}
	w.flush()
	if w.err == nil {
		w.err = w.end()
	}
	if w.err != nil {
		return w.err
	}
	w.err = errTurnsClosed
	return nil
}

func (w *TurnWriter) end() error {
	err := w.w.Flush() // the last row group is written, not held
	if err == nil {
		w.out.hold = true
		err = w.w.Close()
	}
	if err == nil {
		err = w.out.seal()
	}
	if err != nil {
		return fmt.Errorf("turns: %w", err)
	}
	return nil
}

// flush hands the block to parquet-go, and closes the row group when it is full.
func (w *TurnWriter) flush() {
	if w.err != nil || w.waiting == 0 {
		return
	}
	var err error
	for i, c := range w.w.ColumnWriters() {
		if err == nil {
			_, err = c.WriteRowValues(w.values[i])
		}
		w.values[i] = w.values[i][:0]
	}
	if err == nil && w.group >= w.limit {
		err = w.w.Flush()
		w.group = 0
	}
	if err != nil {
		w.err = fmt.Errorf("turns: block that ends with row %d: %w", w.rows-1, err)
	}
	w.text, w.waiting = w.text[:0], 0
}

// add appends one column of the rows to the block.
func (w *TurnWriter) add(column int, rows []TurnRow) {
	c, values := &w.columns[column], w.values[column]
	for i := range rows {
		r := &rows[i]
		if c.null != nil && c.null(r) {
			values = append(values, parquet.NullValue())
			continue
		}
		switch {
		case c.text != nil:
			from := len(w.text)
			w.text = append(w.text, *c.text(r)...)
			values = append(values, parquet.ByteArrayValue(w.text[from:len(w.text):len(w.text)]))
		case c.i32 != nil:
			values = append(values, parquet.Int32Value(*c.i32(r)))
		case c.i64 != nil:
			values = append(values, parquet.Int64Value(*c.i64(r)))
		case c.f64 != nil:
			values = append(values, parquet.DoubleValue(*c.f64(r)))
		case c.flag != nil:
			values = append(values, parquet.BooleanValue(*c.flag(r)))
		case c.maybe != nil:
			values = append(values, parquet.BooleanValue(**c.maybe(r)))
		default:
			values = appendSpans(values, *c.spans(r), column)
			continue
		}
		if c.null != nil {
			values[len(values)-1].SetDefinitionLevel(1)
		}
	}
	w.values[column] = values
}

// appendSpans appends a list: definition level 1 is an empty list, 2 an element; repetition level 1
// continues the row's list.
func appendSpans(values []parquet.Value, spans []int32, column int) []parquet.Value {
	if len(spans) == 0 {
		return append(values, parquet.NullValue().Level(0, 1, column))
	}
	for i, v := range spans {
		values = append(values, parquet.Int32Value(v).Level(min(i, 1), 2, column))
	}
	return values
}
