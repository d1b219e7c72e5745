package mask

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// letters are code points at the borders of the rules, and plain ones that make words of them.
var letters = []rune("aZ09__  \t\n.,:/-'\"\\{}[]" + "éßÀΣςДя" + "中文字かなカナ々〇〆ー｡ｰﾞ゙゚〻〱" + "한글ไทยहिंدم" +
	"\u0130\u212a\u1e9e\u0301\u200b\u200d\u00ad\ufeff\ufffd\u0085\u00a0\u2028\u3000\u180e" + "❤\ufe0f🙂Ⓐ①²Ⅷⅷ㌔⼀" +
	"\U00020000\U00031350\U000323af\U00010400\U0001e900\U0001f200\U00016ff0\U0001aff0\U000e0100\u1c90\uab70\x00\x1c\x7f\u0378")

// mixedText draws text of 0 to about 200 characters, in stretches of one kind, so that words meet at
// every offset of a block.
func mixedText() *rapid.Generator[string] {
	stretch := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom(letters), 0, 12, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ_019 -")), 0, 90, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("中文字かカー a")), 0, 30, -1),
		rapid.String(),
		rapid.SampledFrom([]string{"the", "read_file", "中文", "  ", "ERROR: ", strings.Repeat("w", 64), "naïve", "Müller"}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(stretch, 0, 6).Draw(t, "stretches"), "")
	})
}

// jsonText draws JSON, or what nearly is, with strings inside strings deeper than words-1 goes.
func jsonText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "values") {
			parts = append(parts, drawJSON(t, 7))
		}
		text := strings.Join(parts, rapid.SampledFrom([]string{" ", "\n", "\r\n\t", "\n\n", "", ","}).Draw(t, "between"))
		if len(text) > 0 && rapid.IntRange(0, 4).Draw(t, "damage") == 0 {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text = text[:at] + rapid.SampledFrom([]string{"", "\"", "\\", "}", "\x01", "0", "NaN"}).Draw(t, "by") + text[at+1:]
		}
		return strings.ToValidUTF8(rapid.SampledFrom([]string{"", " ", "\u00a0\n", "\ufeff"}).Draw(t, "before")+text, "\ufffd")
	})
}

func drawJSON(t *rapid.T, room int) string {
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind < 2 || room == 0:
		return rapid.SampledFrom([]string{"0", "-1.5e+3", "12.50", "true", "false", "null", "1e5", "-0"}).Draw(t, "scalar")
	case kind < 4:
		return quoteSomehow(t, mixedText().Draw(t, "text"))
	case kind < 6: // a string that holds JSON, with blanks around it at times
		return quoteSomehow(t, rapid.SampledFrom([]string{"", " ", "\u00a0"}).Draw(t, "pad")+drawJSON(t, room-1))
	case kind < 8:
		var members []string
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			key := rapid.OneOf(rapid.SampledFrom([]string{"name", "a b", "{\"k\":\"\\n\"}", ""}), mixedText()).Draw(t, "key")
			colon := rapid.SampledFrom([]string{":", " : ", ":\n"}).Draw(t, "colon")
			members = append(members, quoteSomehow(t, key)+colon+drawJSON(t, room-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	default:
		var elements []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			elements = append(elements, drawJSON(t, room-1))
		}
		return "[" + strings.Join(elements, " , ") + "]"
	}
}

// quoteSomehow writes s as a JSON string with more escapes than needed, lone surrogates among them.
func quoteSomehow(t *rapid.T, s string) string {
	style := rapid.IntRange(0, 3).Draw(t, "style")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\n' && style < 3:
			b.WriteString(`\n`)
		case r == '"' || r == '\\' || r == '/' && style == 1:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r < 0x10000 && style == 2 && r%3 == 0 || style == 3 && r >= 0x80 && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	if style == 2 && len(s)%5 == 0 {
		b.WriteString(`\ud83dx\udc00`)
	}
	b.WriteByte('"')
	return b.String()
}

func anyText() *rapid.Generator[string] { return rapid.OneOf(mixedText(), jsonText()) }

// TestMeasureAgainstNaive compares the fast path and Explain with the reference on random turns, one
// Measurer for all of them.
func TestMeasureAgainstNaive(t *testing.T) {
	var m Measurer
	table := Default()
	rapid.Check(t, func(t *rapid.T) {
		action, observation := anyText().Draw(t, "action"), anyText().Draw(t, "observation")
		if rapid.IntRange(0, 3).Draw(t, "echo") == 0 {
			observation += action
		}
		checkMeasure(t, &m, &table, action, observation)
	})
}

