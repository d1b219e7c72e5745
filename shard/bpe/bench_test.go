package bpe

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// benchModel loads the tokenizer that TURNMILL_TOKENIZER names, a tokenizer.json, else tiny.json.
func benchModel(b *testing.B) (*Model, []byte) {
	path := os.Getenv("TURNMILL_TOKENIZER")
	if path == "" {
		path = filepath.Join("testdata", "tiny.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	m, err := Load(data)
	if err != nil {
		b.Fatal(err)
	}
	return m, data
}

// benchText returns up to 8 MB of the files below TURNMILL_DATA, else of text made from testdata's pieces.
func benchText(b *testing.B) []byte {
	const most = 8 << 20
	var text []byte
	if dir := os.Getenv("TURNMILL_DATA"); dir != "" {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || len(text) > most {
				return err
			}
			data, err := os.ReadFile(path)
			if utf8.Valid(data) {
				text = append(text, data...)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if len(text) == 0 {
		generated(loadParts(b).Fuzz, 20_000, func(part []byte) { text = append(text, part...) })
	}
	return text
}

// benchChats returns the message texts of TURNMILL_BENCH_TEXT, a file of chats, one JSON object a line:
// {"messages":[{"content":"…"}]}.
func benchChats(b *testing.B) (texts [][]byte, size int) {
	path := os.Getenv("TURNMILL_BENCH_TEXT")
	if path == "" {
		b.Skip("TURNMILL_BENCH_TEXT names no file of chats")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var chat struct{ Messages []struct{ Content string } }
		if err := json.Unmarshal(line, &chat); err != nil {
			b.Fatal(err)
		}
		for _, m := range chat.Messages {
			texts = append(texts, []byte(m.Content))
			size += len(m.Content)
		}
	}
	return texts, size
}

// BenchmarkChats encodes message after message, as a run does: cold with an encoder that has seen nothing,
// warm over the same texts again.
func BenchmarkChats(b *testing.B) {
	m, _ := benchModel(b)
	texts, size := benchChats(b)
	b.Run("cold", func(b *testing.B) { benchEncode(b, m, texts, size, true) })
	b.Run("warm", func(b *testing.B) { benchEncode(b, m, texts, size, false) })
}

func BenchmarkLoad(b *testing.B) {
	_, data := benchModel(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode: warm goes over the same text again, cold begins with empty caches each time, short cuts
// the text into pieces of 100 bytes.
func BenchmarkEncode(b *testing.B) {
	m, _ := benchModel(b)
	text := benchText(b)
	var pieces [][]byte
	for rest := text; len(rest) > 0; {
		n := min(100, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	for _, c := range []struct {
		name   string
		cold   bool
		pieces [][]byte
	}{{"warm", false, [][]byte{text}}, {"cold", true, [][]byte{text}}, {"short", false, pieces}} {
		b.Run(c.name, func(b *testing.B) { benchEncode(b, m, c.pieces, len(text), c.cold) })
	}
}

func benchEncode(b *testing.B, m *Model, pieces [][]byte, size int, cold bool) {
	e := m.NewEncoder(nil)
	var tokens turnmill.Tokens
	count := 0
	once := func() {
		for _, p := range pieces {
			tokens.IDs, tokens.Ends = tokens.IDs[:0], tokens.Ends[:0]
			if err := e.Encode(&tokens, p); err != nil {
				b.Fatal(err)
			}
			count += len(tokens.IDs)
		}
	}
	once()
	count = 0
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		if cold {
			e = m.NewEncoder(nil)
		}
		once()
	}
	b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "tok/s")
}

// BenchmarkWorst shows growth: MB/s of the same kind of text at one, two and four megabytes. A quadratic
// step would halve it from one to the next.
func BenchmarkWorst(b *testing.B) {
	m, _ := benchModel(b)
	var s stream
	random := func(alphabet string) func(int) string {
		return func(n int) string {
			rs, text := []rune(alphabet), make([]rune, 0, n)
			for range n {
				text = append(text, rs[s.draw(len(rs))])
			}
			return string(text)
		}
	}
	repeat := func(unit string) func(int) string {
		return func(n int) string { return strings.Repeat(unit, n/len(unit)) }
	}
	for _, c := range []struct {
		name string
		text func(n int) string
	}{
		{"a", repeat("a")},
		{"letters", random("abcdefghijklmnopqrstuvwxyz")},
		{"hex", random("0123456789abcdef")},
		{"equals", repeat("=")},
		{"punctuation", random("!#$%&()*+-./:;<=>?@[]^_{|}~")},
		{"spaces", repeat(" ")},
		{"newlines", repeat("\n")},
		{"blank-lines", repeat(strings.Repeat(" ", 99) + "\n")},
		{"cjk-one", repeat("中")},
		{"cjk-random", random("天气很好孩子们都高兴今下午我去公园散步然后回家做饭")},
		{"angle", repeat("<")},
		{"control-prefix", repeat("<|im_end|")},
		{"control", repeat("<|im_end|>")},
		{"marks", func(n int) string { return "e" + strings.Repeat("\u0301\u0323", n/4) }},
		{"decomposed", repeat("e\u0301")},
	} {
		for _, mb := range []int{1, 2, 4} {
			text := []byte(c.text(mb << 20))
			b.Run(c.name+"/"+string(rune('0'+mb))+"MB", func(b *testing.B) { benchEncode(b, m, [][]byte{text}, len(text), false) })
		}
	}
}
