package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/turnmill/turnmill/internal/demo"
)

// writeCorpus writes at least size bytes of JSON lines to name, unless such a file is there. It is the same
// on every machine.
func writeCorpus(name string, size int64) error {
	if info, err := os.Stat(name); err == nil && info.Size() >= size && info.Size() < size+1<<20 {
		return nil
	}
	lines, err := demoLines()
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	state := uint64(1)
	var line []byte
	for n := int64(0); n < size; n += int64(len(line)) {
		state = state*6364136223846793005 + 1442695040888963407
		line = vary(line[:0], lines[state>>33%uint64(len(lines))], state)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

func demoLines() ([][]byte, error) {
	var lines [][]byte
	err := fs.WalkDir(demo.Corpus(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "chats.jsonl" {
			return err
		}
		data, err := fs.ReadFile(demo.Corpus(), path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
		}
		return nil
	})
	if len(lines) == 0 && err == nil {
		err = fmt.Errorf("the demo corpus is empty")
	}
	return lines, err
}

// vary appends line with another id, and with every run of three digits or more, and some words, replaced
// by others: caches meet new text, as in life, while the shape stays.
func vary(dst, line []byte, seed uint64) []byte {
	at := bytes.Index(line, []byte(`"id":"`)) + len(`"id":"`)
	dst = append(dst, line[:at]...)
	dst = append(strconv.AppendUint(append(dst, 'g'), seed, 36), '-')
	for rest := line[at:]; len(rest) > 0; {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		switch {
		case n >= 3 && rest[0] != '0':
			seed = seed*6364136223846793005 + 1442695040888963407
			low := uint64(1)
			for range n - 1 {
				low *= 10
			}
			dst = strconv.AppendUint(dst, low+seed>>20%(9*low), 10)
		case n > 0:
			dst = append(dst, rest[:n]...)
		default:
			n = 1
			if bytes.HasPrefix(rest, []byte("the ")) && seed>>40&3 == 0 {
				dst, n = append(dst, "this "...), 4
			} else {
				dst = append(dst, rest[0])
			}
		}
		rest = rest[n:]
	}
	return append(dst, '\n')
}
