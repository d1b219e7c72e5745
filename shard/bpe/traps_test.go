package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// tokenTexts returns the text of each token of text.
func tokenTexts(t *testing.T, m *Model, text string) []string {
	t.Helper()
	var out []string
	for _, id := range encode(t, m.NewEncoder(nil), text).IDs {
		out = append(out, decode(m, []int32{id}))
	}
	return out
}

// pieces returns the pre-tokens of a piece between added tokens.
func (s *splitter) pieces(piece string) []string {
	var out []string
	for i := 0; i < len(piece); {
		end := s.next([]byte(piece), i)
		out = append(out, piece[i:end])
		i = end
	}
	return out
}

// words returns the pre-tokens of a piece in the family of Qwen2.
func words(piece string) []string {
	return newSplitter(familyOf([]string{qwen2Regex})).pieces(piece)
}

// The normalizer's tables are those of Unicode 9, whatever Go's own are.
func TestTrap01NFCIsUnicode9(t *testing.T) {
	for in, want := range map[string]string{
		"a\u0301\u0323":            "\u1ea1\u0301",                         // classes 230 and 220 since 1.1: sorted, composed
		"x\U0001e000\u0323":        "x\u0323\U0001e000",                    // a mark of version 9 moves
		"x\u1df6\u0323":            "x\u1df6\u0323",                        // class 232 since version 10: no mark here
		"a\u1df6\u0301":            "a\u1df6\u0301",                        // and it keeps the acute from its letter
		"\U00011938\U00011930":     "\U00011938\U00011930",                 // composed since version 13
		"\U00011935\U00011930":     "\U00011935\U00011930",                 // the pair of U+11938
		"\u0958\u0340\u212b\u1e9b": "\u0915\u093c\u0300\u00c5\u1e9b",       // exclusions and singletons
		"\u1100\u1161\u11a8\u11a8": "\uac01\u11a8",                         // Hangul
		"\u1100\u1161\u11a7":       "\uac00\u11a7",                         // U+11A7 is before the first last letter
		"\u0f71\u0f72\u0f73\u0344": "\u0f71\u0f71\u0f72\u0f72\u0308\u0301", // sorted by classes 129, 130, 230
		"\U00011099\U000110ba":     "\U0001109a",
		"\u0301a":                  "\u0301a",
	} {
		if got := nfc(in); got != want {
			t.Errorf("NFC of %+q is %+q, want %+q", in, got, want)
		}
	}
}

// anyClass returns the class of any character.
func anyClass(r rune) byte {
	if r < utf8.RuneSelf {
		return byteClass[r]
	}
	return classOf(r)
}

// The classes are those of Unicode 16, and blanks those of Oniguruma.
func TestTrap02ClassesAreUnicode16(t *testing.T) {
	count := map[byte]int{}
	later := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		c := anyClass(r)
		count[c]++
		if strings.IndexByte(letters, c) >= 0 != unicode.IsLetter(r) {
			later++
		}
	}
	want := map[byte]int{'U': 1889, 'l': 2258, 'x': 136881, 'M': 2501, 'N': 1911, 'S': 23, 'R': 2, 'P': 9369,
		'o': 0x110000 - 0x800 - 1889 - 2258 - 136881 - 2501 - 1911 - 25 - 9369}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("code points of each class (-want +got)\n%s", diff)
	}
	if anyClass('\u1c89') != 'U' || anyClass('\U000105c0') != 'x' { // both came with version 16
		t.Errorf("letters of Unicode 16 are none here; %d differ from this Go's tables", later)
	}
	for r, blank := range map[rune]bool{'\u0085': true, '\u00a0': true, '\u3000': true, '\u2028': true, '\x0b': true,
		'\ufeff': false, '\u180e': false, '\u200b': false, '\x1c': false, '\x1f': false} {
		if anyClass(r) == 'S' != blank {
			t.Errorf("U+%04X is a blank: %v, want %v", r, !blank, blank)
		}
	}
}

