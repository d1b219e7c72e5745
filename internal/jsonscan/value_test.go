package jsonscan

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, text string) Value {
	t.Helper()
	var d Doc
	v, err := d.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%.80q): %v", text, err)
	}
	return v
}

func TestAbsentValue(t *testing.T) {
	var v Value
	var a Arena
	if v.Kind() != Invalid || v.Present() || v.Raw() != nil || v.Offset() != 0 || v.Len() != 0 || v.Str(&a) != "" || v.RawStr() != "" {
		t.Error("an accessor of the zero Value is not empty")
	}
	if v.Next() != v || v.Get("a") != v || v.At(0) != v || v.Get("a").At(1).Get("b") != v {
		t.Error("a step from the zero Value leads somewhere")
	}
	if v.Is("") {
		t.Error(`the zero Value is ""`)
	}
	if _, ok := v.Plain(); ok {
		t.Error("the zero Value is a plain string")
	}
	if _, ok := v.Int(); ok {
		t.Error("the zero Value is a number")
	}
	if got := v.AppendString([]byte("x")); string(got) != "x" {
		t.Errorf("AppendString = %q", got)
	}
	if got, n := v.AppendVerbatim([]byte("x")); string(got) != "x" || n != 0 {
		t.Errorf("AppendVerbatim = %q, %d", got, n)
	}
	for range v.Elems() {
		t.Error("the zero Value has an element")
	}
	for range v.Members() {
		t.Error("the zero Value has a member")
	}
}

// TestWrongKinds asks each kind for what it does not have.
func TestWrongKinds(t *testing.T) {
	var a Arena
	for e := range mustParse(t, `[null,false,true,12,"s",[1],{"k":1}]`).Elems() {
		k := e.Kind()
		if got := e.Present(); got != (k != Null) {
			t.Errorf("%s: Present = %t", k, got)
		}
		if k != String && (e.Str(&a) != "" || e.Is("") || e.Is("12") || string(e.AppendString([]byte("x"))) != "x") {
			t.Errorf("%s: is taken for a string", k)
		}
		if _, ok := e.Int(); ok != (k == Number) {
			t.Errorf("%s: Int says %t", k, ok)
		}
		if got := e.At(0).Kind(); (got != Invalid) != (k == Array) {
			t.Errorf("%s: At(0) is %s", k, got)
		}
		if got := e.Get("k").Kind(); (got != Invalid) != (k == Object) {
			t.Errorf("%s: Get is %s", k, got)
		}
		want := 0
		if k == Array || k == Object {
			want = 1
		}
		if got := e.Len(); got != want {
			t.Errorf("%s: Len = %d, want %d", k, got, want)
		}
	}
}

func TestWalking(t *testing.T) {
	const text = ` {"a":[1,[2,3],{}],"b":{"c":{"d":[]}},"e":"x"} `
	v := mustParse(t, text)
	if got := v.Raw(); string(got) != strings.TrimSpace(text) || v.RawStr() != string(got) || v.Offset() != 1 {
		t.Errorf("Raw = %q at %d", got, v.Offset())
	}
	if v.Next().Kind() != Invalid {
		t.Error("something follows the only value")
	}
	a := v.Get("a")
	for i, want := range []string{"1", "[2,3]", "{}", ""} {
		e := a.At(i)
		if string(e.Raw()) != want {
			t.Errorf("At(%d) = %q, want %q", i, e.Raw(), want)
		}
		if e.Kind() != Invalid && !strings.HasPrefix(text[e.Offset():], want) {
			t.Errorf("At(%d) says offset %d", i, e.Offset())
		}
	}
	if a.At(-1).Kind() != Invalid {
		t.Error("At(-1) is not absent")
	}
	if got := v.Get("b").Get("c").Get("d"); got.Kind() != Array || got.Len() != 0 {
		t.Errorf("b.c.d = %s", got.Raw())
	}
	if v.Len() != 3 || a.Len() != 3 || v.Get("b").Len() != 1 {
		t.Errorf("lengths %d, %d, %d", v.Len(), a.Len(), v.Get("b").Len())
	}
	n := 0
	for k := range v.Members() {
		if n++; k.Is("b") {
			break
		}
	}
	for range a.Elems() {
		if n++; n == 4 {
			break
		}
	}
	if n != 4 {
		t.Errorf("leaving a loop early counted %d visits, want 4", n)
	}
}

