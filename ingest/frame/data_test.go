package frame

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// The published trajectories, framed by each layout that fits them, give what the standard library finds.
func TestPublishedData(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if _, err := os.Stat(root); root == "" || err != nil {
		t.Skip("TURNMILL_DATA names no directory: no published trajectories to frame")
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || d.IsDir() || ext != ".json" && ext != ".jsonl" {
			return err
		}
		in, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		t.Run(rel, func(t *testing.T) { publishedFile(t, in, ext == ".jsonl") })
		files++
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files below TURNMILL_DATA, %v", files, err)
	}
}

func publishedFile(t *testing.T, in []byte, lines bool) {
	text := string(in)
	whole, _ := framed(t, Whole, text, Options{})
	if strings.TrimSpace(text) == "" {
		if len(whole) != 0 {
			t.Errorf("whole: %d records in an empty file", len(whole))
		}
	} else if len(whole) != 1 || whole[0].Data != strings.TrimPrefix(text, bom) {
		t.Errorf("whole: %d records", len(whole))
	}
	if want, ok := reference(bytes.TrimPrefix(in, []byte(bom))); ok {
		items, _ := framed(t, Values, text, Options{})
		compareTexts(t, in[:min(len(in), 40)], want, items)
	}
	var elements []json.RawMessage
	if json.Unmarshal(in, &elements) == nil {
		items, _ := framed(t, Array, text, Options{})
		if len(items) != len(elements) {
			t.Errorf("array: %d records, want %d", len(items), len(elements))
		}
	}
	if !lines {
		return
	}
	items, _ := framed(t, Lines, text, Options{})
	tile(t, Lines, text, items)
	var doc jsonscan.Doc
	for _, it := range items {
		if _, err := doc.Parse([]byte(it.Data)); (err == nil) != json.Valid([]byte(it.Data)) {
			t.Errorf("line %d: %v", it.Line, err)
		}
	}
}
