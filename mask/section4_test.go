package mask

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestSection4 has a test for every line of the words-1 definition, named after the line.
func TestSection4(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"01-texts-as-trained", section01},
		{"02-trim", section02},
		{"03-repaired-bytes", section03},
		{"04-byte-order-mark", section04},
		{"05-first-character", section05},
		{"06-json-to-the-letter", section06},
		{"07-nested-strings", section07},
		{"08-repeated-members", section08},
		{"09-unicode-15.0.0", section09},
		{"10-category-then-script", section10},
		{"11-simple-lower-case", section11},
		{"12-cjk-runs", section12},
		{"13-marks-alone", section13},
		{"14-wait-and-index", section14},
		{"15-seed-and-id-as-given", section15},
		{"16-one-division", section16},
		{"17-modes", section17},
	} {
		t.Run(c.name, c.test)
	}
}

// wantWords checks the words of a text, separated by spaces, in Explain and in the fast path.
func wantWords(t *testing.T, text, want string) {
	t.Helper()
	table := Default()
	e := Explain(&table, &turnmill.Turn{Action: text})
	words := strings.Fields(want)
	slices.Sort(words)
	if !slices.Equal(e.Action, words) {
		t.Errorf("words of %+q are %+q, want %+q", text, e.Action, words)
	}
	var m Measurer
	// As raw text, the wanted words side by side are the same set again.
	if c := m.Measure(text, "- "+want); c.ActionWords != len(words) || c.ObservationWords != len(words) || c.SharedWords != len(words) {
		t.Errorf("%+q and %+q: %d and %d words, %d shared, want %d", text, want, c.ActionWords, c.ObservationWords, c.SharedWords, len(words))
	}
}

func wantChars(t *testing.T, text string, want int64) {
	t.Helper()
	var m Measurer
	if c := m.Measure(text, text); c.ActionChars != want || c.ObservationChars != want {
		t.Errorf("%+q has %d and %d characters, want %d", text, c.ActionChars, c.ObservationChars, want)
	}
}

