package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// nested returns n arrays in one another, or n objects, or both in turn, around a value.
func nested(n int, open, end string) []byte {
	return []byte(strings.Repeat(open, n) + "0" + strings.Repeat(end, n))
}

func TestDepth(t *testing.T) {
	for _, c := range []struct{ open, end string }{{"[", "]"}, {`{"a":`, "}"}, {"[ ", " ]"}} {
		var d Doc
		for _, n := range []int{1, DefaultDepth - 1, DefaultDepth} {
			data := nested(n, c.open, c.end)
			if _, err := d.Parse(data); err != nil {
				t.Errorf("%d times %q: %v", n, c.open, err)
			}
			if !json.Valid(data) {
				t.Errorf("%d times %q: encoding/json refuses", n, c.open)
			}
		}
		data := nested(DefaultDepth+1, c.open, c.end)
		_, err := d.Parse(data)
		want := error(&SyntaxError{Offset: DefaultDepth * len(c.open), Msg: "more than 10000 arrays and objects open", Deep: true})
		if diff := cmp.Diff(want, err); diff != "" {
			t.Errorf("%d times %q (-want +got):\n%s", DefaultDepth+1, c.open, diff)
		}
		if json.Valid(data) {
			t.Errorf("encoding/json has no such limit any more")
		}
	}
}

func TestDepthCountsOpenContainersOnly(t *testing.T) {
	d := Doc{Depth: 2}
	if _, err := d.Parse([]byte(`[[],[],{"a":0,"b":1},[1,2,3]]`)); err != nil {
		t.Error(err)
	}
	_, err := d.Parse([]byte(`[[0],{"a":{}}]`))
	want := error(&SyntaxError{Offset: 10, Msg: "more than 2 arrays and objects open", Deep: true})
	if diff := cmp.Diff(want, err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Each of several values starts at zero, and so does the next document after an error.
	if _, err := d.ParseMany([]byte(`[[0]] [[1]] {"a":[]}`)); err != nil {
		t.Error(err)
	}
	if d.Depth != 2 {
		t.Errorf("Depth is %d now", d.Depth)
	}
	for _, n := range []int{1_000_000, 1_000_001} { // far too deep, and cheap
		if _, err := d.Parse(bytes.Repeat([]byte("["), n)); err == nil {
			t.Errorf("%d brackets pass", n)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	for _, c := range []struct {
		in, want string
		end      int
	}{
		{`{"a":1}{"b":2}`, `{a=1}`, 7},
		{" \n[1] garbage", `[1]`, 5},
		{`"a""b"`, `"a"`, 3},
		{"12 34", "12", 2},
		{"12x", "12", 2},
		{"truefalse", "true", 4},
		{"null\x00\x00", "null", 4},
		{"[]   ", "[]", 2},
		{"-0.5e1]", "-0.5e1", 6},
	} {
		var d Doc
		v, end, err := d.ParsePrefix([]byte(c.in))
		if err != nil || show(v) != c.want || end != c.end {
			t.Errorf("ParsePrefix(%q) = %s, %d, %v; want %s, %d", c.in, show(v), end, err, c.want, c.end)
		}
	}
	for _, in := range []string{"", "  ", "[1,", `{"a" 1}`, `"\x"`, `"\u12`, "01", "-", "\"\x01\"", "tru", "nulx", strings.Repeat("[", DefaultDepth+1)} {
		var d Doc
		v, end, err := d.ParsePrefix([]byte(in))
		var e *SyntaxError
		if !errors.As(err, &e) || end != e.Offset || v != (Value{}) {
			t.Errorf("ParsePrefix(%.20q) = offset %d, error %v; want the error's offset", in, end, err)
		}
	}
}

func TestParseMany(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"1", "1"},
		{"1 2", "1|2"},
		{" {\"a\":1}\n[2]\t\"x\"\r\nnull ", `{a=1}|[2]|"x"|null`},
		{"[[1],[2]] [] {}", "[[1] [2]]|[]|{}"},
	} {
		var d Doc
		v, err := d.ParseMany([]byte(c.in))
		if err != nil {
			t.Errorf("ParseMany(%q): %v", c.in, err)
			continue
		}
		var got []string
		for ; v.Kind() != Invalid; v = v.Next() {
			got = append(got, show(v))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("ParseMany(%q) (-want +got):\n%s", c.in, diff)
		}
	}
	for _, c := range []struct {
		in   string
		want SyntaxError
	}{
		{"", SyntaxError{0, "the text ends where a value is due", false, true}},
		{"{}{}", SyntaxError{2, "no blank between two values", false, false}},
		{`1 "a"2`, SyntaxError{5, "no blank between two values", false, false}},
		{"1,2", SyntaxError{1, "no blank between two values", false, false}},
		{"1 ,2", SyntaxError{2, "',' where a value is due", false, false}},
		{"1\v2", SyntaxError{1, "no blank between two values", false, false}},
		{"{} [1", SyntaxError{5, "the text ends inside an array", false, true}},
		{"{} ]", SyntaxError{3, "']' where a value is due", false, false}},
		{"1 NaN", SyntaxError{2, "NaN is not JSON", false, false}},
	} {
		var d Doc
		v, err := d.ParseMany([]byte(c.in))
		if diff := cmp.Diff(error(&c.want), err); diff != "" || v != (Value{}) {
			t.Errorf("ParseMany(%q) (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestDocIsReusable(t *testing.T) {
	var d Doc
	d.NonFinite = true
	if _, err := d.Parse([]byte(`{"a":NaN,"a":"\ud800`)); err == nil {
		t.Fatal("a cut document passes")
	}
	v, err := d.Parse([]byte(`{"b":[1]}`))
	if err != nil || show(v) != "{b=[1]}" || d.Repairs() != (Repairs{}) {
		t.Errorf("after a failure: %s, %v, repairs %+v; want nothing left of the document before", show(v), err, d.Repairs())
	}
	if v.Next().Kind() != Invalid {
		t.Error("Next after the only value is not absent")
	}
}

func TestSizeLimit(t *testing.T) {
	if err := checkSize(MaxBytes); err != nil {
		t.Error(err)
	}
	want := error(&SyntaxError{Msg: "document of 4 GiB or more; cut it into records"})
	if diff := cmp.Diff(want, checkSize(MaxBytes+1)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDocDropsHugeMemory(t *testing.T) {
	huge := []byte("[" + strings.Repeat("0,", keepNodes) + `"` + strings.Repeat("x", 100) + `"]`)
	var d Doc
	if _, err := d.Parse(huge); err != nil {
		t.Fatal(err)
	}
	if cap(d.nodes) <= keepNodes {
		t.Fatalf("room for %d nodes; the document is too small for this test", cap(d.nodes))
	}
	was := unsafe.SliceData(d.nodes)
	if _, err := d.Parse(huge); err != nil || unsafe.SliceData(d.nodes) != was {
		t.Errorf("a second document of the size got a new tape (%v)", err)
	}
	if _, err := d.Parse([]byte("[1]")); err != nil || cap(d.nodes) > keepNodes {
		t.Errorf("a small document after it leaves room for %d nodes, want at most %d (%v)", cap(d.nodes), keepNodes, err)
	}
}
