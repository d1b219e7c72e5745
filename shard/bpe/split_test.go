package bpe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplittersEqualReference(t *testing.T) {
	p := loadParts(t)
	texts := rapid.SliceOfN(rapid.SampledFrom(p.Fuzz), 1, 20)
	for i, f := range families() {
		split := newSplitter(&f)
		re := compile(f)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				text := strings.Join(texts.Draw(r, "pieces"), "")
				want := re.split(text)
				if got := split.pieces(text); !slices.Equal(got, want) {
					r.Fatalf("%+q: pre-tokens\n%+q, the reference has\n%+q", text, got, want)
				}
				if got := split.filled(text); !slices.Equal(got, want) {
					r.Fatalf("%+q: pre-tokens by blocks\n%+q, the reference has\n%+q", text, got, want)
				}
			})
		})
	}
}

// TestClassify: each byte is in the masks of its code, at every place; the assembly gives the same.
func TestClassify(t *testing.T) {
	if !hasAVX2 {
		t.Log("no AVX2 here: only the form in Go is tested")
	}
	var draws stream
	for i, f := range families() {
		split := newSplitter(&f)
		table := split.table
		for range 2_000 {
			var b [blockBytes]byte
			for k := range b {
				b[k] = byte(draws.draw(256))
				if draws.draw(8) > 0 {
					b[k] &= 0x7F
				}
			}
			var m masks
			classifyWords(&m, &table.spread, &b)
			for k, c := range b {
				code := byte(0)
				for bit, mask := range [...]uint64{m.letter, m.upper, m.digit, m.space, m.tab, m.line, m.other, m.quote} {
					code |= byte(mask>>k&1) << bit
				}
				if want := split.code(c); code != want {
					t.Fatalf("family %d, byte %#x at %d: code %08b, want %08b", i, c, k, code, want)
				}
			}
			if hasAVX2 {
				var fast masks
				classifyAVX2(&table.codes, &b, &fast)
				if fast != m {
					t.Fatalf("family %d, %q: assembly %x, Go %x", i, b, fast, m)
				}
			}
		}
	}
}

// TestFillEqualsNext: blocks of 64 bytes and single characters cut the same, also where a block ends in the
// middle of what decides.
func TestFillEqualsNext(t *testing.T) {
	pieces := []string{"a", "B", "'", "'s", "'RE", "'ll", "don't", " ", "  ", "\t", "\n", "\r\n", "1", "234567", "/", "(", "!!", "\x01",
		"word", "Camel", "UPPER", "é", "中", "\u0301", "\u200d", "٣", "\u3000", "    ", "//\n", "x/\n/"}
	for i, f := range families() {
		split := newSplitter(&f)
		s := stream(i)
		for range 30_000 {
			var text []byte
			most := 1 + s.draw(len(pieces)) // fewer kinds at a time make longer runs
			for range 1 + s.draw(90) {
				text = append(text, pieces[(s.draw(most)+most*i)%len(pieces)]...)
			}
			if got, want := split.filled(string(text)), split.pieces(string(text)); !slices.Equal(got, want) {
				t.Fatalf("family %d, %+q: pre-tokens by blocks\n%+q, one by one\n%+q", i, text, got, want)
			}
		}
	}
}

// filled returns the pre-tokens of a piece as fill finds them.
func (s *splitter) filled(piece string) []string {
	var out []string
	var ends [wordsAtOnce]int32
	for i := 0; i < len(piece); {
		for _, end := range ends[:s.fill(&ends, []byte(piece), i)] {
			out = append(out, piece[i:end])
			i = int(end)
		}
	}
	return out
}