func section01(t *testing.T) { // no normalisation form: composed and decomposed are two words
	wantWords(t, "caf\u00e9 cafe\u0301", "caf\u00e9 cafe\u0301")
	wantWords(t, "\ufb01n \uff21", "\ufb01n \uff41") // no compatibility forms either
	turn := turnmill.Turn{State: "page one", Thought: "why", Action: "go", Observation: "went"}
	m, err := New(Default(), "0", ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(m, "id", &turn); d.ActionWords != 1 || d.ObservationWords != 1 { // state and thought stay out
		t.Errorf("%+v: state or thought was measured", d)
	}
}

func section02(t *testing.T) { // White_Space goes, nothing else; lengths are of the raw text
	wantChars(t, " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000x\u3000 ", 1)
	for _, r := range "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff" {
		wantChars(t, string(r)+"x"+string(r), 3)
	}
	wantChars(t, `{"a":"\u4e2d\n"}`, 16) // not the decoded text
	wantChars(t, " 中🙂e\u0301 ", 4)       // code points, neither bytes nor graphemes
	wantChars(t, " \u3000\n", 0)
}

func section03(t *testing.T) { // each mended byte or surrogate separates, and the text stays JSON
	wantWords(t, "a\ufffdb", "a b")
	wantWords(t, `{"k":"a\ud800b\nc"}`, "k a b c")
	wantWords(t, `["\udc00\ud83d\ude00\ud83dx\ny"]`, "x y")
	wantWords(t, "[\"a\ufffdb\\u0041\"]", "a ba")
}

func section04(t *testing.T) { // U+FEFF separates, counts, and keeps a text from being JSON
	wantWords(t, "a\ufeffb", "a b")
	wantChars(t, "\ufeff[]", 3)
	wantWords(t, "\ufeff[\"a\\nb\"]", "a nb")
	wantWords(t, "[\"a\\nb\"]", "a b")
}

func section05(t *testing.T) { // only the first character is tested; blanks between values
	wantWords(t, `"a\nb"`, "a b")
	wantWords(t, `{} 12 null "a\nb"`, "12 null a b")
	for first, word := range map[string]string{"{}": "", `{"n":0}`: "n 0", "[]": "", "[[ ]]": "", `""`: "", "-1": "1", "true": "true", "false": "false", "null": "null",
		"0": "0", "1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "7": "7", "8": "8", "9": "9"} {
		wantWords(t, "[ "+first+`,"a\nb"]`, "a b "+word)
	}
	wantWords(t, "[1]\t\n\r {\"k\":\"a\\nb\"}", "1 k a b")
	wantWords(t, `12 "a\nb"`, "12 a nb")        // begins with a digit: raw
	wantWords(t, `null ["a\nb"]`, "null a nb")  // begins with a letter: raw
	wantWords(t, `{}{"k":"a\nb"}`, "k a nb")    // no blank
	wantWords(t, `{}, {"k":"a\nb"}`, "k a nb")  // a comma
	wantWords(t, "{}\u00a0[\"a\\nb\"]", "a nb") // a no-break space is no JSON blank
	wantWords(t, "{}\f[\"a\\nb\"]", "a nb")     // nor is a form feed
	wantWords(t, `["a\nb"] and more`, "a nb and more")
	wantWords(t, "\u00a0{\"k\":\"a\\nb\"}\u2003", "k a b") // trimmed first
}

func section06(t *testing.T) { // one fault makes all of it raw
	for _, text := range []string{
		"[\"a\\nb\",\"\x01\"]", "[\"a\\nb\",\"\t\"]", "[\"a\\nb\" /* c */]", `["a\nb",]`, `["a\nb",01]`, `["a\nb",1.]`, `["a\nb",.5]`,
		`["a\nb",+1]`, `["a\nb","\x41"]`, `["a\nb","\'"]`, `["a\nb","\u00g0"]`, `["a\nb",NaN]`, `["a\nb",-Infinity]`, `["a\nb",tru]`,
		`['x',"a\nb"]`, `{k:"a\nb"}`, `{"k":"a\nb",}`, `{"k" "a\nb"}`, `["a\nb"`, `["a\nb"]]`, `{"k":"a\nb"} NaN`, `{} ["a\nb"] [1,]`,
	} {
		words := wordMap{}
		naiveText(text, words)
		table := Default()
		e := Explain(&table, &turnmill.Turn{Action: text})
		if !words["nb"] || !slices.Contains(e.Action, "nb") || len(e.Action) != len(words) {
			t.Errorf("%+q gives %+q, want the words of the raw text", text, e.Action)
		}
	}
	deep := func(n int) string { return strings.Repeat("[", n) + `"a\nb"` + strings.Repeat("]", n) }
	wantWords(t, deep(10_000), "a b")
	wantWords(t, deep(10_001), "a nb")
	wantWords(t, strings.Repeat(`{"k":`, 10_000)+`"a\nb"`+strings.Repeat("}", 10_000), "k a b")
	wantWords(t, strings.Repeat(`{"k":`, 10_001)+`"a\nb"`+strings.Repeat("}", 10_001), "k a nb")
	wantWords(t, strings.Repeat("[", 9_999)+quote(deep(10_000))+strings.Repeat("]", 9_999), "a b") // a decoded string starts at zero
	wantWords(t, "["+quote(deep(10_001))+"]", "a nb")
	wantWords(t, "[\"a\x7f\\nb\"]", "a b") // U+007F is no control character to JSON
}

// quote writes s as a JSON string.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func section07(t *testing.T) { // values that are one array or object are decoded again, four times in a row
	wantWords(t, quote(`{"k":"a\nb"}`), "k a b")
	wantWords(t, "["+quote("\u00a0\n[\"a\\nb\"]\u3000")+"]", "a b") // trimmed first
	wantWords(t, "["+quote(`{} ["a\nb"]`)+"]", "a nb")              // a sequence is text
	wantWords(t, "["+quote(`"a\nb"`)+"]", "a nb")                   // a string in a string is text
	wantWords(t, "["+quote(`["a\nb",]`)+"]", "a nb")                // not JSON
	wantWords(t, "{"+quote(`["a\nb"]`)+`:1}`, "a nb 1")             // keys are decoded once
	wantWords(t, "{"+quote(`["a\nb"]`)+" \t\r\n:1}", "a nb 1")
	wantWords(t, `{"x":`+quote(`["a\nb"]`)+`}`, "x a b")
	text := `["a\nb"]`
	for level := 1; level <= 6; level++ {
		text = "[" + quote(text) + "]"
		if want := "a b"; level <= 4 {
			wantWords(t, text, want)
			wantWords(t, text[1:len(text)-1], want) // the text itself is a string
		} else {
			wantWords(t, text, "a nb")
		}
	}
	// The fifth string is text, its own quotes and escapes included; what stands beside it is not.
	wantWords(t, `["x\ny",`+text+"]", "x y a nb")
}

