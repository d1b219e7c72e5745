package jsonscan

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"
)

// failer is what *testing.T, *testing.F and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// tokens flattens a value into what json.Decoder.Token would give: delimiters, keys, scalars.
func tokens(v Value, out []any) []any {
	switch v.Kind() {
	case Null:
		return append(out, nil)
	case False, True:
		return append(out, v.Kind() == True)
	case Number:
		return append(out, json.Number(v.Raw()))
	case String:
		return append(out, string(v.AppendString(nil)))
	case Array:
		out = append(out, json.Delim('['))
		for e := range v.Elems() {
			out = tokens(e, out)
		}
		return append(out, json.Delim(']'))
	default:
		out = append(out, json.Delim('{'))
		for k, m := range v.Members() {
			out = tokens(m, tokens(k, out))
		}
		return append(out, json.Delim('}'))
	}
}

func referenceTokens(t failer, data []byte) []any {
	t.Helper()
	var out []any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("encoding/json cannot walk what it calls valid: %v\n%q", err, data)
		}
		out = append(out, tok)
	}
}

// lastWins builds what json.Unmarshal would build, by way of Get.
func lastWins(v Value) any {
	switch v.Kind() {
	case Array:
		out := []any{}
		for e := range v.Elems() {
			out = append(out, lastWins(e))
		}
		return out
	case Object:
		out := map[string]any{}
		for k := range v.Members() {
			key := string(k.AppendString(nil))
			out[key] = lastWins(v.Get(key))
		}
		return out
	default:
		return tokens(v, nil)[0]
	}
}

var escapes = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|.)`)

// referenceRepairs counts the repairs of a valid document by other means than the scanner's.
func referenceRepairs(data []byte, toks []any) Repairs {
	var r Repairs
	for b := data; len(b) > 0; {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			r.BadUTF8++
		}
		b = b[n:]
	}
	// Each U+FFFD of the decoded texts is a bad byte, a character of the document, an escape, or a lone surrogate.
	r.LoneSurrogate = -r.BadUTF8 - strings.Count(string(data), "\ufffd")
	for _, m := range escapes.FindAllStringSubmatch(string(data), -1) {
		if strings.EqualFold(m[1], "fffd") {
			r.LoneSurrogate--
		}
	}
	type level struct {
		seen map[string]bool
		key  bool // the next string is a key
	}
	var open []*level
	for _, tok := range toks {
		var top *level
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		s, isString := tok.(string)
		if isString {
			r.LoneSurrogate += strings.Count(s, "\ufffd")
			r.NUL += strings.Count(s, "\x00")
		}
		if top != nil && top.seen != nil {
			if top.key && isString {
				if top.seen[s] {
					r.DuplicateKey++
				}
				top.seen[s] = true
			}
			top.key = !top.key
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, &level{seen: map[string]bool{}, key: true})
		case json.Delim('['):
			open = append(open, &level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
	return r
}

// compareWithReference parses data and compares everything with encoding/json: acceptance, structure,
// decoded strings, number spellings, the last of repeated keys, and the counts of repairs.
func compareWithReference(t failer, data []byte) {
	t.Helper()
	var d Doc
	v, err := d.Parse(data)
	if valid := json.Valid(data); (err == nil) != valid {
		t.Fatalf("Parse(%q): error %v, but encoding/json says valid=%t", data, err, valid)
	}
	if err != nil {
		compareErrors(t, data, err)
		return
	}
	want := referenceTokens(t, data)
	if got := tokens(v, nil); !reflect.DeepEqual(got, want) {
		t.Fatalf("Parse(%q)\n got %#v\nwant %#v", data, got, want)
	}
	if got, want := d.Repairs(), referenceRepairs(data, want); got != want {
		t.Fatalf("Parse(%q): repairs %+v, want %+v", data, got, want)
	}
	var ref any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&ref); err != nil {
		t.Fatalf("encoding/json: %v", err)
	}
	if got := lastWins(v); !reflect.DeepEqual(got, ref) {
		t.Fatalf("last wins in %q\n got %#v\nwant %#v", data, got, ref)
	}
	lax := Doc{NonFinite: true}
	if _, err := lax.Parse(data); err != nil || lax.Repairs() != d.Repairs() {
		t.Fatalf("Parse(%q) with NonFinite: %v, repairs %+v, want %+v", data, err, lax.Repairs(), d.Repairs())
	}
}

// compareErrors checks what an error promises: Short means that some continuation is JSON, which it finds;
// otherwise none is, and more text changes nothing.
func compareErrors(t failer, data []byte, err error) {
	t.Helper()
	e, ok := err.(*SyntaxError)
	if !ok || e.Offset < 0 || e.Short != (e.Offset == len(data)) || e.Offset > len(data) || e.Short && e.Deep {
		t.Fatalf("Parse(%q): %#v breaks a promise of SyntaxError", data, err)
	}
	var d Doc
	if e.Short {
		text := complete(t, data, e)
		if !json.Valid(text) {
			t.Fatalf("%q was completed to %q, which encoding/json refuses", data, text)
		}
		return
	}
	for _, more := range []string{"0", `"`, "]", "}", ",", "u", " "} {
		_, err := d.Parse(append(bytes.Clone(data), more...))
		if again, ok := err.(*SyntaxError); !ok || *again != *e {
			t.Fatalf("Parse(%q): %v, but with %q behind it: %v", data, e, more, err)
		}
	}
}

// complete appends what each Short error says is missing until the document is whole.
func complete(t failer, data []byte, e *SyntaxError) []byte {
	t.Helper()
	text := bytes.Clone(data)
	for range len(data) + 20 {
		var tries []string
		switch msg := strings.TrimPrefix(e.Msg, "the text ends "); {
		case msg == "where a value is due", msg == "inside a number":
			tries = []string{"0"}
		case msg == "where a key is due":
			tries = []string{`""`}
		case msg == "where a colon is due":
			tries = []string{":"}
		case msg == "inside an object":
			tries = []string{"}"}
		case msg == "inside an array":
			tries = []string{"]"}
		case msg == "inside an escape":
			tries = []string{"0", "n"}
		case msg == "inside a value":
			tries = []string{"rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"}
		case strings.HasPrefix(msg, "inside the string"):
			tries = []string{`"`}
		}
		var next *SyntaxError
		found := false
		for _, more := range tries {
			var d Doc
			longer := append(bytes.Clone(text), more...)
			_, err := d.Parse(longer)
			if err == nil {
				return longer
			}
			if s := err.(*SyntaxError); s.Short && !found {
				next, found = s, true
				text = longer
			}
		}
		if !found {
			t.Fatalf("Parse(%q) says Short, but none of %q goes on: %v", text, tries, e)
		}
		e = next
	}
	t.Fatalf("%q could not be completed", data)
	return nil
}

// scramble returns n bytes of an alphabet in which strings, escapes and brackets are frequent.
func scramble(r *rand.Rand, n int) []byte {
	const alphabet = `{}[],:"\\\u01dD8eEcfnt- .` + "\x00\x1f\x20!#]\xa2\xdc\xff\xe4\xb8\xad"
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return out
}
