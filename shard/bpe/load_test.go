package bpe

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill/internal/demo"
)

func model(root map[string]any) map[string]any { return root["model"].(map[string]any) }

func part(root map[string]any, i int) map[string]any {
	return root["pre_tokenizer"].(map[string]any)["pretokenizers"].([]any)[i].(map[string]any)
}

// deepseek gives a file DeepSeek's way to cut.
func deepseek(root map[string]any) {
	var parts []any
	for _, regex := range deepseekRegexes {
		parts = append(parts, map[string]any{"type": "Split", "pattern": map[string]any{"Regex": regex}, "behavior": "Isolated", "invert": false})
	}
	root["pre_tokenizer"].(map[string]any)["pretokenizers"] = append(parts, part(root, 1))
}

func addedEntry(root map[string]any, i int) map[string]any {
	return root["added_tokens"].([]any)[i].(map[string]any)
}

// TestLoadRefuses changes one thing of a good file at a time. The error names the place.
func TestLoadRefuses(t *testing.T) {
	type root = map[string]any
	for _, c := range []struct {
		name        string
		change      func(root)
		path        string
		unsupported bool
	}{
		{"version", func(r root) { r["version"] = "2.0" }, "version", true},
		{"truncation", func(r root) { r["truncation"] = root{"max_length": 5} }, "truncation", true},
		{"padding", func(r root) { r["padding"] = root{"pad_id": 0} }, "padding", true},
		{"top-level-member", func(r root) { r["vocab_hint"] = 1 }, "vocab_hint", true},
		{"two-normalizers", func(r root) {
			r["normalizer"] = root{"type": "Sequence", "normalizers": []any{root{"type": "NFC"}, root{"type": "NFC"}}}
		}, "normalizer.normalizers", true},
		{"normalizer-member", func(r root) { r["normalizer"] = root{"type": "NFC", "form": "D"} }, "normalizer.form", true},
		{"inner-normalizer", func(r root) {
			r["normalizer"] = root{"type": "Sequence", "normalizers": []any{root{"type": "Strip"}}}
		}, "normalizer.normalizers.0.type", true},
		{"NFKC", func(r root) { r["normalizer"] = root{"type": "NFKC"} }, "normalizer.type", true},
		{"lowercase", func(r root) { r["normalizer"] = root{"type": "Lowercase"} }, "normalizer.type", true},
		{"no-pre-tokenizer", func(r root) { r["pre_tokenizer"] = nil }, "pre_tokenizer.type", true},
		{"other-regex", func(r root) { part(r, 0)["pattern"] = root{"Regex": `\s+|\S+`} }, "pre_tokenizer", true},
		{"digits-by-two", func(r root) {
			part(r, 0)["pattern"] = root{"Regex": strings.Replace(qwen2Regex, `|\p{N}|`, `|\p{N}{1,2}|`, 1)}
		}, "pre_tokenizer", true},
		{"twice-the-same", func(r root) {
			p := r["pre_tokenizer"].(root)
			p["pretokenizers"] = []any{part(r, 0), part(r, 0), part(r, 1)}
		}, "pre_tokenizer", true},
		{"no-parts", func(r root) { r["pre_tokenizer"].(root)["pretokenizers"] = []any{} }, "pre_tokenizer.pretokenizers", true},
		{"split-alone", func(r root) { r["pre_tokenizer"] = part(r, 0) }, "pre_tokenizer.type", true},
		{"level-alone-without-regex", func(r root) { r["pre_tokenizer"] = part(r, 1) }, "pre_tokenizer.use_regex", true},
		{"drops-the-unmatched", func(r root) { deepseek(r); part(r, 2)["behavior"], part(r, 2)["invert"] = "Removed", true }, "pre_tokenizer", true},
		{"not-inverted", func(r root) { part(r, 0)["behavior"] = "Removed" }, "pre_tokenizer.pretokenizers.0.invert", true},
		{"string-pattern", func(r root) { part(r, 0)["pattern"] = root{"String": " "} }, "pre_tokenizer.pretokenizers.0.pattern.String", true},
		{"behavior", func(r root) { part(r, 0)["behavior"] = "MergedWithPrevious" }, "pre_tokenizer.pretokenizers.0.behavior", true},
		{"invert", func(r root) { part(r, 0)["invert"] = true }, "pre_tokenizer.pretokenizers.0.invert", true},
		{"prefix-space", func(r root) { part(r, 1)["add_prefix_space"] = true }, "pre_tokenizer.pretokenizers.1.add_prefix_space", true},
		{"use-regex", func(r root) { delete(part(r, 1), "use_regex") }, "pre_tokenizer.pretokenizers.1.use_regex", true},
		{"third-part", func(r root) {
			p := r["pre_tokenizer"].(root)
			p["pretokenizers"] = append(p["pretokenizers"].([]any), root{"type": "Digits"})
		}, "pre_tokenizer.pretokenizers.1.type", true},
		{"post-processor", func(r root) { r["post_processor"] = root{"type": "BertProcessing"} }, "post_processor", true},
		{"inner-post-processor", func(r root) {
			r["post_processor"] = root{"type": "Sequence", "processors": []any{root{"type": "ByteLevel"}, root{"type": "RobertaProcessing"}}}
		}, "post_processor.processors.1", true},
		{"decoder", func(r root) { r["decoder"] = root{"type": "Metaspace"} }, "decoder.type", true},
		{"unigram", func(r root) { model(r)["type"] = "Unigram" }, "model.type", true},
		{"dropout", func(r root) { model(r)["dropout"] = 0.1 }, "model.dropout", true},
		{"unk-token", func(r root) { model(r)["unk_token"] = "<unk>" }, "model.unk_token", true},
		{"prefix", func(r root) { model(r)["continuing_subword_prefix"] = "##" }, "model.continuing_subword_prefix", true},
		{"suffix", func(r root) { model(r)["end_of_word_suffix"] = "</w>" }, "model.end_of_word_suffix", true},
		{"fuse-unk", func(r root) { model(r)["fuse_unk"] = true }, "model.fuse_unk", true},
		{"byte-fallback", func(r root) { model(r)["byte_fallback"] = true }, "model.byte_fallback", true},
		{"ignore-merges", func(r root) { model(r)["ignore_merges"] = "yes" }, "model.ignore_merges", true},
		{"whole-and-added-in-vocab", func(r root) {
			model(r)["ignore_merges"] = true
			model(r)["vocab"].(root)["<zz>"] = 1200
			addedEntry(r, 0)["content"], addedEntry(r, 0)["id"] = "<zz>", 1200
		}, "added_tokens[0]", true},
		{"model-member", func(r root) { model(r)["cache"] = 1 }, "model.cache", true},
		{"no-byte", func(r root) { delete(model(r)["vocab"].(root), "Ġ") }, "model.vocab", true},
		{"no-vocab", func(r root) { delete(model(r), "vocab") }, "model.vocab", false},
		{"same-id", func(r root) { model(r)["vocab"].(root)["zzz"] = 5 }, "model.vocab", false},
		{"negative-id", func(r root) { model(r)["vocab"].(root)["zzz"] = -1 }, "model.vocab", false},
		{"fraction-id", func(r root) { model(r)["vocab"].(root)["zzz"] = 5000.5 }, "model.vocab", false},
		{"id-over-int32", func(r root) { model(r)["vocab"].(root)["zzz"] = 1 << 31 }, "model.vocab", true},
		{"empty-token", func(r root) { model(r)["vocab"].(root)[""] = 1200 }, "model.vocab", false},
		{"no-merges", func(r root) { model(r)["merges"] = nil }, "model.merges", false},
		{"unknown-part", func(r root) { model(r)["merges"] = []any{[]any{"a", "QQ"}} }, "model.merges[0]", false},
		{"unknown-product", func(r root) { model(r)["merges"] = []any{[]any{"Q", "Q"}} }, "model.merges[0]", false},
		{"merge-of-three", func(r root) { model(r)["merges"] = []any{"t h e"} }, "model.merges[0]", false},
		{"merge-of-numbers", func(r root) { model(r)["merges"] = []any{[]any{1, 2}} }, "model.merges[0]", false},
		{"merge-number", func(r root) { model(r)["merges"] = []any{7} }, "model.merges[0]", false},
		{"version-line", func(r root) { model(r)["merges"] = []any{"#version: 0.2"} }, "model.merges[0]", false},
		{"two-forms", func(r root) { model(r)["merges"] = []any{"e r", []any{"e", "r"}} }, "model.merges[1]", false},
		{"twice", func(r root) { model(r)["merges"] = []any{"e r", "e r"} }, "model.merges[1]", false},
		{"lstrip", func(r root) { addedEntry(r, 1)["lstrip"] = true }, "added_tokens[1].lstrip", true},
		{"rstrip", func(r root) { addedEntry(r, 3)["rstrip"] = true }, "added_tokens[3].rstrip", true},
		{"single-word", func(r root) { addedEntry(r, 0)["single_word"] = true }, "added_tokens[0].single_word", true},
		{"flag-type", func(r root) { addedEntry(r, 0)["special"] = "yes" }, "added_tokens[0].special", false},
		{"added-member", func(r root) { addedEntry(r, 0)["prefix"] = "x" }, "added_tokens[0].prefix", true},
		{"added-id", func(r root) { addedEntry(r, 2)["id"] = 5000 }, "added_tokens[2].id", true},
		{"added-on-vocab", func(r root) { addedEntry(r, 2)["id"] = 7 }, "added_tokens[2].id", true},
		{"added-twice", func(r root) {
			addedEntry(r, 1)["content"], addedEntry(r, 1)["id"] = "<|endoftext|>", addedEntry(r, 0)["id"]
		}, "added_tokens[1]", false},
		{"added-same-after-NFC", func(r root) {
			for i, content := range []string{"e\u0301!", "\u00e9!"} {
				addedEntry(r, i)["content"], addedEntry(r, i)["normalized"] = content, true
			}
		}, "added_tokens[1]", false},
		{"added-id-large", func(r root) { addedEntry(r, 0)["id"] = 1 << 31 }, "added_tokens[0].id", true},
		{"added-in-a-gap", func(r root) {
			model(r)["vocab"].(root)["zzz"] = 1201
			addedEntry(r, 0)["id"] = 1201
		}, "added_tokens[0]", false},
		{"added-empty", func(r root) { addedEntry(r, 0)["content"] = "" }, "added_tokens[0]", false},
		{"added-mergeable", func(r root) {
			addedEntry(r, 0)["content"] = "er"
			addedEntry(r, 0)["id"] = model(r)["vocab"].(root)["er"]
		}, "added_tokens[0]", true},
		{"added-other-bytes", func(r root) {
			addedEntry(r, 0)["content"] = "Ġt"
			addedEntry(r, 0)["id"] = model(r)["vocab"].(root)["Ġt"]
		}, "added_tokens[0]", true},
		{"added-type", func(r root) { r["added_tokens"] = root{} }, "added_tokens", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(edited(t, c.change))
			var refused *LoadError
			if !errors.As(err, &refused) {
				t.Fatalf("Load gave %v, want a *LoadError", err)
			}
			if refused.Path != c.path || refused.Unsupported != c.unsupported {
				t.Errorf("refused at %q, unsupported %v (%v), want %q, %v", refused.Path, refused.Unsupported, err, c.path, c.unsupported)
			}
			if refused.Found == "" || refused.Want == "" || !strings.Contains(err.Error(), "; try ") {
				t.Errorf("message without what was found, what is done or what to try: %v", err)
			}
		})
	}
}

