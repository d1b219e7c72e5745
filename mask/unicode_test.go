package mask

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"
	"unicode"
)

// words1Digest is the SHA-256 over every code point from 0 to U+10FFFF: one byte of class (separator,
// blank, pairing, word), then the lower case that words-1 gives it, 4 bytes, big endian.
const words1Digest = "1fc6d91939bd1d7760ce36f4b9d8ddd3fdf4802cd584834a1d3316214af35f44"

func TestWords1Digest(t *testing.T) {
	h := sha256.New()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		kind := kindOf(r)
		entry := [5]byte{min(kind, kindWord)}
		binary.BigEndian.PutUint32(entry[1:], uint32(r+lower[kind]))
		h.Write(entry[:])
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != words1Digest {
		t.Errorf("the class or lower case of a code point has moved: words-1 becomes words-2\ngot  %s\nwant %s", got, words1Digest)
	}
}

// TestTablesAgainstGo compares every code point with Go's own tables, as long as both have one version.
func TestTablesAgainstGo(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Skipf("Go's tables are Unicode %s and words-1 is 15.0.0; the digest alone holds the tables here", unicode.Version)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		kind := kindOf(r)
		words := wordMap{}
		naiveText(string(r), words)
		valid := r < 0xD800 || r > 0xDFFF
		if got := kind >= kindPairing; valid && got != (len(words) == 1) {
			t.Fatalf("U+%04X: is a word %v, want %v", r, got, !got)
		}
		if got := r + lower[kind]; got != unicode.ToLower(r) && kind >= kindPairing {
			t.Fatalf("U+%04X: lower case U+%04X, want U+%04X", r, got, unicode.ToLower(r))
		}
		if got := kind == kindBlank; got != unicode.IsSpace(r) {
			t.Fatalf("U+%04X: blank %v, want %v", r, got, !got)
		}
		words = wordMap{}
		naiveText(string(r)+"中", words)
		if got := kind == kindPairing; valid && got != words[string(r)+"中"] {
			t.Fatalf("U+%04X: pairs %v, want %v", r, got, !got)
		}
	}
	for _, r := range []rune{-1, unicode.MaxRune + 1, 1<<31 - 1} {
		if kindOf(r) != kindSeparator {
			t.Errorf("kindOf(%d) = %d, want a separator", r, kindOf(r))
		}
	}
}

// TestLowerCaseKeepsKind makes sure that a word's lower case is a word: what Explain shows would be cut
// the same way again.
func TestLowerCaseKeepsKind(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if kind := kindOf(r); kind > kindWord {
			if l := kindOf(r + lower[kind]); l != kindWord {
				t.Errorf("U+%04X: its lower case U+%04X has kind %d", r, r+lower[kind], l)
			}
		}
	}
}