func section08(t *testing.T) { // every member counts
	wantWords(t, `{"k":"one\n","k":"two","k":{"k":3}}`, "k one two 3")
}

func section09(t *testing.T) { // code points that 15.0.0 does not assign separate
	wantWords(t, "a\u0378b", "a b")
	wantWords(t, "a\U00031350b", "a \U00031350 b")      // assigned in 15.0
	wantWords(t, "a\U0002ebf0b", "a b")                 // assigned in 15.1
	wantWords(t, "a\u1c89b", "a b")                     // assigned in 16.0
	wantWords(t, "\U0001e4d0", "\U0001e4d0")            // assigned in 15.0
	wantWords(t, "\ue000a\U000f0000b\U0010fffd", "a b") // private use
}

func section10(t *testing.T) { // category first, then the Script property
	wantWords(t, "a\u2f00b", "a b")                   // Kangxi radical: So
	wantWords(t, "中\u3314中", "中")                     // squared katakana: So
	wantWords(t, "中\u32d0文", "中 文")                   // circled katakana: So
	wantWords(t, "\u3007年", "\u3007年")                // ideographic zero: Han
	wantWords(t, "\u3021\u3022", "\u3021\u3022")      // Hangzhou numerals: Han
	wantWords(t, "a\u24b6b", "a b")                   // enclosed letter: So
	wantWords(t, "a\u2460b", "a\u2460b")              // enclosed digit: No
	wantWords(t, "a\u200db a\u200cb a\u00adb", "a b") // Cf cuts
	wantWords(t, "_ - __", "_ __")                    // the underscore alone
	wantWords(t, "read_file notes/todo.md", "read_file notes todo md")
	wantWords(t, "3.10.12 1e5 -7 x²", "3 10 12 1e5 7 x²")
	wantWords(t, "中\u30fb文", "中 文") // the middle dot is Po
	wantWords(t, "ไทย हिंदी עִברית", "ไทย हिंदी עִברית")
}

func section11(t *testing.T) { // rune by rune, no locale, no context
	wantWords(t, "\u0130 İstanbul", "i istanbul")
	wantWords(t, "ΟΔΟΣ", "οδο\u03c3")
	wantWords(t, "οδο\u03c2", "οδο\u03c2") // a final sigma that stands there stays one
	wantWords(t, "\u1e9e", "\u00df")
	wantWords(t, "\u212a K k", "k") // the Kelvin sign meets ASCII
	wantWords(t, "\u212aLM_1 klm_1 KLM_1", "klm_1")
	wantWords(t, "\u2167 \U00010400 \uab70 \u13a0", "\u2177 \U00010428 \uab70")
	wantWords(t, "ÀÉ àé", "àé")
}

func section12(t *testing.T) { // pairs
	wantWords(t, "中", "中")
	wantWords(t, "先查订单", "先查 查订 订单")
	wantWords(t, "食べるカメラー", "食べ べる るカ カメ メラ ラー") // one run over three scripts
	wantWords(t, "ー", "ー")
	wantWords(t, "ｰ", "ｰ")
	wantWords(t, "aーーb", "a ーー b")
	wantWords(t, "a中b文字c", "a 中 b 文字 c")
	for _, r := range "\u3006\u303c\u3031\u3035\u3099\u309a\uff9e\uff9f" { // ordinary word runes
		wantWords(t, "a"+string(r)+"b", "a"+string(r)+"b")
		wantWords(t, "中文"+string(r)+"字", "中文 "+string(r)+" 字")
	}
	wantWords(t, "中文\u0301字", "中文 \u0301 字") // a mark ends the run
	wantWords(t, "か\u3099き", "か \u3099 き")
	wantWords(t, "中\U00016ff0文", "中 \U00016ff0 文") // a mark whose script is Han
	wantWords(t, "中\U00020000\U00031350", "中\U00020000 \U00020000\U00031350")
	wantWords(t, "한국어 조선말", "한국어 조선말")
	wantWords(t, `["中\n文字"]`, "中 文字")
}

func section13(t *testing.T) { // marks alone are a word, a bare emoji is none
	wantWords(t, "\u2764\ufe0f", "\ufe0f")
	wantWords(t, "\u2764 🙂", "")
	wantWords(t, "1\ufe0f\u20e3", "1\ufe0f\u20e3") // keycap: digit, selector, enclosing mark
	wantWords(t, "\u0301\u0302", "\u0301\u0302")
}

