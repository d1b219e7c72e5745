package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// packedReader reads a file of a run that holds JSON lines, packed with zstd.
type packedReader struct {
	path string // below OUT
	file *os.File
	zstd io.ReadCloser
	json *json.Decoder
	line int // that was read last, from 1
}

func openPacked(root, path string) (*packedReader, error) {
	file, err := openBelow(root, path)
	if err != nil {
		return nil, err
	}
	r := &packedReader{path: path, file: file}
	if r.zstd, err = zstdio.NewReader(file); err != nil {
		file.Close()
		return nil, r.corrupt(err)
	}
	r.json = json.NewDecoder(bufio.NewReader(r.zstd))
	return r, nil
}

// next reads a line. It is io.EOF behind the last.
func (r *packedReader) next(into any) error {
	r.line++
	if err := r.json.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return r.corrupt(fmt.Errorf("line %d: %w", r.line, err))
	} else if err != nil {
		return io.EOF
	}
	return nil
}

// first makes an error of a line that no file lacks.
func (r *packedReader) first(err error) error {
	if errors.Is(err, io.EOF) {
		return r.corrupt(io.ErrUnexpectedEOF)
	}
	return err
}

func (r *packedReader) corrupt(err error) error {
	return fmt.Errorf("%s: %w: %w", r.path, turnmill.ErrCorrupt, err)
}

func (r *packedReader) close() {
	r.zstd.Close()
	r.file.Close()
}

// numbered makes sure that the numbers of a line's kinds are those of kinds there are.
func (r *packedReader) numbered(numbers []int, kinds int) error {
	for _, n := range numbers {
		if n < 0 || n >= kinds {
			return r.corrupt(fmt.Errorf("line %d: kind %d of %d", r.line, n, kinds))
		}
	}
	return nil
}

// writePacked writes JSON lines, packed with zstd: those for which lines calls its argument.
func writePacked(to io.Writer, lines func(add func(any))) error {
	z, err := zstdio.NewWriter(to)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(z)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	lines(func(v any) {
		if err == nil {
			err = e.Encode(v)
		}
	})
	return errors.Join(err, b.Flush(), z.Close())
}
