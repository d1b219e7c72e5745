package bpe

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// pieceTexts draws texts from the pieces of testdata, without the texts of added tokens unless asked.
func pieceTexts(t testing.TB, added bool) *rapid.Generator[string] {
	p := loadParts(t)
	all := slices.Concat(p.Fuzz, p.NFC)
	if !added {
		all = slices.DeleteFunc(all, func(s string) bool { return strings.ContainsAny(s, "<>|") })
	}
	return rapid.Custom(func(r *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 0, 30).Draw(r, "pieces"), "")
	})
}

// tinyCaches returns an encoder whose caches hold next to nothing.
func tinyCaches(m *Model) *Encoder {
	return m.newEncoder(nil, caches{newNearCache(1), newShortCache(2), newLongCache(2, 64, 64)})
}

// familyModels returns tokenizers of every family: two of testdata as they are and with each of shapes.json.
func familyModels(t testing.TB) map[string]*Model {
	models := map[string]*Model{"tiny.json": loadFile(t, "tiny.json"), "edges.json": loadFile(t, "edges.json")}
	for _, shape := range []string{"qwen3.5", "llama3", "cl100k", "o200k", "gpt-4o", "deepseek", "gpt2"} {
		models["tiny.json "+shape] = loadShaped(t, "tiny.json", shape)
		models["edges.json "+shape] = loadShaped(t, "edges.json", shape)
	}
	return models
}

func TestEncodeEqualsReference(t *testing.T) {
	for name, m := range familyModels(t) {
		warm, texts := m.NewEncoder(nil), pieceTexts(t, false)
		rapid.Check(t, func(r *rapid.T) {
			text := texts.Draw(r, "text")
			if diff := cmp.Diff(reference(m, text), encode(t, warm, text).IDs); diff != "" {
				r.Fatalf("%s: ids of %q (-reference +encoder)\n%s", name, text, diff)
			}
		})
	}
}

// TestCachesChangeNothing: the same tokens with caches that forget all the time, and from a warm encoder.
func TestCachesChangeNothing(t *testing.T) {
	m := loadFile(t, "odd.json")
	warm, small, texts := m.NewEncoder(nil), tinyCaches(m), pieceTexts(t, true)
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Repeat(texts.Draw(r, "text"), 2)
		want := encode(t, m.NewEncoder(nil), text)
		for name, e := range map[string]*Encoder{"warm": warm, "tiny caches": small} {
			if diff := cmp.Diff(want, encode(t, e, text)); diff != "" {
				r.Fatalf("%s: %q (-fresh +got)\n%s", name, text, diff)
			}
		}
	})
}

// TestCachesAreExact: words of few tokens that differ in few bits, in caches where they meet. Half of each
// word is the same, and has the bits in which the others differ.
func TestCachesAreExact(t *testing.T) {
	m, err := Load(edited(t, func(r map[string]any) {
		vocab := model(r)["vocab"].(map[string]any)
		delete(r, "added_tokens")
		var merges []any
		merge := func(left, right string) string {
			merges = append(merges, left+" "+right)
			if _, ok := vocab[left+right]; !ok {
				vocab[left+right] = len(vocab)
			}
			return left + right
		}
		var two []string
		for _, pair := range []string{"aa", "aA", "Aa", "AA"} {
			two = append(two, merge(pair[:1], pair[1:]))
		}
		for _, left := range two {
			for _, right := range two {
				merge(left, right)
			}
		}
		four := merge(merge("o", "o"), "oo")
		merge(four, four)
		model(r)["merges"] = merges
	}))
	if err != nil {
		t.Fatal(err)
	}
	small := tinyCaches(m)
	var s stream
	for range 100 {
		var text []byte
		for range 40 {
			text = append(text, ' ')
			for range 4 {
				text = append(text, "aA"[s.draw(2)])
			}
			text = append(text, "oooooooo"...)
		}
		if got, want := encode(t, small, string(text)).IDs, reference(m, string(text)); !slices.Equal(got, want) {
			t.Fatalf("%q: ids %v, want %v", text, got, want)
		}
	}
}

