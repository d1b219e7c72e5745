package bpe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// qwen2Regex cuts text into pre-tokens in the families Qwen2, Qwen2.5 and Qwen3; scan.go is this
// expression written out.
const qwen2Regex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// absent stands for a missing member in a rule.
const absent = ""

// rule says what may stand at a path: one of the scalars as JSON, or the one string.
type rule struct {
	path    string
	scalars []string
	text    string
	does    string // what this engine does, after "engine bpe"
}

// rules holds every scalar of the file that decides about ids. Members that only touch offsets
// (trim_offsets) or the special tokens that the library may add around a text are free.
func rules() []rule {
	off := []string{absent, "null"}
	no := []string{absent, "false"}
	none := []string{absent, "null", `""`}
	const seq, split, level = "pre_tokenizer", "pre_tokenizer.pretokenizers.0", "pre_tokenizer.pretokenizers.1"
	return []rule{
		{"model.type", nil, "BPE", "merges pairs (BPE)"},
		{"model.byte_fallback", no, "", "works on bytes and has no byte fallback"},
		{"model.dropout", off, "", "leaves out no merge (dropout)"},
		{"model.unk_token", off, "", "knows every byte and has no unknown token"},
		{"model.continuing_subword_prefix", none, "", "has no prefix for inner tokens"},
		{"model.end_of_word_suffix", none, "", "has no suffix for last tokens"},
		{"model.fuse_unk", no, "", "knows every byte and has no unknown token"},
		{"model.ignore_merges", no, "", "always merges"},
		{"version", []string{absent, `"1.0"`}, "", "reads version 1.0"},
		{"truncation", off, "", "never cuts a text"},
		{"padding", off, "", "never pads a text"},
		{"normalizer.type", nil, "NFC", "normalizes to NFC"},
		{seq + ".type", nil, "Sequence", "cuts with a Sequence of Split and ByteLevel"},
		{split + ".type", nil, "Split", "cuts with a Sequence of Split and ByteLevel"},
		{split + ".pattern.Regex", nil, qwen2Regex, "has the regular expression of Qwen2 written out, and no other"},
		{split + ".behavior", nil, "Isolated", "keeps each match as a piece of its own (Isolated)"},
		{split + ".invert", no, "", "does not invert matches"},
		{level + ".type", nil, "ByteLevel", "cuts with a Sequence of Split and ByteLevel"},
		{level + ".add_prefix_space", []string{"false"}, "", "adds no blank before a text"},
		{level + ".use_regex", []string{"false"}, "", "cuts with the Split's expression only"},
		{"decoder.type", nil, "ByteLevel", "decodes bytes (ByteLevel)"},
	}
}

// shape lists the members that an object may have; another one might change ids.
type shape struct {
	path    string
	members []string
}

func shapes() []shape {
	const seq = "pre_tokenizer"
	level := []string{"type", "add_prefix_space", "trim_offsets", "use_regex"}
	return []shape{
		{"", []string{"version", "truncation", "padding", "added_tokens", "normalizer", seq, "post_processor", "decoder", "model"}},
		{"normalizer", []string{"type"}},
		{seq, []string{"type", "pretokenizers"}},
		{seq + ".pretokenizers.0", []string{"type", "pattern", "behavior", "invert"}},
		{seq + ".pretokenizers.0.pattern", []string{"Regex"}},
		{seq + ".pretokenizers.1", level},
		{"decoder", level},
		{"model", []string{"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
			"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}},
	}
}

// Load reads a tokenizer.json. It does not keep data. The error is a *LoadError: Unsupported for a file of
// another family or with an option that this engine does not have, else the file is broken.
func Load(data []byte) (*Model, error) {
	var doc jsonscan.Doc
	root, err := doc.Parse(data)
	if err != nil {
		return nil, broken("", err.Error(), "a tokenizer.json is one JSON object")
	}
	if root.Kind() != jsonscan.Object {
		return nil, broken("", "the file holds "+root.Kind().String(), "a tokenizer.json is one JSON object")
	}
	if r := doc.Repairs(); r.BadUTF8+r.LoneSurrogate+r.DuplicateKey > 0 {
		return nil, broken("", fmt.Sprintf("%d bytes that are not UTF-8, %d lone surrogates, %d repeated keys",
			r.BadUTF8, r.LoneSurrogate, r.DuplicateKey), "a tokenizer.json has none")
	}
	if err := checkShape(root); err != nil {
		return nil, err
	}
	l := loader{m: &Model{}, literal: map[int32]bool{}}
	if err := l.vocab(root.Get("model").Get("vocab")); err != nil {
		return nil, err
	}
	if err := l.merges(root.Get("model").Get("merges")); err != nil {
		return nil, err
	}
	if err := l.added(root.Get("added_tokens")); err != nil {
		return nil, err
	}
	l.finish()
	return l.m, nil
}

// checkShape refuses whatever is not exactly of the one shape.
func checkShape(root jsonscan.Value) error {
	if p := root.Get("post_processor"); p.Present() && !p.Get("type").Is("ByteLevel") {
		return unsupported("post_processor", p, "adds no special tokens around a text (ByteLevel or null)")
	}
	for _, r := range rules() {
		if v := at(root, r.path); !r.fits(v) {
			return unsupported(r.path, v, r.does)
		}
	}
	if p := at(root, "pre_tokenizer.pretokenizers"); p.Len() != 2 {
		return unsupported("pre_tokenizer.pretokenizers", p, "cuts with a Sequence of Split and ByteLevel")
	}
	for _, s := range shapes() {
		for k := range at(root, s.path).Members() {
			name := string(k.AppendString(nil))
			if !slices.Contains(s.members, name) {
				return &LoadError{Path: strings.TrimPrefix(s.path+"."+name, "."), Found: "a member of unknown meaning",
					Want: "knows only " + strings.Join(s.members, ", "), Unsupported: true}
			}
		}
	}
	return nil
}

func (r *rule) fits(v jsonscan.Value) bool {
	if r.scalars == nil {
		return v.Is(r.text)
	}
	return slices.Contains(r.scalars, string(v.Raw()))
}

// at walks a dotted path of keys and element numbers.
func at(v jsonscan.Value, path string) jsonscan.Value {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		if n, err := strconv.Atoi(key); err == nil {
			v = v.At(n)
			continue
		}
		v = v.Get(key)
	}
	return v
}
