package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMarksEveryPair puts each two bytes side by side at each place of a word: what follows a hit may be
// marked wrongly, the lowest mark never.
func TestMarksEveryPair(t *testing.T) {
	stops := func(c byte) bool { return c == '"' || c == '\\' || c < 0x20 }
	for _, fill := range []byte{'x', ' ', '!', '#', ']', 0x7F, 0x80, 0xA2, 0xFF} {
		for pos := range 7 {
			var b [8]byte
			for i := range b {
				b[i] = fill
			}
			for pair := range 1 << 16 {
				b[pos], b[pos+1] = byte(pair), byte(pair>>8)
				want := 8
				if stops(b[pos]) {
					want = pos
				} else if stops(b[pos+1]) {
					want = pos + 1
				}
				if got := bits.TrailingZeros64(marks(binary.LittleEndian.Uint64(b[:]))) / 8; got != want {
					t.Fatalf("marks(% x) stops at %d, want %d", b, got, want)
				}
			}
		}
	}
}

// TestStopsAtEveryOffset has one special piece at each place of strings of each length around the word
// size, and compares decoding, quoting and the flags with encoding/json.
func TestStopsAtEveryOffset(t *testing.T) {
	pieces := []string{`\n`, `\"`, `\\`, `\u0000`, `\u4e2d`, `\ud83d\ude00`, `\ud800`, "é", "中", "😀", "\x7f", "\xff", "\xe4\xb8", "\u0085", "\u2028", "]", "#"}
	for _, fill := range []string{"x", "中", `\n`, "\xa2"} {
		for _, n := range []int{0, 1, 6, 7, 8, 9, 15, 16, 17, 33} {
			for pos := 0; pos <= n; pos++ {
				for _, piece := range pieces {
					text := strings.Repeat(fill, pos) + piece + strings.Repeat(fill, n-pos)
					compareWithReference(t, []byte(`["`+text+`","after"]`))
				}
			}
		}
	}
}

func TestAwkwardLengths(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025} {
		for _, piece := range []string{"a", `\t`, "é", "中", "😀", `\\\"`, "\x80"} {
			for _, lead := range []int{0, 3, 7} {
				compareWithReference(t, []byte(strings.Repeat(" ", lead)+`{"`+strings.Repeat(piece, n)+`":"`+strings.Repeat(piece, n)+`"}`))
			}
		}
	}
}

// TestScrambledBytes compares verdicts on many short texts of JSON's own bytes.
func TestScrambledBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		data := scramble(r, r.IntN(24))
		compareWithReference(t, data)
		compareWithReference(t, append(append([]byte(`"`), data...), '"'))
	}
}

func TestHex4(t *testing.T) {
	for c := range 256 {
		want := strings.IndexByte("0123456789abcdef", byte(c)|0x20)
		if c|0x20 == c && c >= '0' && c <= '9' {
			want = c - '0'
		} else if c < 'A' {
			want = -1
		}
		if got := hexDigit(byte(c)); int(got) != want {
			t.Errorf("hexDigit(%#x) = %d, want %d", c, got, want)
		}
		for pos := range 4 {
			b := []byte("xxffff")
			b[2+pos] = byte(c)
			got := hex4(b, 2)
			if want < 0 && got >= 0 || want >= 0 && got != rune(0xFFFF&^(0xF<<(12-4*pos))|want<<(12-4*pos)) {
				t.Errorf("hex4(%q) = %#x", b[2:], got)
			}
		}
	}
	if hex4([]byte("123"), 0) >= 0 || hex4([]byte("01234"), 2) >= 0 {
		t.Error("hex4 reads past the end")
	}
}

// TestEveryEscapedUnit decodes each of the 65,536 \u escapes, in both cases.
func TestEveryEscapedUnit(t *testing.T) {
	var d Doc
	var a Arena
	for r := rune(0); r <= 0xFFFF; r++ {
		for _, form := range []string{`"\u%04x"`, `"12345678\u%04X87654321"`} {
			v, err := d.Parse(fmt.Appendf(nil, form, r))
			if err != nil {
				t.Fatal(err)
			}
			a.Reset()
			// string(rune) gives U+FFFD for surrogates, as the scanner should.
			if got := v.Str(&a); strings.Trim(got, "12345678") != strings.Trim(string(r), "12345678") {
				t.Fatalf("U+%04X decodes to %q", r, got)
			}
			want := Repairs{}
			if r == 0 {
				want.NUL = 1
			} else if r >= 0xD800 && r < 0xE000 {
				want.LoneSurrogate = 1
			}
			if d.Repairs() != want {
				t.Fatalf("U+%04X: repairs %+v, want %+v", r, d.Repairs(), want)
			}
		}
	}
}

// TestValidUTF8 compares with the standard library: each lead byte with each second byte and edge
// continuations, with room for a whole word behind it and without, and random mixtures.
func TestValidUTF8(t *testing.T) {
	tails := []string{"", "a", "\x80", "\xbf", "\xc0", "\x80\x80", "\xbf\xbf", "\x80a"}
	for _, before := range []string{"", "1234567", "中"} {
		for _, after := range []string{"", "中文字中文字"} {
			for pair := range 1 << 16 {
				if pair&0xFF < 0x80 {
					continue // the lead byte
				}
				for _, tail := range tails {
					b := append(append(append([]byte(before), byte(pair), byte(pair>>8)), tail...), after...)
					if got, want := validUTF8(b), utf8.Valid(b); got != want {
						t.Fatalf("validUTF8(% x) = %t, want %t", b, got, want)
					}
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	chars := []string{"a", "12345678", "é", "\u07ff", "\u0800", "中", "\ud7ff", "\ue000", "\uffff", "😀", "\U0010ffff", "\x80", "\xc1\x80", "\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80"}
	for range 50_000 {
		var b []byte
		for range r.IntN(12) {
			n := len(chars)
			if r.IntN(3) > 0 {
				n -= 5 // usually only good ones
			}
			b = append(b, chars[r.IntN(n)]...)
		}
		if got, want := validUTF8(b), utf8.Valid(b); got != want {
			t.Fatalf("validUTF8(% x) = %t, want %t", b, got, want)
		}
		if bad := countBad(b); (bad == 0) != utf8.Valid(b) || bad != strings.Count(string([]rune(string(b))), "\ufffd") {
			t.Fatalf("countBad(% x) = %d", b, bad)
		}
	}
}