// byteFallbackFile is a file of the SentencePiece kind: characters first, bytes only for what is unknown.
func byteFallbackFile() []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{"id":0,"content":"<unk>",` +
		`"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],` +
		`"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},"pre_tokenizer":null,"post_processor":null,` +
		`"decoder":null,"model":{"type":"BPE","dropout":null,"unk_token":"<unk>","continuing_subword_prefix":null,` +
		`"end_of_word_suffix":null,"fuse_unk":true,"byte_fallback":true,"ignore_merges":false,"vocab":{"<unk>":0`)
	for i := range 256 {
		fmt.Fprintf(&b, `,"<0x%02X>":%d`, i, i+1)
	}
	b.WriteString(`,"h":257,"i":258,"hi":259},"merges":["h i"]}}`)
	return b.Bytes()
}

func TestLoadByteFallbackMessage(t *testing.T) {
	_, err := Load(byteFallbackFile())
	want := "tokenizer.json: model.byte_fallback is true; engine bpe works on bytes and has no byte fallback and never approximates; " +
		"try the tokenizer.json of a model of the families Qwen2 to Qwen3.5, Llama 3, DeepSeek V3, GPT-2, GPT-4, GPT-4o and gpt-oss"
	if err == nil || err.Error() != want {
		t.Errorf("Load gave\n%v\nwant\n%s", err, want)
	}
}

