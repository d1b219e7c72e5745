package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// jsonText draws JSON texts with much nesting, odd blanks, escapes and repeated keys.
func jsonText() *rapid.Generator[string] {
	blank := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n"})
	str := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "b", "xyz", "12345678", " ", "é", "中文字", "😀", "\x7f", "\ufffd", "\u2028", `\n`, `\"`, `\\`, `\/`, `\t`, `\b`,
			`\f`, `\r`, `\u0061`, `\u00e9`, `\u4E2d`, `\ud83d\ude00`, `\u0000`, `\ud800`, `\udc00`, `\u2028`, `\uFFFD`, "\xff", "\xe4\xb8",
		}), 0, 12).Draw(t, "parts")
		return `"` + strings.Join(parts, "") + `"`
	})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		leaves := []*rapid.Generator[string]{
			rapid.SampledFrom([]string{"null", "true", "false", "0", "-1.5e+7", "12345678901234567890", "[]", "{}", "[ ]", `""`}), str,
		}
		if depth == 0 {
			return rapid.OneOf(leaves...)
		}
		array := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for i, e := range rapid.SliceOfN(value(depth-1), 0, 5).Draw(t, "elements") {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(blank.Draw(t, "blank") + e + blank.Draw(t, "blank"))
			}
			return "[" + b.String() + "]"
		})
		object := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for i, e := range rapid.SliceOfN(value(depth-1), 0, 5).Draw(t, "values") {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(blank.Draw(t, "blank") + str.Draw(t, "key") + blank.Draw(t, "blank") + ":" + blank.Draw(t, "blank") + e)
			}
			return "{" + b.String() + "}"
		})
		return rapid.OneOf(append(leaves, array, object, array, object)...)
	}
	return value(4)
}

// TestRandomDocuments compares random valid documents with encoding/json, and their beginnings with the
// promise that Short makes.
func TestRandomDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText().Draw(t, "json")
		if !json.Valid([]byte(text)) {
			t.Fatalf("the generator made %q", text)
		}
		compareWithReference(t, []byte(text))
		for i := range len(text) {
			var d Doc
			_, err := d.Parse([]byte(text[:i]))
			if e, ok := err.(*SyntaxError); err != nil && (!ok || !e.Short || e.Offset != i) {
				t.Fatalf("Parse(%q), the beginning of %q: %v; want an error that says Short at %d", text[:i], text, err, i)
			}
		}
	})
}

func TestRandomVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkVerbatim(t, []byte(jsonText().Draw(t, "json"))) })
}

// TestNextOverMany joins random documents and gets each back, byte for byte.
func TestNextOverMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(jsonText(), 1, 6).Draw(t, "documents")
		var d Doc
		v, err := d.ParseMany([]byte(strings.Join(want, "\n")))
		if err != nil {
			t.Fatalf("ParseMany: %v", err)
		}
		var got []string
		for ; v.Kind() != Invalid; v = v.Next() {
			got = append(got, v.RawStr())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
