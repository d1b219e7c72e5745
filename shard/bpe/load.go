package bpe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// absent stands for a missing member in a rule.
const absent = ""

// rule says what may stand at a path: one of the scalars, as JSON.
type rule struct {
	path    string
	scalars []string
	does    string // what this engine does, after "engine bpe"
}

// rules holds every scalar of the file that decides about ids. Members that only touch offsets
// (trim_offsets) or the special tokens that the library may add around a text are free.
func rules() []rule {
	off := []string{absent, "null"}
	no := []string{absent, "false"}
	none := []string{absent, "null", `""`}
	return []rule{
		{"model.type", []string{absent, `"BPE"`}, "merges pairs (BPE)"},
		{"model.byte_fallback", no, "works on bytes and has no byte fallback"},
		{"model.dropout", off, "leaves out no merge (dropout)"},
		{"model.unk_token", off, "knows every byte and has no unknown token"},
		{"model.continuing_subword_prefix", none, "has no prefix for inner tokens"},
		{"model.end_of_word_suffix", none, "has no suffix for last tokens"},
		{"model.fuse_unk", no, "knows every byte and has no unknown token"},
		{"model.ignore_merges", []string{absent, "false", "true"}, "has merges or ignores them"},
		{"version", []string{absent, `"1.0"`}, "reads version 1.0"},
		{"truncation", off, "never cuts a text"},
		{"padding", off, "never pads a text"},
		{"decoder.type", []string{`"ByteLevel"`}, "decodes bytes (ByteLevel)"},
	}
}

// shape lists the members that an object may have; another one might change ids.
type shape struct {
	path    string
	members []string
}

func shapes() []shape {
	return []shape{
		{"", []string{"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}},
		{"decoder", byteLevelMembers()},
		{"model", []string{"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
			"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}},
	}
}

// Load reads a tokenizer.json. It does not keep data. The error is a *LoadError: Unsupported for a file of
// another family or with an option that this engine does not have, else the file is broken.
func Load(data []byte) (*Model, error) {
	if m := loadFast(data); m != nil {
		return m, nil
	}
	return loadAny(data)
}

// loadAny reads a file of any spelling, and says what is wrong with it.
func loadAny(data []byte) (*Model, error) {
	var doc jsonscan.Doc
	root, err := parse(&doc, data)
	if err != nil {
		return nil, err
	}
	l := newLoader()
	if err := l.shape(root); err != nil {
		return nil, err
	}
	if err := l.vocab(root.Get("model").Get("vocab")); err != nil {
		return nil, err
	}
	if err := l.merges(root.Get("model").Get("merges")); err != nil {
		return nil, err
	}
	if err := l.finish(root); err != nil {
		return nil, err
	}
	return l.m, nil
}

// parse reads data as one object without faults.
func parse(doc *jsonscan.Doc, data []byte) (jsonscan.Value, error) {
	root, err := doc.Parse(data)
	if err != nil {
		return root, broken("", err.Error(), "a tokenizer.json is one JSON object")
	}
	if root.Kind() != jsonscan.Object {
		return root, broken("", "the file holds "+root.Kind().String(), "a tokenizer.json is one JSON object")
	}
	if r := doc.Repairs(); r.BadUTF8+r.LoneSurrogate+r.DuplicateKey > 0 {
		return root, broken("", fmt.Sprintf("%d bytes that are not UTF-8, %d lone surrogates, %d repeated keys",
			r.BadUTF8, r.LoneSurrogate, r.DuplicateKey), "a tokenizer.json has none")
	}
	return root, nil
}

// shape reads everything but the vocabulary, the merges and the added tokens.
func (l *loader) shape(root jsonscan.Value) (err error) {
	if err := checkShape(root); err != nil {
		return err
	}
	if l.m.nfc, err = normalizes(root.Get("normalizer"), "normalizer"); err != nil {
		return err
	}
	l.m.whole = root.Get("model").Get("ignore_merges").Kind() == jsonscan.True
	l.m.split, err = readSplits(root.Get("pre_tokenizer"))
	return err
}

// finish makes the tables that follow from vocabulary and merges, and reads the added tokens.
func (l *loader) finish(root jsonscan.Value) error {
	l.m.merges.finish(&l.m.byteID)
	if !l.m.whole {
		l.m.reach = l.m.merges.reachable(&l.m.byteID, l.m.Size())
	}
	l.m.chars = newCharTable(l.m)
	l.m.warm = warmNear(l.m)
	return l.added(root.Get("added_tokens"))
}

// checkShape refuses whatever is not of a known shape, the ways to normalize and to cut aside.
func checkShape(root jsonscan.Value) error {
	for _, r := range rules() {
		if v := at(root, r.path); !slices.Contains(r.scalars, string(v.Raw())) {
			return unsupported(r.path, v, r.does)
		}
	}
	for _, s := range shapes() {
		if err := onlyMembers(at(root, s.path), s.path, s.members); err != nil {
			return err
		}
	}
	return checkPostProcessor(root.Get("post_processor"), "post_processor")
}

// onlyMembers refuses an object with a member that is not listed.
func onlyMembers(v jsonscan.Value, path string, members []string) error {
	for k := range v.Members() {
		if name := string(k.AppendString(nil)); !slices.Contains(members, name) {
			return &LoadError{Path: strings.TrimPrefix(path+"."+name, "."), Found: "a member of unknown meaning",
				Want: "knows only " + strings.Join(members, ", "), Unsupported: true}
		}
	}
	return nil
}

// at walks a dotted path of keys.
func at(v jsonscan.Value, path string) jsonscan.Value {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		v = v.Get(key)
	}
	return v
}