func section14(t *testing.T) { // a wait is measured; the draw takes the turn's own index
	m, err := New(Default(), "s", ModeTurn)
	if err != nil {
		t.Fatal(err)
	}
	d := decide(m, "t1", &turnmill.Turn{HasAction: true, Action: "", Observation: "still running"})
	if d.ActionWords != 0 || d.ActionChars != 0 || d.ObservationWords != 2 || d.Category != turnmill.CategoryRetrieval || !d.Kept {
		t.Errorf("a wait: %+v, want retrieval, kept", d)
	}
	same := turnmill.Turn{Action: "echo done", Observation: "echo done"}
	for index := range 200 {
		same.Index = index
		if d := decide(m, "t1", &same); d.Kept != Keeps(Draw("s", "t1", index), turnmill.Ratio{Num: 1, Den: 20}) {
			t.Errorf("turn %d: kept %v, its own draw says otherwise", index, d.Kept)
		}
	}
}

func section15(t *testing.T) { // bytes as given
	base := Draw("0", "é", 7)
	for _, c := range [][2]string{{"00", "é"}, {" 0", "é"}, {"0 ", "é"}, {"0", "e\u0301"}, {"0", "é "}, {"0", "É"}, {"0.0", "é"}} {
		if Draw(c[0], c[1], 7) == base {
			t.Errorf("seed %q, id %q draws as seed 0, id é", c[0], c[1])
		}
	}
	if Draw("0", "é", 7) != base {
		t.Error("two trajectories of one id draw differently")
	}
}

func section16(t *testing.T) { // one binary64 division of two integers
	c := Counts{ActionWords: 10, ObservationWords: 9, SharedWords: 7, ActionChars: 29, ObservationChars: 28}
	for name, f := range map[string]struct {
		got  func() (float64, bool)
		n, d float64
	}{
		"overlap": {c.Overlap, 7, 10}, "novelty": {c.Novelty, 2, 9}, "jaccard": {c.Jaccard, 7, 12}, "length ratio": {c.LengthRatio, 28, 29},
	} {
		if got, ok := f.got(); !ok || got != f.n/f.d {
			t.Errorf("%s = %v, %v, want %v", name, got, ok, f.n/f.d)
		}
	}
	undefined := func(c Counts) string {
		var out []string
		for i, f := range []func() (float64, bool){c.Overlap, c.Novelty, c.Jaccard, c.LengthRatio} {
			if v, ok := f(); ok {
				out = append(out, fmt.Sprint(v))
			} else {
				out = append(out, [...]string{"-OL", "-Nov", "-Jac", "-R"}[i])
			}
		}
		return strings.Join(out, " ")
	}
	for want, c := range map[string]Counts{
		"-OL -Nov -Jac -R": {},
		"-OL 1 0 -R":       {ObservationWords: 3, ObservationChars: 9},
		"0 -Nov 0 0":       {ActionWords: 3, ActionChars: 9},
		"-OL -Nov -Jac 2":  {ActionChars: 1, ObservationChars: 2},
	} {
		if got := undefined(c); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
}

func section17(t *testing.T) { // mode token: one draw a token; every mode names the table's ratio
	echo := turnmill.Turn{Action: "echo done", Observation: "echo done", Index: 4}
	for mode := ModeTurn; mode <= ModeOff; mode++ {
		m, err := New(Default(), "s", mode)
		if err != nil {
			t.Fatal(err)
		}
		d := decide(m, "t1", &echo)
		if d.Category != turnmill.CategoryEcho || d.Keep != (turnmill.Ratio{Num: 1, Den: 20}) {
			t.Errorf("mode %s: %v at %v, want echo at 0.05", mode, d.Category, d.Keep)
		}
		if want := !mode.Draws(); d.Kept != want { // turn 4 of t1 is drawn out at 5%
			t.Errorf("mode %s: kept %v, want %v", mode, d.Kept, want)
		}
		if back, err := ParseMode(mode.String()); err != nil || back != mode {
			t.Errorf("ParseMode(%s) = %v, %v", mode, back, err)
		}
	}
	if _, err := ParseMode("Turn"); err == nil || !strings.Contains(err.Error(), "try turn, token, weight, span, changed or off") {
		t.Errorf("ParseMode(Turn): %v", err)
	}
	if DrawToken("s", "t1", 0, 12) == DrawToken("s", "t1", 0, 1) || DrawToken("s", "t1", 0, 12) == DrawToken("s", "t1", 12, 0) {
		t.Error("tokens or turns share a draw")
	}
}
