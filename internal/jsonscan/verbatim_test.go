package jsonscan

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
)

func TestAppendVerbatim(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		decoded        int
	}{
		{"nothing to do", `{ "a" : [ 1.50, 1E3, "x\n\t\"\\\/" ] }`, `{ "a" : [ 1.50, 1E3, "x\n\t\"\\\/" ] }`, 0},
		{"blanks stay", "[ 1 ,\n\t2 ]", "[ 1 ,\n\t2 ]", 0},
		{"repeated keys stay", `{"a":1,"a":2}`, `{"a":1,"a":2}`, 0},
		{"letters", `"\u4e2d\u6587 caf\u00e9 \u00C9"`, `"中文 café É"`, 4},
		{"a pair", `"\ud83d\ude00!"`, `"😀!"`, 1},
		{"a combining mark", `"e\u0301"`, "\"e\u0301\"", 1},
		{"symbols and numbers", `"\u20ac\u00b2\u2014"`, `"€²—"`, 3},
		{"in keys", `{"\u4e2d":1}`, `{"中":1}`, 1},
		{"U+FFFD is a symbol", `"\ufffd"`, `"�"`, 1},
		{"ASCII stays escaped", `"\u0041\u0022\u005c\u000a\u007f"`, `"\u0041\u0022\u005c\u000a\u007f"`, 0},
		{"NUL stays", `"\u0000"`, `"\u0000"`, 0},
		{"separators stay", `"\u0085\u2028\u2029\u00a0\u3000"`, `"\u0085\u2028\u2029\u00a0\u3000"`, 0},
		{"invisible characters stay", `"\u200b\u200d\ufeff\u00ad"`, `"\u200b\u200d\ufeff\u00ad"`, 0},
		{"private and unassigned stay", `"\ue000\uffff\udbff\udfff"`, `"\ue000\uffff\udbff\udfff"`, 0},
		{"raw ones stay raw", "\"\u0085\u2028\u200b\ue000\"", "\"\u0085\u2028\u200b\ue000\"", 0},
		{"escaped backslash before u", `"\\u4e2d\\\u4e2d"`, `"\\u4e2d\\中"`, 1},
		{"lone surrogates", `"\ud83d \ude00\ud83d\ud83d\ude00"`, `"� ��😀"`, 1},
		{"bad bytes", "[\"a\xff\",\"\xe4\xb8\"]", `["a�","��"]`, 0},
		{"bad bytes and escapes", "\"\\u4e2d\xff\\n\"", `"中�\n"`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, decoded := mustParse(t, c.in).AppendVerbatim(nil)
			if string(got) != c.want || decoded != c.decoded {
				t.Errorf("AppendVerbatim(%s)\n got %s, %d decoded\nwant %s, %d", c.in, got, decoded, c.want, c.decoded)
			}
			checkVerbatim(t, []byte(c.in))
		})
	}
}

// TestAppendVerbatimKeepsLiterals covers what encoding/json could not read back.
func TestAppendVerbatimKeepsLiterals(t *testing.T) {
	d := Doc{NonFinite: true}
	const in = `{"r":[NaN,Infinity,-Infinity],"s":"\u00e9"}`
	v, err := d.Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"r":[NaN,Infinity,-Infinity],"s":"é"}`
	if got, n := v.AppendVerbatim(nil); string(got) != want || n != 1 {
		t.Errorf("AppendVerbatim(%s) = %s, %d; want %s, 1", in, got, n, want)
	}
}

// referenceVerbatim is AppendVerbatim by regular expression, slow and plain.
func referenceVerbatim(raw []byte) (string, int) {
	text := string([]rune(string(raw))) // each bad byte becomes U+FFFD
	decoded := 0
	var b strings.Builder
	for len(text) > 0 {
		at := escapes.FindStringSubmatchIndex(text)
		if at == nil || at[0] > 0 {
			end := len(text)
			if at != nil {
				end = at[0]
			}
			b.WriteString(text[:end])
			text = text[end:]
			continue
		}
		whole := text[:at[1]]
		if at[2] < 0 {
			b.WriteString(whole)
			text = text[len(whole):]
			continue
		}
		r := codeUnit(text[at[2]:at[3]])
		if utf16.IsSurrogate(r) {
			r2 := rune(-1)
			if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
				r2 = codeUnit(text[8:12])
			}
			if r = utf16.DecodeRune(r, r2); r != unicode.ReplacementChar {
				whole = text[:12]
			} else {
				b.WriteRune(r)
				text = text[6:]
				continue
			}
		}
		if r > unicode.MaxASCII && unicode.IsPrint(r) {
			decoded++
			b.WriteRune(r)
		} else {
			b.WriteString(whole)
		}
		text = text[len(whole):]
	}
	return b.String(), decoded
}

func codeUnit(hex string) rune {
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// checkVerbatim checks AppendVerbatim on data, when it is JSON, and on each value inside it.
func checkVerbatim(t failer, data []byte) {
	t.Helper()
	var d Doc
	v, err := d.Parse(data)
	if err != nil {
		return
	}
	out, decoded := v.AppendVerbatim([]byte("head"))
	text := strings.TrimPrefix(string(out), "head")
	want, wantDecoded := referenceVerbatim(v.Raw())
	if "head"+text != string(out) || text != want || decoded != wantDecoded {
		t.Fatalf("AppendVerbatim(%q)\n got %q, %d\nwant %q, %d", v.Raw(), out, decoded, want, wantDecoded)
	}
	var again Doc
	w, err := again.Parse([]byte(text))
	if err != nil {
		t.Fatalf("AppendVerbatim(%q) = %q: %v", v.Raw(), text, err)
	}
	if got, want := tokens(w, nil), tokens(v, nil); !reflect.DeepEqual(got, want) {
		t.Fatalf("AppendVerbatim(%q) = %q reads as\n %#v, want\n %#v", v.Raw(), text, got, want)
	}
	r := d.Repairs()
	if r.BadUTF8, r.LoneSurrogate = 0, 0; again.Repairs() != r {
		t.Fatalf("AppendVerbatim(%q) = %q needs repairs %+v, want %+v", v.Raw(), text, again.Repairs(), r)
	}
	if twice, n := w.AppendVerbatim(nil); string(twice) != text || n != 0 {
		t.Fatalf("AppendVerbatim of %q = %q, %d; want no change", text, twice, n)
	}
	var parts func(v Value)
	parts = func(v Value) {
		got, n := v.AppendVerbatim(nil)
		if want, wantN := referenceVerbatim(v.Raw()); string(got) != want || n != wantN {
			t.Fatalf("AppendVerbatim(%q) = %q, %d; want %q, %d", v.Raw(), got, n, want, wantN)
		}
		for e := range v.Elems() {
			parts(e)
		}
		for k, m := range v.Members() {
			parts(k)
			parts(m)
		}
	}
	if len(data) < 1000 {
		parts(v)
	}
}