func TestLoadNotJSON(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"model":{"vocab":{"a":1,"a":2}}}`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`} {
		_, err := Load([]byte(text))
		var refused *LoadError
		if !errors.As(err, &refused) || refused.Unsupported {
			t.Errorf("Load(%q) gave %v, want a broken file", text, err)
		}
	}
}

// TestLoadAccepts shows what may differ without changing an id.
func TestLoadAccepts(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"as-is":            func(map[string]any) {},
		"no-normalizer":    func(r map[string]any) { r["normalizer"] = nil },
		"empty-normalizer": func(r map[string]any) { r["normalizer"] = map[string]any{"type": "Sequence", "normalizers": []any{}} },
		"nfc-in-sequence": func(r map[string]any) {
			r["normalizer"] = map[string]any{"type": "Sequence", "normalizers": []any{map[string]any{"type": "NFC"}}}
		},
		"deepseek": deepseek,
		"byte-level": func(r map[string]any) {
			r["pre_tokenizer"] = part(r, 1)
			delete(r["pre_tokenizer"].(map[string]any), "use_regex")
		},
		"ignore-merges": func(r map[string]any) { model(r)["ignore_merges"] = true },
		"no-model-type": func(r map[string]any) { delete(model(r), "type") },
		"keeps-matches": func(r map[string]any) { part(r, 0)["behavior"], part(r, 0)["invert"] = "Removed", true },
		"template": func(r map[string]any) {
			r["post_processor"] = map[string]any{"type": "Sequence", "processors": []any{map[string]any{"type": "ByteLevel"}, map[string]any{"type": "TemplateProcessing"}}}
		},
		"no-version": func(r map[string]any) { delete(r, "version") },
		"post-processor": func(r map[string]any) {
			r["post_processor"] = map[string]any{"type": "ByteLevel", "trim_offsets": true}
		},
		"trim-offsets":       func(r map[string]any) { part(r, 1)["trim_offsets"] = true },
		"empty-prefix":       func(r map[string]any) { model(r)["continuing_subword_prefix"] = "" },
		"no-added-tokens":    func(r map[string]any) { delete(r, "added_tokens") },
		"short-added-tokens": func(r map[string]any) { delete(addedEntry(r, 0), "lstrip"); delete(addedEntry(r, 0), "normalized") },
	} {
		if _, err := Load(edited(t, change)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVocabulary(t *testing.T) {
	m := loadFile(t, "tiny.json")
	added := m.Added()
	if len(added) != 7 || added[2].Text != "<|im_end|>" || !added[2].Special || added[3].Text != "<think>" || added[3].Special {
		t.Errorf("added tokens %+v", added)
	}
	if want := int(added[6].ID) + 1; m.Size() != want {
		t.Errorf("Size() = %d, want %d, one above the last added token", m.Size(), want)
	}
	for token, text := range map[string]string{"Ġt": " t", "<|im_end|>": "<|im_end|>", "Ċ": "\n", "Ã": "\xc3"} {
		id, ok := m.ID(token)
		if got := string(m.AppendText([]byte("="), id)); !ok || got != "="+text {
			t.Errorf("ID(%q) = %d, %v, AppendText %q, want %q", token, id, ok, got, text)
		}
	}
	if id, ok := m.ID("no such token"); ok {
		t.Errorf("ID of an unknown token is %d", id)
	}
	for _, id := range []int32{-1, int32(m.Size()), 1 << 30} {
		if got := m.AppendText(nil, id); len(got) != 0 {
			t.Errorf("AppendText(%d) gave %q", id, got)
		}
	}
}

// TestModelBytes measures the heap that a model holds.
func TestModelBytes(t *testing.T) {
	for _, name := range []string{"tiny.json", "edges.json"} {
		before := heap()
		m := loadFile(t, name)
		held := heap() - before
		if said := m.Bytes(); said < held || said > held+held/2+50_000 {
			t.Errorf("%s: the model holds %d bytes, Bytes() says %d", name, held, said)
		}
		runtime.KeepAlive(m)
	}
}

// TestDemoTokenizer: the embedded tokenizer is of the shape that Load reads, its control tokens special.
func TestDemoTokenizer(t *testing.T) {
	m, err := Load(demo.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	special := map[string]bool{}
	for _, a := range m.Added() {
		special[a.Text] = a.Special
	}
	want := map[string]bool{"<|endoftext|>": true, "<|im_start|>": true, "<|im_end|>": true,
		"<think>": false, "</think>": false, "<tool_call>": false, "</tool_call>": false}
	if diff := cmp.Diff(want, special); diff != "" {
		t.Errorf("added tokens and whether they are special (-want +got)\n%s", diff)
	}
	if m.Size() < 4096 || m.Size() > 6144 {
		t.Errorf("%d tokens", m.Size())
	}
}

// TestVocabularyGap loads a file whose ids are not dense: the added tokens follow the number of entries.
func TestVocabularyGap(t *testing.T) {
	m, err := Load(edited(t, func(r map[string]any) {
		vocab := model(r)["vocab"].(map[string]any)
		vocab["☃☃"] = 5000
		for i := range r["added_tokens"].([]any) {
			addedEntry(r, i)["id"] = len(vocab) + i
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if m.Size() != 5001 || string(m.AppendText(nil, 5000)) != "☃☃" || len(m.AppendText(nil, 4999)) != 0 {
		t.Errorf("size %d, text of 5000 %q, of 4999 %q", m.Size(), m.AppendText(nil, 5000), m.AppendText(nil, 4999))
	}
}

// TestAddedTokenNumbers: a text that the vocabulary has keeps its id; new ones count on from the number of
// entries, whatever the ids of the others are. The library gave these numbers.
func TestAddedTokenNumbers(t *testing.T) {
	entry := func(id int, content string) any { return map[string]any{"id": id, "content": content, "special": true} }
	load := func(last int) error {
		_, err := Load(edited(t, func(r map[string]any) {
			vocab := model(r)["vocab"].(map[string]any)
			vocab["<hi>"], vocab["<lo>"] = 5000, 3000
			r["added_tokens"] = []any{entry(1202, "<n1>"), entry(5000, "<hi>"), entry(3000, "<lo>"), entry(last, "<n2>")}
		}))
		return err
	}
	if err := load(1203); err != nil {
		t.Error(err)
	}
	if err := load(5001); err == nil || !strings.Contains(err.Error(), "which makes it 1203") {
		t.Errorf("Load gave %v", err)
	}
}