func checkMeasure(t interface{ Fatalf(string, ...any) }, m *Measurer, table *Table, action, observation string) {
	want := naiveCounts(action, observation)
	if got := m.Measure(action, observation); got != want {
		t.Fatalf("Measure(%q, %q) = %+v, want %+v", action, observation, got, want)
	}
	e := Explain(table, &turnmill.Turn{Action: action, Observation: observation})
	if e.Counts != want {
		t.Fatalf("Explain(%q, %q) = %+v, want %+v", action, observation, e.Counts, want)
	}
	for side, words := range map[string][]string{action: e.Action, observation: e.Observation} {
		if want := slices.Sorted(maps.Keys(naiveWords(side))); !slices.Equal(words, want) {
			t.Fatalf("words of %q are %q, want %q", side, words, want)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	f.Add("ls -la /srv", "total 4\nsrv")
	f.Add(`{"name":"think","arguments":"{\"thought\":\"先查\\n订单\"}"}`, "\u00a0[\"\\u4e2d\"] {}\n")
	f.Add("\ufeff{}", "naïve Müller ❤\ufe0f ｰー K")
	f.Add(`["[\"[\\\"[\\\\\\\"x\\\\\\\\ny\\\\\\\"]\\\"]\"]"]`, `{"a":1,"a":"\ud800"}`)
	f.Add(strings.Repeat("x", 63)+"é", strings.Repeat("x ", 40)+"\x00")
	table := Default()
	var m Measurer
	f.Fuzz(func(t *testing.T, action, observation string) {
		checkMeasure(t, &m, &table, eachByteValid(action), eachByteValid(observation))
	})
}

// eachByteValid replaces every byte that is not UTF-8 by a U+FFFD of its own, as readers do.
func eachByteValid(s string) string { return string([]rune(s)) }

// TestMeasureRecordedText compares with the reference on recorded runs of many formats: each file's lines
// are texts, each line answers the one before.
func TestMeasureRecordedText(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: no recorded runs to compare on")
	}
	const mostLine, mostFile = 8 << 10, 256 << 10 // bytes; the reference is slow
	var m Measurer
	lines := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(data) {
			return err
		}
		action := ""
		for line := range strings.Lines(string(data[:min(len(data), mostFile)])) {
			line = strings.ToValidUTF8(line[:min(len(line), mostLine)], "\ufffd")
			if got, want := m.Measure(action, line), naiveCounts(action, line); got != want {
				t.Fatalf("%s: a line of %d bytes: %+v, want %+v", filepath.Base(path), len(line), got, want)
			}
			action = line
			lines++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines < 1000 {
		t.Errorf("only %d lines of text below %s", lines, root)
	}
}

// TestMeasureProperties holds what the algebra of the statistics promises.
func TestMeasureProperties(t *testing.T) {
	var m Measurer
	rapid.Check(t, func(t *rapid.T) {
		action, observation := anyText().Draw(t, "action"), anyText().Draw(t, "observation")
		c := m.Measure(action, observation)
		if c.SharedWords < 0 || c.SharedWords > min(c.ActionWords, c.ObservationWords) {
			t.Fatalf("%+v: 0 <= b <= min(a, o) does not hold", c)
		}
		if int64(c.ActionWords) > c.ActionChars || int64(c.ObservationWords) > c.ObservationChars {
			t.Fatalf("%+v: more words than characters", c)
		}
		swapped := m.Measure(observation, action)
		if want := (Counts{c.ObservationWords, c.ActionWords, c.SharedWords, c.ObservationChars, c.ActionChars}); swapped != want {
			t.Fatalf("swapped %+v, want %+v", swapped, want)
		}
		plain := mixedText().Draw(t, "plain")
		words := slices.Sorted(maps.Keys(naiveWords("x " + plain)))
		again := "x " + plain + " " + words[len(words)-1]
		if got, want := m.Measure(again, again), len(words); got.ActionWords != want || got.SharedWords != want {
			t.Fatalf("%q: a word that was there already gives %+v, want %d words", again, got, want)
		}
	})
}

// TestMeasureAllocates checks that a Measurer in use allocates nothing, JSON and mixed scripts included.
// What begins as JSON, has escapes and turns out to be none costs the parser's error, and is left out.
func TestMeasureAllocates(t *testing.T) {
	masker, err := New(Default(), "0", ModeTurn)
	if err != nil {
		t.Fatal(err)
	}
	var turns []turnmill.Turn
	for _, s := range sampleTexts() {
		turns = append(turns, turnmill.Turn{Action: s.text[len(s.text)/2:], Observation: s.text})
		turns = append(turns, turnmill.Turn{Action: s.text, Observation: "[root@host ~]# printf 'a\\n'"})
	}
	turns = append(turns, turnmill.Turn{Action: `{"a":"{\"b\":\"[\\\"c\\\\n\\\"]\"}","中\n":-1.5e3}`, Observation: `"x\ty" [] {"k":"\u00e9"}`})
	run := turnmill.Trajectory{ID: "some/run", Turns: turns}
	all := func() {
		for i := range turns {
			masker.Decide(&run, i)
		}
	}
	all()
	if n := testing.AllocsPerRun(20, all); n != 0 {
		t.Errorf("%v allocations for %d turns, want 0", n, len(turns))
	}
}

// TestMeasureForgetsOutliers checks that one huge turn does not hold its memory, and that counts stay
// right while the table grows and shrinks.
func TestMeasureForgetsOutliers(t *testing.T) {
	var m Measurer
	var b strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	huge := b.String()
	if c := m.Measure(`["`+strings.Repeat(`\n`, keepBytes)+`"]`, huge); c.ObservationWords != 300_000 || c.ActionWords != 0 {
		t.Fatalf("huge turn: %+v", c)
	}
	if n := len(m.words.slots); n < 600_000 {
		t.Fatalf("%d slots for 300000 words", n)
	}
	for i := range 3 * idleMeasure {
		if c := m.Measure("one two", "two three"); c.ActionWords != 2 || c.ObservationWords != 2 || c.SharedWords != 1 {
			t.Fatalf("turn %d after the huge one: %+v", i, c)
		}
	}
	if n := len(m.words.slots); n != minSlots {
		t.Errorf("%d slots are left, want %d", n, minSlots)
	}
	if m.split.decoded[0] != nil {
		t.Errorf("%d bytes of decoded text are left", cap(m.split.decoded[0]))
	}
	m.words.turn = 1<<32 - 2 // the generation comes round
	for range 4 {
		if c := m.Measure("one two", "two three"); c.ActionWords != 2 || c.ObservationWords != 2 || c.SharedWords != 1 {
			t.Fatalf("when the generation comes round: %+v", c)
		}
	}
}

// TestMeasureGrows checks that words stay known while the table grows under them.
func TestMeasureGrows(t *testing.T) {
	list := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "w%d ", i)
		}
		return b.String()
	}
	for _, n := range []int{1, minSlots/2 - 1, minSlots / 2, minSlots/2 + 1, 5000} {
		var m Measurer
		got := m.Measure(list(0, n)+list(0, n), list(n/2, 2*n)+list(n/2, 2*n))
		if got.ActionWords != n || got.ObservationWords != 2*n-n/2 || got.SharedWords != n-n/2 {
			t.Errorf("%d words: %+v", n, got)
		}
	}
}

