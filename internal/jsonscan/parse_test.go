package jsonscan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show draws the tape of a document: kinds, raw values and nesting, keys decoded.
func show(v Value) string {
	switch v.Kind() {
	case Array:
		var parts []string
		for e := range v.Elems() {
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case Object:
		var parts []string
		for k, m := range v.Members() {
			parts = append(parts, string(k.AppendString(nil))+"="+show(m))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case String:
		return fmt.Sprintf("%q", v.AppendString(nil))
	default:
		return string(v.Raw())
	}
}

func TestParseAccepts(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"null", `null`, `null`},
		{"true", `true`, `true`},
		{"false", `false`, `false`},
		{"blanks around", " \t\r\n1 \t\r\n", `1`},
		{"blanks everywhere", " { \"a\" : [ 1 , 2 ] , \"b\" : { } } ", `{a=[1 2] b={}}`},
		{"no blanks", `{"a":[1,2],"b":{}}`, `{a=[1 2] b={}}`},
		{"empty array", `[]`, `[]`},
		{"empty array with blanks", "[ \n]", `[]`},
		{"empty object", `{}`, `{}`},
		{"empty object with blanks", "{\t}", `{}`},
		{"empty containers inside", `[[],{},[{}],{"":[]}]`, `[[] {} [{}] {=[]}]`},
		{"empty key", `{"":1}`, `{=1}`},
		{"empty string", `""`, `""`},
		{"two-byte escapes", `"\"\\\/\b\f\n\r\t"`, `"\"\\/\b\f\n\r\t"`},
		{"unicode escapes", `"\u0041\u00e9\u4E2D\uFFFF"`, `"Aé中\uffff"`},
		{"surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"last character", `"\uDBFF\uDFFF"`, `"\U0010ffff"`},
		{"escaped key", `{"\u0061\n":0}`, "{a\n=0}"},
		{"DEL and raw separators", "\"\x7f\u0085\u2028\u2029\"", `"\x7f\u0085\u2028\u2029"`},
		{"BOM inside a string", "\"\ufeffa\"", `"\ufeffa"`},
		{"big number verbatim", `9007199254740993`, `9007199254740993`},
		{"case variants are other keys", `{"Role":1,"role":2}`, `{Role=1 role=2}`},
		{"repeated key", `{"role":"user","role":"tool"}`, `{role="user" role="tool"}`},
		{"U+2028 between escapes", "\"\\n\u2028\\n\"", `"\n\u2028\n"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Doc
			v, err := d.Parse([]byte(c.in))
			if err != nil {
				t.Fatalf("Parse(%q): %v", c.in, err)
			}
			if diff := cmp.Diff(c.want, show(v)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.in, diff)
			}
			if !json.Valid([]byte(c.in)) {
				t.Errorf("encoding/json refuses %q", c.in)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, in string
		offset   int
		msg      string
		short    bool
	}{
		{"empty", "", 0, "the text ends where a value is due", true},
		{"blanks only", " \n", 2, "the text ends where a value is due", true},
		{"BOM", "\ufeff{}", 0, "byte 0xEF where a value is due", false},
		{"vertical tab is no blank", "\v1", 0, "byte 0x0B where a value is due", false},
		{"no-break space is no blank", "[1,\u00a01]", 3, "byte 0xC2 where a value is due", false},
		{"word", "undefined", 0, "'u' where a value is due", false},
		{"single quotes", "'a'", 0, "''' where a value is due", false},
		{"comment", "[1/**/]", 2, "'/' where a comma or the end of an array is due", false},
		{"two values", "1 2", 2, "text after the value", false},
		{"value and letter", "truex", 4, "text after the value", false},
		{"two objects", "{}{}", 2, "text after the value", false},
		{"NUL after the value", "{}\x00", 2, "text after the value", false},
		{"closing bracket alone", "]", 0, "']' where a value is due", false},
		{"capital literal", "True", 0, "'T' where a value is due", false},
		{"cut literal", "[tru", 4, "the text ends inside a value", true},
		{"cut null", "n", 1, "the text ends inside a value", true},
		{"wrong literal", "[falze]", 1, "'f' where a value is due", false},

		{"open array", "[", 1, "the text ends where a value is due", true},
		{"open array with blank", "[ ", 2, "the text ends where a value is due", true},
		{"array cut after element", "[1", 2, "the text ends inside an array", true},
		{"array cut after comma", "[1,", 3, "the text ends where a value is due", true},
		{"trailing comma in array", "[1,]", 3, "']' where a value is due", false},
		{"leading comma in array", "[,1]", 1, "',' where a value is due", false},
		{"no comma in array", "[1 2]", 3, "'2' where a comma or the end of an array is due", false},
		{"array closed as object", "[1}", 2, "'}' where a comma or the end of an array is due", false},
		{"empty array closed as object", "[}", 1, "'}' where a value is due", false},
		{"colon in array", `["a":1]`, 4, "':' where a comma or the end of an array is due", false},

		{"open object", "{", 1, "the text ends where a key is due", true},
		{"object cut after key", `{"a"`, 4, "the text ends where a colon is due", true},
		{"object cut after blank", `{"a" `, 5, "the text ends where a colon is due", true},
		{"object cut after colon", `{"a":`, 5, "the text ends where a value is due", true},
		{"object cut after value", `{"a":1`, 6, "the text ends inside an object", true},
		{"object cut after comma", `{"a":1, `, 8, "the text ends where a key is due", true},
		{"trailing comma in object", `{"a":1,}`, 7, "'}' where a key is due", false},
		{"leading comma in object", `{,}`, 1, "',' where a key is due", false},
		{"number as key", `{1:2}`, 1, "'1' where a key is due", false},
		{"bare key", `{a:2}`, 1, "'a' where a key is due", false},
		{"no colon", `{"a" 1}`, 5, "'1' where a colon is due", false},
		{"equals sign", `{"a"=1}`, 4, "'=' where a colon is due", false},
		{"no value", `{"a":}`, 5, "'}' where a value is due", false},
		{"no comma in object", `{"a":1 "b":2}`, 7, "'\"' where a comma or the end of an object is due", false},
		{"object closed as array", `{"a":1]`, 6, "']' where a comma or the end of an object is due", false},
		{"empty object closed as array", `{]`, 1, "']' where a key is due", false},

		{"open string", `"`, 1, "the text ends inside the string that starts at byte 0", true},
		{"open string inside", `["abcdefghij`, 12, "the text ends inside the string that starts at byte 1", true},
		{"open key", `{"abc`, 5, "the text ends inside the string that starts at byte 1", true},
		{"string cut in a character", "\"a\xe4\xb8", 4, "the text ends inside the string that starts at byte 0", true},
		{"raw NUL", "\"a\x00\"", 2, "raw control character U+0000 in a string", false},
		{"raw tab", "\"\t\"", 1, "raw control character U+0009 in a string", false},
		{"raw line feed behind eight bytes", "\"12345678\n\"", 9, "raw control character U+000A in a string", false},
		{"raw unit separator", "\"1234567\x1f\"", 8, "raw control character U+001F in a string", false},
		{"raw line feed in a key", "{\"a\n\":1}", 3, "raw control character U+000A in a string", false},
		{"backslash at the end", `"\`, 2, "the text ends inside an escape", true},
		{"backslash before the end of the value", `["\"]`, 5, "the text ends inside the string that starts at byte 1", true},
		{"unknown escape", `"\x41"`, 1, `unknown escape: 'x' after a backslash`, false},
		{"escape of a quote sign", `"a\'"`, 2, `unknown escape: ''' after a backslash`, false},
		{"escape of a line feed", "\"\\\n\"", 1, `unknown escape: byte 0x0A after a backslash`, false},
		{"escape of a character", "\"\\é\"", 1, `unknown escape: byte 0xC3 after a backslash`, false},
		{"capital U escape", `"\U00000041"`, 1, `unknown escape: 'U' after a backslash`, false},
		{"cut unicode escape", `"\u`, 3, "the text ends inside an escape", true},
		{"cut unicode escape after digits", `"a\u00e`, 7, "the text ends inside an escape", true},
		{"unicode escape with three digits", `"\u00e"`, 1, `\u without four hexadecimal digits`, false},
		{"unicode escape with a wrong digit", `"\u00g0"`, 1, `\u without four hexadecimal digits`, false},
		{"unicode escape with a wrong digit at the end", `"\u0g`, 1, `\u without four hexadecimal digits`, false},
		{"unicode escape with a sign", `"\u+123"`, 1, `\u without four hexadecimal digits`, false},
		{"high surrogate and a cut escape", `"\ud83d\u`, 9, "the text ends inside an escape", true},
		{"high surrogate and a wrong escape", `"\ud83d\uzzzz"`, 7, `\u without four hexadecimal digits`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Doc
			v, err := d.Parse([]byte(c.in))
			want := &SyntaxError{Offset: c.offset, Msg: c.msg, Short: c.short}
			var got *SyntaxError
			if !errors.As(err, &got) {
				t.Fatalf("Parse(%q) = %s, error %v; want a *SyntaxError", c.in, show(v), err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.in, diff)
			}
			if v != (Value{}) {
				t.Errorf("Parse(%q) returned a value beside its error", c.in)
			}
			if text := fmt.Sprintf("byte %d: %s", c.offset, c.msg); err.Error() != text {
				t.Errorf("Error() = %q, want %q", err.Error(), text)
			}
			if json.Valid([]byte(c.in)) {
				t.Errorf("encoding/json accepts %q", c.in)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, in := range []string{
		"0", "-0", "7", "10", "-10", "1234567890123456789012345678901234567890", "0.0", "-0.10", "1.5e3", "1E3",
		"1e+3", "1e-3", "0e0", "0E-0", "1.0e00", "1e400", "-1e-400",
	} {
		var d Doc
		v, err := d.Parse([]byte(in))
		if err != nil || v.Kind() != Number || string(v.Raw()) != in {
			t.Errorf("Parse(%q) = %s %q, error %v; want the number as it is spelt", in, v.Kind(), v.Raw(), err)
		}
		if v, err = d.Parse([]byte("[" + in + "]")); err != nil || string(v.At(0).Raw()) != in {
			t.Errorf("Parse([%s]) = %s, error %v", in, v.Raw(), err)
		}
	}
	for _, c := range []struct {
		in     string
		offset int
		msg    string
		short  bool
	}{
		{"-", 1, "the text ends inside a number", true},
		{"1.", 2, "the text ends inside a number", true},
		{"-0.", 3, "the text ends inside a number", true},
		{"1e", 2, "the text ends inside a number", true},
		{"1E+", 3, "the text ends inside a number", true},
		{"1.5e-", 5, "the text ends inside a number", true},
		{"01", 1, "number with a leading zero", false},
		{"-00", 2, "number with a leading zero", false},
		{"00", 1, "number with a leading zero", false},
		{"-a", 1, "'a' where a digit is due", false},
		{"--1", 1, "'-' where a digit is due", false},
		{"-.5", 1, "'.' where a digit is due", false},
		{"1.e5", 2, "'e' where a digit is due", false},
		{"1.-5", 2, "'-' where a digit is due", false},
		{"1e+-5", 3, "'-' where a digit is due", false},
		{"1e ", 2, "' ' where a digit is due", false},
		{"+1", 0, "'+' where a value is due", false},
		{".5", 0, "'.' where a value is due", false},
		{"0x10", 1, "text after the value", false},
		{"1.2.3", 3, "text after the value", false},
		{"1_000", 1, "text after the value", false},
		{"1e5.0", 3, "text after the value", false},
		{"１", 0, "byte 0xEF where a value is due", false},
	} {
		var d Doc
		_, err := d.Parse([]byte(c.in))
		if diff := cmp.Diff(error(&SyntaxError{Offset: c.offset, Msg: c.msg, Short: c.short}), err); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestNonFinite(t *testing.T) {
	for _, in := range []string{"NaN", "Infinity", "-Infinity"} {
		for _, text := range []string{in, "[1," + in + "]", `{"r":` + in + `}`} {
			at := strings.Index(text, in)
			var d Doc
			_, err := d.Parse([]byte(text))
			want := error(&SyntaxError{Offset: at, Msg: in + " is not JSON"})
			if diff := cmp.Diff(want, err); diff != "" {
				t.Errorf("strict Parse(%q) (-want +got):\n%s", text, diff)
			}
			d.NonFinite = true
			v, err := d.Parse([]byte(text))
			if err != nil {
				t.Errorf("Parse(%q) with NonFinite: %v", text, err)
				continue
			}
			if got := d.Repairs(); got != (Repairs{NonFinite: 1}) {
				t.Errorf("Parse(%q) repairs %+v, want one NonFinite", text, got)
			}
			if !strings.Contains(show(v), in) {
				t.Errorf("Parse(%q) = %s, want the spelling kept", text, show(v))
			}
		}
	}
	for _, c := range []struct {
		in     string
		strict *SyntaxError
		lax    *SyntaxError
	}{
		{"Na", &SyntaxError{0, "'N' where a value is due", false, false}, &SyntaxError{2, "the text ends inside a value", false, true}},
		{"[-Inf", &SyntaxError{2, "'I' where a digit is due", false, false}, &SyntaxError{5, "the text ends inside a value", false, true}},
		{"-", &SyntaxError{1, "the text ends inside a number", false, true}, &SyntaxError{1, "the text ends inside a value", false, true}},
		{"nan", &SyntaxError{0, "'n' where a value is due", false, false}, &SyntaxError{0, "'n' where a value is due", false, false}},
		{"Inf", &SyntaxError{0, "'I' where a value is due", false, false}, &SyntaxError{3, "the text ends inside a value", false, true}},
		{"Inf]", &SyntaxError{0, "'I' where a value is due", false, false}, &SyntaxError{0, "'I' where a value is due", false, false}},
		{"+Infinity", &SyntaxError{0, "'+' where a value is due", false, false}, &SyntaxError{0, "'+' where a value is due", false, false}},
		{"NaNs", &SyntaxError{0, "NaN is not JSON", false, false}, &SyntaxError{3, "text after the value", false, false}},
	} {
		for _, allow := range []bool{false, true} {
			want := c.strict
			if allow {
				want = c.lax
			}
			d := Doc{NonFinite: allow}
			_, err := d.Parse([]byte(c.in))
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("Parse(%q) with NonFinite=%t (-want +got):\n%s", c.in, allow, diff)
			}
		}
	}
}

func TestKindNames(t *testing.T) {
	var d Doc
	v, err := d.Parse([]byte(`[null,false,true,0,"",[],{}]`))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{Value{}.Kind().String()}
	for e := range v.Elems() {
		got = append(got, e.Kind().String())
	}
	want := []string{"nothing", "null", "boolean", "boolean", "number", "string", "array", "object"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
