//go:build soak && unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
)

// corpus writes the round's inputs: one file for standard input, else some in a directory.
func (s *soak) corpus(t *testing.T) {
	t.Helper()
	if s.stream {
		_, data := s.file()
		s.put(t, s.input, data)
		return
	}
	for i := range 1 + s.rng.IntN(5) {
		kind, data := s.file()
		s.put(t, filepath.Join(s.input, fmt.Sprintf("%d%s", i, kind)), data)
	}
}

func (s *soak) put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// file returns a file of any kind, now and then damaged in its text, in its stored bytes, or cut.
func (s *soak) file() (kind string, data []byte) {
	text := s.lines()
	switch s.rng.IntN(8) {
	case 0:
		text = append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte(",\n"))...), ']')
	case 1:
		text = bytes.ReplaceAll(text, []byte("\n"), nil) // values, one after the other
	case 2:
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	case 3:
		text = []byte("Remember to feed the cat.\n")
	}
	for s.chance(2) {
		text = s.damaged(text)
	}
	kind, data = ".jsonl", text
	if c := s.rng.IntN(4); c < 2 {
		name := []string{"gzip", "zstd"}[c]
		kind, data = []string{".jsonl.gz", ".jsonl.zst"}[c], compressed(name, s.pieces(text)...)
		if s.chance(6) {
			data = s.flipped(data)
		}
	}
	if s.chance(8) {
		data = data[:s.rng.IntN(len(data)+1)]
	}
	return kind, data
}

// lines returns records of the demo corpus and others, in any order, some of them twice.
func (s *soak) lines() (text []byte) {
	var all [][]byte
	entries, err := fs.ReadDir(demo.Corpus(), ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := fs.ReadFile(demo.Corpus(), e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))...)
	}
	for i := range s.rng.IntN(200) {
		line := bytes.TrimSpace(all[s.rng.IntN(len(all))])
		if s.chance(3) {
			line = []byte(terminal(fmt.Sprintf("run-%d", i), s.text(), s.text()))
		}
		text = append(append(text, line...), '\n')
	}
	return text
}

func (s *soak) text() string { return text(1 + s.rng.IntN(pick(s, 10, 1000, 10_000))) }

// pieces cuts a text anywhere, with empty pieces among them.
func (s *soak) pieces(text []byte) (all [][]byte) {
	most := pick(s, 500, 5000, 1<<20)
	for len(text) > 0 {
		n := min(s.rng.IntN(most), len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return append(all, nil)
}

func (s *soak) flipped(data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	data = bytes.Clone(data)
	data[s.rng.IntN(len(data))] ^= byte(1 + s.rng.IntN(255))
	return data
}

// damaged harms a text in one place.
func (s *soak) damaged(text []byte) []byte {
	at := s.rng.IntN(len(text) + 1)
	with := pick(s, "\n", "\x00\x00", "\xef\xbb\xbf", "{", "}\n", "{\"id\":\"cut\n", "\xff", "\n\n \r\n", "[]", "null\n", `{"id":"a#2","turns":[]}`)
	switch s.rng.IntN(3) {
	case 0:
		return s.flipped(text)
	case 1: // a stretch is gone
		return append(bytes.Clone(text[:at]), text[min(len(text), at+s.rng.IntN(400)):]...)
	}
	return append(append(bytes.Clone(text[:at]), with...), text[at:]...)
}