// TestKeysDiffer checks that every byte of a word counts, for each length up to 70, at each distance from
// the end of the text, in ASCII and in mixed words.
func TestKeysDiffer(t *testing.T) {
	var m Measurer
	for n := 1; n <= 70; n++ {
		base := strings.Repeat("a", n)
		words := []string{base, base + "a"}
		for i := range n {
			words = append(words, base[:i]+"b"+base[i+1:], base[:i]+"_"+base[i+1:], base[:i]+"é"+base[i+1:])
		}
		for _, text := range []string{strings.Join(words, " "), strings.Join(words, "."), strings.ToUpper(strings.Join(words, "-"))} {
			for cut := range 9 {
				if got := m.Measure(text+strings.Repeat("!", cut), strings.Join(words, "\n")); got.ActionWords != len(words) || got.SharedWords != len(words) {
					t.Fatalf("words of %d characters: %+v, want %d", n, got, len(words))
				}
			}
		}
	}
}

// TestMeasureLinear gives texts of several megabytes on which any quadratic step would take hours.
func TestMeasureLinear(t *testing.T) {
	var m Measurer
	for _, c := range []struct {
		name, text string
		words      int
	}{
		{"many strings with escapes", "[" + strings.Repeat(`"a\nb",`, 1<<19) + `"c\n"]`, 3},
		{"many nested strings", "[" + strings.Repeat(`"[\"a\\nb\"]",`, 1<<19) + `"c\n"]`, 3},
		{"many keys", "{" + strings.Repeat(`"k\n":1,`, 1<<19) + `"c\n":2}`, 4},
		{"one long word", strings.Repeat("x", 2<<20), 1},
		{"one long mixed word", strings.Repeat("xé", 1<<20), 1},
		{"a fault at the end", "[" + strings.Repeat(`"a\nb",`, 1<<19) + `]`, 2},
		{"deep brackets", strings.Repeat("[", 1<<19) + `"\n"`, 1},
		{"blanks after strings", "[" + strings.Repeat(`"a\n"`+strings.Repeat(" ", 1000)+",", 1<<12) + `1]`, 2},
		{"switching scripts", strings.Repeat("a中é b ", 1<<18), 4},
	} {
		if got := m.Measure("", c.text); got.ObservationWords != c.words {
			t.Errorf("%s: %d words, want %d", c.name, got.ObservationWords, c.words)
		}
	}
}