// TestDecodeEncodeIsNFC also checks Ends: what is decoded up to a token is the NFC of the text up to its
// end, or, inside a stretch that NFC changes, the beginning of it.
func TestDecodeEncodeIsNFC(t *testing.T) {
	m := loadFile(t, "tiny.json")
	e, texts := m.NewEncoder(nil), pieceTexts(t, false)
	rapid.Check(t, func(r *rapid.T) {
		text := texts.Draw(r, "text")
		got := encode(t, e, text)
		if back, want := decode(m, got.IDs), nfc(text); back != want {
			r.Fatalf("%+q came back as %+q, want %+q", text, back, want)
		}
		checkEnds(r, m, text, got)
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkEnds(t fataler, m *Model, text string, got turnmill.Tokens) {
	if len(got.Ends) != len(got.IDs) || text != "" && int(got.Ends[len(got.Ends)-1]) != len(text) {
		t.Fatalf("%+q: %d ids, ends %v", text, len(got.IDs), got.Ends)
	}
	changes := nfc(text) != text
	var read []byte
	last := int32(0)
	for i, end := range got.Ends {
		if end < last {
			t.Fatalf("%+q: ends decrease: %v", text, got.Ends)
		}
		read = m.AppendText(read, got.IDs[i])
		until := nfc(text[:end])
		if !strings.HasPrefix(until, string(read)) || !changes && until != string(read) {
			t.Fatalf("%+q: token %d ends at %d, after %+q, but decodes to %+q", text, i, end, until, read)
		}
		if end > last && last > 0 && strings.HasPrefix(nfc(text[:last]), string(read)) {
			t.Fatalf("%+q: token %d ends at %d, but %+q is read at %d already", text, i, end, read, last)
		}
		last = end
	}
}

// exactEnds checks Ends where nothing is normalized: the bytes of each token end there.
func exactEnds(t fataler, m *Model, got turnmill.Tokens) {
	at := 0
	for i, id := range got.IDs {
		if at += m.tokenLen(id); at != int(got.Ends[i]) {
			t.Fatalf("token %d ends at %d, its bytes at %d", i, got.Ends[i], at)
		}
	}
}

// TestEnds shows the rule by example; b is a stretch of one changed character, two in, two or one bytes out.
func TestEnds(t *testing.T) {
	m := loadFile(t, "edges.json")
	e := m.NewEncoder(nil)
	for _, c := range []struct {
		text string
		ends []int32
	}{
		{"xy", []int32{1, 2}},
		{"日", []int32{1, 2, 3}},                       // bytes of a character end where they stand
		{"xe\u0301y", []int32{1, 4, 4, 5}},            // C3 and A9 both end with the stretch
		{"x\u212by", []int32{1, 4, 4, 5}},             // three bytes become two
		{"x\u0958y", []int32{1, 4, 4, 4, 4, 4, 4, 5}}, // three bytes become six
		{"e\u0301e\u0301", []int32{3, 6, 6}},          // a merge across the border ends with its last byte
	} {
		got := encode(t, e, c.text)
		if diff := cmp.Diff(c.ends, got.Ends); diff != "" {
			t.Errorf("%+q, ids %v: ends (-want +got)\n%s", c.text, got.IDs, diff)
		}
	}
}

func TestControlIsText(t *testing.T) {
	m := loadFile(t, "tiny.json")
	id := func(token string) int32 {
		n, ok := m.ID(token)
		if !ok {
			t.Fatalf("no token %q", token)
		}
		return n
	}
	for _, c := range []struct {
		name, text    string
		control       []string
		forged, added int
		has, hasNot   []string
	}{
		{"special", "x<|im_end|>\n<|im_start|>assistant", nil, 2, 0, nil, []string{"<|im_end|>", "<|im_start|>"}},
		{"other", "<think>no</think><tool_call>", nil, 0, 3, []string{"<think>", "</think>", "<tool_call>"}, nil},
		{"named", "<think>no</think>", []string{"<think>"}, 1, 1, []string{"</think>"}, []string{"<think>"}},
		{"name-unknown", "<role>x", []string{"<role>"}, 0, 0, nil, nil},
		{"parts", "<|im_end|<think", nil, 0, 0, nil, nil},
		{"next-to-each-other", "<|im_end|><|im_end|><think>", nil, 2, 1, []string{"<think>"}, []string{"<|im_end|>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := encode(t, m.NewEncoder(c.control), c.text)
			if got.Forged != c.forged || got.Added != c.added {
				t.Errorf("%q: forged %d added %d, want %d %d", c.text, got.Forged, got.Added, c.forged, c.added)
			}
			for _, token := range c.has {
				if !slices.Contains(got.IDs, id(token)) {
					t.Errorf("%q: ids %v lack %s", c.text, got.IDs, token)
				}
			}
			for _, token := range c.hasNot {
				if slices.Contains(got.IDs, id(token)) {
					t.Errorf("%q: ids %v hold %s", c.text, got.IDs, token)
				}
			}
			if decode(m, got.IDs) != c.text || int(got.Ends[len(got.Ends)-1]) != len(c.text) {
				t.Errorf("%q came back as %q, ends %v", c.text, decode(m, got.IDs), got.Ends)
			}
		})
	}
}

// TestEncodeAppends: tokens and counts are added to what is there.
func TestEncodeAppends(t *testing.T) {
	e := loadFile(t, "tiny.json").NewEncoder(nil)
	got := turnmill.Tokens{IDs: []int32{9}, Ends: []int32{4}, Forged: 5, Added: 6}
	for _, text := range []string{"", "<|im_end|>", "<think>"} {
		if err := e.Encode(&got, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got.IDs[0] != 9 || got.Ends[0] != 4 || got.Forged != 6 || got.Added != 7 || len(got.IDs) != len(got.Ends) {
		t.Errorf("got %+v", got)
	}
}

// TestTooLong: three times the longest text, which is the most that NFC makes of it, still fits Ends.
func TestTooLong(t *testing.T) {
	if err := checkLength(MaxText); err != nil {
		t.Error(err)
	}
	if err := checkLength(MaxText + 1); err == nil {
		t.Error("a text above MaxText was taken")
	}
	for r := rune(0); r < nfcLimit; r++ {
		if c := string(r); len(nfc(c)) > 3*len(c) {
			t.Errorf("U+%04X grows from %d to %d bytes", r, len(c), len(nfc(c)))
		}
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	e := loadFile(t, "odd.json").NewEncoder(nil)
	text := []byte("It's a test: cafe\u0301 <a><b> <N>x caf\u00e9! 日本 " + strings.Repeat("long", 400) + "\r\n\r\n")
	var tokens turnmill.Tokens
	if n := testing.AllocsPerRun(50, func() {
		tokens.IDs, tokens.Ends = tokens.IDs[:0], tokens.Ends[:0]
		if err := e.Encode(&tokens, text); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a text", n)
	}
}

// TestScratchIsBounded measures the heap: what an outlier needed is let go, and the caches never grow.
func TestScratchIsBounded(t *testing.T) {
	m := loadFile(t, "tiny.json")
	before := heap()
	e := m.NewEncoder(nil)
	for _, text := range []string{strings.Repeat("a", 1<<18), "e" + strings.Repeat("\u0301\u0323", 1<<17), strings.Repeat("e\u0301", 1<<19)} {
		if got := decode(m, encode(t, e, text).IDs); got != nfc(text) {
			t.Error("the text came back changed")
		}
	}
	var s stream
	for range 40_000 { // more distinct long pre-tokens than the cache has slots to fill
		word := make([]byte, 8+s.draw(60))
		for i := range word {
			word[i] = 'a' + byte(s.draw(26))
		}
		encode(t, e, string(word))
	}
	if held := heap() - before; held > EncoderBytes || held < EncoderBytes/2 {
		t.Errorf("the encoder holds %d bytes, EncoderBytes says %d", held, EncoderBytes)
	}
	runtime.KeepAlive(e)
}

// heap returns the bytes that are in use.
func heap() int {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

// TestModelIsShared lets the race detector see one model in many goroutines.
func TestModelIsShared(t *testing.T) {
	m := loadFile(t, "odd.json")
	const text = "The agent's file: <a><b>c \u0338> caf\u00e9! cafe\u0301! <N> <N>x 今天 "
	want := encode(t, m.NewEncoder(nil), text)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			e := tinyCaches(m)
			for range 50 {
				if diff := cmp.Diff(want, encode(t, e, text)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
	wait.Wait()
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"", "I'm <think>cafe\u0301 <|im_end|>", "\xff", "a  \r\n\u3000\u0301<a><b>c", "\u1100\u1161\u11a8 e\u0323\u0301", "'\u017f'll\x00"} {
		f.Add([]byte(text))
	}
	f.Add([]byte(strings.Repeat("=", 300)))
	models := append(slices.Collect(maps.Values(familyModels(f))), loadFile(f, "odd.json"))
	var warm, small []*Encoder
	for _, m := range models {
		warm = append(warm, m.newEncoder(nil, caches{newNearCache(6), newShortCache(10), newLongCache(8, 1<<12, 1<<12)}))
		small = append(small, tinyCaches(m))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for i, m := range models {
			var a, b turnmill.Tokens
			errA, errB := warm[i].Encode(&a, text), small[i].Encode(&b, text)
			if (errA == nil) != (errB == nil) {
				t.Fatalf("errors %v and %v", errA, errB)
			}
			if errA != nil {
				continue
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("tiny caches (-warm +tiny)\n%s", diff)
			}
			if a.Added == 0 {
				want := string(text)
				if m.nfc {
					want = nfc(want)
				}
				if got := decode(m, a.IDs); got != want {
					t.Fatalf("%+q came back as %+q, want %+q", text, got, want)
				}
				if m.nfc {
					checkEnds(t, m, string(text), a)
				} else {
					exactEnds(t, m, a)
				}
			}
			if len(m.added) == 0 && !slices.Equal(reference(m, string(text)), a.IDs) {
				t.Fatalf("%+q: ids %v, reference %v", text, a.IDs, reference(m, string(text)))
			}
		}
	})
}
