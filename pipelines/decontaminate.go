package pipelines

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/turnmill/turnmill/filter/dedup"
	"github.com/turnmill/turnmill/ingest"
)

// BenchmarkFile is a file of --decontaminate as the plan saw it.
type BenchmarkFile struct {
	Path   string `json:"path"`   // named as inputs are
	Bytes  int64  `json:"bytes"`  // stored
	SHA256 string `json:"sha256"` // of all stored bytes
	Items  int64  `json:"items"`  // rows, or lines of text
}

// Names of members that say which task a row is of.
var (
	sourceNames = [...]string{"source", "benchmark", "dataset"}
	taskNames   = [...]string{"instance_id", "task_id", "question_id", "uid", "id"}
)

// openBenchmarks reads the files that the options name; nil where they name none.
func openBenchmarks(ctx context.Context, args []string, maxWindow int64) (*dedup.Benchmark, []BenchmarkFile, []string, error) {
	if len(args) == 0 {
		return nil, nil, nil, nil
	}
	found, err := ingest.Discover(args)
	if err != nil {
		return nil, nil, nil, &UsageError{fmt.Errorf("--decontaminate: %w", err)}
	}
	b := dedup.NewBenchmark()
	var files []BenchmarkFile
	var paths []string
	for _, f := range found {
		if ctx.Err() != nil {
			return nil, nil, nil, context.Cause(ctx)
		}
		file, err := readBenchmark(f, maxWindow, b)
		if err != nil {
			return nil, nil, nil, &UsageError{fmt.Errorf("--decontaminate: %s: %w; name JSON lines, an array of rows, or text with a task a line", f.Path, err)}
		}
		files, paths = append(files, file), append(paths, f.Path)
	}
	b.Seal()
	return b, files, paths, nil
}

// readBenchmark adds the rows of one file.
func readBenchmark(f ingest.Input, maxWindow int64, b *dedup.Benchmark) (BenchmarkFile, error) {
	out := BenchmarkFile{Path: f.Name}
	file, err := os.Open(f.Path)
	if err != nil {
		return out, err
	}
	defer file.Close()
	sum := sha256.New()
	stored := &metered{io.TeeReader(file, sum), &out.Bytes}
	head, text, err := ingest.Peek(stored, maxWindow)
	if text != nil {
		defer text.Close()
	}
	if err != nil {
		return out, err
	}
	add := func(it *dedup.Item) {
		out.Items++
		it.Name = fmt.Sprintf("%s:%d", f.Name, out.Items)
		if it.TaskID != "" {
			it.Name += " (" + it.TaskID + ")"
		}
		b.Add(it)
	}
	if start := bytes.TrimLeft(head.Data, " \t\r\n\ufeff"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		err = rowsOf(text, add)
	} else {
		err = linesOf(text, add)
	}
	if err == nil && out.Items == 0 {
		err = errors.New("it holds no task")
	}
	if err == nil {
		_, err = io.Copy(io.Discard, stored) // what follows the compressed text
	}
	out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return out, err
}

// linesOf adds every line that is not blank as a task.
func linesOf(text io.Reader, add func(*dedup.Item)) error {
	in := bufio.NewReader(text)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			add(&dedup.Item{Texts: []string{line}})
		}
		if err != nil {
			return eof(err)
		}
	}
}

// rowsOf adds every object of JSON lines, of values one after another, or of one array.
func rowsOf(text io.Reader, add func(*dedup.Item)) error {
	in := bufio.NewReader(text)
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		in.Discard(3)
	}
	d := json.NewDecoder(in)
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err != nil {
			return eof(err)
		}
		rows, many := v.([]any)
		if !many {
			rows = []any{v}
		}
		for _, row := range rows {
			if object, ok := row.(map[string]any); ok {
				add(itemOf(object))
			}
		}
	}
}

// itemOf makes an item of a row: every text in it, however deep, is one of its texts.
func itemOf(row map[string]any) *dedup.Item {
	it := &dedup.Item{Source: nameIn(row, sourceNames[:]), TaskID: nameIn(row, taskNames[:])}
	var gather func(v any)
	gather = func(v any) {
		switch v := v.(type) {
		case string:
			it.Texts = append(it.Texts, v)
		case []any:
			for _, one := range v {
				gather(one)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				gather(v[key])
			}
		}
	}
	gather(row)
	return it
}

// nameIn returns the first of some members that is a text or a number.
func nameIn(row map[string]any, names []string) string {
	for _, name := range names {
		switch v := row[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// benchmarksAgain opens the benchmarks of a plan where local.json says that they are, for a check.
func (c *checker) benchmarksAgain(ctx context.Context, s *setup) error {
	if len(c.plan.Benchmarks) == 0 {
		return nil
	}
	l, err := readLocal(c.root)
	if err != nil {
		return &UsageError{fmt.Errorf("%s: where the files of --decontaminate are stands in local.json, which cannot be read: %w", c.root, err)}
	}
	var files []BenchmarkFile
	if s.benchmark, files, _, err = openBenchmarks(ctx, l.Decontaminate, c.plan.Config.MaxWindow); err != nil {
		return err
	}
	for i := range files {
		if i < len(c.plan.Benchmarks) {
			files[i].Path = c.plan.Benchmarks[i].Path
		}
	}
	if !slices.Equal(files, c.plan.Benchmarks) {
		return &UsageError{fmt.Errorf("%s: the files of --decontaminate are no longer those of the plan; put them back", strings.Join(l.Decontaminate, ", "))}
	}
	return nil
}
