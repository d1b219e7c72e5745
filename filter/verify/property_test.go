package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDecimal: two spellings share a form if and only if big.Rat says that their values are equal.
func TestDecimal(t *testing.T) {
	spelling := rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + rapid.StringMatching(`0|[1-9][0-9]{0,2}0{0,3}`).Draw(t, "whole")
		return s + rapid.StringMatching(`(\.[0-9]{1,3}0{0,2})?([eE][+-]?0?[0-6])?`).Draw(t, "rest")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := spelling.Draw(t, "a"), spelling.Draw(t, "b")
		if rapid.Bool().Draw(t, "shifted") { // the same value, one place on
			b = a + "e1"
			if strings.ContainsAny(a, "eE") {
				b = a
			}
		}
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Fatalf("not numbers: %s, %s", a, b)
		}
		if got, want := decimal(a) == decimal(b), x.Cmp(y) == 0; got != want {
			t.Fatalf("%s and %s: equal is %v, want %v; forms %s, %s", a, b, got, want, decimal(a), decimal(b))
		}
	})
	for _, pair := range [][2]string{{"1e400", "10e399"}, {"0e99999999999999999999", "-0.0"}, {"1e99999999999999999999", "1e99999999999999999999"},
		{"1e-400", "0.1e-399"}, {"9007199254740993", "9007199254740993.0"}} {
		if decimal(pair[0]) != decimal(pair[1]) {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"9007199254740993", "9007199254740992"}, {"1e-400", "0"}, {"1", "-1"}, {"1e99999999999999999999", "10e99999999999999999998"}} {
		if decimal(pair[0]) == decimal(pair[1]) {
			t.Errorf("%s and %s are equal", pair[0], pair[1])
		}
	}
}

// spelt is a JSON value in two spellings.
type spelt struct{ a, b string }

// draw makes a value of a depth; leaves holds each number of it once.
func draw(t *rapid.T, depth int, leaf *int) spelt {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind %= 3
	}
	n := rapid.IntRange(0, 3).Draw(t, "size")
	switch kind {
	case 0:
		*leaf++
		return spelt{fmt.Sprintf("%d", 1000+*leaf), rapid.SampledFrom([]string{"%d", "%d.0", "%de0", "%d0e-1"}).Draw(t, "spelling")}.with(1000 + *leaf)
	case 1:
		return rapid.SampledFrom([]spelt{{"null", " null"}, {"true", "true "}, {"false", "\tfalse"}}).Draw(t, "word")
	case 2:
		return rapid.SampledFrom([]spelt{{`"é"`, `"\u00e9"`}, {`"a/b"`, `"a\/b"`}, {`""`, `""`}, {`"😀"`, `"\ud83d\ude00"`}}).Draw(t, "text")
	case 3:
		var as, bs []string
		for range n {
			e := draw(t, depth-1, leaf)
			as, bs = append(as, e.a), append(bs, e.b)
		}
		return spelt{"[" + strings.Join(as, ",") + "]", "[ " + strings.Join(bs, " , ") + "]"}
	}
	var as, bs []string
	for i := range n {
		e := draw(t, depth-1, leaf)
		as = append(as, fmt.Sprintf("%q:%s", string(rune('a'+i)), e.a))
		bs = append(bs, fmt.Sprintf(`"\u%04x": %s`, 'a'+i, e.b))
	}
	slices.Reverse(bs)
	return spelt{"{" + strings.Join(as, ",") + "}", "{" + strings.Join(bs, ",\n") + "}"}
}

func (s spelt) with(n int) spelt { return spelt{s.a, fmt.Sprintf(s.b, n)} }

