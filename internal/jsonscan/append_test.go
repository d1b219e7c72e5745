package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestAppendQuoted(t *testing.T) {
	for _, c := range []struct{ in, want, line string }{
		{"", `""`, `""`},
		{"plain text, <html> & 'quotes'", `"plain text, <html> & 'quotes'"`, ``},
		{"\"\\/", `"\"\\/"`, ``},
		{"\b\f\n\r\t", `"\b\f\n\r\t"`, ``},
		{"\x00\x01\x0b\x1b\x1c\x1d\x1e\x1f \x7f", `"\u0000\u0001\u000b\u001b\u001c\u001d\u001e\u001f ` + "\x7f\"", ``},
		{"é中😀\u00a0\ufeff\ufffd", "\"é中😀\u00a0\ufeff\ufffd\"", ``},
		{"a\u0085b\u2028c\u2029d", "\"a\u0085b\u2028c\u2029d\"", `"a\u0085b\u2028c\u2029d"`},
		{"\u0084\u0086\u2027\u202a\u00c2\u20a8\u2428", "\"\u0084\u0086\u2027\u202a\u00c2\u20a8\u2428\"", ``},
		{"a\xffb", "\"a\ufffdb\"", ``},
		{"\xe2\x80", "\"\ufffd\ufffd\"", ``},
		{"\xe2\x80\u2028\xe2\x80", "\"\ufffd\ufffd\u2028\ufffd\ufffd\"", "\"\ufffd\ufffd\\u2028\ufffd\ufffd\""},
		{"\xc2", "\"\ufffd\"", ``},
		{"\xed\xa0\xbd\xed\xb8\x80", "\"" + strings.Repeat("\ufffd", 6) + "\"", ``},
		{"123456\n8\u2028" + strings.Repeat("x", 30) + "\"", `"123456\n8` + "\u2028" + strings.Repeat("x", 30) + `\""`, `"123456\n8\u2028` + strings.Repeat("x", 30) + `\""`},
	} {
		if c.line == "" {
			c.line = c.want
		}
		if got := string(AppendQuoted([]byte("head"), c.in)); got != "head"+c.want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", c.in, got, c.want)
		}
		if got := string(AppendQuotedLine([]byte("head"), c.in)); got != "head"+c.line {
			t.Errorf("AppendQuotedLine(%q) = %s, want %s", c.in, got, c.line)
		}
		checkQuoted(t, c.in)
	}
}

// referenceQuoted writes a JSON string rune by rune.
func referenceQuoted(s string, line bool) string {
	var b strings.Builder
	b.WriteByte('"')
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	for _, r := range s { // a bad byte comes as U+FFFD
		switch esc, ok := short[r]; {
		case ok:
			b.WriteString(esc)
		case r < 0x20, line && (r == 0x85 || r == 0x2028 || r == 0x2029):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// checkQuoted compares with the reference and reads both forms back.
func checkQuoted(t failer, s string) {
	t.Helper()
	mended := string([]rune(s))
	for _, line := range []bool{false, true} {
		out := AppendQuoted(nil, s)
		if line {
			out = AppendQuotedLine(nil, s)
		}
		if want := referenceQuoted(s, line); string(out) != want {
			t.Fatalf("quoted(%q, line=%t) = %q, want %q", s, line, out, want)
		}
		var got string
		if err := json.Unmarshal(out, &got); err != nil || got != mended {
			t.Fatalf("encoding/json reads %q as %q (%v), want %q", out, got, err, mended)
		}
		var d Doc
		v, err := d.Parse(out)
		if err != nil || string(v.AppendString(nil)) != mended {
			t.Fatalf("Parse(%q): %v, want %q back", out, err, mended)
		}
		if r := d.Repairs(); r != (Repairs{NUL: strings.Count(s, "\x00")}) {
			t.Fatalf("Parse(%q) repairs %+v; a written string needs none", out, r)
		}
		// What Python's str.splitlines and other readers take for the end of a line.
		if at := strings.IndexFunc(string(out), endsLine); line && at >= 0 {
			t.Fatalf("AppendQuotedLine(%q) = %q holds a line separator at %d", s, out, at)
		}
	}
}

func endsLine(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1C && r <= 0x1E || r == 0x85 || r == 0x2028 || r == 0x2029
}

func TestQuotedEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x3000 && r%61 != 0 { // all line separators and escapes lie below
			continue
		}
		checkQuoted(t, string(r))
	}
	for c := range 256 {
		for lead := range 9 {
			checkQuoted(t, strings.Repeat("x", lead)+string([]byte{byte(c)})+"yz")
		}
	}
}

func TestRandomQuoted(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "12345678", "\n", "\"", "\\", "\x00", "\x1f", "é", "中", "😀", "\u0085", "\u2028", "\u2029", "\u201c", "\xc2", "\xe2", "\xe2\x80", "\x85", "\xa8"})
	rapid.Check(t, func(t *rapid.T) {
		checkQuoted(t, strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), ""))
	})
}
