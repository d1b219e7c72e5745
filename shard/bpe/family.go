package bpe

import "slices"

// The regular expressions that cut text into pre-tokens, as they stand in tokenizer.json files. Each is
// written out by hand in the file that split.go names; a file with another one is refused.
const (
	// qwen2Regex is that of Qwen2, Qwen2.5 and Qwen3.
	qwen2Regex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// qwen35Regex is that of Qwen3.5: marks are letters.
	qwen35Regex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// llama3Regex is that of Llama 3, and of GPT-4 (cl100k) as it is published for this library: numbers by three.
	llama3Regex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// o200kRegex is that of GPT-4o and gpt-oss: words end where upper case follows lower case.
	o200kRegex = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// gpt2Regex is built into the pre-tokenizer ByteLevel and stands in no file.
	gpt2Regex = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

// deepseekRegexes cut in turn, each the pieces of the one before: DeepSeek V3 and later. What the last one
// does not match, controls and the like, stays a piece of its own.
var deepseekRegexes = [...]string{
	`\p{N}{1,3}`,
	`[一-龥぀-ゟ゠-ヿ]+`,
	`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~][A-Za-z]+|[^` + "\r\n" + `\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[` +
		"\r\n" + `]*|\s*[` + "\r\n" + `]+|\s+(?!\S)|\s+`,
}

// family is a way to cut text into pre-tokens.
type family struct {
	regexes []string // of the Splits before ByteLevel, in order; none for the one built into ByteLevel
	covers  bool     // the expression matches every character, so that keeping matches and dropping the rest is the same
	kind    splitKind
	digits  int             // most numbers in one pre-token, 0 for any
	classes map[string]byte // what the family makes of classes of class_tables.go
}

// families lists what Load knows.
func families() []family {
	marks := letters + "M"
	return []family{
		{[]string{qwen2Regex}, true, wordKind, 1, map[string]byte{letters: 'L', "MPo": 'o'}},
		{[]string{qwen35Regex}, true, wordKind, 1, map[string]byte{marks: 'L', "Po": 'o'}},
		{[]string{llama3Regex}, true, wordKind, 3, map[string]byte{letters: 'L', "MPo": 'o'}},
		{[]string{o200kRegex}, true, caseKind, 3, map[string]byte{"Po": 'o'}},
		{deepseekRegexes[:], false, deepseekKind, 3, map[string]byte{marks: 'L'}},
		{nil, true, gpt2Kind, 0, map[string]byte{letters: 'L', "MPo": 'o', "SR": 'S'}},
	}
}

// familyOf returns the family with these expressions, or nil.
func familyOf(regexes []string) *family {
	for _, f := range families() {
		if slices.Equal(f.regexes, regexes) {
			return &f
		}
	}
	return nil
}
