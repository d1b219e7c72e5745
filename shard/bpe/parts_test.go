package bpe

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMatcher compares the trie with a search for every text at every place.
func TestMatcher(t *testing.T) {
	text := rapid.StringMatching(`[ab<é]{0,12}`)
	rapid.Check(t, func(r *rapid.T) {
		set := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab<é]{1,4}`), 0, 6, rapid.ID[string]).Draw(r, "set")
		var m matcher
		for i, s := range set {
			if !m.add(s, i) {
				r.Fatalf("%q of %q was there already", s, set)
			}
		}
		for i, s := range set {
			if m.add(s, i) {
				r.Fatalf("%q of %q was added twice", s, set)
			}
		}
		m.finish()
		in := []byte(text.Draw(r, "text"))
		from := rapid.IntRange(0, len(in)).Draw(r, "from")
		start, end, number := m.find(in, from)
		wantStart, wantEnd, wantNumber := len(in), len(in), -1
		for i := from; i < len(in) && wantNumber < 0; i++ {
			for k, s := range set {
				if bytes.HasPrefix(in[i:], []byte(s)) && (wantNumber < 0 || i+len(s) > wantEnd) {
					wantStart, wantEnd, wantNumber = i, i+len(s), k
				}
			}
		}
		if start != wantStart || end != wantEnd || int(number) != wantNumber {
			r.Fatalf("%q in %q from %d: %d-%d number %d, want %d-%d number %d", set, in, from, start, end, number, wantStart, wantEnd, wantNumber)
		}
	})
}

func TestShortKey(t *testing.T) {
	text := []byte("0123456789abcdefghijklmnopq")
	seen := map[shortKey]string{}
	b := batch{masks: keyMasks()}
	for i := range text {
		for n := 1; n <= shortBytes && i+n <= len(text); n++ {
			key := b.key(text, i, n)
			if tail := b.key(text[:i+n], i, n); key != tail || int(key.hi>>56) != n {
				t.Fatalf("%q at %d: key %x, at the end of the text %x", text[i:i+n], i, key, tail)
			}
			if old, ok := seen[key]; ok {
				t.Fatalf("%q and %q share a key", old, text[i:i+n])
			}
			seen[key] = string(text[i : i+n])
		}
	}
	long, short := b.key([]byte("ab\x00"), 0, 3), b.key([]byte("ab"), 0, 2)
	if long.lo != short.lo || short.hi>>56 != 2 {
		t.Error("a NUL at the end must differ in the length alone")
	}
}

// TestNFCProperties: once is enough, and text cut before a steady character is normalized part by part.
func TestNFCProperties(t *testing.T) {
	texts := rapid.SliceOfN(rapid.SampledFrom(loadParts(t).NFC), 0, 25)
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(texts.Draw(r, "pieces"), "")
		once := nfc(text)
		if twice := nfc(once); twice != once {
			r.Fatalf("%+q: once %+q, twice %+q", text, once, twice)
		}
		for i, c := range text {
			if property(c) != 0 {
				continue
			}
			if parted := nfc(text[:i]) + nfc(text[i:]); parted != once {
				r.Fatalf("%+q cut at %d: %+q, whole %+q", text, i, parted, once)
			}
		}
	})
}

func TestNFCSteadyIsCopiedWhole(t *testing.T) {
	var z normalizer
	for _, text := range []string{"", "plain", "日本語のテキスト", "한국어", "Ünïcödé", "ΑΒΓ и так далее", strings.Repeat("x\u4e00", 100)} {
		if s, ok := z.changed([]byte(text), 0); ok {
			t.Errorf("%q changes at %+v", text, s)
		}
	}
}
