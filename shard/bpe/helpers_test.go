package bpe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnmill/turnmill"
)

// loadFile loads a tokenizer of testdata.
func loadFile(t testing.TB, name string) *Model {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loadShaped loads a tokenizer of testdata with the parts of a family of shapes.json; "" changes nothing.
func loadShaped(t testing.TB, name, shape string) *Model {
	t.Helper()
	if shape == "" {
		return loadFile(t, name)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "shapes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shapes map[string]map[string]any
	if err := json.Unmarshal(data, &shapes); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	part := shapes[shape]
	root["normalizer"], root["pre_tokenizer"] = part["normalizer"], part["pre_tokenizer"]
	model(root)["ignore_merges"] = part["ignore_merges"]
	if data, err = json.Marshal(root); err != nil {
		t.Fatal(err)
	}
	m, err := Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// edited returns tiny.json after a change to its JSON.
func edited(t testing.TB, change func(root map[string]any)) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tiny.json"))
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	change(root)
	data, err = json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// encode returns the tokens of one text.
func encode(t testing.TB, e *Encoder, text string) turnmill.Tokens {
	t.Helper()
	var tokens turnmill.Tokens
	if err := e.Encode(&tokens, []byte(text)); err != nil {
		t.Fatalf("Encode(%q): %v", text, err)
	}
	return tokens
}

// decode returns the text of ids.
func decode(m *Model, ids []int32) string {
	var text []byte
	for _, id := range ids {
		text = m.AppendText(text, id)
	}
	return string(text)
}

func nfc(text string) string {
	var z normalizer
	return string(z.append(nil, []byte(text)))
}

// stream draws the numbers of splitmix64, as gen/fixtures.py does.
type stream uint64

func (s *stream) draw(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(n))
}

// parts is testdata/pieces.json.
type parts struct {
	Fuzz, NFC []string
	Context   string
}

func loadParts(t testing.TB) parts {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "pieces.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p parts
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// generated calls f with each of n texts made of pieces.
func generated(pieces []string, n int, f func(text []byte)) {
	s := stream(len(pieces))
	var text []byte
	for range n {
		text = text[:0]
		for range 1 + s.draw(24) {
			text = append(text, pieces[s.draw(len(pieces))]...)
		}
		f(text)
	}
}

// reference is the slow and plain form of the encoder for text without added tokens: each alternative of
// the regular expression tried in turn, and the lowest rank merged until there is none.
func reference(m *Model, text string) []int32 {
	var ids []int32
	if m.nfc {
		text = nfc(text)
	}
	for _, piece := range regexesOf(m).split(text) {
		if id := m.words.get(m, []byte(piece)); m.whole && id >= 0 {
			ids = append(ids, id)
			continue
		}
		word := make([]int32, 0, len(piece))
		for _, b := range []byte(piece) {
			word = append(word, m.byteID[b])
		}
		ids = append(ids, referenceMerge(m, word)...)
	}
	return ids
}

func referenceMerge(m *Model, word []int32) []int32 {
	for {
		at, low := -1, uint32(noRank)
		for i := 1; i < len(word); i++ {
			if r := m.merges.rank(word[i-1], word[i]); r < low {
				at, low = i-1, r
			}
		}
		if at < 0 {
			return word
		}
		word = append(append(word[:at:at], m.merges.products[low]), word[at+2:]...)
	}
}
