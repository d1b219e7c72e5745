package bpe

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// TestData takes the files below TURNMILL_DATA through each way to the same ids: blocks and single
// characters, caches warm, empty and tiny. With TURNMILL_TOKENIZER it is that tokenizer and all of the files,
// else each family and the first megabyte.
func TestData(t *testing.T) {
	dir := os.Getenv("TURNMILL_DATA")
	if dir == "" {
		t.Skip("TURNMILL_DATA names no folder of texts")
	}
	models, most := familyModels(t), 1<<20
	if path := os.Getenv("TURNMILL_TOKENIZER"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Load(data)
		if err != nil {
			t.Fatal(err)
		}
		models, most = map[string]*Model{path: m}, 1<<30
	}
	files := dataFiles(t, dir, most)
	for name, m := range models {
		warm, small := m.NewEncoder(nil), tinyCaches(m)
		for _, text := range files {
			if got, want := m.split.filled(string(text)), m.split.pieces(string(text)); !slices.Equal(got, want) {
				t.Fatalf("%s: blocks and characters cut %.60q in different ways", name, text)
			}
			var first, again, forgetful turnmill.Tokens
			for to, e := range map[*turnmill.Tokens]*Encoder{&first: warm, &forgetful: small} {
				if err := e.Encode(to, text); err != nil {
					t.Fatal(err)
				}
			}
			if err := warm.Encode(&again, text); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(first.IDs, again.IDs) || !slices.Equal(first.IDs, forgetful.IDs) || !slices.Equal(first.Ends, forgetful.Ends) {
				t.Errorf("%s: tokens of %.60q depend on the caches", name, text)
			}
		}
	}
}

// dataFiles returns the files below dir that are UTF-8, up to most bytes together.
func dataFiles(t *testing.T, dir string, most int) [][]byte {
	var files [][]byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || most <= 0 {
			return err
		}
		data, err := os.ReadFile(path)
		data = data[:min(len(data), most)]
		for len(data) > 0 && !endsWhole(data) {
			data = data[:len(data)-1]
		}
		if utf8.Valid(data) {
			files, most = append(files, data), most-len(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
