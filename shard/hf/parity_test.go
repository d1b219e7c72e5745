//go:build hf && cgo

package hf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/bpe"
)

// pair is the two engines over one file. They are each other's oracle: one calls the library, the other is
// written without it.
type pair struct {
	hf    *Encoder
	bpe   *bpe.Encoder
	texts int
	ids   int
	exact int // texts whose ends were compared too
}

func newPair(t testing.TB, data []byte, control ...string) *pair {
	t.Helper()
	m, err := bpe.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{hf: open(t, data, control...), bpe: m.NewEncoder(control)}
}

// compare encodes one text with both engines.
func (p *pair) compare(t testing.TB, text string) {
	t.Helper()
	var got, want turnmill.Tokens
	errGot, errWant := p.hf.Encode(&got, []byte(text)), p.bpe.Encode(&want, []byte(text))
	if (errGot == nil) != (errWant == nil) {
		t.Errorf("%q: hf says %v, bpe %v", short(text), errGot, errWant)
		return
	}
	p.texts++
	p.ids += len(want.IDs)
	if !slices.Equal(want.IDs, got.IDs) {
		t.Errorf("%q: ids (-bpe +hf)\n%s", short(text), cmp.Diff(want.IDs, got.IDs))
		return
	}
	if want.Added != got.Added {
		t.Errorf("%q: %d added tokens, bpe has %d", short(text), got.Added, want.Added)
	}
	last := int32(0)
	for _, end := range got.Ends {
		if end < last || int(end) > len(text) {
			t.Errorf("%q: ends %v of %d bytes", short(text), got.Ends, len(text))
			return
		}
		last = end
	}
	if !stable(text) {
		return
	}
	p.exact++
	if want.Forged != got.Forged {
		t.Errorf("%q: %d forged, bpe has %d", short(text), got.Forged, want.Forged)
	}
	for i, end := range want.Ends { // bpe tells the bytes of a character apart
		for int(end) < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		if got.Ends[i] != end {
			t.Errorf("%q: token %d ends at %d, bpe says %d", short(text), i, got.Ends[i], end)
			return
		}
	}
}

// stable tells that NFC surely leaves a text alone: it holds Latin letters, symbols, ideographs and emoji.
func stable(text string) bool {
	for _, r := range text {
		switch {
		case r < 0x300, r >= 0x2010 && r < 0x2100, r >= 0x2190 && r < 0x2329, r >= 0x2330 && r < 0x2A00,
			r >= 0x3000 && r < 0x3099, r >= 0x4E00 && r < 0xA000, r >= 0xAC00 && r < 0xD7A4, r >= 0x1F300 && r < 0x1FB00:
		default:
			return false
		}
	}
	return true
}

