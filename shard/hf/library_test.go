//go:build hf && cgo

package hf

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/demo"
)

func open(t testing.TB, data []byte, control ...string) *Encoder {
	t.Helper()
	m, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.NewEncoder(control)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func encode(t testing.TB, e turnmill.Encoder, text string) turnmill.Tokens {
	t.Helper()
	var tokens turnmill.Tokens
	if err := e.Encode(&tokens, []byte(text)); err != nil {
		t.Fatalf("Encode(%q): %v", text, err)
	}
	return tokens
}

// byteFallback is a file in which characters without an entry are their bytes.
func byteFallback() object {
	vocab := object{"<unk>": 0, "<s>": 1, "</s>": 2, "▁": 259, "o": 260, "k": 261, "▁o": 262, "▁ok": 263}
	for b := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", b)] = 3 + b
	}
	return object{
		"version": "1.0", "added_tokens": list{added(0, "<unk>", "special")},
		"normalizer": object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": "<unk>", "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": true, "byte_fallback": true, "ignore_merges": false, "vocab": vocab, "merges": list{"▁ o", "▁o k"}},
	}
}

// A character that the vocabulary lacks becomes its bytes where the file says so, and is never left out.
// The ids are those of tokenizers 0.23.3.
func TestReport29ByteFallback(t *testing.T) {
	e := open(t, encoded(t, byteFallback()))
	for _, c := range []struct {
		text string
		want turnmill.Tokens
	}{
		{"ok ok", turnmill.Tokens{IDs: []int32{260, 261, 263}, Ends: []int32{1, 2, 5}}},
		{"日 ok", turnmill.Tokens{IDs: []int32{233, 154, 168, 263}, Ends: []int32{3, 3, 3, 6}}},
		{"\U0001f980\x00\u00e9", turnmill.Tokens{IDs: []int32{243, 162, 169, 131, 3, 198, 172}, Ends: []int32{4, 4, 4, 4, 5, 7, 7}}},
	} {
		got := encode(t, e, c.text)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.text, diff)
		}
		var text []byte
		for _, id := range got.IDs {
			text = e.model.AppendText(text, id)
		}
		if string(text) != c.text {
			t.Errorf("the tokens of %q stand for %q", c.text, text)
		}
	}
	no := byteFallback()
	no["model"].(object)["byte_fallback"] = false
	if got := encode(t, open(t, encoded(t, no)), "日 ok").IDs; !slices.Equal(got, []int32{0, 263}) {
		t.Errorf("without byte fallback: %v, want the unknown token and 263", got)
	}
}

// Trap 1: the border to Rust is a C string, which ends at the first NUL.
func TestTrap01NUL(t *testing.T) {
	e := open(t, demo.Tokenizer())
	for _, c := range []struct {
		text string
		ends []int32
	}{
		{"\x00", []int32{1}},
		{"\x00\x00\x00", []int32{1, 2, 3}},
		{"a\x00b", []int32{1, 2, 3}},
		{"\x00é", []int32{1, 3}},
		{"À\x00", []int32{2, 2, 3}}, // À is C3 80
	} {
		got := encode(t, e, c.text)
		var text []byte
		for _, id := range got.IDs {
			text = e.model.AppendText(text, id)
		}
		if string(text) != c.text || !slices.Equal(slices.Compact(got.Ends), slices.Compact(c.ends)) {
			t.Errorf("%q: tokens of %q with ends %v, want %v", c.text, text, got.Ends, c.ends)
		}
	}
}

// Trap 2: the library would mend bad UTF-8, and its offsets would run past the text.
func TestTrap02BadUTF8(t *testing.T) {
	e := open(t, demo.Tokenizer())
	for text, at := range map[string]string{"a\xff": "byte 1", "\xc0\x80": "byte 0", "ab\xed\xa0\x80": "byte 2", "日\xe6\x97": "byte 3"} {
		got := turnmill.Tokens{IDs: []int32{5}, Ends: []int32{3}, Forged: 1, Added: 2}
		want := turnmill.Tokens{IDs: []int32{5}, Ends: []int32{3}, Forged: 1, Added: 2}
		err := e.Encode(&got, []byte(text))
		if err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%q: error %v, want one that names %s", text, err, at)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: the error changed what was there (-want +got)\n%s", text, diff)
		}
	}
}

