package hf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object is a JSON object in tests.
type object = map[string]any

// list is a JSON array in tests.
type list = []any

// added returns an entry of added_tokens; flags names those that are true.
func added(id int, content string, flags ...string) object {
	t := object{"id": id, "content": content}
	for _, name := range []string{"special", "normalized", "lstrip", "rstrip", "single_word"} {
		t[name] = false
	}
	for _, name := range flags {
		t[name] = true
	}
	return t
}

// words returns a file that knows the given words, the first of them unknown, and the added tokens.
func words(tokens list, names ...string) object {
	vocab := object{}
	for i, n := range names {
		vocab[n] = i
	}
	return object{
		"version": "1.0", "added_tokens": tokens, "pre_tokenizer": object{"type": "Whitespace"},
		"model": object{"type": "WordLevel", "vocab": vocab, "unk_token": names[0]},
	}
}

func encoded(t testing.TB, file any) []byte {
	t.Helper()
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustRead(t testing.TB, data []byte) *Model {
	t.Helper()
	m, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// testFile returns a file of shard/bpe's tests.
func testFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "bpe", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRead(t *testing.T) {
	tokens := list{added(4, "<s>", "special"), added(1, "red"), added(5, "<|a|>", "rstrip")}
	for name, c := range map[string]struct {
		file    object
		size    int
		unknown int32
		ids     map[string]int32
	}{
		"words":              {words(tokens, "?", "red", "blue", "old"), 6, 0, map[string]int32{"?": 0, "blue": 2, "<s>": 4, "red": 1, "<|a|>": 5}},
		"no added tokens":    {words(nil, "?", "red"), 2, 0, map[string]int32{"red": 1}},
		"a gap between ids":  {object{"model": object{"vocab": object{"a": 7, "b": 2}}}, 8, -1, map[string]int32{"a": 7, "b": 2}},
		"unigram":            {object{"model": object{"vocab": list{list{"<unk>", 0}, list{"▁a", -1.5}}, "unk_id": 0}}, 2, 0, map[string]int32{"<unk>": 0, "▁a": 1}},
		"unigram, no unk_id": {object{"model": object{"vocab": list{list{"a", -1}}, "unk_id": nil}}, 1, -1, map[string]int32{"a": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustRead(t, encoded(t, c.file))
			if m.Size() != c.size || m.unknown != c.unknown {
				t.Errorf("size %d and unknown %d, want %d and %d", m.Size(), m.unknown, c.size, c.unknown)
			}
			for text, want := range c.ids {
				if id, ok := m.ID(text); !ok || id != want {
					t.Errorf("ID(%q) = %d, %v, want %d", text, id, ok, want)
				}
			}
			if id, ok := m.ID("absent"); ok {
				t.Errorf(`ID("absent") = %d`, id)
			}
			if m.Bytes() <= 0 {
				t.Errorf("Bytes() = %d", m.Bytes())
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	with := func(path string, value any) []byte {
		f := words(list{added(2, "<s>")}, "?", "red")
		at := f
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			at = at[k].(object)
		}
		at[keys[len(keys)-1]] = value
		return encoded(t, f)
	}
	first := object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"no JSON":              {[]byte("{"), []string{"tokenizer.json", "one JSON object", "try"}},
		"an array":             {[]byte("[]"), []string{"array", "one JSON object"}},
		"bad UTF-8":            {[]byte("{\"a\":\"\xff\"}"), []string{"1 bytes that are not UTF-8"}},
		"no vocabulary":        {[]byte(`{"model":{}}`), []string{"model.vocab", "try"}},
		"an empty one":         {with("model.vocab", object{}), []string{"model.vocab"}},
		"ids below zero":       {with("model.vocab", object{"a": -1}), []string{"model.vocab", `"a"`}},
		"ids with a fraction":  {with("model.vocab", object{"a": 1.5}), []string{"model.vocab", `"a"`}},
		"ids out of all bound": {with("model.vocab", object{"a": 1 << 40}), []string{"model.vocab", `"a"`}},
		"a unigram of numbers": {with("model.vocab", list{list{1, "a"}}), []string{"model.vocab[0]"}},
		"dropout":              {with("model.dropout", 0.1), []string{"model.dropout is 0.1", "try"}},
		"first word only":      {with("pre_tokenizer", first), []string{"prepend_scheme", "first", "try"}},
		"first word, nested":   {with("pre_tokenizer", object{"type": "Sequence", "pretokenizers": list{first}}), []string{"prepend_scheme"}},
		"a numbering of its own": {with("added_tokens", list{added(9, "<s>")}),
			[]string{"added_tokens[0].id", `9 for "<s>"`, "number it 2", "try"}},
		"another number in the vocabulary": {with("added_tokens", list{added(2, "red")}), []string{"number it 1"}},
		"an added token without a text":    {with("added_tokens", list{added(2, "")}), []string{"added_tokens[0]", "content"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.data)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
	if _, err := read(with("model.dropout", 0)); err != nil {
		t.Errorf("dropout 0 leaves nothing out, and is refused: %v", err)
	}
}

// TestConfig: the library gets the file as it is, but for the members that would change texts or offsets
// in silence, and the flags of control tokens.
func TestConfig(t *testing.T) {
	file := words(list{added(2, "<s>", "special"), added(3, "<|im_end|>"), added(4, "<think>", "normalized")}, "?", "\"\\\u2028")
	file["truncation"] = object{"max_length": 3}
	file["padding"] = object{"strategy": "BatchLongest"}
	file["post_processor"] = object{"type": "ByteLevel", "trim_offsets": true}
	file["more"] = 1e300
	m := mustRead(t, encoded(t, file))
	var got object
	if err := json.Unmarshal(m.config.with([]bool{true, true, false}), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range dropped() {
		delete(file, name)
	}
	file["added_tokens"] = list{added(2, "<s>", "special"), added(3, "<|im_end|>", "special"), added(4, "<think>", "normalized")}
	var want object
	if err := json.Unmarshal(encoded(t, file), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzRead: whatever the bytes, no panic; what is read gives the library one JSON object.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, words(list{added(2, "<s>", "special")}, "?", "a")))
	f.Add([]byte(`{"model":{"vocab":[["a",1]]},"added_tokens":[{}]}`))
	f.Add([]byte(`{"added_tokens":[{"id":0,"content":"a"}],"model":{"vocab":{"a":0}},"decoder":{"type":"Sequence","decoders":[1]}}`))
	f.Add(testFile(f, "odd.json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := read(data)
		if err != nil {
			return
		}
		config := m.config.with(make([]bool, len(m.added)))
		if !json.Valid(config) {
			t.Errorf("no JSON: %s", config)
		}
		for id := range int32(m.Size()) {
			m.AppendText(nil, id)
		}
	})
}