// TestJSONProperties: another spelling is equal, another number anywhere is not.
func TestJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := 0
		v := draw(t, 3, &leaves)
		if got := (jsonEqual{}).check(v.b, v.a); got.State != Pass {
			t.Fatalf("%s against %s: %v", v.b, v.a, got)
		}
		if leaves == 0 {
			return
		}
		n := 1000 + rapid.IntRange(1, leaves).Draw(t, "leaf")
		other := strings.Replace(v.a, fmt.Sprint(n), fmt.Sprint(n+5000), 1)
		if got := (jsonEqual{}).check(v.b, other); got.State != Fail {
			t.Fatalf("%s against %s: %v", v.b, other, got)
		}
	})
}

// TestPointers: pointer and steps are inverse.
func TestPointers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.StringMatching(`[a/~0-9]{0,4}`), 1, 4).Draw(t, "steps")
		text := strings.Trim(pointer(want), `"`)
		if got, err := steps(text); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q gives %q, and that %q, %v", want, text, got, err)
		}
	})
}

// TestTreeProperties: the width of indents, blank lines, volatile attributes and their places change nothing; a
// node of other text, or at another depth, does.
func TestTreeProperties(t *testing.T) {
	r := trees{volatile: map[string]bool{"bounds": true, "focused": true}}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 5).Draw(t, "width")
		var plain, noisy, depths []string
		last := -1
		for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
			last = rapid.IntRange(0, last+1).Draw(t, "depth")
			depths = append(depths, fmt.Sprint(last))
			text := fmt.Sprintf("<node%d b=\"x  y\" a=1>it's, here", i)
			plain = append(plain, strings.Repeat("\t", last)+text)
			text = fmt.Sprintf("<node%d a=1 bounds=[%d,0][1,2]  focused b=\"x  y\">it's, here", i, i)
			noisy = append(noisy, strings.Repeat(" ", width*last)+text, rapid.SampledFrom([]string{"", "   ", "\r"}).Draw(t, "blank"))
		}
		want, got := strings.Join(plain, "\n"), strings.Join(noisy, "\n")
		if v := r.check(got, want); v.State != Pass {
			t.Fatalf("%s\nagainst\n%s: %v", got, want, v)
		}
		node := fmt.Sprintf("node%d ", rapid.IntRange(0, len(plain)-1).Draw(t, "other"))
		if v := r.check(strings.Replace(got, node, "other ", 1), want); v.State != Fail {
			t.Fatalf("another %s: %v", node, v)
		}
		if i := slices.Index(depths, "1"); i > 0 {
			plain[i] = strings.TrimPrefix(plain[i], "\t")
			if v := r.check(got, strings.Join(plain, "\n")); v.State != Fail {
				t.Fatalf("another depth of node %d: %v", i, v)
			}
		}
	})
}

// TestEveryKindIsReflexive: the reference itself passes, but for references that a kind has no use for.
func TestEveryKindIsReflexive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ \t\n]|exit code |<a |b="|'|[0-9{}\[\]",:x>])*`).Draw(t, "text")
		for _, d := range []string{`{"kind":"exact"`, `{"kind":"exact","trim":"lines"`, `{"kind":"json"`, `{"kind":"exit_code"`, `{"kind":"tree"`, `{"kind":"tree","volatile":["b"],"numbering":"drop"`} {
			v, err := Parse([]byte(d+`,"class":"control"}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Check(t.Context(), nil, Case{Prediction: text, Reference: text})
			if err != nil || got.State != Pass && got.State != BadVerifier || v.Kind == Exact && got.State != Pass {
				t.Fatalf("%s of %q: %v, %v", d, text, got, err)
			}
		}
	})
}

// TestTreeReadsOnce: lines on which every quote and bracket is open; read more than once a piece, they would take
// minutes.
func TestTreeReadsOnce(t *testing.T) {
	r := trees{volatile: map[string]bool{"b": true}, numbers: true}
	for _, piece := range []string{"'a", "\"a ", "b='", "b=(", "b: [", "<a ", "é", ",", "b "} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		if got := r.check("x "+text, "y "+text); got.State != Fail {
			t.Errorf("%q: got %v", piece, got)
		}
		if got := r.check(text, text); got.State != Pass {
			t.Errorf("%q against itself: got %v", piece, got)
		}
	}
}