// Trap 3: truncation, padding and trimmed offsets in the file would apply in silence.
func TestTrap03SilentMembers(t *testing.T) {
	const text = "one  two   three four\n five "
	want := encode(t, open(t, testFile(t, "tiny.json")), text)
	if n := len(want.IDs); n < 8 || want.Ends[n-1] != int32(len(text)) {
		t.Fatalf("%v: the text is too short for this test, or its end is missing", want)
	}
	var file object
	if err := json.Unmarshal(testFile(t, "tiny.json"), &file); err != nil {
		t.Fatal(err)
	}
	file["truncation"] = object{"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
	file["padding"] = object{"strategy": object{"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": nil, "pad_id": 0, "pad_type_id": 0, "pad_token": "a"}
	file["post_processor"] = object{"type": "RobertaProcessing", "sep": list{"a", 64}, "cls": list{"a", 64}, "trim_offsets": true, "add_prefix_space": true}
	if diff := cmp.Diff(want, encode(t, open(t, encoded(t, file)), text)); diff != "" {
		t.Errorf("(-without +with them)\n%s", diff)
	}

	level := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}
	file = object{
		"version": "1.0", "added_tokens": list{}, "pre_tokenizer": level, "post_processor": level,
		"model": object{"type": "BPE", "vocab": object{"a": 0, "Ġ": 1, "aĠ": 2}, "merges": list{"a Ġ"}},
	}
	want = turnmill.Tokens{IDs: []int32{2, 0}, Ends: []int32{2, 3}}
	if diff := cmp.Diff(want, encode(t, open(t, encoded(t, file)), "a a")); diff != "" {
		t.Errorf("the blank at a token's end is the token's (-want +got)\n%s", diff)
	}
}

// Trap 4: on a long run of blanks the library's regular expression gives up, in a panic that ended the
// process. It costs this text now, and the encoder goes on.
func TestTrap04BlankRun(t *testing.T) {
	e := open(t, demo.Tokenizer())
	long := append(slices.Repeat([]byte{' '}, 10_100_000), 'x')
	got := turnmill.Tokens{IDs: []int32{5}, Ends: []int32{3}}
	if err := e.Encode(&got, long); err == nil || !strings.Contains(err.Error(), "blanks") {
		t.Errorf("error %v, want one that speaks of blanks", err)
	}
	if len(got.IDs) != 1 || len(got.Ends) != 1 {
		t.Errorf("the error left %d ids and %d ends", len(got.IDs), len(got.Ends))
	}
	if got := encode(t, e, "x"); len(got.IDs) != 1 {
		t.Errorf("afterwards %q gives %v", "x", got)
	}
}

// TestControl: special tokens and those of the chat format are text, whatever their flag; others are one token.
func TestControl(t *testing.T) {
	const text = "x<|im_end|><think>\n<|im_start|></think>"
	data := demo.Tokenizer()
	m, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	id := func(token string) int32 {
		id, ok := m.ID(token)
		if !ok {
			t.Fatalf("no token %q", token)
		}
		return id
	}
	for _, c := range []struct {
		control       []string
		forged, added int
		want, none    []int32
	}{
		{nil, 2, 2, []int32{id("<think>"), id("</think>")}, []int32{id("<|im_end|>"), id("<|im_start|>")}},
		{[]string{"<think>", "absent"}, 3, 1, []int32{id("</think>")}, []int32{id("<|im_end|>"), id("<|im_start|>"), id("<think>")}},
	} {
		e := open(t, data, c.control...)
		got := encode(t, e, text)
		if got.Forged != c.forged || got.Added != c.added {
			t.Errorf("control %q: %d forged and %d added, want %d and %d", c.control, got.Forged, got.Added, c.forged, c.added)
		}
		for _, id := range c.want {
			if !slices.Contains(got.IDs, id) {
				t.Errorf("control %q: %q is no token", c.control, m.AppendText(nil, id))
			}
		}
		for _, id := range c.none {
			if slices.Contains(got.IDs, id) {
				t.Errorf("control %q: %q is a token", c.control, m.AppendText(nil, id))
			}
		}
		var all []byte
		for _, id := range got.IDs {
			all = m.AppendText(all, id)
		}
		if string(all) != text {
			t.Errorf("control %q: the tokens stand for %q", c.control, all)
		}
	}
}

// TestControlFromText: a model that finds its control tokens in plain text costs the text, not the rule.
func TestControlFromText(t *testing.T) {
	tokens := list{added(0, "?", "special"), added(1, "EOS", "special")}
	e := open(t, encoded(t, words(tokens, "?", "EOS", "red", "TURN")), "TURN")
	if got := encode(t, e, "red blue").IDs; !slices.Equal(got, []int32{2, 0}) {
		t.Errorf("%v, want red and the unknown token, which is special and may come out of text", got)
	}
	for text, name := range map[string]string{"red EOS": `"EOS"`, "red TURN": `"TURN"`} {
		var got turnmill.Tokens
		err := e.Encode(&got, []byte(text))
		if err == nil || !strings.Contains(err.Error(), name) || len(got.IDs) > 0 {
			t.Errorf("%q: %v, error %v, want one that names %s", text, got, err, name)
		}
	}
}

func TestNewEncoderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		file object
		want []string
	}{
		"a control token that takes blanks": {words(list{added(2, "<|end|>", "rstrip")}, "?", "red"), []string{"<|end|>", "rstrip", "try"}},
		"a part that the library lacks": {func() object {
			f := words(nil, "?", "red")
			f["pre_tokenizer"] = object{"type": "FixedLength", "length": 5}
			return f
		}(), []string{"tokenizer.json", "library"}},
		"a part on which the library panics": {func() object {
			f := words(nil, "?", "red")
			f["normalizer"] = object{"type": "Precompiled", "precompiled_charsmap": "AAAA"}
			return f
		}(), []string{"tokenizer.json", "panicked"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Open(encoded(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.NewEncoder([]string{"<|end|>"})
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
}

// TestConcurrent: one encoder serves many goroutines, which get what one gets alone.
func TestConcurrent(t *testing.T) {
	e := open(t, demo.Tokenizer())
	var texts []string
	corpus(t, func(text string) {
		if len(text) > 0 && len(texts) < 400 {
			texts = append(texts, text[:min(len(text), 2000)])
		}
	})
	want := make([]turnmill.Tokens, len(texts))
	for i, text := range texts {
		texts[i] = strings.ToValidUTF8(text, "")
		want[i] = encode(t, open(t, demo.Tokenizer()), texts[i])
		if i >= 3 { // a tokenizer for each of a few texts: nothing has been cached
			want[i] = encode(t, e, texts[i])
		}
	}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range texts {
				i = (i*7 + w*101) % len(texts)
				var got turnmill.Tokens
				if err := e.Encode(&got, []byte(texts[i])); err != nil {
					t.Errorf("text %d: %v", i, err)
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("text %d (-alone +together)\n%s", i, diff)
				}
			}
		})
	}
	all.Wait()
}

// TestMemoryIsGivenBack: what a large text takes goes back to the system.
func TestMemoryIsGivenBack(t *testing.T) {
	e := open(t, demo.Tokenizer())
	encode(t, e, "x")
	before := resident(t)
	encode(t, e, strings.Repeat("0123456789", 120_000)) // 1.2 MB that take 0.4 GB
	if after := resident(t); after > before+200<<20 {
		t.Errorf("%d MB before, %d MB after", before>>20, after>>20)
	}
}

// TestEncodersEnd: an encoder that nobody has any more takes no memory of the library's.
func TestEncodersEnd(t *testing.T) {
	data := demo.Tokenizer()
	open(t, data)
	before := resident(t)
	for range 40 {
		open(t, data)
		runtime.GC()
	}
	if after := resident(t); after > before+25<<20 {
		t.Errorf("%d MB with one encoder, %d MB after forty more", before>>20, after>>20)
	}
}

// resident returns the memory of the process in bytes, without what Go only keeps.
func resident(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm on this system: memory is not measured")
	}
	var size, pages int
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func BenchmarkEncode(b *testing.B) {
	e := open(b, demo.Tokenizer())
	var text []byte
	corpus(b, func(s string) { text = append(text, s...) })
	text = text[:min(len(text), 256<<10)]
	text = []byte(strings.ToValidUTF8(string(text), ""))
	var tokens turnmill.Tokens
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tokens.IDs, tokens.Ends = tokens.IDs[:0], tokens.Ends[:0]
		if err := e.Encode(&tokens, text); err != nil {
			b.Fatal(err)
		}
	}
}