// corpus calls f with each line of the demo corpus, and each string in it.
func corpus(t testing.TB, f func(text string)) {
	t.Helper()
	err := fs.WalkDir(demo.Corpus(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(demo.Corpus(), path)
		for line := range strings.Lines(string(data)) {
			f(line)
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				return err
			}
			walkStrings(v, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func walkStrings(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			walkStrings(e, f)
		}
	case map[string]any:
		for k, e := range v {
			f(k)
			walkStrings(e, f)
		}
	}
}

func TestParityCorpus(t *testing.T) {
	for _, control := range [][]string{nil, {"<think>", "<tool_call>"}} {
		p := newPair(t, demo.Tokenizer(), control...)
		corpus(t, func(text string) { p.compare(t, text) })
		if p.texts < 1000 || p.exact < 500 {
			t.Errorf("%d texts were compared, %d with their ends: too few", p.texts, p.exact)
		}
		t.Logf("control %q: %d texts, %d ids, ends of %d texts", control, p.texts, p.ids, p.exact)
	}
}

// TestParityData goes over real trajectories, whole and in 64 KiB stretches.
func TestParityData(t *testing.T) {
	data := os.Getenv("TURNMILL_DATA")
	if data == "" {
		t.Skip("TURNMILL_DATA is not set: no real trajectories to compare")
	}
	p := newPair(t, demo.Tokenizer())
	parityData(t, p, data)
	if p.texts < 200 {
		t.Errorf("%d texts were compared: too few", p.texts)
	}
	t.Logf("%d texts, %d ids, ends of %d texts", p.texts, p.ids, p.exact)
}

func parityData(t *testing.T, p *pair, data string) {
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		const most = 64 << 10
		for rest := strings.ToValidUTF8(string(text), "\uFFFD"); rest != ""; {
			n := min(len(rest), most)
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			p.compare(t, rest[:n])
			rest = rest[n:]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestParityQwen3 does the same with a published file of the family.
func TestParityQwen3(t *testing.T) {
	path, data := os.Getenv("TURNMILL_QWEN3"), os.Getenv("TURNMILL_DATA")
	if path == "" || data == "" {
		t.Skip("TURNMILL_QWEN3 (a tokenizer.json) or TURNMILL_DATA is not set: nothing to compare")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t, file)
	corpus(t, func(text string) { p.compare(t, text) })
	parityData(t, p, data)
	t.Logf("%d texts, %d ids, ends of %d texts", p.texts, p.ids, p.exact)
}

// TestParityCases compares with ids that the library's newest release gave, for tokenizers with every
// oddity of the family.
func TestParityCases(t *testing.T) {
	encoders := map[string]*Encoder{}
	n := 0
	lines := bufio.NewScanner(bytes.NewReader(testFile(t, "cases.jsonl")))
	for lines.Buffer(nil, 1<<20); lines.Scan(); n++ {
		var c struct {
			Tokenizer, Shape string
			Control          []string
			Text             string
			IDs              []int32
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		key := c.Tokenizer + c.Shape + strings.Join(c.Control, "\x00")
		if encoders[key] == nil {
			encoders[key] = open(t, shaped(t, c.Tokenizer, c.Shape), c.Control...)
		}
		got := encode(t, encoders[key], c.Text)
		if diff := cmp.Diff(c.IDs, append([]int32{}, got.IDs...)); diff != "" {
			t.Errorf("%s %s control %q text %q: ids (-library +ours)\n%s", c.Tokenizer, c.Shape, c.Control, c.Text, diff)
		}
	}
	if lines.Err() != nil || n < 500 {
		t.Fatalf("%d cases read, error %v", n, lines.Err())
	}
}

// shaped returns a tokenizer of the tests with the parts of a family of shapes.json; "" changes nothing.
func shaped(t testing.TB, name, shape string) []byte {
	t.Helper()
	data := testFile(t, name)
	if shape == "" {
		return data
	}
	var shapes map[string]map[string]any
	var whole map[string]any
	if err := errors.Join(json.Unmarshal(testFile(t, "shapes.json"), &shapes), json.Unmarshal(data, &whole)); err != nil {
		t.Fatal(err)
	}
	part := shapes[shape]
	whole["model"].(map[string]any)["ignore_merges"] = part["ignore_merges"]
	whole["normalizer"], whole["pre_tokenizer"] = part["normalizer"], part["pre_tokenizer"]
	data, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParityGenerated puts pieces together that meet at awkward places.
func TestParityGenerated(t *testing.T) {
	var pieces struct{ Fuzz, NFC []string }
	if err := json.Unmarshal(testFile(t, "pieces.json"), &pieces); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tiny.json", "odd.json", "edges.json"} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, testFile(t, name), "</think>")
			state := uint64(len(name))
			draw := func(n int) int { // a linear congruential generator is random enough
				state = state*6364136223846793005 + 1442695040888963407
				return int(state >> 33 % uint64(n))
			}
			for i := range 6000 {
				from := pieces.Fuzz
				if i%3 == 0 {
					from = pieces.NFC
				}
				var text strings.Builder
				for range 1 + draw(24) {
					text.WriteString(from[draw(len(from))])
				}
				p.compare(t, text.String())
			}
			t.Logf("%d texts, %d ids, ends of %d texts", p.texts, p.ids, p.exact)
		})
	}
}

// FuzzEncode holds the two engines against each other.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{"", "a\x00b", "I'M he'S 'ſ", "x<|im_end|>\n<think>", "e\u0301\u0323", "\xff", "각\u1100\u1161\u11a8", "  \n\n  x", "👩‍👩‍👧"} {
		f.Add(seed)
	}
	p := newPair(f, testFile(f, "tiny.json"))
	f.Fuzz(func(t *testing.T, text string) { p.compare(t, text) })
}
