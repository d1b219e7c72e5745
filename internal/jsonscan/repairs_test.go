package jsonscan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRepairs(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		repairs        Repairs
	}{
		{"nothing", `{"a":"é\n\u00e9\ud83d\ude00"}`, `{a="é\né😀"}`, Repairs{}},
		{"0xFF", "\"a\xffb\"", `"a�b"`, Repairs{BadUTF8: 1}},
		{"UTF-16 mark", "\"\xff\xfe\"", `"��"`, Repairs{BadUTF8: 2}},
		{"cut character", "\"\xf0\x9f\x98\"", `"���"`, Repairs{BadUTF8: 3}},
		{"cut character, then text", "\"\xe4\xb8x\"", `"��x"`, Repairs{BadUTF8: 2}},
		{"raw surrogate", "\"\xed\xa0\xbd\"", `"���"`, Repairs{BadUTF8: 3}},
		{"overlong slash", "\"\xc0\xaf\"", `"��"`, Repairs{BadUTF8: 2}},
		{"above U+10FFFF", "\"\xf4\x90\x80\x80\"", `"����"`, Repairs{BadUTF8: 4}},
		{"bad byte in a key", "{\"\x80\":1}", `{�=1}`, Repairs{BadUTF8: 1}},
		{"bad byte beside escapes", "\"\\n\x80\\u4e2d\x80\\\\\"", `"\n�中�\\"`, Repairs{BadUTF8: 2}},
		{"bad byte in a long text", "\"" + strings.Repeat("中", 20) + "\xe4" + strings.Repeat("x", 20) + "\"", `"` + strings.Repeat("中", 20) + "�" + strings.Repeat("x", 20) + `"`, Repairs{BadUTF8: 1}},
		{"U+FFFD itself is no repair", "\"\ufffd\\ufffd\"", `"��"`, Repairs{}},
		{"lone high", `"\ud83d"`, `"�"`, Repairs{LoneSurrogate: 1}},
		{"lone low", `"\udcb2"`, `"�"`, Repairs{LoneSurrogate: 1}},
		{"two highs", `"\ud83d\ud83d"`, `"��"`, Repairs{LoneSurrogate: 2}},
		{"low before high", `"\ude00\ud83d"`, `"��"`, Repairs{LoneSurrogate: 2}},
		{"high before a pair", `"\ud83d\ud83d\ude00"`, `"�😀"`, Repairs{LoneSurrogate: 1}},
		{"high before text", `"\ud83dx\ude00"`, `"�x�"`, Repairs{LoneSurrogate: 2}},
		{"high before another escape", `"\ud83d\n\ude00"`, `"�\n�"`, Repairs{LoneSurrogate: 2}},
		{"high before an escaped backslash", `"\ud83d\\ude00"`, `"�\\ude00"`, Repairs{LoneSurrogate: 1}},
		{"halves in two strings", `["\ud83d","\ude00"]`, `["�" "�"]`, Repairs{LoneSurrogate: 2}},
		{"lone surrogate in a key", `{"\ud800":1}`, `{�=1}`, Repairs{LoneSurrogate: 1}},
		{"NUL", `"a\u0000b\u0000"`, `"a\x00b\x00"`, Repairs{NUL: 2}},
		{"NUL in a key", `{"\u0000":1}`, "{\x00=1}", Repairs{NUL: 1}},
		{"escaped backslash before u0000", `"\\u0000"`, `"\\u0000"`, Repairs{}},
		{"repeated key", `{"a":1,"a":2}`, `{a=1 a=2}`, Repairs{DuplicateKey: 1}},
		{"key three times", `{"a":1,"a":2,"a":3}`, `{a=1 a=2 a=3}`, Repairs{DuplicateKey: 2}},
		{"repeated by an escape", `{"a":1,"\u0061":2}`, `{a=1 a=2}`, Repairs{DuplicateKey: 1}},
		{"repeated by a pair", `{"😀":1,"\ud83d\ude00":2}`, `{😀=1 😀=2}`, Repairs{DuplicateKey: 1}},
		{"repeated after mending", "{\"\xff\":1,\"\\ud800\":2,\"\ufffd\":3}", `{�=1 �=2 �=3}`, Repairs{BadUTF8: 1, LoneSurrogate: 1, DuplicateKey: 2}},
		{"repeated empty key", `{"":1,"":2}`, `{=1 =2}`, Repairs{DuplicateKey: 1}},
		{"same key in other objects", `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}`, `{a={a={a=1}} b=[{a=1} {a=2}]}`, Repairs{}},
		{"repeated around an object", `{"a":{"b":1,"c":2},"b":3,"a":{"c":1,"c":2}}`, `{a={b=1 c=2} b=3 a={c=1 c=2}}`, Repairs{DuplicateKey: 2}},
		{"case is told apart", `{"a":1,"A":2}`, `{a=1 A=2}`, Repairs{}},
		{"length is told apart", `{"a":1,"a\u0000":2,"a\u0000\u0000":3}`, "{a=1 a\x00=2 a\x00\x00=3}", Repairs{NUL: 3}},
		{"all at once", "{\"a\":\"\xff\\ud800\\u0000\",\"a\":[\"\xff\"]}", `{a="��\x00" a=["�"]}`, Repairs{BadUTF8: 2, LoneSurrogate: 1, NUL: 1, DuplicateKey: 1}},
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
			if diff := cmp.Diff(c.repairs, d.Repairs()); diff != "" {
				t.Errorf("Parse(%q) repairs (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

func TestRepairsAddUpOverValues(t *testing.T) {
	var d Doc
	if _, err := d.ParseMany([]byte("\"\\ud800\" {\"a\":\"\xff\"} {\"a\":1,\"a\":2}")); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Repairs(), (Repairs{BadUTF8: 1, LoneSurrogate: 1, DuplicateKey: 1}); got != want {
		t.Errorf("repairs %+v, want %+v", got, want)
	}
}

// TestRepeatedKeysOfAllSizes crosses the border between the two ways of finding repeated keys.
func TestRepeatedKeysOfAllSizes(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for repeats := 0; repeats <= 3; repeats++ {
			var b bytes.Buffer
			for i := range n {
				fmt.Fprintf(&b, `,"key%d":{"inner":%d}`, i, i)
			}
			for i := range repeats {
				fmt.Fprintf(&b, `,"ke\u0079%d":"last"`, i%n)
			}
			b.Bytes()[0] = '{'
			b.WriteByte('}')
			var d Doc
			v, err := d.Parse(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Repairs(); got != (Repairs{DuplicateKey: repeats}) {
				t.Errorf("%d keys, %d repeated: %+v", n, repeats, got)
			}
			if got := v.Len(); got != n+repeats {
				t.Errorf("Len = %d, want %d: every member counts", got, n+repeats)
			}
			if got := v.Get("key0"); repeats > 0 && !got.Is("last") || repeats == 0 && got.Kind() != Object {
				t.Errorf("%d keys, %d repeated: Get gives %s, want the last", n, repeats, got.Raw())
			}
		}
	}
}

// manyKeys is an object of n members whose keys differ little, as counters and hashes do.
func manyKeys(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, `,"%d":0`, i)
		case 1:
			fmt.Fprintf(&b, `,"call_%08x":0`, i)
		case 2:
			fmt.Fprintf(&b, `,"src/pkg/module/file_%d.go":0`, i)
		default:
			fmt.Fprintf(&b, `,"%016d%d":0`, i, i)
		}
	}
	b.Bytes()[0] = '{'
	b.WriteByte('}')
	return b.Bytes()
}

func TestHugeObject(t *testing.T) {
	const small, large = 5_000, 300_000
	var d Doc
	timed := func(data []byte) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := d.Parse(data); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	one := timed(manyKeys(small))
	data := manyKeys(large)
	many := timed(data)
	if got := d.Repairs(); got != (Repairs{}) {
		t.Errorf("%d different keys: %+v, want no repeated one", large, got)
	}
	v, err := d.Parse(append(data[:len(data)-1], `,"0":1}`...))
	if err != nil || d.Repairs() != (Repairs{DuplicateKey: 1}) || v.Len() != large+1 {
		t.Errorf("one repeated key: %v, %+v, %d members", err, d.Repairs(), v.Len())
	}
	if got := v.Get("0"); string(got.Raw()) != "1" {
		t.Errorf("Get(0) = %s, want the last", got.Raw())
	}
	t.Logf("%d keys: %v; %d keys: %v", small, one, large, many)
	// Sixty times the keys. Comparing each key with each other one would take 3,600 times as long; the limit
	// leaves room for a machine that does other things too.
	if many > 900*one {
		t.Errorf("%d keys took %v and %d keys %v: not near to linear", small, one, large, many)
	}
}
