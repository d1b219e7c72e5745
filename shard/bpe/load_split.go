package bpe

import (
	"fmt"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Members of the parts of a file that may be there several times.
func byteLevelMembers() []string {
	return []string{"type", "add_prefix_space", "trim_offsets", "use_regex"}
}

func splitMembers() []string { return []string{"type", "pattern", "behavior", "invert"} }

// normalizes reads the normalizer: NFC, or none, which is also a Sequence of nothing.
func normalizes(v jsonscan.Value, path string) (nfc bool, err error) {
	const does = "normalizes to NFC or not at all"
	switch {
	case !v.Present():
		return false, nil
	case v.Get("type").Is("NFC"):
		return true, onlyMembers(v, path, []string{"type"})
	case v.Get("type").Is("Sequence"):
		list := v.Get("normalizers")
		if list.Kind() != jsonscan.Array || list.Len() > 1 {
			return false, unsupported(path+".normalizers", list, does)
		}
		if err := onlyMembers(v, path, []string{"type", "normalizers"}); err != nil || list.Len() == 0 {
			return false, err
		}
		return normalizes(list.At(0), path+".normalizers.0")
	}
	return false, unsupported(path+".type", v.Get("type"), does)
}

// readSplits reads the pre-tokenizer: ByteLevel alone, or a Sequence of Splits and ByteLevel.
func readSplits(v jsonscan.Value) (*splitter, error) {
	const path, does = "pre_tokenizer", "cuts with ByteLevel, or with a Sequence of Splits and ByteLevel"
	if v.Get("type").Is("ByteLevel") {
		return splitterFor(v, path, nil, true)
	}
	if !v.Get("type").Is("Sequence") {
		return nil, unsupported(path+".type", v.Get("type"), does)
	}
	if err := onlyMembers(v, path, []string{"type", "pretokenizers"}); err != nil {
		return nil, err
	}
	list := v.Get("pretokenizers")
	last := list.Len() - 1
	if list.Kind() != jsonscan.Array || last < 0 {
		return nil, unsupported(path+".pretokenizers", list, does)
	}
	isolated := true
	var regexes []string
	for i := range last {
		regex, keeps, err := readSplit(list.At(i), fmt.Sprintf("%s.pretokenizers.%d", path, i))
		if err != nil {
			return nil, err
		}
		regexes, isolated = append(regexes, regex), isolated && !keeps
	}
	at := fmt.Sprintf("%s.pretokenizers.%d", path, last)
	if t := list.At(last).Get("type"); !t.Is("ByteLevel") {
		return nil, unsupported(at+".type", t, does)
	}
	return splitterFor(list.At(last), at, regexes, isolated)
}

// readSplit reads one Split. Matches become pieces of their own; keeps tells that what is between them is
// dropped (Removed, inverted) rather than kept (Isolated).
func readSplit(v jsonscan.Value, path string) (regex string, keeps bool, err error) {
	if t := v.Get("type"); !t.Is("Split") {
		return "", false, unsupported(path+".type", t, "cuts with Splits before ByteLevel")
	}
	if err := onlyMembers(v, path, splitMembers()); err != nil {
		return "", false, err
	}
	pattern := v.Get("pattern")
	if err := onlyMembers(pattern, path+".pattern", []string{"Regex"}); err != nil {
		return "", false, err
	}
	if r := pattern.Get("Regex"); r.Kind() != jsonscan.String {
		return "", false, unsupported(path+".pattern.Regex", r, "cuts with regular expressions")
	}
	regex = string(pattern.Get("Regex").AppendString(nil))
	behavior, inverted := v.Get("behavior"), v.Get("invert").Kind() == jsonscan.True
	switch {
	case behavior.Is("Isolated") && !inverted:
	case behavior.Is("Removed") && inverted:
		keeps = true
	case behavior.Is("Isolated"), behavior.Is("Removed"):
		return "", false, unsupported(path+".invert", v.Get("invert"), "keeps each match as a piece of its own")
	default:
		return "", false, unsupported(path+".behavior", behavior, "keeps each match as a piece of its own")
	}
	return regex, keeps, nil
}

// splitterFor finds the family with these expressions; level is the ByteLevel behind them.
func splitterFor(level jsonscan.Value, path string, regexes []string, isolated bool) (*splitter, error) {
	if err := onlyMembers(level, path, byteLevelMembers()); err != nil {
		return nil, err
	}
	if v := level.Get("add_prefix_space"); v.Kind() != jsonscan.False {
		return nil, unsupported(path+".add_prefix_space", v, "adds no blank before a text")
	}
	f := familyOf(regexes)
	if f == nil {
		return nil, &LoadError{Path: "pre_tokenizer", Found: "a Sequence of Splits with " + shortened(fmt.Sprintf("%q", regexes)),
			Want: "has the regular expressions of some families written out, and no other,", Unsupported: true}
	}
	if !isolated && !f.covers {
		return nil, &LoadError{Path: "pre_tokenizer", Found: "a Split that drops what its expression does not match",
			Want: "keeps every character", Unsupported: true}
	}
	// Without Splits the expression of ByteLevel cuts; behind them it must not.
	if v := level.Get("use_regex"); (len(regexes) == 0) != (v.Kind() != jsonscan.False) {
		return nil, unsupported(path+".use_regex", v, "cuts with the Splits' expressions or with that of ByteLevel, not with both")
	}
	return newSplitter(f), nil
}

// checkPostProcessor takes what only moves offsets or adds special tokens around a text: nothing here asks
// for those, the chat format places them.
func checkPostProcessor(v jsonscan.Value, path string) error {
	t := v.Get("type")
	switch {
	case !v.Present(), t.Is("ByteLevel"), t.Is("TemplateProcessing"):
		return nil
	case t.Is("Sequence"):
		i := 0
		for p := range v.Get("processors").Elems() {
			if err := checkPostProcessor(p, fmt.Sprintf("%s.processors.%d", path, i)); err != nil {
				return err
			}
			i++
		}
		return nil
	}
	return unsupported(path, v, "has post-processors that change no token of the text (ByteLevel, TemplateProcessing)")
}
