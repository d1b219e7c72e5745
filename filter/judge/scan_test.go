package judge

import (
	"strings"
	"testing"
)

// good is an answer's object with the scores 5 4 3 2 1.
const good = `{"scores": {"format": 5, "factuality": 4, "consistency": 3, "realism": 2, "quality": 1}}`

// hard are texts that a careless scanner reads again and again, each made as long as asked for.
var hard = []struct {
	name string
	text func(n int) string
}{
	{"braces", fill("{")},
	{"closing braces", fill("}")},
	{"brackets in an object", func(n int) string { return `{"a":` + strings.Repeat("[", n) }},
	{"nested objects", fill(`{"a":`)},
	{"nested objects in arrays", fill(`{"a":[`)},
	{"nested, each with a string", fill(`{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,"a":`)},
	{"nested to the limit, then long", func(n int) string {
		return strings.Repeat(`{"a":`, maxDepth) + `"` + strings.Repeat("x", n) + `"`
	}},
	{"nested to the limit, then long, again and again", func(n int) string {
		one := strings.Repeat(`{"a":`, maxDepth-1) + `{"b":[` + strings.Repeat("1,", 100_000) + "!"
		return strings.Repeat(one, n/len(one)+1)
	}},
	{"siblings in a broken array", func(n int) string { return `{"a":[` + strings.Repeat(`{"b":1},`, n/8) + "!" }},
	{"siblings with scores in a broken array", func(n int) string { return `{"a":[` + strings.Repeat(`{"format":1},`, n/13) + "!" }},
	{"strings that never end", fill(`{"`)},
	{"strings that never end, spaced", fill(`{"a":" `)},
	{"one string with braces that never ends", func(n int) string { return `{"a":"` + strings.Repeat("{", n) }},
	{"one string with objects that never ends", func(n int) string { return `{"a":"` + strings.Repeat(`{\"a\":1}`, n/9) }},
	{"quotes flip", fill(`{"a":"{"b":"`)},
	{"quotes flip in arrays", fill(`{"a":["{"b":["`)},
	{"escapes", func(n int) string { return `{"a":"` + strings.Repeat(`\`, n) }},
	{"single quotes", fill(`{'`)},
	{"apostrophes", func(n int) string { return `{'a': '` + strings.Repeat("'x", n/2) }},
	{"apostrophes and blanks", func(n int) string { return `{'a': '` + strings.Repeat("'        x", n/10) }},
	{"blanks", func(n int) string { return "{" + strings.Repeat(" ", n) }},
	{"braces and blanks", fill("{          ")},
	{"a long number", func(n int) string { return `{"a":` + strings.Repeat("1", n) }},
	{"long keys", fill("{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ")},
	{"whole objects", fill(`{"a":1}`)},
	{"whole objects with scores", fill(`{"format":1}`)},
	{"whole objects in fences", fill("```json {\"format\":1}")},
	{"think tags", fill("<think>")},
	{"think tags that end", fill("</think>")},
	{"think tags in turn", fill("<think></think>")},
	{"blocks", fill("<final_evaluation>")},
	{"blocks and objects", fill(`<final_evaluation>{"format":1}`)},
}

// mostSteps is the most that a text of these takes a byte.
const mostSteps = 5

// fill returns what repeats a text up to a length.
func fill(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1) }
}

// TestScanIsLinear counts the bytes looked at in texts of 2 MB and a tenth of that: the count stays a small
// multiple of the length, and does not grow faster. No clock is asked.
func TestScanIsLinear(t *testing.T) {
	const size = 2 << 20
	for _, h := range hard {
		part, whole := h.text(size/10), h.text(size)
		for _, lax := range []bool{false, true} {
			a, b := scan(part, 0, lax, nil), scan(whole, 0, lax, nil)
			perPart, perWhole := float64(a.steps)/float64(len(part)), float64(b.steps)/float64(len(whole))
			if perWhole > mostSteps || perWhole > 1.05*perPart+0.1 || b.spent {
				t.Errorf("%s, lax %v: %.2f steps a byte at 0.2 MB, %.2f at 2 MB, limit reached: %v; want at most %d and no growth", h.name, lax, perPart, perWhole, b.spent, mostSteps)
			}
		}
	}
}

// TestScoresAfterMuch: an answer of 10 MB that ends as asked is read, whatever stands before its block, and
// without the block in as few steps a byte.
func TestScoresAfterMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("32 answers of 10 MB")
	}
	for _, h := range hard {
		text := h.text(10 << 20)
		if s := scan(text, 0, false, nil); s.steps > mostSteps*len(text) || s.spent {
			t.Errorf("%s: %d steps for %d bytes", h.name, s.steps, len(text))
		}
		text += "</think><final_evaluation>" + good + "</final_evaluation>"
		if got := ParseScores(complete(text), Options{}); got.State != Valid || got.Scores != (Scores{5, 4, 3, 2, 1}) {
			t.Errorf("%s: %v %v %s", h.name, got.State, got.Scores, got.Detail)
		}
	}
}

// TestScanLimit: a text that would need more steps than the limit is given up, and its last object is still
// found from behind.
func TestScanLimit(t *testing.T) {
	s := scanner{text: good, limit: 10}
	if _, ok := s.object(0, 0); ok || !s.spent {
		t.Errorf("ten steps read an object of %d bytes", len(good))
	}
	if o := backward(strings.Repeat("{", 1000)+good, 0); o == nil || o.end != 1000+len(good) {
		t.Errorf("found %+v from behind", o)
	}
}

// TestIsNumber compares with the grammar of RFC 8259, section 6.
func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "4.0": true, "-4.25": true, "4e0": true, "4E+1": true, "4.5e-10": true,
		"": false, "-": false, "+4": false, "04": false, ".5": false, "4.": false, "4e": false, "4e+": false, "4.e1": false,
		"0x4": false, "1_000": false, "NaN": false, "Infinity": false, "４": false, " 4": false,
	} {
		if isNumber(text) != want {
			t.Errorf("isNumber(%q) = %v", text, !want)
		}
	}
}
