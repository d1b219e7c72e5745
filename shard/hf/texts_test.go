package hf

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTextSet(t *testing.T) {
	for _, c := range []struct {
		plain, other []string
		text         string
		want         int
	}{
		{nil, nil, "abc", 0},
		{[]string{"<s>"}, nil, "<s><s> <s", 2},
		{[]string{"<a>"}, []string{"<a><b>"}, "<a><b> <a> <a><", 2},         // the longest counts
		{[]string{"<a><b>"}, []string{"<a>"}, "<a><b> <a>", 1},              //
		{[]string{"b><c"}, []string{"<a><b>"}, "<a><b><c", 0},               // the leftmost counts
		{[]string{"aa"}, nil, "aaaaa", 2},                                   // nothing is found inside one found
		{[]string{"日"}, []string{"本"}, "日本日本", 2},                           //
		{[]string{"<s>", "</s>"}, nil, "x</s>" + strings.Repeat(" ", 9), 1}, // not at the end
	} {
		var s textSet
		for _, p := range c.plain {
			s.add(p, true)
		}
		for _, o := range c.other {
			s.add(o, false)
		}
		s.finish()
		if got := s.count([]byte(c.text)); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.plain, c.text, got, c.want)
		}
	}
}

// TestTextSetRandom compares with the plain way: at each place every text, longest first.
func TestTextSetRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,4}`), 1, 6, rapid.ID[string]).Draw(t, "texts")
		text := rapid.StringMatching(`[abc]{0,30}`).Draw(t, "text")
		var s textSet
		for i, x := range texts {
			s.add(x, i%2 == 0)
		}
		s.finish()
		want := 0
		for i := 0; i < len(text); {
			best := -1
			for k, x := range texts {
				if strings.HasPrefix(text[i:], x) && (best < 0 || len(x) > len(texts[best])) {
					best = k
				}
			}
			if best < 0 {
				i++
				continue
			}
			if best%2 == 0 {
				want++
			}
			i += len(texts[best])
		}
		if got := s.count([]byte(text)); got != want {
			t.Fatalf("%q in %q: %d, want %d", texts, text, got, want)
		}
	})
}

func TestAppendEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		text    string
		offsets []offset
		want    []int32
	}{
		{"one after the other", "ab c", []offset{{0, 2}, {2, 4}}, []int32{2, 4}},
		{"a character in three tokens", "x😀y", []offset{{0, 1}, {1, 5}, {1, 5}, {1, 5}, {5, 6}}, []int32{1, 5, 5, 5, 6}},
		{"an accent that was composed", "e\u0301x", []offset{{0, 1}, {3, 4}}, []int32{3, 4}},
		{"the same at the end", "xe\u0301", []offset{{0, 1}, {1, 2}}, []int32{1, 4}},
		{"blanks that were dropped", "a  b ", []offset{{0, 1}, {3, 4}}, []int32{1, 4}},
		{"an accent, then blanks", "e\u0301  b", []offset{{0, 1}, {5, 6}}, []int32{3, 6}},
		{"marks in another order", "a\u0301\u0323", []offset{{3, 5}, {1, 3}}, []int32{5, 5}},
		{"tokens in another order", "a\u0301 \u0323", []offset{{4, 6}, {1, 3}}, []int32{6, 6}},
		{"nothing", "", nil, nil},
	} {
		got := appendEnds([]int32{7}, c.offsets, []byte(c.text))
		if want := append([]int32{7}, c.want...); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