func TestGet(t *testing.T) {
	v := mustParse(t, "{\"a\":1,\"ab\":2,\"b\":3,\"\\u0061\":4,\"\":5,\"x\\n\":6,\"\xff\":7,\"Role\":8,\"a\":null,\"\\ud83d\\ude00\":9}")
	for key, want := range map[string]string{
		"a": "null", "ab": "2", "b": "3", "": "5", "x\n": "6", "\ufffd": "7", "Role": "8", "role": "", "aa": "",
		"😀": "9", "\xff": "", `\u0061`: "", `x\n`: "", "c": "",
	} {
		if got := string(v.Get(key).Raw()); got != want {
			t.Errorf("Get(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestInt(t *testing.T) {
	for _, in := range []string{
		"0", "-0", "1", "-1", "9007199254740993", "922337203685477579", "922337203685477580", "9223372036854775799",
		"9223372036854775800", "9223372036854775807", "9223372036854775808", "9223372036854775809", "9223372036854775810",
		"-9223372036854775807", "-9223372036854775808", "-9223372036854775809", "-9223372036854775810", "18446744073709551615",
		"18446744073709551616", "18446744073709551617", "92233720368547758070", "100000000000000000000000000000",
	} {
		want, _ := new(big.Int).SetString(in, 10)
		got, ok := mustParse(t, in).Int()
		if ok != want.IsInt64() || ok && got != want.Int64() {
			t.Errorf("Int of %s = %d, %t; want %t", in, got, ok, want.IsInt64())
		}
	}
	for _, in := range []string{"1.0", "1e3", "0.5", "-0.0", "1E0"} {
		if got, ok := mustParse(t, in).Int(); ok || got != 0 {
			t.Errorf("Int of %s = %d, %t; it is not spelt as a whole number", in, got, ok)
		}
	}
	d := Doc{NonFinite: true}
	for _, in := range []string{"NaN", "Infinity", "-Infinity"} {
		v, err := d.Parse([]byte(in))
		if got, ok := v.Int(); err != nil || ok || got != 0 {
			t.Errorf("Int of %s = %d, %t, %v", in, got, ok, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(math.MinInt64, math.MaxInt64).Draw(t, "n")
		var d Doc
		v, err := d.Parse(fmt.Append(nil, want))
		if got, ok := v.Int(); err != nil || !ok || got != want {
			t.Fatalf("Int of %d = %d, %t, %v", want, got, ok, err)
		}
	})
}

// TestStrShares proves that a string without escapes is the document's memory and any other the arena's.
func TestStrShares(t *testing.T) {
	data := []byte("[\"plain 中\",\"a\\nb\",\"\xff\",\"\"]")
	var d Doc
	v, err := d.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	inside := func(s string, block []byte) bool {
		at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
		from := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
		return at >= from && at < from+uintptr(cap(block))
	}
	var a Arena
	for i, want := range []string{"plain 中", "a\nb", "�", ""} {
		e := v.At(i)
		got := e.Str(&a)
		text, plain := e.Plain()
		if got != want || !e.Is(want) || e.Is(want+"x") || string(e.AppendString([]byte("x"))) != "x"+want {
			t.Errorf("Str(%s) = %q, want %q", e.Raw(), got, want)
		}
		if wantPlain := i == 0 || i == 3; plain != wantPlain || plain != inside(got, data) || plain == inside(got, a.block) {
			t.Errorf("Str(%s): plain %t, want %t, in the document %t, in the arena %t", e.Raw(), plain, wantPlain, inside(got, data), inside(got, a.block))
		}
		if raw := string(e.Raw()); string(text) != raw[1:len(raw)-1] {
			t.Errorf("Plain gives %q for %s", text, raw)
		}
	}
}
