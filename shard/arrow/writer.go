package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/turnmill/turnmill"
)

// Limits says when a record batch is full. Zero fields take the defaults.
type Limits struct {
	Rows     int   // rows a batch; 0 means 1000
	Bytes    int64 // bytes of a batch's body; 0 means 64 MiB. A larger row makes a batch of its own
	Elements int64 // tokens a batch; 0 means 2^31-1, as far as int32 offsets reach. A longer row is refused
}

// Options says what a Writer writes.
type Options struct {
	Profile    Profile
	Vocabulary int // Size of the tokenizer's vocabulary: one above the largest id, at most 2^31-1
	Limits     Limits
	// Behind, unless nil, starts the writing of a full batch, perhaps on another goroutine, and returns what
	// waits for its end. The next batch is filled meanwhile, in memory of its own.
	Behind func(write func() error) (wait func() error)
}

// Validate joins all that is wrong with the options.
func (o *Options) Validate() error {
	var errs []error
	if int(o.Profile) >= numProfiles {
		errs = append(errs, fmt.Errorf("profile %d does not exist", o.Profile))
	}
	if o.Vocabulary <= 0 || o.Vocabulary > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("a vocabulary of %d ids does not fit int32 columns", o.Vocabulary))
	}
	l := o.Limits
	if l.Rows < 0 || l.Rows > math.MaxInt32-1 || l.Bytes < 0 || l.Elements < 0 || l.Elements > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("limits %+v: none may be negative, rows and elements must fit int32 offsets", l))
	}
	return errors.Join(errs...)
}

func (o *Options) fillDefaults() {
	if o.Limits.Rows == 0 {
		o.Limits.Rows = 1000
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = 64 << 20
	}
	if o.Limits.Elements == 0 {
		o.Limits.Elements = math.MaxInt32
	}
}

// Writer writes one shard after another. The same rows give the same bytes, whatever it wrote before. It
// serves one goroutine and holds at most one batch, or two when there is Options.Behind.
type Writer struct {
	opts   Options
	schema *goarrow.Schema
	head   []byte // of each stream: the schema
	mem    memory.Allocator
	out    io.Writer
	size   int64        // of the stream up to the batch under way, which may not be written yet
	wait   func() error // for the batch before; nil: it is written
	rows   int64        // accepted since Reset
	err    error        // the first failure of the output, or that the stream is closed

	columns         // of the batch under way
	other   columns // of the batch before
	ones    []int32 // all ones, onesTokens of them
}

// columns are those of one batch, each as long as offsets' last.
type columns struct {
	offsets []int32
	ids     []int32
	labels  []int32
	weights []float32
}

var errClosed = errors.New("arrow: the stream is closed; call Reset first")

// NewWriter returns a writer of a stream to w. It writes nothing before the first full batch or Close.
func NewWriter(w io.Writer, o Options) (*Writer, error) {
	return newWriter(w, o, memory.DefaultAllocator)
}

func newWriter(w io.Writer, o Options, mem memory.Allocator) (*Writer, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	o.fillDefaults()
	head, err := o.Profile.schemaMessage()
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	wr := &Writer{opts: o, schema: o.Profile.schema(), head: head, mem: mem}
	wr.Reset(w)
	return wr, nil
}

// Reset starts a new stream to w. Rows of an earlier stream that Close has not written are forgotten.
func (w *Writer) Reset(out io.Writer) {
	w.Abandon()
	w.out, w.size = out, 0
	w.rows, w.err = 0, nil
}

// Abandon waits until nothing is written any more and forgets the stream, which stays without an end.
func (w *Writer) Abandon() {
	w.settle()
	w.err = errClosed
	w.clear()
}

// settle waits for the batch before.
func (w *Writer) settle() error {
	if w.wait != nil {
		if err := w.wait(); err != nil && w.err == nil {
			w.err = err
		}
		w.wait = nil
	}
	return w.err
}

// Append copies a row into the batch under way, after writing that batch if the row does not fit it. A row
// that CheckRow refuses, or that is longer than a batch may be, is an error that names it by its number in
// the stream and changes nothing; a failure of the output is final.
func (w *Writer) Append(row *turnmill.Row) error {
	if w.err != nil {
		return w.err
	}
	if err := CheckRow(row, w.opts.Profile, w.opts.Vocabulary); err != nil {
		return fmt.Errorf("arrow: row %d: %w", w.rows, err)
	}
	n := int64(len(row.IDs))
	if n > w.opts.Limits.Elements {
		return fmt.Errorf("arrow: row %d, column input_ids: %d tokens do not fit a batch of at most %d; try a smaller --seq-len",
			w.rows, n, w.opts.Limits.Elements)
	}
	if !w.fits(n) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.ids = append(reserve(w.ids, len(row.IDs), w.full()), row.IDs...)
	w.labels = append(reserve(w.labels, len(row.Labels), w.full()), row.Labels...)
	w.weights = append(reserve(w.weights, len(row.Weights), w.full()), row.Weights...)
	w.offsets = append(w.offsets, int32(len(w.ids)))
	w.rows++
	return nil
}

// full is how many tokens a full batch holds.
func (w *Writer) full() int {
	return int(min(w.opts.Limits.Bytes/w.opts.Profile.bodyBytes(0, 1), w.opts.Limits.Elements))
}

// reserve returns s with room for n more elements. It doubles up to the size of a full batch and stays
// there, so that growth leaves little behind and stops.
func reserve[T any](s []T, n, full int) []T {
	need := len(s) + n
	if n == 0 || need <= cap(s) {
		return s
	}
	room := 2 * need
	if room > full {
		room = max(need, full)
	}
	grown := make([]T, len(s), room)
	copy(grown, s)
	return grown
}

// Close writes the last batch and the end marker. It closes nothing else. After a failure it writes
// nothing: a stream that lacks a part must not get an end marker.
func (w *Writer) Close() error {
	if errors.Is(w.err, errClosed) {
		return nil
	}
	if w.err != nil {
		return w.err
	}
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	end := []byte(endMarker)
	if w.size == 0 {
		end = append(bytes.Clone(w.head), end...)
	}
	out := output{w: w.out}
	if out.put(end); out.err != nil {
		w.err = fmt.Errorf("arrow: %w", out.err)
		return w.err
	}
	w.size += int64(len(end))
	w.err = errClosed
	return nil
}

// Rows returns the number of rows appended since Reset.
func (w *Writer) Rows() int64 { return w.rows }

// Size returns the bytes of the stream so far: those written, and the body of the batch under way. After
// Close it is exactly the size of the file.
func (w *Writer) Size() int64 {
	return w.size + w.opts.Profile.bodyBytes(int64(len(w.offsets)-1), int64(len(w.ids)))
}

// fits says whether a row of n tokens may join the batch under way. A first row always does.
func (w *Writer) fits(n int64) bool {
	rows, tokens, l := int64(len(w.offsets)-1), int64(len(w.ids))+n, w.opts.Limits
	return rows == 0 ||
		rows < int64(l.Rows) && tokens <= l.Elements && w.opts.Profile.bodyBytes(rows+1, tokens) <= l.Bytes
}

// clear empties the batch and keeps its memory, unless one huge row has stretched it: then the next
// batches would pay for that row for ever.
func (w *Writer) clear() {
	if w.opts.Profile.bodyBytes(0, int64(cap(w.ids)))/2 > w.opts.Limits.Bytes {
		w.ids, w.labels, w.weights = nil, nil, nil
	}
	w.offsets = append(w.offsets[:0], 0)
	w.ids, w.labels, w.weights = w.ids[:0], w.labels[:0], w.weights[:0]
}