// Long runs of marks are sorted, stably and in less than quadratic time, and nothing is put between them.
func TestTrap03LongRunsOfMarks(t *testing.T) {
	const n = 50_000
	// U+0300 and U+0301 share class 230, U+0323 has 220, U+0334 has 1.
	in := "x" + strings.Repeat("\u0301\u0323\u0300\u0334", n)
	want := "x" + strings.Repeat("\u0334", n) + strings.Repeat("\u0323", n) + strings.Repeat("\u0301\u0300", n)
	if got := nfc(in); got != want {
		t.Errorf("marks came out in another order, %d bytes of %d", len(got), len(want))
	}
	m := loadFile(t, "tiny.json")
	if got := decode(m, encode(t, m.NewEncoder(nil), in).IDs); got != want {
		t.Error("the text came back changed")
	}
}

func TestTrap04Contractions(t *testing.T) {
	for text, want := range map[string][]string{
		"I's":        {"I", "'s"},
		"I'sx":       {"I", "'s", "x"},
		"I'S'T'M'D":  {"I", "'S", "'T", "'M", "'D"},
		"x'rE'Ve'lL": {"x", "'rE", "'Ve", "'lL"},
		"x'ſy":       {"x", "'ſ", "y"},
		"x'\u212ay":  {"x", "'\u212ay"},
		"x'r 'v 'l":  {"x", "'r", " '", "v", " '", "l"},
		"x'":         {"x", "'"},
		"''s":        {"''", "s"},
		" 's":        {" '", "s"},
		"don't":      {"don", "'t"},
		"x'ré":       {"x", "'ré"},
		"'s":         {"'s"},
		"x'Ő'é":      {"x", "'Ő", "'é"},
	} {
		if diff := cmp.Diff(want, words(text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// DeepSeek cuts by three expressions in turn: what the first two take bounds what the third one sees.
func TestTrap05ThreeSplits(t *testing.T) {
	split := newSplitter(familyOf(deepseekRegexes[:]))
	for text, want := range map[string][]string{
		"中・\n中":          {"中", "・", "\n", "中"}, // the line end is outside kana and Han
		"!\n中":           {"!\n", "中"},          // here it is not
		"a  1":           {"a", "  ", "1"},      // blanks before a number are at the end of their text
		"a  中":           {"a", "  ", "中"},      // and before Han
		"a  b":           {"a", " ", " b"},      // but not before a letter
		"12345":          {"123", "45"},         //
		"x12中a":          {"x", "12", "中", "a"}, // Latin letters do not join Han
		"(aé":            {"(a", "é"},           // signs take letters of ASCII only
		"(éa":            {"(", "éa"},           //
		"\x00\x01\x02a!": {"\x00\x01", "\x02a", "!"},
		"\u200d\u200d!":  {"\u200d\u200d", "!"},
		"don't":          {"don", "'t"},
		"\u3040\u3097中":  {"\u3040", "\u3097中"}, // unassigned ones in the range
	} {
		if diff := cmp.Diff(want, split.pieces(text)); diff != "" {
			t.Errorf("%+q (-want +got)\n%s", text, diff)
		}
	}
}

// The order of merges is their place in the list, not the id of what they make.
func TestTrap06RankNotID(t *testing.T) {
	change := func(merges []any) func(map[string]any) {
		return func(r map[string]any) {
			vocab := model(r)["vocab"].(map[string]any)
			clear(vocab)
			for b, c := range byteAlphabet() {
				vocab[string(c)] = b
			}
			vocab["ab"], vocab["bc"], vocab["abc"] = 258, 257, 256
			model(r)["merges"] = merges
			delete(r, "added_tokens")
		}
	}
	for _, c := range []struct {
		merges []any
		want   []string
	}{
		{[]any{"a b", "b c"}, []string{"ab", "c"}},
		{[]any{"b c", "a b"}, []string{"a", "bc"}},
		{[]any{"a b", "b c", "a bc"}, []string{"ab", "c"}},
		{[]any{"b c", "a b", "ab c", "a bc"}, []string{"abc"}}, // one product, made in two ways
	} {
		m, err := Load(edited(t, change(c.merges)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, tokenTexts(t, m, "abc")); diff != "" {
			t.Errorf("merges %v (-want +got)\n%s", c.merges, diff)
		}
	}
	// ignore_merges: a pre-token that stands in the vocabulary is one token, whatever merges would make of it.
	whole, err := Load(edited(t, func(r map[string]any) {
		change([]any{"b c"})(r)
		model(r)["ignore_merges"] = true
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"abc", " ", "a", "bc", "bc"}, tokenTexts(t, whole, "abc abcbc")); diff != "" {
		t.Errorf("ignore_merges (-want +got)\n%s", diff)
	}
}

// Byte tokens need not be ids 0 to 255, and merges come in two forms.
func TestTrap07FormsOfMergesAndIDs(t *testing.T) {
	odd := loadFile(t, "odd.json") // ids shuffled, merges as strings
	moved := 0
	for b, id := range odd.byteID {
		if int(id) != b {
			moved++
		}
	}
	if moved < 200 {
		t.Errorf("only %d byte tokens have another id than their byte", moved)
	}
	const text = "The agent opened the file; c'était déjà fermé.\n"
	if got := decode(odd, encode(t, odd.NewEncoder(nil), text).IDs); got != text {
		t.Errorf("%q came back as %q", text, got)
	}
	strs, err := Load(edited(t, func(r map[string]any) {
		merges := model(r)["merges"].([]any)
		for i, m := range merges {
			merges[i] = m.([]any)[0].(string) + " " + m.([]any)[1].(string)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	pairs := loadFile(t, "tiny.json")
	if diff := cmp.Diff(encode(t, pairs.NewEncoder(nil), text), encode(t, strs.NewEncoder(nil), text)); diff != "" {
		t.Errorf("merges as strings (-pairs +strings)\n%s", diff)
	}
}

// Blanks at the end of a piece between added tokens stay together, those before a word leave it the last.
func TestTrap08BlanksAtThePieceEnd(t *testing.T) {
	for text, want := range map[string][]string{
		"a   ":        {"a", "   "},
		"a   b":       {"a", "  ", " b"},
		"a   1":       {"a", "  ", " ", "1"},
		"a \t\n \t b": {"a", " \t\n", " \t", " b"},
		" \u3000x":    {" ", "\u3000x"},
		"!\r\n\n x":   {"!\r\n\n", " x"},
		" !!\n":       {" !!\n"},
		"\t!":         {"\t", "!"},
		"\n\n\nx":     {"\n\n\n", "x"},
	} {
		if diff := cmp.Diff(want, words(text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
	m := loadFile(t, "tiny.json")
	e := m.NewEncoder(nil)
	for piece := range strings.SplitSeq("a  |\n  |    ", "|") {
		whole := encode(t, e, piece+"<think>").IDs
		alone := encode(t, e, piece).IDs
		if !slices.Equal(whole[:len(whole)-1], alone) {
			t.Errorf("%q has ids %v before an added token, %v alone", piece, whole, alone)
		}
	}
}

func TestTrap09InvalidUTF8(t *testing.T) {
	e := loadFile(t, "tiny.json").NewEncoder(nil)
	for text, at := range map[string]string{"ab\xff": "byte 2", "\xe2\x82": "byte 0", "é\xed\xa0\x80": "byte 2", "\xc0\x80": "byte 0"} {
		tokens := turnmill.Tokens{IDs: []int32{7}, Ends: []int32{1}}
		err := e.Encode(&tokens, []byte(text))
		if err == nil || !strings.Contains(err.Error(), at) || len(tokens.IDs) != 1 || len(tokens.Ends) != 1 {
			t.Errorf("%q: error %v, tokens %v, want one that names %s and no tokens", text, err, tokens, at)
		}
	}
}

// A run of blanks and line ends is one pre-token of any length: merged with the heap, kept in no cache.
func TestTrap10OneHugePreToken(t *testing.T) {
	m := loadFile(t, "tiny.json")
	e := m.NewEncoder(nil)
	text := strings.Repeat(strings.Repeat(" ", 99)+"\n", 5_000)
	if n := len(words(text)); n != 1 {
		t.Fatalf("%d pre-tokens, want 1", n)
	}
	got := encode(t, e, text)
	if decode(m, got.IDs) != text {
		t.Error("the text came back changed")
	}
	if e.long.used != 0 || len(e.long.keys) != 0 {
		t.Errorf("the long cache holds %d entries", e.long.used)
	}
	if cap(e.merge.ids) > keepSymbols || cap(e.merge.heap) > 2*keepSymbols {
		t.Errorf("scratch of %d and %d entries was kept", cap(e.merge.ids), cap(e.merge.heap))
	}
}
